# pricewatch: `make` lists the targets.
PYTHON ?= python3
# More workers than cores, because tests often wait for processes.
TEST_WORKERS ?= 3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTS_READY := $(VENV)/.tests-ready
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST = $(BIN)/python -m pytest -q -n $(TEST_WORKERS) --dist worksteal $(PYTEST_OPTIONS)
export PYTHONPATH := $(CURDIR)

.DEFAULT_GOAL := help
N ?= 3
SEED ?= 1
.PHONY: help setup demo smoke run cluster chaos browser test proof lint bench screenshots deploy clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "pricewatch needs Python 3.11 or newer. Run: make PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the packages of requirements.txt ..."
	@$(PIP_INSTALL) -r requirements.txt
	@touch $@

$(TESTS_READY): $(READY) tests/requirements.txt
	@echo "Installing the packages of tests/requirements.txt ..."
	@$(PIP_INSTALL) -r requirements.txt -r tests/requirements.txt
	@touch $@

setup: $(READY) ## create .venv and install the required packages

demo: $(READY) ## run the sample marketplace with some history, and a daemon; Ctrl-C stops it
	@$(BIN)/scrapy demo

smoke: $(READY) ## check this installation: run every spider in a temporary directory
	@$(BIN)/scrapy smoke

run: $(READY) ## run the daemon on your data
	@$(BIN)/scrapyd --pidfile=

cluster: $(READY) ## run several daemons on this machine that share the work: make cluster N=3
	@$(BIN)/scrapy cluster --nodes $(N)

chaos: $(TESTS_READY) ## inject faults into a cluster and check every guarantee: make chaos SEED=2
	@$(BIN)/python -m tests.chaos --seed $(SEED)

browser: $(READY) ## find Chromium, or install it
	@$(BIN)/scrapy browser --install || echo "Pages and tests that need a browser are skipped."

test: $(TESTS_READY) browser lint ## run lint, type checks and the test suite, before every commit
	@$(PYTEST) -m "not proof" --durations 10

proof: $(TESTS_READY) browser ## run the long tests: clusters, simulated weeks, chaos
	@$(PYTEST) -m proof --durations 10

lint: $(TESTS_READY) ## run ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy

bench: $(TESTS_READY) ## run the benchmarks, about half an hour: make bench ONLY="scale web"
	@$(BIN)/python -m tests.bench $(ONLY)

screenshots: $(TESTS_READY) browser ## take the screenshots in docs/screenshots again
	@$(BIN)/python -m tests.web.screenshots

deploy: $(READY) ## deploy this project to the daemon named in scrapy.cfg
	@$(BIN)/scrapyd-deploy

clean: ## remove everything that make created; your data in var/ is kept
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
