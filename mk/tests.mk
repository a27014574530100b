# tests.mk - the targets that run tests
#
# Which tests `make check` and `make test` run is in tests/plans/*.txt, one row per line;
# tests/rows describes the format. Add a test there, not here.
#
# Defines: run_plan, for checks.mk.
# Needs: config.mk, library.mk (ADAPTERS), programs.mk, fuzz.mk, tool.mk, module.mk.

OPS ?= 1000000
MODEL_JOBS ?= 2
SOAK_SECONDS ?= 3600
EXPLORE_SECONDS ?= 600
SIM_SEEDS ?= 100000
FAILOVER_ROUNDS ?= 20
KILL_CYCLES ?= 5000

# The environment of the rows of plans.
plan_env = SEED='$(SEED)' ADAPTERS='$(ADAPTERS)' CC='$(CC)' MAKE='$(MAKE_COMMAND)'
# $(call run_plan,NAME): tests/plans/NAME.txt.
run_plan = $(plan_env) tests/run --plan tests/plans/$(1).txt
# $(call plan_programs,NAME): the programs of its rows, in the shell.
plan_programs = $$($(plan_env) tests/rows --programs tests/plans/$(1).txt)
# A make with one job per processor, unless you passed -j.
parallel_make = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$$(nproc 2>/dev/null || echo 2))

check: ## the tests to run after every edit; under 90 s on two processors, installs nothing
	+@$(parallel_make) $(call plan_programs,check)
	@$(call run_plan,check)

test: ## all tests; under 15 min; ends with "N passed, N failed"
	@tools/deps test
	+@$(parallel_make) test-programs
	@$(call run_plan,test)

test-programs: all
	+@$(MAKE) --no-print-directory $(call plan_programs,test)

asan: $(call suite_programs,asan) ## the tests under AddressSanitizer and UBSan: SEED=1 OPS=1000000
	@VARIANT=asan LAWN_OPS=$(OPS) STORE_OPS=$(OPS) WORKERS_OPS=$(OPS) $(call run_plan,suite)

tsan: $(addprefix build/tsan/,unit model) ## the tests of workers under ThreadSanitizer
	@tests/run 'build/tsan/unit {between_threads,worker,very_many_threads}' \
	    'build/tsan/unit {between_threads,between_threads,between_threads}' \
	    'build/tsan/model --seed $(SEED) --ops 50000 --mix workers-{few,unique,extreme}'

model: build/debug/model ## random operations, compared with an oracle: SEED=1 OPS=1000000
	@tests/run 'build/debug/model --seed $(SEED) --ops $(OPS) --mix {few,unique,extreme,edges,pieces,naive}' \
	    'build/debug/model --seed $(SEED) --ops $(OPS) --mix {store,workers,loop}-{few,unique,extreme}' \
	    'build/debug/model --seed $(SEED) --ops $(OPS) --mix class-{few,many,extreme}'

# Nine tenths with a tuning that changes often, so that short cases contain all modes;
# the rest with the tuning of the release.
model-long: OPS := 1000000000
model-long: build/long/model build/release/model ## the same on lawns and pairs of lawns, with fewer checks; prints the rate: SEED=1 OPS=1000000000 MODEL_JOBS=2
	build/long/model --seed $(SEED) --ops $(shell expr $(OPS) / 10 '*' 9) --mix core --light 1 --check-every 65536 --jobs $(MODEL_JOBS)
	build/release/model --seed $(SEED) --ops $(shell expr $(OPS) / 10) --mix core --light 1 --check-every 65536 --jobs $(MODEL_JOBS)

model-filters: LINES := 1000000
model-filters: build/lawn ## the tool's filters, compared with a simple reference: SEED=1 LINES=1000000
	@tests/run 'tests/cli/filter_model.py --seed $(SEED) --lines $(LINES)'

soak: build/release/soak ## ten million timers on the real clock for SOAK_SECONDS=3600; a line a minute; SEED=1 TIMERS=10000000
	@build/release/soak --seconds $(SOAK_SECONDS) --seed $(SEED) $(if $(TIMERS),--timers $(TIMERS))

soak-rounds: build/debug/soak ## SOAK_SECONDS of random operations on large lawns and stores, compared with the oracles
	@tests/run 'build/debug/soak --rounds --seconds $(SOAK_SECONDS) --seed $(SEED)'

soak-module: build/lawn.so ## the module: kills, failovers, random commands and odd lines, in both servers; SEED=1 FAILOVER_ROUNDS=20 KILL_CYCLES=5000
	@tools/deps soak-module
	@KILL_CYCLES='$(KILL_CYCLES)' FAILOVER_ROUNDS='$(FAILOVER_ROUNDS)' $(call run_plan,soak-module)

explore: build/explore/explore ## EXPLORE_SECONDS of schedules of the workers' threads; SEED=1
	@build/explore/explore --seconds $(EXPLORE_SECONDS) --seed $(SEED)

sim: build/sim/sim ## SIM_SEEDS of long runs of the workers with faults; SEED=1
	@build/sim/sim --seeds $(SIM_SEEDS) --seed $(SEED) --jobs $$(nproc)

.PHONY: check test test-programs asan tsan model model-long model-filters soak soak-rounds soak-module \
    explore sim
