# fuzz.mk - the fuzzers, build/fuzz/fuzz_* and, without sanitizers, build/swift/fuzz_*
#
# A new fuzzer is a line in tests/fuzz/lengths.txt, its sources FUZZ_C_NAME here,
# tests/fuzz/fuzz_NAME.c, tests/fuzz/corpus-NAME/, and a row in tests/plans/test.txt.
# tests/README.md describes what each compares with what.
#
# Defines: FUZZERS, and the targets fuzz*.
# Needs: config.mk, variants.mk, library.mk, module.mk, programs.mk.

FUZZ_SECONDS ?= 600

# Each fuzzer with the maximum length of its input, as NAME:BYTES.
FUZZ_LENGTHS := $(shell awk '!/^\#/ { print $$1 ":" $$2 }' tests/fuzz/lengths.txt 2>/dev/null)
FUZZERS := $(foreach f,$(FUZZ_LENGTHS),$(word 1,$(subst :, ,$(f))))

FUZZ_C_ops = $(OPS_C) $(LIB_C)
FUZZ_C_callbacks = tests/fuzz/small.c $(CORE_C)
FUZZ_C_store = $(OPS_C) $(LIB_C)
FUZZ_C_workers = $(OPS_C) $(LIB_C)
FUZZ_C_schedule = $(filter-out %/main.c %/choose.c,$(wildcard tests/explore/*.c)) $(CORE_C) $(WORKERS_C)
FUZZ_C_loop = $(OPS_C) $(LIB_C)
FUZZ_C_blades = tests/fuzz/small.c $(CORE_C)
FUZZ_C_index = tests/fuzz/small.c $(CORE_C)
FUZZ_C_table = tests/fuzz/small.c $(CORE_C) src/store/slots.c src/store/memory.c
FUZZ_C_ids = tests/fuzz/small.c tests/module/memory.c $(addprefix module/,args.c ids.c late.c heap.c) \
    $(wildcard module/queue*.c) $(LIB_C)
FUZZ_C_trace = cli/trace/request.c $(patsubst %,cli/common/%.c,trace_read trace_lines text)
FUZZ_C_snapshot = $(LIB_C)
FUZZ_C_json = tests/filter/json_plain.c cli/filter/json.c
FUZZ_C_times = cli/filter/times.c $(patsubst %,cli/common/%.c,options options_help text)
FUZZ_C_resp = $(patsubst %,module/top/%.c,resp queues escape) cli/common/text.c
FUZZ_C_state = $(filter-out %/filter.c %/log.c,$(wildcard cli/filter/*.c)) \
    $(patsubst %,cli/common/%.c,options options_help text) $(LIB_C)
FUZZ_C_image = tests/fuzz/image_mutator.c tests/module/memory.c $(addprefix module/,image.c args.c ids.c table.c late.c heap.c) \
    $(wildcard module/queue*.c) $(LIB_C)
FUZZ_C_commands = tests/module/fake.c tests/module/memory.c module/invariant.c module/redismodule_api.c \
    $(MODULE_PLAIN_C) $(LIB_C)

# Compiled without counters, so that code that only watches does not guide the fuzzer.
FUZZ_WATCH_C := src/core/check.c src/store/store_check.c src/workers/workers_check.c \
    tests/kit/oracle.c tests/kit/class_oracle.c tests/kit/witness.c tests/kit/store_oracle.c \
    $(addprefix tests/fuzz/,small.c image_mutator.c fuzz_callbacks.c fuzz_blades.c fuzz_index.c)
$(call objects,fuzz,$(FUZZ_WATCH_C)): private FLAGS_fuzz = $(FLAGS_asan)
$(call objects,swift,$(FUZZ_WATCH_C)): private FLAGS_swift = $(CPPFLAGS) -O2 -g $(FICKLE)
$(call objects,fibres,src/core/check.c src/workers/workers_check.c tests/fuzz/fuzz_schedule.c $(wildcard tests/explore/*.c)): \
    private FLAGS_fibres = $(FLAGS_explore)

$(foreach v,fuzz swift,build/$(v)/fuzz_state): private LDFLAGS += -Wl,--wrap=lawn_store_new
$(foreach v,fuzz swift,$(call objects,$(v),$(addprefix tests/fuzz/,fuzz_image.c fuzz_commands.c fuzz_ids.c \
    image_mutator.c))): private INCLUDES += -Itests/module

# $(call fuzzer,VARIANT,NAME): the rule that links it.
define fuzzer
build/$(1)/fuzz_$(2): $$(call objects,$(1),tests/fuzz/fuzz_$(2).c $$(FUZZ_C_$(2)))
	$$(call say,LINK)$$(CC_$(1)) $$(FLAGS_$(1)) -fsanitize=fuzzer $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach v,fuzz swift,$(foreach f,$(filter-out schedule,$(FUZZERS)),$(eval $(call fuzzer,$(v),$(f)))))
# The fuzzer of schedules has its own flags, the same in both variants.
$(eval $(call fuzzer,fibres,schedule))
build/fuzz/fuzz_schedule build/swift/fuzz_schedule: build/fibres/fuzz_schedule
	@mkdir -p $(@D)
	@cp $< $@

fuzz: ## run each fuzzer for FUZZ_SECONDS; new inputs go to tests/fuzz/corpus-*
	@tools/deps fuzz
	+@$(MAKE) --no-print-directory $(FUZZERS:%=build/fuzz/fuzz_%)
	@tests/fuzz/run --seconds $(FUZZ_SECONDS) $(FUZZ_LENGTHS)

fuzz-swift: ## the same without sanitizers, for many more executions
	@tools/deps fuzz
	+@$(MAKE) --no-print-directory $(FUZZERS:%=build/swift/fuzz_%)
	@tests/fuzz/run --build swift --seconds $(FUZZ_SECONDS) $(FUZZ_LENGTHS)

fuzz-minimize: $(FUZZERS:%=build/fuzz/fuzz_%) ## remove inputs of tests/fuzz/corpus-* that add no coverage
	@tests/fuzz/run --minimize $(FUZZ_LENGTHS)

.PHONY: fuzz fuzz-swift fuzz-minimize
