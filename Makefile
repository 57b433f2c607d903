# `make help` lists what there is. Every target works from a fresh clone.
SHELL := /bin/bash
.DEFAULT_GOAL := help
BUILD := build
JOBS ?= $(shell nproc)
LISTEN ?= 127.0.0.1:8080
MINUTES ?= 6
SEED ?= 1
COUNT ?= 100
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export CCACHE_SLOPPINESS := pch_defines,time_macros
export CTEST_OUTPUT_ON_FAILURE := 1

.PHONY: help
help:  ## this list
	@grep -hE '^[a-z0-9 -]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 16

.PHONY: deps deps-test
deps:  ## install the packages that a build needs (apt, as root or through sudo)
	@tools/install_deps.sh build
deps-test:  ## ...and those that the tests need
	@tools/install_deps.sh build test

define build_preset
	@mkdir -p $(BUILD)
	@cmake --preset $(1) > $(BUILD)/$(1).configure.log 2>&1 || { cat $(BUILD)/$(1).configure.log; exit 1; }
	@echo "building $(1) on $(JOBS) cores"
	@cmake --build --preset $(1) -j $(JOBS)
endef

.PHONY: build
build: deps  ## build the callgate binary
	$(call build_preset,run)
	@ln -sf run/callgate $(BUILD)/callgate

.PHONY: run
run: build  ## build and start the gateway with demo models
	@exec $(BUILD)/callgate serve --demo --listen $(LISTEN)

.PHONY: test check
test: deps-test  ## build and run all tests: unit and end to end with sanitizers, threads, fuzzers
	@tools/run_tests.sh all
check: test  ## what CI runs

.PHONY: unit
unit: deps-test  ## quick: the dev build's tests alone
	@tools/run_tests.sh dev

.PHONY: e2e
e2e: deps-test  ## the real server between a scripted upstream and real SDK clients
	@tools/run_tests.sh e2e

.PHONY: check-web screenshots
check-web: deps-test  ## the inspector in Chromium: types, every view, keyboard, themes, axe, 5,000 rows
	@tools/run_tests.sh web
screenshots: deps-test  ## pictures of every view of the inspector into build/screenshots
	$(call build_preset,run)
	@tests/web/run.sh $(BUILD)/run/callgate screenshots.mjs $(CURDIR)/$(BUILD)/screenshots

.PHONY: check-real
check-real: deps-test  ## the real codex, claude, opencode, qwen-code and cline, offline: installs 1.6 GB on demand
	$(call build_preset,run)
	@tools/check_real.sh $(BUILD)/run/callgate

.PHONY: check-mcp
check-mcp: deps-test  ## the official MCP conformance scenarios: installs 150 MB on demand
	$(call build_preset,run)
	@tools/check_mcp.sh $(BUILD)/run/callgate

.PHONY: package check-package
package: deps  ## Debian and npm packages, the portable archive, SBOM and sums, in build/package/out
	@tools/install_deps.sh build package
	@tools/package/run.py
check-package: package  ## ...and install, run and purge them in a minimal Debian root (debootstrap, as root)
	@tests/package/check.py

.PHONY: site
site:  ## the documentation as a static site with search, in build/site: no network, works from file://
	@tools/site/build.py $(BUILD)/site

.PHONY: asan tsan
asan tsan: deps-test  ## the tests under a sanitizer
	@tools/run_tests.sh $@

.PHONY: growth
growth: deps-test  ## counts instructions for n and 4n messages, calls, tools and parts everywhere: nothing may grow faster
	@tools/run_tests.sh growth

.PHONY: cost
cost: deps-test  ## counts instructions and allocations of whole answers and frames: none may cost 5 % more than expected
	@tools/run_tests.sh cost

.PHONY: fuzz
fuzz: deps-test  ## fuzz for MINUTES of wall time (default 6), shared among all targets
	@tools/run_fuzzers.sh $$(( $(MINUTES) * 60 )) all

.PHONY: mutation
mutation: deps-test  ## one-line mistakes that unit tests should notice: SEED, COUNT, MODULES, OWN, BESIDE, EQUIVALENT, ONLY
	@tools/mutation/run.py --seed $(SEED) --count $(COUNT) --jobs $(JOBS) --modules "$(MODULES)" \
		$(if $(OWN),--own --beside "$(BESIDE)") $(if $(EQUIVALENT),--equivalent $(EQUIVALENT)) $(if $(ONLY),--only $(ONLY))

.PHONY: check-suites
check-suites: deps-test  ## public suites rebuilt, browsers, attacks, PostgreSQL faults; SUITES names some of them
	$(call build_preset,run)
	@tools/check_suites.sh $(BUILD)/run/callgate $(SUITES)

# MINUTES has a default for fuzz alone.
SOAK_MINUTES = $(if $(filter command environment,$(origin MINUTES)),$(MINUTES),$(shell echo $$(( $(or $(HOURS),1) * 60 ))))
.PHONY: soak soak-tests
soak: deps-test  ## mixed work and chaos on three gateways for HOURS (default 1) or MINUTES; IDLE, STREAMS, WORKERS, SEED
	$(call build_preset,run)
	@SOAK_IDLE=$(IDLE) SOAK_STREAMS=$(STREAMS) SOAK_WORKERS=$(WORKERS) SEED=$(SEED) tools/run_soak.sh $(BUILD)/run/callgate $(SOAK_MINUTES)
soak-tests: deps-test  ## the long forms of crash, restart and cluster tests, about half an hour
	@tools/run_soak_tests.sh

.PHONY: bench bench-store
bench: deps-test  ## the tables of docs/performance.md: beside nginx and haproxy, stores, TLS, protocols, growth; about 20 minutes
	$(call build_preset,release)
	@bench/gateway/run.py --write docs/performance.md
bench-store: deps-test  ## the gateway without a store, with SQLite and with PostgreSQL, one interleaved run
	$(call build_preset,release)
	@bench/store/run.py

.PHONY: golden-update
golden-update: deps-test  ## rewrite golden expectations (read the diff)
	$(call build_preset,dev)
	@cd $(BUILD)/dev && CALLGATE_GOLDEN_UPDATE=1 ctest -R '[Gg]olden'

.PHONY: format hooks clean
format:  ## clang-format all sources
	@git ls-files '*.cpp' '*.h' | xargs clang-format -i
hooks:  ## use the repository's git hooks
	@git config core.hooksPath .githooks
clean:  ## remove build folders
	@rm -rf $(BUILD)
