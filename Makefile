# Everything sets itself up: Python 3.11 (or newer) with venv, and make, are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: test check docs demo bench clean

test: $(STAMP) ## every check and every test
	$(BIN)/ruff check src tests benchmarks scripts
	$(BIN)/ruff format --check src tests benchmarks scripts
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/generate_docs.py --check
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under=90
	$(BIN)/python scripts/check_bare_wheel.py

demo: $(STAMP) ## the product at work on the corpus inside the package
	$(BIN)/python scripts/demo.py

docs: $(STAMP) ## command output in README and docs, generated anew
	$(BIN)/python scripts/generate_docs.py

bench: $(STAMP) ## speed against the installed peers; writes docs/benchmarks/
	$(BIN)/pip install --quiet --constraint benchmarks/constraints-peers.txt --requirement benchmarks/requirements-peers.txt
	$(BIN)/python -m benchmarks.run

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "chunkwise needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist out .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache
