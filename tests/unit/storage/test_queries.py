from importlib.resources import files

import pytest

from backend.storage.queries import load_queries, parse_queries

SUBJECTS = [file.name.removesuffix(".sql") for file in files("backend.storage").joinpath("sql").iterdir()]


def test_statements_are_found_by_their_names():
    text = "-- name: first\nSELECT 1\n-- a remark\nFROM a\n\n-- name: second\nSELECT 2\n"
    assert parse_queries(text) == {"first": b"SELECT 1\n-- a remark\nFROM a", "second": b"SELECT 2"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("SELECT 1", "SQL without a name: SELECT 1", id="no name"),
        pytest.param("-- name: one\nSELECT 1\n-- name: one\nSELECT 2", "one is used twice", id="a name twice"),
        pytest.param(
            "-- name: one\n\n-- name: two\nSELECT 2", "one is used twice or has no statement", id="no statement"
        ),
    ],
)
def test_a_file_that_is_not_in_order_is_refused(text: str, problem: str):
    with pytest.raises(ValueError, match=problem):
        parse_queries(text)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_file_of_queries_can_be_read(subject: str):
    assert load_queries(subject)


def test_queries_cannot_be_changed():
    queries = parse_queries("-- name: one\nSELECT 1")
    with pytest.raises(TypeError):
        queries["one"] = b""  # pyright: ignore[reportIndexIssue]
