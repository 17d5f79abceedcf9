# From a bare clone, `make demo` and `make test` do all the set-up. Needs Python >= 3.11 and make.
# Each extra is installed once and remembered by a stamp inside .venv; a changed pyproject.toml installs again.

PYTHON ?= python3
VENV ?= .venv
# Test processes: pytest-xdist's -n. `make test WORKERS=0` runs in one process.
WORKERS ?= auto
# Further arguments, for example `make test ARGS="-k kernels"` or `make bench ARGS="--quick"`.
ARGS ?=

# Of `make fuzz`: how many problems, and which ones.
N ?= 1000
SEED ?= 0

BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two targets must not install into one environment at the same time.
.NOTPARALLEL:
.PHONY: help demo test test-system test-lowest coverage sanitize fuzz mutate lint format docs package bench reproduce reproduce-full clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-cli  ## Train on loans with their costs, compare, decide, and leave a report in demo/
	@PATH="$(abspath $(BIN)):$$PATH" sh examples/demo.sh

test: $(VENV)/.installed-test  ## Run the fast tests: minutes on two cores
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal --durations=30 $(ARGS)

test-system: $(VENV)/.installed-test  ## Run the tests of clusters, processes, browsers and real data, one at a time
	@$(BIN)/python -m pytest -q -n 0 -m system --durations=30 $(ARGS)

test-lowest: .venv-lowest/.installed  ## Run the fast tests and the verbs with the lowest versions of pyproject.toml
	@.venv-lowest/bin/python -m pytest -q -n $(WORKERS) --dist worksteal $(ARGS)
	@PATH="$(CURDIR)/.venv-lowest/bin:$$PATH" .ci/verbs

coverage: $(VENV)/.installed-test  ## Run the fast tests and show which branches they take, the ten least covered files first
	@rm -rf build/coverage && mkdir -p build/coverage
	@$(BIN)/coverage run -m pytest -q -n $(WORKERS) --dist worksteal $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report --skip-covered --sort=cover > build/coverage/report; status=$$?; \
	  awk '/^src/ && ++n > 10 { next } { print }' build/coverage/report; exit $$status

sanitize: $(VENV)/.installed-test  ## Run the fast tests of solvers and kernels with every index of compiled code checked
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/.sanitize \
	  $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal tests/solvers/dual tests/kernels $(ARGS)

fuzz: $(VENV)/.installed-test  ## Pose N generated hostile problems, from SEED on, and judge the answers
	@$(BIN)/python -m tests.hostile.attack -n $(N) --seed $(SEED) $(ARGS)

mutate: $(VENV)/.installed-test  ## List changes to costs, decisions and metrics that no test notices (ARGS="metrics/risk.py")
	@$(BIN)/python .ci/mutate.py $(ARGS)

lint: $(VENV)/.installed-lint  ## Check style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.installed-lint  ## Apply ruff's fixes and formatting
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-docs  ## Build the site into build/docs, warnings being errors; needs no network
	@rm -rf docs/gallery docs/generated
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going $(ARGS) docs build/docs
	@echo "The site is in build/docs/index.html"

package: $(VENV)/.installed-package  ## Build wheel and sdist, check them, try the wheel in an empty environment
	@PATH="$(abspath $(BIN)):$$PATH" .ci/package $(PYTHON)

bench: $(VENV)/.installed-bench  ## Time cssvm against its peers (half an hour; ARGS="--help" lists cases and other benchmarks)
	@$(BIN)/python -m benchmarks $(ARGS)

reproduce: $(VENV)/.installed-all  ## Run the paper's study on small data sets into reproduction/ (minutes; ARGS="--sets heart")
	@$(BIN)/python -m study --quick $(ARGS)

reproduce-full: $(VENV)/.installed-all  ## Run the whole study of the paper into reproduction-full/ (hours)
	@$(BIN)/python -m study --full --out reproduction-full $(ARGS)

clean:  ## Remove the environment, caches and build products
	rm -rf $(VENV) .venv-lowest .sanitize build dist demo docs/gallery docs/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find src study tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp, not pyvenv.cfg, is the target: an interrupted creation is simply repeated.
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

# uv alone can resolve to the lowest versions; of what is not named in pyproject.toml it takes the newest.
.venv-lowest/.installed: pyproject.toml
	@echo "Installing cssvm with the lowest versions of pyproject.toml into .venv-lowest"
	@$(PYTHON) -m venv --clear .venv-lowest
	@.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --no-input uv
	@.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable ".[test]"
	@touch $@
