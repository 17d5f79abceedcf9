# In a fresh clone, every target installs what it needs. Needs Python >= 3.11 and make.
# A stamp file in .venv marks each installed extra; it is installed again when pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv
# Number of test processes, -n of pytest-xdist; 0 runs the tests in one process.
WORKERS ?= auto
# Additional arguments, for example `make test ARGS="-k kernels"` or `make bench ARGS="--quick"`.
ARGS ?=

# Number of problems of `make fuzz`, and the first seed.
N ?= 1000
SEED ?= 0

BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two targets must not install into the same environment at the same time.
.NOTPARALLEL:
.PHONY: help demo test test-system test-lowest coverage sanitize fuzz mutate lint format docs package bench reproduce reproduce-full clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-cli  ## Train, predict and write a report on the example loans into demo/
	@PATH="$(abspath $(BIN)):$$PATH" sh examples/demo.sh

test: $(VENV)/.installed-test  ## Run the fast tests (minutes on two cores)
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --durations=30 $(ARGS)

test-system: $(VENV)/.installed-test  ## Run the tests of clusters, processes, browsers and real data
	@$(BIN)/python -m pytest -q -n 0 -m system --durations=30 $(ARGS)

test-lowest: .venv-lowest/.installed  ## Run the fast tests and the commands with the lowest supported versions
	@.venv-lowest/bin/python -m pytest -q -n $(WORKERS) --dist worksteal $(ARGS)
	@PATH="$(CURDIR)/.venv-lowest/bin:$$PATH" .ci/verbs

coverage: $(VENV)/.installed-test  ## Run the fast tests and show the ten files with the lowest coverage
	@rm -rf build/coverage && mkdir -p build/coverage
	@$(BIN)/coverage run -m pytest -q -n $(WORKERS) --dist worksteal $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report --skip-covered --sort=cover > build/coverage/report; status=$$?; \
	  awk '/^src/ && ++n > 10 { next } { print }' build/coverage/report; exit $$status

sanitize: $(VENV)/.installed-test  ## Run the tests of solvers and kernels with bounds checks in compiled code
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.sanitize \
	  $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal tests/solvers/dual tests/kernels $(ARGS)

fuzz: $(VENV)/.installed-test  ## Solve N generated hostile problems from SEED on and check the results
	@$(BIN)/python -m tests.hostile.attack -n $(N) --seed $(SEED) $(ARGS)

mutate: $(VENV)/.installed-test  ## List mutations of costs, decisions and metrics that no test detects (ARGS="metrics/_risk.py")
	@$(BIN)/python .ci/mutate.py $(ARGS)

lint: $(VENV)/.installed-lint  ## Check style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.installed-lint  ## Apply ruff's fixes and formatting
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-docs  ## Build the site into build/docs, with warnings as errors
	@rm -rf docs/gallery docs/generated
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going $(ARGS) docs build/docs
	@echo "The site is in build/docs/index.html"

package: $(VENV)/.installed-package  ## Build and check wheel and sdist, and test the wheel in a new environment
	@PATH="$(abspath $(BIN)):$$PATH" .ci/package $(PYTHON)

bench: $(VENV)/.installed-bench  ## Time cssvm against other solvers (half an hour; ARGS="--help" lists all benchmarks)
	@$(BIN)/python -m benchmarks $(ARGS)

reproduce: $(VENV)/.installed-all  ## Run the paper's study on small data sets into reproduction/ (minutes; ARGS="--sets heart")
	@$(BIN)/python -m study --quick $(ARGS)

reproduce-full: $(VENV)/.installed-all  ## Run the whole study of the paper into reproduction-full/ (hours)
	@$(BIN)/python -m study --full --out reproduction-full $(ARGS)

clean:  ## Remove environments, caches and build products
	rm -rf $(VENV) .venv-lowest .sanitize build dist demo docs/gallery docs/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find src study tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp, not pyvenv.cfg, is the target: an interrupted creation is repeated.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "cssvm needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed-%: pyproject.toml $(VENV)/.created
	@echo "Installing cssvm with the extra '$*'"
	@$(INSTALL) --editable ".[$*]"
	@touch $@

# uv resolves to the lowest versions of direct dependencies, and to the newest of all others.
.venv-lowest/.installed: pyproject.toml
	@echo "Installing cssvm with the lowest versions of pyproject.toml into .venv-lowest"
	@$(PYTHON) -m venv --clear .venv-lowest
	@.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --no-input uv
	@.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable ".[test]"
	@touch $@
