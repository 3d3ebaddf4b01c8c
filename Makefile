# make demo | test | fast | lint | coverage | bench | bench-largest | bench-all | quality | docs | dist | hashed: each sets
# up what it needs in .venv and runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORES ?= 2

# the tests start hundreds of processes; each would compile the whole program again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test fast browser lint coverage bench bench-largest bench-all quality docs dist hashed clean

demo: $(VENV)/.ready
	$(BIN)/incrowd demo --folder demo --replace

test: browser $(VENV)/.ready-test
	$(BIN)/python -m pytest -n $(CORES) --dist worksteal --hypothesis-profile ci

fast: browser $(VENV)/.ready-test
	$(BIN)/python -m pytest -n $(CORES) --dist worksteal --hypothesis-profile dev -m "not slow"

coverage: browser $(VENV)/.ready-test
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(CORES) --dist worksteal -m "not slow"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# all that no Python package brings; installed where that is allowed, else named before anything runs
browser:
	@$(PYTHON) tests/support/chromium.py

lint: $(VENV)/.ready-lint
	$(BIN)/ruff check src tests bench experiments quality
	$(BIN)/ruff format --check src tests bench experiments quality
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini tests

bench: $(VENV)/.ready-test
	$(BIN)/python -m bench speed --write docs/results/performance.md

bench-largest: $(VENV)/.ready-test
	$(BIN)/python -m bench largest --write docs/results/performance.md

bench-all: $(VENV)/.ready-test
	$(BIN)/python -m bench all --write docs/results/performance.md

quality: $(VENV)/.ready-test
	$(BIN)/python -m quality faults --write docs/results/quality.md
	$(BIN)/python -m quality mutants --write docs/results/quality.md
	$(BIN)/python -m quality fuzz --write docs/results/quality.md
	$(BIN)/python -m quality house --write docs/results/quality.md

# the pages that are generated, then the site, in build/site; nothing is asked of other hosts
docs: $(VENV)/.ready-test
	$(BIN)/python -m docs.build
	$(BIN)/python -m sphinx --quiet --fail-on-warning --write-all --conf-dir docs --builder html . build/site
	@echo "build/site/docs/index.html"

# wheel and source, built twice: the same bytes, or it fails
dist: $(VENV)/.ready-test
	rm -rf dist build/again
	$(BIN)/python -m hatchling build --directory dist
	$(BIN)/python -m hatchling build --directory build/again
	cd dist && for file in *; do cmp $$file ../build/again/$$file || exit 1; done

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "incrowd needs Python 3.11 or later, and $(PYTHON) is not: name another, make PYTHON=python3.14" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
	  { echo "Virtual environments need Python's ensurepip. Install it, on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# the small demo compiles the kernels once, so that the first real run is quick
WARM_UP := $(BIN)/incrowd demo --rows 1000 --folder $(VENV)/warm-up --replace > /dev/null

$(VENV)/.ready: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	$(WARM_UP)
	touch $@

$(VENV)/.ready-test: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	$(WARM_UP)
	touch $@ $(VENV)/.ready

$(VENV)/.ready-lint: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test,lint]'
	$(WARM_UP)
	touch $@ $(VENV)/.ready $(VENV)/.ready-test

# what CI installs: no file whose SHA-256 is not in constraints-hashed.txt; pyspark is built, so setuptools comes first
hashed:
	$(PYTHON) -m venv $(VENV)
	sed -n '/^setuptools==/,/[^\\]$$/p' constraints-hashed.txt > $(VENV)/first.txt
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement $(VENV)/first.txt
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --no-build-isolation --requirement constraints-hashed.txt
	PIP_NO_INDEX=1 $(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[test,lint]'
	$(WARM_UP)
	touch $(VENV)/.ready-lint $(VENV)/.ready $(VENV)/.ready-test

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist demo bench/out .coverage
