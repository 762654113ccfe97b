# Everything runs in .venv, which the first target makes from any Python 3.11 or newer.
PYTHON ?= python3
BIN = .venv/bin
VENV = .venv/pyvenv.cfg
STAMP = .venv/.installed
DEMO_STAMP = .venv/.demo-installed
DOCS_STAMP = .venv/.docs-installed
# An editable installation reads the packages here, but has a copy of the command.
INSTALLED = pyproject.toml constraints.txt capsmodel_command.py

.PHONY: help demo test agreement browser lint types contracts notebooks docs write-notebooks ledger bench bench-paired mutants clean
.DEFAULT_GOAL := test

# Byte code is made of what is imported only, and kept, also where the shell asks for none: tests, pages and notebooks
# start hundreds of processes, each of which would compile 1200 modules for 3 s.
export PYTHONDONTWRITEBYTECODE =
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e

$(VENV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "capsmodel needs Python 3.11 or newer: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	$(PYTHON) -m venv .venv

$(STAMP): $(INSTALLED) | $(VENV)
	$(INSTALL) '.[test,lint]'
	@touch $@

# What the tour needs, a third of what the tests need.
$(DEMO_STAMP): $(INSTALLED) | $(VENV)
	$(INSTALL) '.[plot]'
	@touch $@

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' Makefile

demo: $(DEMO_STAMP) ## the tour, out/index.html, in two minutes
	$(BIN)/python -m capsmodel demo --out out

PYTEST = $(BIN)/python -m pytest -n auto --dist worksteal -q
test: $(STAMP) ## the tests that take seconds each (the default)
	$(PYTEST) --only=fast

agreement: $(STAMP) ## the tests of many packets, seeds or cases; EVERY=6 runs a sixth of the cases, TURN=3 this sixth
	$(PYTEST) --only=agreement $(if $(EVERY),--every=$(EVERY) --turn=$(or $(TURN),0)) tests

# The gallery in headless Chromium, Debian's package chromium.
browser: $(STAMP) ## the gallery in Chromium
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/browser/gallery_in_chromium.py

lint: $(STAMP) ## style and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: $(STAMP) ## types, by mypy
	$(BIN)/mypy
	$(BIN)/mypy tests/model/test_result_types.py

contracts: $(STAMP) ## which package may import which, and how long modules and functions may be
	PYTHONPATH=sim $(BIN)/lint-imports
	$(BIN)/python -m pytest -q -p no:cacheprovider -p no:xdist tests/layout.py

# The longest stand at the end, and begin first. The workers of xdist keep all cores busy: none starts processes. What
# the gate makes beside them goes first.
NOTEBOOKS = $$(ls -r notebooks/*.ipynb)
notebooks: $(STAMP) ## run all notebooks
	LOKY_MAX_CPU_COUNT=1 nice -n 3 $(BIN)/python -m pytest -o testpaths=notebooks --nbmake --nbmake-timeout=300 -p no:cacheprovider -n auto -q $(NOTEBOOKS)

# All that the gate needs, in one pass of pip.
$(DOCS_STAMP): $(INSTALLED) | $(VENV)
	$(INSTALL) '.[test,lint,docs]'
	@touch $(STAMP) $@

# The site: out/site/index.html. A warning, such as a link to nothing or a command that fails, is an error. Sphinx reads
# pages on all cores, so that sweeps in them start no processes; it names each page, but not in a log of CI.
docs: $(DOCS_STAMP) ## the documentation, out/site/index.html, in five minutes, a second time in one
	$(BIN)/python -m pytest -q -p no:cacheprovider -o pythonpath=docs/_ext docs/_ext
	LOKY_MAX_CPU_COUNT=1 $(BIN)/python -m sphinx $(if $(CI),--quiet) --jobs auto --fail-on-warning -b html -d out/doctrees -c docs . out/site
	@echo "wrote out/site/index.html"

# Runs every source in notebooks/src and writes it with its outputs.
write-notebooks: $(STAMP) ## run all notebooks and write them with their outputs
	for source in notebooks/src/*.py; do \
	  $(BIN)/jupytext --quiet --set-kernel python3 --to ipynb --execute \
	    --run-path notebooks --output notebooks/$$(basename $$source .py).ipynb $$source || exit 1; \
	done

# Decides every claim that a figure, a closed form or kept runs decide, and keeps the runs that are new in out/runs.
ledger: $(STAMP) ## decide the claims of the papers again
	$(BIN)/python -m capsmodel.papers.ledger data out/runs

bench: $(STAMP) ## rates of simulator and codec
	$(BIN)/python -m pytest benchmarks --benchmark-enable --benchmark-only -q -s -p no:xdist

# Which changes of a line no test notices; MUTANTS='--share 0.1 --minutes 10' takes a sample, --help says more.
mutants: $(STAMP) ## which changes of a line no test notices
	$(BIN)/python tests/mutants.py $(MUTANTS)

# Rates beside those of another checkout, in turn: make bench-paired BASE=../before
bench-paired: $(STAMP) ## rates beside those of another checkout, BASE=../before
	$(BIN)/python benchmarks/paired.py $(BASE)

clean: ## remove .venv and out
	rm -rf .venv out
