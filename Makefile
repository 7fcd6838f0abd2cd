# Every target sets up what it needs, in .venv (and .venv-bench for packages under other licences).
PYTHON ?= python3
# Which Pythons the newest dependencies are tested with: those of this machine.
ifndef PYTHONS
PYTHONS := $(shell for minor in 11 12 13 14; do python3.$$minor -c 'import sys; print("python3.%d" % sys.version_info[1])'; done 2>/dev/null; true)
endif
VENV := .venv
BENCH_VENV := .venv-bench
OLDEST_VENV := .venv-oldest
NEWEST_VENV := .venv-newest
LOCK_VENV := .venv-lock
BIN := $(VENV)/bin
INSTALL := -m pip --disable-pip-version-check --quiet install
# All versions are those of the lock, but where the oldest or newest are looked for: there torch's alone.
LOCKED := $(INSTALL) --constraint constraints.txt
TORCH := $(shell grep '^torch==' constraints.txt)
PIP := $(BIN)/python $(LOCKED) --build-constraint constraints.txt
SOURCES := pyproject.toml constraints.txt
PYTEST := -m pytest -n auto --dist worksteal
EVERY := not slow and not site

.PHONY: help demo test test-browser test-dask test-programs test-all test-oldest test-newest coverage lint format bench studies docs lock dist dist-check release-check clean

help:  ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed  ## Three models of simulated patients, and a report: cocensor-demo/report.html
	rm -rf cocensor-demo
	$(BIN)/cocensor demo

test: $(VENV)/.installed-test  ## The tests, doctests included, but those of the next three
	$(BIN)/python $(PYTEST) -m "$(EVERY) and not (browser or dask or program)"

test-browser: $(VENV)/.installed-test  ## The report in chromium
	$(BIN)/python $(PYTEST) -m "$(EVERY) and browser" tests/views

test-dask: $(VENV)/.installed-test  ## Streams and experiments on a Dask cluster, whose processes die
	$(BIN)/python $(PYTEST) -m "$(EVERY) and dask" tests

test-programs: $(VENV)/.installed-test  ## Whole programs: the README's, all experiments in small, killed and interrupted ones
	$(BIN)/python $(PYTEST) -m "$(EVERY) and program" tests

test-all: $(VENV)/.installed-test  ## All four at once
	$(BIN)/python $(PYTEST)

test-oldest: $(OLDEST_VENV)/.installed  ## All four with the oldest dependencies that pyproject.toml allows
	$(OLDEST_VENV)/bin/python $(PYTEST)

test-newest: $(PYTHONS:%=$(NEWEST_VENV)/%)  ## The same with the newest dependencies, under each Python of this machine (PYTHONS)

coverage: $(VENV)/.installed-test  ## All four, and which lines they run, in half as much time again
	$(BIN)/python $(PYTEST) --cov --cov-report=term

lint: $(VENV)/.installed-lint  ## Format, lint, types and layers
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-lint  ## Let ruff format and mend what it can
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(VENV)/.installed-test $(BENCH_VENV)/.installed  ## Accuracy, properties on new cases, speed against peers: an hour, kept in benchmarks/results/bench
	$(BIN)/python -m benchmarks $(BENCH)

studies: $(VENV)/.installed-test  ## What is missing of the long simulation studies in benchmarks/results
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.studies $(STUDIES)

docs: $(VENV)/.installed-docs  ## The site, from its pages, docstrings and examples: docs/_build/html/index.html
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html
	$(BIN)/python -m pytest -m site tests/docs

lock:  ## Write constraints.txt anew: the newest of all that is tested, torch as it is
	rm -rf $(LOCK_VENV)
	$(PYTHON) -m venv $(LOCK_VENV)
	$(LOCK_VENV)/bin/python $(INSTALL) --upgrade pip
	$(LOCK_VENV)/bin/python $(INSTALL) '$(TORCH)' hatchling editables --group test --group docs --group lint --group release --editable '.[all]'
	$(LOCK_VENV)/bin/python -m tests.release.lock > $(LOCK_VENV)/constraints.txt
	cp $(LOCK_VENV)/constraints.txt constraints.txt

dist: $(VENV)/.installed-release  ## Wheel and source distribution, in dist/
	rm -rf dist
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m build --outdir dist .

dist-check: dist  ## What they contain, and whether the wheel works in an environment of its own
	$(BIN)/python -m tests.release dist

release-check: dist  ## All that a release needs, one line per check
	$(BIN)/python -m tests.release all

clean:  ## Remove the environments and caches
	rm -rf $(VENV) $(BENCH_VENV) $(OLDEST_VENV) $(NEWEST_VENV) $(LOCK_VENV) dist docs/_build docs/gallery docs/api/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage*

# A stamp is older than what it depends on when the environment is stale.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "cocensor needs Python 3.11 or newer: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python $(SOURCES)
	$(BIN)/python $(LOCKED) --upgrade pip
	$(PIP) --editable .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(PIP) --group test
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed-test
	$(PIP) --group docs
	@touch $@

$(VENV)/.installed-lint: $(VENV)/.installed
	$(PIP) --group lint
	@touch $@

$(VENV)/.installed-release: $(VENV)/.installed-test $(VENV)/.installed-lint
	$(PIP) --group release
	@touch $@

$(OLDEST_VENV)/.installed: $(SOURCES) constraints-oldest.txt
	test -x $(OLDEST_VENV)/bin/python || $(PYTHON) -m venv $(OLDEST_VENV)
	$(OLDEST_VENV)/bin/python $(LOCKED) --upgrade pip
	$(OLDEST_VENV)/bin/python $(INSTALL) --constraint constraints-oldest.txt '$(TORCH)' --group test --editable '.[all]'
	@touch $@

# No stamp: what is newest changes from day to day.
.PHONY: $(PYTHONS:%=$(NEWEST_VENV)/%)
$(PYTHONS:%=$(NEWEST_VENV)/%): $(NEWEST_VENV)/%:
	test -x $@/bin/python || $* -m venv $@
	$@/bin/python $(INSTALL) --upgrade pip
	$@/bin/python $(INSTALL) --upgrade --upgrade-strategy eager '$(TORCH)' --group test --editable '.[all]'
	$@/bin/python $(PYTEST)

$(BENCH_VENV)/.installed: $(SOURCES) benchmarks/requirements.txt
	test -x $(BENCH_VENV)/bin/python || $(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python $(LOCKED) --upgrade pip
	$(BENCH_VENV)/bin/python $(INSTALL) '$(TORCH)' --editable . -r benchmarks/requirements.txt
	@touch $@
