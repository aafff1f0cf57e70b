# pricewatch: `make` lists the targets.
PYTHON ?= python3
# More workers than cores, because tests often wait for processes.
TEST_WORKERS ?= 4
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTS_READY := $(VENV)/.tests-ready
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST = $(BIN)/python -m pytest -q -n $(TEST_WORKERS) --dist worksteal $(PYTEST_OPTIONS)
export PYTHONPATH := $(CURDIR)
# Tests start many processes, which would otherwise compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
N ?= 3
SEED ?= 1
.PHONY: help setup demo smoke run cluster chaos browser test proof lint bench screenshots deploy lock clean

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
	@$(BIN)/scrapy browser --install || echo "Pages that need a browser are not rendered."

# Tests load only pages of this project, so root may run them.
test proof screenshots: export BROWSER_WITHOUT_SANDBOX ?= $(if $(filter 0,$(shell id -u)),yes,no)
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

# The tool gets a virtual environment of its own. The index is not written into the file, so that it works
# with any mirror; the hashes are those of all platforms.
lock: ## pin every package of requirements.txt, with hashes, in requirements.lock
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'
	@UV_CUSTOM_COMPILE_COMMAND="make lock" build/lock/bin/uv pip compile requirements.txt --quiet --upgrade \
		--no-config --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-annotate --output-file requirements.lock
	@echo "requirements.lock has $$(grep -c == requirements.lock) packages."

clean: ## remove everything that make created; your data in var/ is kept
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
