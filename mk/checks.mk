# checks.mk - checks of the code and of the tests: lint, coverage, mutants, proofs, ABI
#
# Needs: config.mk, programs.mk, tests.mk (run_plan).

MUTATE_SAMPLE ?= 0

lint: build/bench/lines.h build/bench/build.h ## format, static analysis, warnings of both compilers; prints nothing on success: FILES= (default: all)
	@tools/deps lint
	@WARNINGS='$(WARNINGS)' INCLUDES='$(INCLUDES)' tools/lint $(FILES)

coverage: $(call suite_programs,coverage) build/walked/explore $(call suite_programs,debug) ## lines and branches of the library that the tests reach
	@tools/deps coverage
	@find build/coverage build/walked -name '*.gcda' -delete
	@export LAWN_OPS=100000 STORE_OPS=30000 WORKERS_OPS=30000; \
	    VARIANT=coverage $(call run_plan,suite) && VARIANT=debug $(call run_plan,suite)
	@tests/run 'build/walked/explore --schedules 5000 --random 5000'
	@tools/coverage build/coverage/src build/walked/src/workers tests/coverage-exceptions

# The unit tests, and the mixes of operations on lawns only.
MCDC_RAW = build/mcdc/raw
mcdc: ## MC/DC coverage of the core, with clang-19
	@tools/deps mcdc
	+@$(MAKE) --no-print-directory build/mcdc/unit build/mcdc/model
	@rm -rf $(MCDC_RAW)
	@LLVM_PROFILE_FILE='$(CURDIR)/$(MCDC_RAW)/%p.profraw' tests/run build/mcdc/unit \
	    'build/mcdc/model --seed $(SEED) --ops 100000 --mix {few,unique,extreme,class}'
	@llvm-profdata$(CLANG_MCDC:clang%=%) merge -sparse $(MCDC_RAW)/*.profraw -o build/mcdc/all.profdata
	@tools/coverage --mcdc src/core/ '$(CLANG_MCDC:clang%=%)' build/mcdc/all.profdata \
	    build/mcdc/unit build/mcdc/model tests/mcdc-exceptions

mutants: ## break the library in many ways; the tests must notice each
	@tools/deps test
	@tools/mutants

promises: ## break each promise once; the test named for it must notice
	@tools/deps test
	@tools/mutants --promises

prove: ## check the proofs of proofs/; under 25 minutes
	@tools/deps prove
	@tools/cbmc >/dev/null
	@proofs/run

mutate: ## break the core and the store in thousands of ways: MUTATE_SAMPLE=N (0: all) SEED=1
	@tools/deps mutate
	@tools/mutate --sample $(MUTATE_SAMPLE) --seed $(SEED)

abi: ## check that programs linked with the stored interface still run with this library
	@tools/deps abi
	+@$(MAKE) --no-print-directory build/abi/liblawn.so
	@tools/abi compare

abi-update: ## store the current interface of the library, for `make abi`
	@tools/deps abi
	+@$(MAKE) --no-print-directory build/abi/liblawn.so
	@tools/abi update

.PHONY: lint coverage mcdc mutants promises prove mutate abi abi-update
