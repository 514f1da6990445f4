# Everything a contributor runs. Needs python3 (3.11 or newer) and make; the rest goes into .venv.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip -qq --disable-pip-version-check

# Stamps: a target is installed once, and again when its list of packages changes.
MADE := $(VENV)/.made
RUN  := $(VENV)/.run-installed
DEV  := $(VENV)/.dev-installed

# LangGraph, which the benchmarks compare with, stays out of .venv.
PEERS := build/bench-venv
PEER  := $(PEERS)/.installed

# Hundreds of processes are started by the tests, and each would compile our modules for itself.
unexport PYTHONDONTWRITEBYTECODE

# The tests in parts, each with a process of its own, longest first: short ones last, so that all end
# together. What is in no other is in the rest.
# Making and unmaking networks breaks what browsers load meanwhile: both are in one part, and so in turn.
CUT_OFF   := tests/crash/test_cut_off.py
PARTS     := browser web hosts deaths runs docs terminals rest servers journeys asks
browser   := tests/browser $(CUT_OFF)
web       := tests/web
asks      := tests/asks
runs      := $(addprefix tests/,agent runs store)
deaths    := $(addprefix tests/,crash evidence races)
deaths_but := --ignore=$(CUT_OFF)
terminals := $(addprefix tests/,channels cli)
journeys  := tests/journeys
hosts     := $(addprefix tests/,adapters benchmarks package)
servers   := $(addprefix tests/,access conformance demo remote)
docs      := tests/docs
# For whoever edits: rooms that need no browser, and one database.
QUICK       := quick-asks quick-pure quick-agent quick-runs
quick-asks  := --sqlite $(addprefix tests/,asks channels)
quick-pure  := --sqlite $(addprefix tests/,model policy autonomy store access)
quick-agent := --sqlite tests/agent
quick-runs  := --sqlite $(addprefix tests/,runs insight)
TESTS     := $(addprefix test-,$(PARTS) $(QUICK))
NAMED     := $(filter-out rest,$(PARTS))
rest      := $(addprefix --ignore=,$(foreach part,$(NAMED),$($(part))))

# A program that the tests start may be missing on a fresh Debian. Root gets it installed; anyone else
# is told the command. $(call debian,the sentence that says what is missing,packages)
debian = if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		echo "Installing $(2) ..."; export DEBIAN_FRONTEND=noninteractive; \
		log=$$(apt-get update 2>&1 && apt-get install --yes --no-install-recommends $(2) 2>&1) \
			|| { echo "$$log" >&2; exit 1; }; \
	else echo "$(1) Run this, then try again: sudo apt-get install $(2)" >&2; exit 1; fi
CHROMIUM := chromium-headless-shell fonts-dejavu-core fonts-noto-color-emoji

# Tests commit tens of thousands of times and kill programs, never the machine: a folder in memory spares
# them the disk. Where it is small (a container's often has 64 MB) they stay on the disk.
MEMORY := $(shell df --output=avail --block-size=1G /dev/shm 2> /dev/null | awk 'NR == 2 && $$1 >= 4 { print "/dev/shm" }')

# $(call took,parts): how each of them went, and how long it took.
took = echo; for part in $(1); do echo "$$part: $$(tail -n 1 $(VENV)/test-$$part.txt 2> /dev/null || echo broke off)"; done; \
	echo "all of it: $$(($$(date +%s) - $$(cat $(VENV)/test.began))) s"

CODE  := $(wildcard src tests benchmarks examples tools)
BENCH ?= $(filter-out benchmarks/_%,$(wildcard benchmarks/*.py))

.DEFAULT_GOAL := help
.PHONY: help demo test test-quick $(TESTS) curl ip chromium pgbouncer check soak mutants bench docs reference pictures format lock vendor clean
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

demo: $(RUN) ## a small company whose agents wait for you; DEMO="--port 9000" for options
	@$(BIN)/sayso demo $(DEMO)

# Tests wait nearly as much as they work: on two cores, four parts at a time.
test: $(DEV) curl chromium ip ## everything that must hold before a commit: check, and the tests; test-web: one part alone
	@rm -rf $(VENV)/test-* $(VENV)/cache-*; date +%s > $(VENV)/test.began
	@failed=0; $(MAKE) --no-print-directory --keep-going --jobs=4 check $(addprefix test-,$(PARTS)) \
		|| { $(MAKE) --no-print-directory check && $(BIN)/python -m tools.again $(VENV) $(PARTS); } || failed=$$?; \
	$(call took,check $(PARTS)); exit $$failed

test-quick: $(DEV) ## the rooms that need no browser, on SQLite alone: while you edit
	@rm -rf $(VENV)/test-quick-*; date +%s > $(VENV)/test.began
	@failed=0; $(MAKE) --no-print-directory --keep-going --jobs=3 $(addprefix test-,$(QUICK)) || failed=$$?; \
	$(call took,$(QUICK)); exit $$failed

# `make test-web` is one part alone.
$(TESTS): test-%: $(DEV)
	@echo "Testing: $* ..."
	@$(if $(MEMORY),TMPDIR=$(MEMORY)) $(BIN)/python -m pytest -q $($*) $($*_but) -o cache_dir=$(VENV)/cache-$* > $(VENV)/$@.txt 2>&1; failed=$$?; \
	echo $$failed > $(VENV)/$@.code; echo; echo "Tested: $*"; cat $(VENV)/$@.txt; exit $$failed

# The page of the HTTP API shows curl, and its test runs what it shows.
curl:
	@command -v curl > /dev/null || { $(call debian,The tests need curl.,curl); }

# A worker is cut off from its database: root does it with network namespaces.
ip:
	@test "$$(id -u)" != 0 || command -v ip > /dev/null || { $(call debian,The tests need ip.,iproute2); }

# The pages are tested in a real browser. SAYSO_CHROMIUM=/path/to/one names another than Debian's.
chromium:
	@test -n "$$SAYSO_CHROMIUM" || command -v chromium-headless-shell > /dev/null || command -v chromium > /dev/null \
		|| { $(call debian,The tests need a browser.,$(CHROMIUM)); }

pgbouncer:
	@PATH=$$PATH:/usr/sbin command -v pgbouncer > /dev/null || { $(call debian,Some of these tests need PgBouncer.,pgbouncer); }

check: $(DEV) ## style, types, import directions, spelling
	@date +%s > $(VENV)/check.began
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo "Not formatted (try: make format):" >&2; $(BIN)/ruff format --check . >&2; false; }
	@$(BIN)/mypy --no-error-summary $(CODE)
	@$(BIN)/lint-imports --no-logo > $(VENV)/imports.txt 2>&1 || { cat $(VENV)/imports.txt >&2; false; }
	@$(BIN)/codespell
	@echo "ruff, mypy, import-linter and codespell: nothing to report in $$(($$(date +%s) - $$(cat $(VENV)/check.began))) s" \
		| tee $(VENV)/test-check.txt

soak: $(DEV) chromium ip pgbouncer ## the same races many times over; takes minutes
	@$(BIN)/python -m pytest -q -m soak --timeout=3600

mutants: $(DEV) ## change the code a little, 120 times, and see that tests notice; MUTANTS="--seed 7 asks" for others
	@$(BIN)/python -m tools.mutants $(MUTANTS)

bench: $(DEV) $(PEER) chromium ## measure against bare SQL and LangGraph; BENCH=benchmarks/store.py for one
	@set -e; python=$(BIN)/python; ! test -e $(PEER) || python=$(PEERS)/bin/python; \
	for file in $(BENCH); do echo "== $$file"; $$python -m $$(echo $${file%.py} | tr / .); done

docs: $(DEV) ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict > $(VENV)/docs.txt 2>&1 || { cat $(VENV)/docs.txt >&2; false; }

reference: $(DEV) ## write what the pages say of errors, events and states, from the code
	@$(BIN)/python -m tools.reference

pictures: $(DEV) chromium ## draw every page of the inbox into docs/images/, in the browser
	@$(BIN)/python -m tools.pictures

format: $(DEV) ## put the code into the house style
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

lock: $(MADE) ## compile requirements/*.txt from pyproject.toml; LOCK=--upgrade for newer versions
	@test -x $(BIN)/uv || $(PIP) install uv
	@$(COMPILE) --output-file requirements/run.txt pyproject.toml
	@$(COMPILE) --output-file requirements/dev.txt --group dev --constraint requirements/run.txt pyproject.toml
	@$(COMPILE) --output-file requirements/bench.txt --constraint requirements/dev.txt requirements/bench.in pyproject.toml

vendor: $(MADE) ## fetch htmx, fonts and icons again, as vendored.json says; VENDOR=--update notes new hashes
	@$(BIN)/python tools/vendor.py $(VENDOR)

COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(LOCK)

clean: ## remove .venv and everything built
	@rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# ---------------------------------------------------------------- the environment

# Debian ships python3 without venv.
$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "sayso needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; \
		exit 1; }
	@if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
		package=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
		$(call debian,$(PYTHON) has no venv module.,$$package); \
	fi
	@echo "Making an environment in $(VENV) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(RUN): pyproject.toml requirements/run.txt | $(MADE)
	@echo "Installing what sayso needs to run into $(VENV) ..."
	@$(PIP) install -r requirements/run.txt
	@$(PIP) install --no-deps --editable .
	@touch $@

$(DEV): pyproject.toml requirements/dev.txt | $(MADE)
	@echo "Installing the development tools into $(VENV) ..."
	@$(PIP) install -r requirements/dev.txt
	@$(PIP) install --no-deps --editable .
	@touch $@ $(RUN)

# Without a network there is no LangGraph; ours is then measured beside bare SQL alone.
$(PEER): pyproject.toml requirements/bench.txt | $(MADE)
	@echo "Installing what the benchmarks compare with into $(PEERS) ..."
	@$(BIN)/python -m venv --clear $(PEERS)
	@pip="$(PEERS)/bin/python -m pip -qq --disable-pip-version-check"; \
	if $$pip install -r requirements/bench.txt && $$pip install --no-deps --editable .; then touch $@; \
	else echo "LangGraph could not be installed: its side will be missing." >&2; rm -rf $(PEERS); fi
