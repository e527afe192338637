# Needs Python >= 3.11, make and git; node and npm too for the tests. `make help` lists the targets.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

# Without byte code, every start compiles the whole tree again (seconds, for litellm).
unexport PYTHONDONTWRITEBYTECODE
# Use the Python that is here; never fetch another.
export UV_PYTHON_DOWNLOADS := never
# Trust whom the system trusts, as pip, npm and git do: a proxy of this network may sign for the index.
export UV_SYSTEM_CERTS ?= true

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
# inline-snapshot cannot write from several processes; `make snap` uses one.
PYTEST := $(BIN)/pytest -n $(WORKERS) --maxschedchunk=2 --inline-snapshot=disable
CLIENTS := tests/e2e/clients
VSCODE := editors/vscode
NVIM := editors/nvim
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command 'make lock'

##@ Use
.PHONY: help demo

help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z][a-z0-9-]*:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.stamp ## see it work, offline and without a key (answers yes when nobody can type)
	@if [ -t 0 ]; then exec $(BIN)/agent-server demo; else exec $(BIN)/agent-server demo --yes; fi

##@ Check
.PHONY: test check fix lint types layers unit e2e flakes mutants

# The types are checked beside the tests: their minute is one in which a worker waits for an editor. What is wrong with
# them is told after the tests, and fails; when nothing is, the last line is that of pytest.
test: setup lint layers ## all of it, as CI runs it
	@$(BIN)/basedpyright >.venv/types.log 2>&1 & types=$$!; \
	trap 'kill $$types 2>/dev/null || true' EXIT; \
	tests=0; $(PYTEST) tests || tests=$$?; \
	wait $$types || { cat .venv/types.log; exit 1; }; \
	exit $$tests

check: lint types layers unit ## the quick part: before each commit

fix: .venv/.stamp ## format, and repair what can be repaired
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

lint: .venv/.stamp ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.stamp ## basedpyright, strict
	$(BIN)/basedpyright

layers: .venv/.stamp ## import-linter: imports point down
	$(BIN)/lint-imports

unit: .venv/.stamp ## the tests in memory
	$(PYTEST) tests --ignore=tests/e2e

e2e: setup ## the tests with real processes, clients and editors
	$(PYTEST) tests/e2e

flakes: setup ## the end-to-end tests ROUNDS=20 times, alone and shuffled, under load and without (TESTS=…: some of them)
	$(BIN)/python scripts/flakes.py $(TESTS)

mutants: .venv/.stamp ## break the program on purpose, and see that a test notices (minutes)
	$(BIN)/python scripts/mutants.py

##@ Look
.PHONY: sizes bench

sizes: .venv/.stamp ## the ten longest files and functions
	@$(BIN)/python scripts/sizes.py

bench: .venv/.stamp ## start-up, streaming, sessions, loading and editing, beside their floors
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.streaming
	$(BIN)/python -m benchmarks.sessions
	$(BIN)/python -m benchmarks.loading
	$(BIN)/python -m benchmarks.editing

##@ Make
.PHONY: setup schema snap lock vsix nvim-server nvim-plugin

setup: .venv/.stamp $(CLIENTS)/node_modules/.stamp ## .venv with .venv/bin/agent-server, and the test clients

schema: .venv/.stamp ## write protocol/schema.json, and the types made from it, anew from the code
	$(BIN)/agent-server schema >protocol/schema.json.new
	mv protocol/schema.json.new protocol/schema.json
	node $(VSCODE)/scripts/protocol.mjs
	$(BIN)/python scripts/protocol_types.py

snap: .venv/.stamp ## fill in and correct inline snapshots: read the diff
	-$(BIN)/pytest tests --ignore=tests/e2e --inline-snapshot=create,fix

lock: .venv/.stamp ## resolve the dependencies of pyproject.toml anew (UPGRADE=--upgrade: to the newest)
	$(BIN)/$(LOCK) $(UPGRADE) pyproject.toml --output-file requirements.lock
	$(BIN)/$(LOCK) $(UPGRADE) pyproject.toml --group dev --output-file requirements-dev.lock

# What an editor's plugin carries: the server's wheel, and the lock by which its dependencies are installed.
define carry
	rm -rf $(1)
	VIRTUAL_ENV=.venv $(BIN)/uv build --quiet --wheel --no-build-isolation --offline --out-dir $(1) .
	cp requirements.lock $(1)/
endef

vsix: .venv/.stamp $(VSCODE)/node_modules/.stamp ## editors/vscode/agent-server.vsix, with the server in it
	$(call carry,$(VSCODE)/server)
	cd $(VSCODE) && npm run --silent package
	@ls -l $(VSCODE)/agent-server.vsix

nvim-server: .venv/.stamp ## editors/nvim/server, which `:Agent install` installs
	$(call carry,$(NVIM)/server)
	@ls -l $(NVIM)/server

nvim-plugin: nvim-server ## dist/agent.nvim, a git repository for plugin managers, with the server in it
	$(BIN)/python scripts/nvim_plugin.py dist/agent.nvim

# uv comes by pip and its hash is checked like every other. It then makes the environment equal to the lock
# (pip is not in it), so a broken or foreign .venv is made anew. Where only pip is told how to reach an index (pip.conf,
# PIP_INDEX_URL), pip installs, from the same lock.
.venv/.stamp: pyproject.toml requirements.lock requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'agent-server needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(BIN)/python -c '' 2>/dev/null && $(BIN)/uv --version >/dev/null 2>&1 || { \
	  $(PYTHON) -m venv --clear .venv; \
	  awk '/^uv==/ { found = 1 } found { print } found && !/\\$$/ { exit }' requirements-dev.lock >.venv/uv.lock; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
	    --requirement .venv/uv.lock; }
	VIRTUAL_ENV=.venv $(BIN)/uv pip sync --quiet --require-hashes --compile-bytecode requirements-dev.lock \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
	    --requirement requirements-dev.lock
	VIRTUAL_ENV=.venv $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --no-index --editable .
	@touch $@

# Not `npm ci`: it refuses the lock because acpx names optional binaries, for other systems, that were never
# published. This reads the same lock and checks the same hashes, and leaves the lock as it is.
$(CLIENTS)/node_modules/.stamp: $(CLIENTS)/package.json $(CLIENTS)/package-lock.json
	cd $(CLIENTS) && npm install --no-save --ignore-scripts --no-progress --loglevel=error
	@touch $@

# Not `npm ci` either, for the same reason.
$(VSCODE)/node_modules/.stamp: $(VSCODE)/package.json $(VSCODE)/package-lock.json
	cd $(VSCODE) && npm install --no-save --ignore-scripts --no-progress --loglevel=error
	@touch $@
