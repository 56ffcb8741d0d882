# Two commands to begin with: `make demo` and `make test`. Both make their own environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Compiled files are kept, whatever the shell says: without them each process of the tests compiles anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test lint format bench bench-quality chaos reference clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

$(VENV)/made: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "weft needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/made-dev: $(VENV)/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group test --group lint
	@touch $@

demo: $(VENV)/made ## load a small workspace and answer questions about it
	@$(BIN)/python examples/demo.py

# What races or measures waiting times runs alone; the rest three at a time: tests wait for disks and processes.
ALONE := tests/concurrency tests/crash/test_audit_kill.py

test: $(VENV)/made-dev ## all tests
	$(BIN)/python -m pytest --numprocesses 3 $(addprefix --ignore=,$(ALONE))
	$(BIN)/python -m pytest $(ALONE)

lint: $(VENV)/made-dev ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/made-dev ## rewrite with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/made-dev ## measure; results go to benchmarks/results
	$(BIN)/python -m benchmarks.latency.run

bench-quality: $(VENV)/made-dev ## answer quality on outside data; DATA=directory says where that is
	$(BIN)/python -m benchmarks.quality.run $(if $(DATA),--data $(DATA))

chaos: $(VENV)/made-dev ## long reliability runs
	WEFT_MACHINES=1 $(BIN)/python -m pytest tests/properties
	$(BIN)/python benchmarks/chaos/kill.py --rounds 1000
	$(BIN)/python benchmarks/chaos/races.py --rounds 1000
	$(BIN)/python benchmarks/chaos/many.py --minutes 10
	$(BIN)/python benchmarks/chaos/many.py --minutes 10

reference: $(VENV)/made ## write docs/reference from the registry
	$(BIN)/python docs/generate_reference.py
	$(BIN)/python docs/generate_benchmarks.py

clean: ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
