import json
from pathlib import Path
from typing import Any

import pytest

from backend.errors import PromptError
from backend.llm.prompts import PROMPTS_DIRECTORY, Prompts


@pytest.fixture
def written(tmp_path: Path) -> Path:
    (tmp_path / "chat").mkdir()
    return tmp_path


def prompts_of(directory: Path, template: str) -> Prompts:
    (directory / "chat" / "one.mustache").write_text(template, encoding="utf-8")
    return Prompts(directory)


def test_the_projects_prompts_load_and_are_named_by_their_path() -> None:
    names = Prompts().names

    assert names
    assert set(names) == {
        path.relative_to(PROMPTS_DIRECTORY).as_posix().removesuffix(".mustache")
        for path in PROMPTS_DIRECTORY.rglob("*.mustache")
    }


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        pytest.param(
            "Hi {{{name}}} & {{&name}}", {"name": '<"Ana">'}, 'Hi <"Ana"> & <"Ana">', id="both ways unescaped"
        ),
        pytest.param("{{#on}}{{{name}}}{{/on}}{{^on}}none{{/on}}", {"on": True, "name": "Ana"}, "Ana", id="condition"),
        pytest.param("{{#on}}{{{name}}}{{/on}}{{^on}}none{{/on}}", {"on": False, "name": "Ana"}, "none", id="opposite"),
        pytest.param("{{#block}}<{{{block}}}>{{/block}}", {"block": ""}, "", id="empty text is no"),
        pytest.param("{{#block}}<{{{block}}}>{{/block}}", {"block": "x"}, "<x>", id="text is yes"),
        pytest.param("{{#tools}}\n- {{{.}}}\n{{/tools}}\nend", {"tools": ["a", "b"]}, "- a\n- b\nend", id="list"),
        pytest.param("{{#tools}}-{{{.}}}{{/tools}}", {"tools": []}, "", id="empty list"),
        pytest.param(
            "{{#rows}}{{{name}}}:{{{title}}} {{/rows}}",
            {"rows": [{"name": "a"}, {"name": "b", "title": "inner"}], "title": "outer"},
            "a:outer b:inner ",
            id="records",
        ),
        pytest.param("{{#rows}}{{{.}}}:{{{title}}} {{/rows}}", {"rows": ["a"], "title": "T"}, "a:T ", id="str.title"),
        pytest.param("{{! why }}text\n", {}, "text", id="comment and line break at the end"),
        pytest.param("text\n\n", {}, "text\n", id="only one line break goes"),
    ],
)
def test_a_template_is_rendered(written: Path, template: str, values: dict[str, Any], text: str) -> None:
    assert prompts_of(written, template).render("chat/one", **values) == text


@pytest.mark.parametrize(
    ("template", "values", "key"),
    [
        pytest.param("{{{name}}}", {}, "name", id="value"),
        pytest.param("{{#name}}x{{/name}}", {}, "name", id="section"),
        pytest.param("{{^name}}x{{/name}}", {}, "name", id="inverted section"),
        pytest.param("{{#rows}}{{{name}}}{{/rows}}", {"rows": [{"other": "x"}]}, "name", id="record of a list"),
        pytest.param("{{#rows}}{{{title}}}{{/rows}}", {"rows": ["x"]}, "title", id="not a method of the item"),
        pytest.param("{{#block}}{{{upper}}}{{/block}}", {"block": "x"}, "upper", id="not a method of the condition"),
    ],
)
def test_a_missing_value_is_an_error_that_names_template_and_key(
    written: Path, template: str, values: dict[str, Any], key: str
) -> None:
    with pytest.raises(PromptError, match=f"prompt 'chat/one' needs a value for '{key}'"):
        prompts_of(written, template).render("chat/one", **values)


def test_an_unknown_template_is_an_error_that_names_the_known_ones(written: Path) -> None:
    with pytest.raises(PromptError, match="there is no prompt 'chat/two'; there are: chat/one"):
        prompts_of(written, "x").render("chat/two")


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        pytest.param("{{name}}", r"\{\{name\}\} escapes HTML; write \{\{\{name\}\}\}", id="double braces"),
        pytest.param("{{#a}}{{name}}{{/a}}", "escapes HTML", id="double braces in a section"),
        pytest.param("{{{name}}", "lacks its third closing brace", id="two closing braces"),
        pytest.param("{{> other}}", "the partial .* is not supported", id="partial"),
        pytest.param("{{=<% %>=}}<%name%>", "delimiters", id="delimiters"),
        pytest.param("{{#a}}x", '"a" was never closed', id="open section"),
        pytest.param("{{#a}}x{{/b}}", 'Trying to close tag "b"', id="wrong end"),
        pytest.param("{{{name", "unclosed tag", id="open tag"),
        pytest.param("{{}}", "prompt 'chat/one'", id="empty tag"),
        pytest.param("{{{a.b}}}", "'a.b' cannot be the name of a value", id="dotted name"),
        pytest.param("{{#a}}{{{real}}}{{/a}}", "'real' cannot be the name of a value", id="attribute of True"),
    ],
)
def test_what_chevron_would_take_silently_is_refused_when_read(written: Path, template: str, complaint: str) -> None:
    with pytest.raises(PromptError, match=complaint) as raised:
        prompts_of(written, template)

    assert "'chat/one'" in str(raised.value)


def test_a_missing_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="no directory of prompts"):
        Prompts(tmp_path / "absent")


@pytest.mark.parametrize(
    "template", ["{{{memory}}}", "{{#memory}}{{{memory}}}{{/memory}}", "{{#rows}}{{{.}}}{{/rows}}"]
)
def test_a_value_is_never_read_as_a_template(written: Path, template: str) -> None:
    document = {"note": 'use {braces} & "quotes" {{#memoryJson}}x{{/memory}} {{{city}}}', "city": "東京"}
    memory = json.dumps(document, ensure_ascii=False)

    rendered = prompts_of(written, template).render("chat/one", memory=memory, rows=[memory], city="Oslo")

    assert json.loads(rendered) == document
    assert "東京" in rendered


def test_files_are_read_once(written: Path) -> None:
    prompts = prompts_of(written, "before")
    (written / "chat" / "one.mustache").write_text("after", encoding="utf-8")

    assert prompts.render("chat/one") == "before"
