# `make run` and `make test` are all a newcomer needs; they make .venv on their own.

VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed

# What can make an environment: Python 3.11 or newer, with venv. Name another one with PYTHON=.
USABLE = import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	"$$python" -c '$(USABLE)' 2>/dev/null && { echo "$$python"; break; }; done)

.DEFAULT_GOAL := help
.PHONY: help run test test-all lint types bench clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

# ---------------------------------------------------------------- the example
EXAMPLE = cookbooks_example
STORE = .run/nodes.db
NODES = web1 web2 db1
PUZZLE = app.workers

run: $(STAMP) ## run the example repository for its three nodes, then explain the puzzle
	@for node in $(NODES); do \
		$(BIN)/nodeattrs run --repo $(EXAMPLE) --node $$node --facts $(EXAMPLE)/facts/$$node.json \
			--store $(STORE) || exit; echo; \
	done
	@mkdir -p .run/root; $(BIN)/nodeattrs catalog apply --repo $(EXAMPLE) --node web1 --facts $(EXAMPLE)/facts \
		--run-list "role[web],recipe[apache2::files]" --root .run/root --report .run/web1.jsonl; echo
	@$(BIN)/nodeattrs status --store $(STORE); echo
	@$(BIN)/nodeattrs search 'role:*' --attribute workers=$(PUZZLE) --attribute ipaddress --sort ipaddress --store $(STORE); echo
	@for node in web1 web2; do $(BIN)/nodeattrs explain $$node $(PUZZLE) --store $(STORE) || exit; echo; done

# ---------------------------------------------------------------- the checks
test: $(STAMP) ## run the tests, on all processors
	@$(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist loadgroup

lint: $(STAMP) ## ruff: style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP) ## mypy --strict
	@$(BIN)/mypy

bench: $(STAMP) ## the benchmarks of the node
	@$(BIN)/python -m tests.benchmarks node

# A shim may be on the path and start nothing, so each candidate is asked. pyenv's own versions count too.
test-all: ## run the tests on every CPython from 3.11 to 3.13 that works here
	@ran=; absent=; failed=; \
	for version in 3.11 3.12 3.13; do \
		found=; \
		for python in python$$version "$$HOME"/.pyenv/versions/$$version.*/bin/python$$version; do \
			"$$python" -c '$(USABLE)' 2>/dev/null && { found=$$python; break; }; \
		done; \
		if [ -z "$$found" ]; then absent="$$absent $$version"; continue; fi; \
		printf '\n== CPython %s\n' "$$version"; \
		$(MAKE) --no-print-directory test VENV=.venv-$$version PYTHON="$$found" || failed="$$failed $$version"; \
		ran="$$ran $$version"; \
	done; \
	printf '\nran on:%s; not on this machine:%s; failed on:%s\n' "$${ran:- none}" "$${absent:- none}" "$${failed:- none}"; \
	[ -n "$$ran" ] && [ -z "$$failed" ]

# ---------------------------------------------------------------- the environment
$(STAMP): pyproject.toml
	@python="$(PYTHON)"; \
	if [ -z "$$python" ]; then \
		echo 'No Python 3.11 or newer that can make a virtual environment.' >&2; \
		echo '  Debian and Ubuntu: apt-get install python3-venv; elsewhere: make PYTHON=/path/to/python3.11' >&2; \
		exit 1; \
	fi; \
	[ -x $(BIN)/python ] || "$$python" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean: ## remove what make, the tests and the tools have made
	rm -rf .venv .venv-* .run build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
