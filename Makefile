# Every target makes .venv by itself; a second run finds it up to date within a second.
# PYTHON chooses the interpreter .venv is made with: a 3.12 where there is one, else python3.

PYTHON ?= $(shell bash tools/interpreter.sh 3.12 || echo python3)
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
MEMBERS = rewind_core $(patsubst %/pyproject.toml,%,$(sort $(wildcard adapters/*/pyproject.toml)))
GROUPS = test frameworks check
UV = $(BIN)/uv

.PHONY: install demo test check bench docs matrix constraints format
.DEFAULT_GOAL = install

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt $(MEMBERS:%=%/pyproject.toml)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -x $(UV) || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(UV) pip install --quiet --python $(BIN)/python --constraint constraints.txt \
		$(GROUPS:%=--group pyproject.toml:%) $(MEMBERS:%=--editable %)
	touch $@

demo: $(STAMP)
	$(BIN)/python examples/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest $(ARGS)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/check_sizes.py
	$(BIN)/python tools/check_names.py
	$(BIN)/lint-imports --no-logo
	test ! -e rewind_core/tests/typed_api.py || $(BIN)/mypy rewind_core/tests/typed_api.py
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(STAMP)
	$(BIN)/python bench/run.py $(ARGS)

docs: $(STAMP)
	$(BIN)/python tools/check_links.py

matrix: $(STAMP)
	bash tools/matrix.sh $(UV)

constraints: $(STAMP)
	bash tools/constraints.sh $(UV) --upgrade

format: $(STAMP)
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
