# Orchid. `make` prints this help.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
WORKERS ?= 2
BENCH := .venv-bench
PEERS := $(BENCH)/.installed-peers
PHOENIX := .venv-phoenix/.installed
LOCKS := --universal --generate-hashes --python-version 3.11 --no-header --quiet
export ORCHID_VAR ?= var
export PYTHON
# Tests, the demo and the measurements start many processes, and to compile every module anew is half
# of a start. Where the machine forbids Python to keep what it compiled, this checkout allows it.
unexport PYTHONDONTWRITEBYTECODE
# By name, for ORCHID_VAR may hold what is not ours.
STORED := postgres postgres.unfinished run log secrets keys edge triton mail

SCHEMA := docs/reference/orchid.policy.v1.schema.json
REFERENCE := docs/reference/policy.md

.PHONY: help demo demo-reset demo-check test lint types imports lock triton fmt docs bench-engine bench-ingest bench-gates bench-releases fault-ingest fault-releases ci

help: ## Print this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  \033[1m%-12s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(RUN) ## Start the whole product with the example products (Ctrl-C stops all of it)
	@$(BIN)/python -m orchid up --demo

demo-reset: ## Forget what the demo has stored
	@if [ -e $(ORCHID_VAR)/run/up.lock ] && ! flock -n $(ORCHID_VAR)/run/up.lock true; then \
	  echo "Orchid runs on $(ORCHID_VAR): stop it first (Ctrl-C in its terminal)."; exit 1; fi
	@cd $(ORCHID_VAR) 2>/dev/null && rm -rf $(STORED) || true

demo-check: $(DEV) ## Play the whole story without a person and say which step failed
	@$(BIN)/python -m orchid demo check

# A file stays with one worker, which has a database of its own: a file seeds it once. The order of
# files is that of tests/conftest.py, the longest first.
test: $(DEV) ## Run every test (TESTS=tests/engine for some)
	@.ci/chromium
	@$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

lint: $(DEV) ## Find faults of style
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(DEV) ## Check types: strict in orchid/
	@$(BIN)/mypy .

imports: $(DEV) ## Check who may import whom
	@$(BIN)/lint-imports

fmt: $(DEV) ## Format, and mend what can be mended
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: $(DEV) ## Pin again what requirements*.in ask for
	@$(BIN)/uv pip compile requirements.in $(LOCKS) -o requirements.lock
	@$(BIN)/uv pip compile requirements-dev.in $(LOCKS) -o requirements-dev.lock
	@$(BIN)/uv pip compile requirements-peers.in $(LOCKS) -o requirements-peers.lock
	@$(BIN)/uv pip compile requirements-phoenix.in $(LOCKS) -o requirements-phoenix.lock

triton: $(RUN) ## Build .triton, the environment of a real Triton
	@$(BIN)/python -m orchid triton build

bench-engine: $(PEERS) ## Measure the engine beside other policy engines (SMOKE=1: see only that it runs)
	@$(BENCH)/bin/python -m benchmarks.engine $(if $(SMOKE),--smoke)

bench-ingest: $(PEERS) $(if $(PEER),$(PHOENIX)) ## Measure ingest beside COPY and other stores (SMOKE=1, ONLY=records, PEER=1)
	@$(BENCH)/bin/python -m benchmarks.ingest $(if $(SMOKE),--smoke) $(ONLY)

bench-gates: $(PEERS) ## Measure verdicts beside columnar stores, and their error rates (SMOKE=1, ONLY=merge)
	@$(BENCH)/bin/python -m benchmarks.gates $(if $(SMOKE),--smoke) $(ONLY)

bench-releases: $(DEV) ## Measure publish-to-active at 1,000 edges, breaches, polls, contests (SMOKE=1, ONLY=breach)
	@$(BIN)/python -m benchmarks.releases $(if $(SMOKE),--smoke) $(ONLY)

fault-ingest: $(DEV) ## Kill web, worker, beat and PostgreSQL at random under load (ROUNDS=20 SEED=1)
	@$(BIN)/python -m benchmarks.faults --rounds $(or $(ROUNDS),20) --seed $(or $(SEED),1)

fault-releases: $(DEV) ## Kill web, worker, beat and PostgreSQL in the middle of decisions (ROUNDS=50 SEED=1)
	@$(BIN)/python -m benchmarks.faults.decisions --rounds $(or $(ROUNDS),50) --seed $(or $(SEED),1)

# By way of a temporary name, so that a failure leaves the published file as it is.
docs: $(RUN) ## Write the reference of the policy document from its schema
	@$(BIN)/python -m orchid policy schema > $(SCHEMA).new && mv $(SCHEMA).new $(SCHEMA)
	@$(BIN)/python -m orchid policy schema --markdown > $(REFERENCE).new && mv $(REFERENCE).new $(REFERENCE)

ci: ## What continuous integration runs
	@.ci/run

# A stamp holds the hash of the lock that is installed, so a mere checkout installs nothing again.
$(RUN): requirements.lock
	@.ci/install $< $@

$(DEV): requirements-dev.lock
	@.ci/install $< $@

# Peers stand beside the product in an environment of their own. Standard output is for figures.
$(BENCH)/.installed: requirements.lock
	@.ci/install $< $@ >&2

$(PEERS): requirements-peers.lock $(BENCH)/.installed
	@.ci/install $< $@ >&2

# A store of traces with hundreds of packages, which stands apart from the other peers.
$(PHOENIX): requirements-phoenix.lock
	@.ci/install $< $@ >&2
