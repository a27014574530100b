# programs.mk - the test programs, below build/VARIANT/
#
# Defines: PROGRAMS (those that every variant can have), suite_programs, and a rule
#   for each further program. tests/README.md describes what each one tests.
# Needs: config.mk, variants.mk, library.mk, bench.mk, module.mk, tool.mk.

# Each of these has a folder of sources below tests/. All but contenders and
# module_test contain the kit's interpreters of random operations (OPS_C). unit,
# contenders and module_test have the kit's main().
PROGRAMS := unit model oom soak contenders module_test
OPS_C := $(filter-out tests/kit/kit.c,$(wildcard tests/kit/*.c))

OWN_C_unit := tests/kit/kit.c $(OPS_C)
OWN_C_model := $(OPS_C)
OWN_C_oom := $(OPS_C)
OWN_C_soak := $(OPS_C)
OWN_C_contenders := tests/kit/kit.c \
    $(wildcard bench/contenders/*.c bench/stores/*.c bench/crews/*.c bench/hosts/*.c) \
    $(patsubst %,bench/%.c,contenders peers agree tap store_agree crew_agree host_agree)
OWN_C_module_test := tests/kit/kit.c $(MODULE_PLAIN_C) $(patsubst %,module/%.c,type redismodule_api invariant) \
    $(patsubst %,module/server_%.c,drain keys keyspace lateness schedule tick untracked waiters wakeup)

# These make allocations fail.
LINK_contenders := $(foreach f,malloc calloc realloc aligned_alloc,-Wl,--wrap=$(f))
LINK_oom := $(LINK_contenders) -Wl,--wrap=mmap

# $(call program,VARIANT,PROGRAM): the rule that links it.
define program
build/$(1)/$(2): $(call objects,$(1),$(wildcard tests/$(2:_test=)/*.c) $(OWN_C_$(2)) $(LIB_C))
	$$(call say,LINK)$$(CC_$(1)) $$(FLAGS_$(1)) $$(LDFLAGS) $$(LINK_$(2)) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach v,$(VARIANTS),$(foreach p,$(PROGRAMS),$(eval $(call program,$(v),$(p)))))

# $(call suite_programs,VARIANT): the programs that `make test` runs in a variant.
suite_programs = $(foreach p,$(filter-out soak,$(PROGRAMS)),build/$(1)/$(p))

# The model contains the interpreter a second time, with a naive lawn: one object that
# exports only its entry point.
NAIVE_C := $(addprefix tests/kit/,ops.c class_ops.c oracle.c class_oracle.c witness.c script.c) tests/naive/naive.c $(CORE_C)
build/naive/naive.o: $(call objects,naive,$(NAIVE_C))
	$(call say,LINK)$(LD) -r -o $@.new $^
	@$(OBJCOPY) --redefine-sym ops_run=naive_ops_run --keep-global-symbol=naive_ops_run $@.new $@
	@rm $@.new
$(VARIANTS:%=build/%/model): build/naive/naive.o

# The workers; the test decides every step of their threads.
EXPLORE_C := $(wildcard tests/explore/*.c) $(CORE_C) $(WORKERS_C)
build/explore/explore: $(call objects,explore,$(EXPLORE_C))
	$(call say,LINK)$(CC_explore) $(FLAGS_explore) $(LDFLAGS) -o $@ $^ $(LDLIBS)
build/walked/explore: $(call objects,walked,$(EXPLORE_C))
	$(call say,LINK)$(CC_walked) $(FLAGS_walked) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The same in long runs: the explorer's fibers and memory, without its scenarios.
SIM_C := $(wildcard tests/sim/*.c) $(CORE_C) $(WORKERS_C) \
    $(patsubst %,tests/explore/%.c,fibre run run_atomic run_memory memory words)
build/sim/sim: $(call objects,sim,$(SIM_C))
	$(call say,LINK)$(CC_sim) $(FLAGS_sim) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The workers under helgrind.
build/helgrind/threads: $(call objects,helgrind,$(wildcard tests/helgrind/*.c) tests/kit/kit.c \
    $(patsubst %,tests/unit/%.c,common store_common $(addprefix workers_,common troop threads stress)) $(LIB_C))
	$(call say,LINK)$(CC_helgrind) $(FLAGS_helgrind) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Each adapter in its event loop.
ADAPTER_TESTS := $(ADAPTERS:%=build/asan/adapters/%)
$(call objects,asan,$(wildcard tests/adapters/*.c)): private INCLUDES += $(PEER_INCLUDES)
$(ADAPTER_TESTS): build/asan/adapters/%: build/asan/tests/adapters/%.o build/asan/tests/adapters/adapters.o \
    build/asan/src/adapters/%.o $(call objects,asan,tests/kit/kit.c $(LIB_C))
	@mkdir -p $(@D)
	$(call say,LINK)$(CC_asan) $(FLAGS_asan) $(LDFLAGS) -o $@ $^ $(LIBS_$*) $(LDLIBS)

# Programs of the tool and the benchmark under AddressSanitizer: lawn and lawn-bench;
# unit tests of the filters; their JSON reader, which is compared with Python's; loading
# and replaying traces; pages and pictures of the report, for a browser.
FILTER_C := $(wildcard cli/filter/*.c) $(patsubst %,cli/common/%.c,options options_help text) $(LIB_C)
build/asan/lawn: $(call objects,asan,$(TOOL_C) $(LIB_C))
build/asan/lawn-bench: $(call objects,asan,$(COMMON_C) $(BENCH_C) $(LIB_C))
build/asan/filter: $(call objects,asan,$(filter-out %/json_lines.c,$(wildcard tests/filter/*.c)) \
    tests/kit/kit.c $(FILTER_C))
build/asan/json_lines: $(call objects,asan,tests/filter/json_lines.c cli/filter/json.c)
build/asan/trace: $(call objects,asan,$(wildcard tests/trace/*.c) tests/kit/kit.c \
    $(COMMON_C) $(filter-out bench/main.c,$(BENCH_C)) $(LIB_C))
build/asan/report: $(call objects,asan,$(wildcard tests/report/*.c) $(REPORT_C))
build/asan/lawn build/asan/lawn-bench build/asan/filter build/asan/json_lines build/asan/trace build/asan/report:
	$(call say,LINK)$(CC_asan) $(FLAGS_asan) $(LDFLAGS) -o $@ $^ -lm -ldl $(LDLIBS)
