# Everything starts here: a target sets up what it needs, and a second call does only what changed since.
#   PYTHON=python3.12 make setup     chooses the interpreter (3.11 or newer)
#   make test ARGS="tests/unit -k port"     make dev ARGS=--reload     pass options on

IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for candidate in python3 python3.13 python3.12 python3.11; do \
	"$$candidate" -c '$(IS_NEW_ENOUGH)' 2>/dev/null && { echo "$$candidate"; break; }; done)

NAME_ONE := Name one: PYTHON=/path/to/python3 make $(MAKECMDGOALS)

VENV := .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check install -qq --no-input --no-build-isolation
LOCK := $(VENV)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command "make lock" $(UPGRADE)
JS := tests/js
WORKERS := 2

# A stamp is written when an installation is complete and is older than its lock file when that has changed.
RUNTIME := $(VENV)/.runtime-installed
TOOLS := $(VENV)/.tools-installed
MEASURES := $(VENV)/.measures-installed
JS_PACKAGES := $(if $(and $(shell command -v node),$(shell command -v npm)),$(JS)/node_modules/.installed)
JS_TOOLS := $(wildcard $(JS)/node_modules/.bin/biome)
NO_JS_TOOLS := The page's scripts were not checked: that needs node and npm, and then make setup.
NO_INTERPRETER := $(if $(wildcard $(RUN)),,FORCE)

.PHONY: help setup dev chat doctor test check bench pictures lock FORCE

help:
	@echo "make dev      serve on http://127.0.0.1:2024, with the page at /app (set PORT for another)"
	@echo "make chat     chat in the terminal with the server that 'make dev' started"
	@echo "make doctor   say what is configured, what is missing and how to fix it"
	@echo "make test     run all tests"
	@echo "make check    lint, types, import contracts, spelling; needs no database"
	@echo "make bench    measure overhead, growth, load and faults (docs/PERFORMANCE.md); ARGS=\"overhead --quick\" for less"
	@echo "make pictures take the pictures of the page in docs/images anew"
	@echo "make setup    only install what the others need"
	@echo "make lock     write requirements/*.txt anew from pyproject.toml (UPGRADE=--upgrade for newer versions)"

setup: $(TOOLS) $(JS_PACKAGES)

dev chat doctor: $(RUNTIME)
	@$(RUN) -m backend.cli $@ $(ARGS)

test: setup
	$(RUN) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: export PYRIGHT_PYTHON_IGNORE_WARNINGS = 1
check: $(TOOLS)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m codespell_lib
	$(VENV)/bin/lint-imports
	$(RUN) -m pyright
	$(if $(JS_TOOLS),cd $(JS) && node_modules/.bin/biome check . ../../backend/web,@echo "$(NO_JS_TOOLS)")
	$(if $(JS_TOOLS),$(JS)/node_modules/.bin/tsc -p $(JS))

bench: $(MEASURES)
	$(RUN) -m bench $(ARGS)

pictures: export PICTURES = docs/images
pictures: $(TOOLS)
	$(RUN) -m pytest tests/web/test_page_pictures.py $(ARGS)

lock: $(TOOLS)
	$(LOCK) --group build -o requirements/build.txt
	$(LOCK) pyproject.toml --extra server -c requirements/build.txt -o requirements/runtime.txt
	$(LOCK) pyproject.toml --extra server --group dev -c requirements/runtime.txt -o requirements/dev.txt
	$(LOCK) pyproject.toml --extra server --group dev --group bench -c requirements/dev.txt -o requirements/bench.txt
	$(LOCK) pyproject.toml --extra server --extra local-embeddings -c requirements/runtime.txt -o requirements/local-embeddings.txt

# Built anew whenever it is not complete: pip takes a package that was half copied for installed.
$(RUNTIME): requirements/build.txt requirements/runtime.txt $(NO_INTERPRETER)
	@command -v "$(PYTHON)" >/dev/null || { echo "Python 3.11 or newer is needed$(if $(PYTHON), and '$(PYTHON)' is not there). $(NAME_ONE)" >&2; exit 1; }
	@$(PYTHON) -c '$(IS_NEW_ENOUGH)' || { echo "Python 3.11 or newer is needed and '$(PYTHON)' is $$($(PYTHON) -V 2>&1). $(NAME_ONE)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments: install its venv package (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "Installing what the server needs into $(VENV), about a minute the first time ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) --require-hashes -r requirements/build.txt
	@$(PIP) --require-hashes -r requirements/runtime.txt
	@$(PIP) --no-deps -e .
	@touch $@

# Until the tools are complete, the environment counts as incomplete.
$(TOOLS): $(RUNTIME) requirements/dev.txt
	@echo "Installing the tools for tests and checks ..."
	@rm $(RUNTIME)
	@$(PIP) --require-hashes -r requirements/dev.txt
	@touch $(RUNTIME) $@

$(MEASURES): $(TOOLS) requirements/bench.txt
	@echo "Installing what the measurements compare with ..."
	@$(PIP) --require-hashes -r requirements/bench.txt
	@touch $@

$(JS)/node_modules/.installed: $(JS)/package-lock.json
	@echo "Installing the JavaScript SDK for its test ..."
	@npm ci --prefix $(JS) --silent --no-audit --no-fund
	@touch $@
