# `make run` and `make test` are all a newcomer needs; they make .venv on their own.

VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
RUNS = $(VENV)/.runs
comma = ,
# The tests start a thousand processes: without bytecode each would compile two hundred modules.
unexport PYTHONDONTWRITEBYTECODE

# What can make an environment: Python 3.11 or newer, with venv. Name another one with PYTHON=.
USABLE = import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3.14 python3.13 python3.12 python3.11 python3; do \
	"$$python" -c '$(USABLE)' 2>/dev/null && { echo "$$python"; break; }; done)

.DEFAULT_GOAL := help
.PHONY: help run quick test slow test-all lint types docs bench lock dist sbom clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

# ---------------------------------------------------------------- the example
EXAMPLE = cookbooks_example
PUZZLE = app.workers

# Each command is shown as one would type it at the root of the checkout.
do = printf '\n$$ nodeattrs %s\n' "$(1)"; $(BIN)/nodeattrs $(1)

run: $(RUNS) ## run the example repository for its three nodes, then explain the puzzle
	@echo "Three nodes of a small shop: cookbooks, roles, environments and facts in $(EXAMPLE)/."
	@$(call do,run --all --quiet --repo $(EXAMPLE) --facts $(EXAMPLE)/facts)
	@echo; echo "The load test says 24 workers, and app::default forces them. What do the nodes say?"
	@$(call do,search 'role:*' --attribute workers=$(PUZZLE) --attribute environment=chef_environment)
	@echo; echo "30 on web1, 8 on web2. Why?"
	@$(call do,explain web1 $(PUZZLE))
	@$(call do,explain web2 $(PUZZLE))
	@echo; echo "Where is the shop, and who watches it? The bindings say so; staging has a host of its own."
	@$(call do,search 'role:*' --attribute url=shop.url --attribute databases=shop.databases)
	@$(call do,bindings explain shop::host --site $(EXAMPLE)/bindings --environment staging)
	@echo; echo "What to type next:"
	@printf '  %s\n' '. $(BIN)/activate' 'nodeattrs explain web1 apache2.listen_ports' \
		'nodeattrs diff web1 web2 --path apache2' \
		'nodeattrs cloud-config explain $(EXAMPLE)/cloud-init/base.yaml $(EXAMPLE)/cloud-init/web.yaml --path runcmd' \
		'nodeattrs --help'
	@mkdir -p .run; echo; $(BIN)/nodeattrs report web1 web2 db1 --repo $(EXAMPLE) --output .run/report.html
	@echo "Open .run/report.html in a browser: the three nodes, with the fifteen slots behind every value."

# ---------------------------------------------------------------- the checks
# The slow ones run by themselves in `make test`: laws, oracles, processes, servers, whole pages of documentation.
QUICK = policy tree trace tracing fold made rules unknown values writers view documents roles expansion repository \
	cookbooks facts hiera_merge hiera_yaml hiera_types cloudinit_definitions cloudinit_mergers \
	bindings_language bindings_data bindings_injector catalog_order catalog_chains

quick: $(STAMP) ## the tests of the rules alone, in under a minute
	@$(BIN)/python -m pytest --quiet --numprocesses logical --maxprocesses 8 $(QUICK:%=tests/test_%.py) tests/structure

# A worker runs whole files, so that it makes once what the tests of a file share.
test: $(STAMP) ## run the tests, on all processors
	@$(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist loadfile

# What tries random things without Hypothesis, or a part of all that there is.
RANDOM = catalog_types causality causality_random fleet folders hiera_secrets hostile impact lsp markers mcp package \
	settings_models sharing strange_input threads vectors web_browser
SECONDS = 600
EFFORT = 5
slow: $(STAMP) ## many more examples of laws, all looks of all pages, odd inputs for ten minutes; EFFORT=20 SECONDS=3600
	@NODEATTRS_EFFORT=$(EFFORT) $(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 -m hypothesis
	@NODEATTRS_EFFORT=$(EFFORT) $(BIN)/python -m pytest $(RANDOM:%=tests/test_%.py)
	@$(BIN)/python -m tests.silence --count 200
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --count 1000

lint: $(STAMP) ## ruff: style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP) ## mypy --strict
	@$(BIN)/mypy

docs: $(STAMP) ## the site, into .run/site; a warning fails it
	@mkdir -p .run; NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build >.run/site.log 2>&1 || { grep -v INFO .run/site.log; exit 1; }
	@echo "$(BIN)/python -m http.server --directory .run/site serves it, with its search"

bench: $(STAMP) ## the benchmarks of the node
	@$(BIN)/python -m tests.benchmarks node

# A shim may be on the path and start nothing, so each candidate is asked. pyenv's own versions count too.
test-all: ## run the tests on every CPython from 3.11 to 3.14 that works here
	@ran=; absent=; failed=; \
	for version in 3.11 3.12 3.13 3.14; do \
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

# ---------------------------------------------------------------- the release
# The tools have an environment of their own, with the versions and hashes of .ci/release.lock.
RELEASE = .venv-release
UV = $(RELEASE)/bin/uv
LOCKED = --disable-pip-version-check --quiet --require-hashes --only-binary :all: --requirement
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --only-binary :all: \
	--custom-compile-command 'make lock' $(UPGRADE)

lock: $(RELEASE)/.installed ## the versions that CI installs, into .ci/*.lock; UPGRADE=--upgrade takes newer ones
	@$(COMPILE) --extra dev pyproject.toml --output-file .ci/dev.lock
	@for group in ansible release; do $(COMPILE) --group $$group --output-file .ci/$$group.lock || exit; done

# Every file in the wheel has the time of the last commit, so that a second build gives the same bytes.
dist: $(RELEASE)/.installed ## the wheel and the source archive, into dist
	@rm -rf dist
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(RELEASE)/bin/python -P -m build --no-isolation --quiet

sbom: dist ## what the wheel may install, all extras, as CycloneDX, into .run/sbom.cdx.json
	@mkdir -p .run
	@$(UV) venv --quiet --clear --python $(RELEASE)/bin/python .run/sbom
	@$(UV) pip install --quiet --python .run/sbom --only-binary :all: --constraint .ci/dev.lock "$$(ls dist/*.whl)[all,dask,fast]"
	@$(RELEASE)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file .run/sbom.cdx.json .run/sbom/bin/python

$(RELEASE)/.installed: .ci/release.lock
	@"$(PYTHON)" -m venv --clear $(RELEASE)
	@$(RELEASE)/bin/python -m pip install $(LOCKED) .ci/release.lock
	@touch $@

# ---------------------------------------------------------------- the environment
# A newcomer gets the newest that pyproject.toml allows. LOCK=.ci/dev.lock gets exactly what that file names.
LOCK =
# A new machine waits for pip: a dot every second says that something is going on, and what pip said if it failed.
locked = { $(BIN)/python -m pip install $(LOCKED) $(LOCK) \
	&& $(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation --editable .; }
install = @python="$(PYTHON)"; \
	if [ -z "$$python" ]; then \
		echo 'No Python 3.11 or newer that can make a virtual environment.' >&2; \
		echo '  Debian and Ubuntu: apt-get install python3-venv; elsewhere: make PYTHON=/path/to/python3.11' >&2; \
		exit 1; \
	fi; \
	printf 'Installing %s into $(VENV), once ' "$(2)"; \
	log=$$(mktemp); { [ -x $(BIN)/python ] || "$$python" -m venv $(VENV); } >"$$log" 2>&1 \
		&& $(if $(LOCK),$(locked),$(BIN)/python -m pip install --disable-pip-version-check --editable '.[$(1)]') >>"$$log" 2>&1 & \
	pip=$$!; while kill -0 $$pip 2>/dev/null; do printf .; sleep 1; done; \
	if wait $$pip; then echo ' done'; rm -f "$$log"; else echo; cat "$$log" >&2; rm -f "$$log"; exit 1; fi

$(RUNS): pyproject.toml $(LOCK)
	$(call install,search$(comma)templates$(comma)bindings,what the example needs)
	@touch $@

$(STAMP): pyproject.toml $(LOCK)
	$(call install,dev,everything a developer needs)
	@touch $@ $(RUNS)

clean: ## remove what make, the tests and the tools have made
	rm -rf .venv .venv-* .run build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
