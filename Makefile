# Everything sets itself up: Python 3.11 (or newer) with venv, and make, are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Modules are compiled once, not again by every process that the tests start.
export PYTHONDONTWRITEBYTECODE :=

# Three workers keep two cores busy while one waits for a server or a page; threads of small products would only wait
# for each other.
TOGETHER := -n 3 --dist worksteal
pages suite thorough: export OPENBLAS_NUM_THREADS := 1

.PHONY: test checks style types pages wheel compiled suite thorough docs demo bench clean

test: ## every check and every test
	@$(MAKE) --no-print-directory checks
	@$(MAKE) --no-print-directory suite

# Three at a time on two cores: one of them waits for what it installs.
checks: $(STAMP) ## everything but the tests
	@$(MAKE) --no-print-directory --jobs 3 types style compiled pages wheel

types: $(STAMP)
	$(BIN)/mypy

style: $(STAMP)
	$(BIN)/ruff check src tests benchmarks scripts
	$(BIN)/ruff format --check src tests benchmarks scripts
	$(BIN)/lint-imports --no-cache

# Once, for all workers; what is wrong with a test the suite will tell.
compiled: $(STAMP)
	-$(BIN)/python -m pytest --collect-only -qq > /dev/null

pages: $(STAMP)
	$(BIN)/python scripts/generate_docs.py --check

wheel: $(STAMP)
	$(BIN)/python scripts/check_bare_wheel.py

suite: $(STAMP) ## the tests, and which lines they run
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(TOGETHER)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under=95

thorough: $(STAMP) ## every property on forty times as many examples
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest $(TOGETHER)

demo: $(STAMP) ## the product at work on the corpus inside the package
	$(BIN)/python scripts/demo.py

docs: $(STAMP) ## command output in README and docs, generated anew
	$(BIN)/python scripts/generate_docs.py

bench: $(VENV)-bench/.installed ## speed, conformance and recall, beside the peers; writes docs/benchmarks/
	$(VENV)-bench/bin/python -m benchmarks.run
	$(VENV)-bench/bin/python -m benchmarks.conformance
	$(VENV)-bench/bin/python -m benchmarks.search
	$(VENV)-bench/bin/python -m benchmarks.retrieval
	$(VENV)-bench/bin/python -m benchmarks.evaluation
	$(VENV)-bench/bin/python -m benchmarks.tuning
	$(VENV)-bench/bin/python -m benchmarks.contextual

# Peers want each other's versions, so they get an environment of their own; one that fails is left out.
$(VENV)-bench/.installed: pyproject.toml benchmarks/peers.txt
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet --editable '.[all]' pytest
	@for peer in $$(cat benchmarks/peers.txt); do \
		$(VENV)-bench/bin/python -m pip install --quiet "$$peer" || echo "left out: $$peer"; \
	done
	@touch $@

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "chunkwise needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev]'
	# What our measures are held against; its own dependencies do not build everywhere and are not needed for that.
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps ir_measures cwl-eval
	$(BIN)/chunkwise models get minilm
	$(BIN)/chunkwise models get smollm2
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-bench build dist out .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache
