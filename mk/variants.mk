# variants.mk - how sources are compiled: the release, and variants for tests
#
# Each variant compiles the same sources with its own flags into build/VARIANT/.
# A new variant is a word in VARIANTS, its FLAGS_NAME, and CC_NAME if it needs a
# certain compiler. build/VARIANT/flags contains the flags of the last build; if they
# change, everything in that variant is recompiled.
#
# Defines: VARIANTS, FLAGS_* and CC_* of each, and the rules build/VARIANT/%.o.
# Needs: config.mk; PEER_INCLUDES of library.mk when a recipe runs.

VARIANTS := release debug fickle asan watched tsan coverage mcdc fuzz swift fibres helgrind explore sim \
    walked abi naive long tight

# The installed files. PROBES=1 adds the probes of src/core/probes.h.
FLAGS_release = -DNDEBUG -fPIC -fno-semantic-interposition $(HARDEN_C) \
    $(if $(filter-out 0,$(PROBES)),-DLAWN_PROBES) $(CPPFLAGS) $(CFLAGS)

# With assertions.
FLAGS_debug = $(CPPFLAGS) -O1 -g

# A lawn that reviews its tuning often (src/core/tuning.c), and the portable
# versions of the store's table and of the workers' waiting.
FICKLE := -DLAWN_TUNING_PERIOD=32u -DLAWN_TUNING_WINDOW=4u -DLAWN_TUNING_MANY=8u -DLAWN_STORE_TABLE_PLAIN \
    -DLAWN_WORKERS_PORTABLE
FLAGS_fickle = $(CPPFLAGS) -O1 -g $(FICKLE)
# The same with low limits of work for each call (src/core/mow.c, next.c): random
# operations on a few hundred timers reach them often.
FLAGS_tight = $(FLAGS_fickle) -DLAWN_MOW_WORK=1u -DLAWN_MOW_WORK_LEAST=6u -DLAWN_MOW_PREPARE=3u \
    -DLAWN_MOW_PREPARE_EARLY=1u -DLAWN_NEXT_LOOKS=5u
FLAGS_long = $(CPPFLAGS) -O2 -g -DNDEBUG $(FICKLE)

# AddressSanitizer and UBSan; ThreadSanitizer.
SANITIZE := -fno-omit-frame-pointer -fno-sanitize-recover=all
FLAGS_asan = $(CPPFLAGS) -O1 -g $(SANITIZE) -fsanitize=address,undefined $(FICKLE)
FLAGS_tsan = $(CPPFLAGS) -O1 -g $(SANITIZE) -fsanitize=thread

# The module under AddressSanitizer, for a server that is built without it:
# tests/module/live/memcheck.py.
FLAGS_watched = $(FLAGS_asan) -fPIC
CC_watched = gcc

# Coverage: lines and branches with gcc; conditions with clang, since gcc cannot count
# them; and the explorer, which reaches code that needs a race.
FLAGS_coverage = $(CPPFLAGS) -O0 -g -DNDEBUG --coverage -fprofile-update=atomic
FLAGS_mcdc = $(CPPFLAGS) -O1 -g -DNDEBUG -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc
CC_mcdc = $(CLANG_MCDC)
FLAGS_walked = $(CPPFLAGS) -O0 -g -DNDEBUG -DLAWN_EXPLORE --coverage

# Fuzzers: with sanitizers; without, for many more executions; and of schedules,
# with fibers, which AddressSanitizer cannot follow.
FLAGS_fuzz = $(FLAGS_asan) -fsanitize=fuzzer-no-link
CC_fuzz = $(CLANG)
FLAGS_swift = $(CPPFLAGS) -O2 -g $(FICKLE) -fsanitize-coverage=inline-8bit-counters,pc-table
CC_swift = $(CLANG)
FLAGS_fibres = $(FLAGS_explore) $(SANITIZE) -fsanitize=undefined -fsanitize=fuzzer-no-link
CC_fibres = $(CLANG)

# Workers; the test decides every step: tests/explore. With more fibers and longer
# schedules: tests/sim. With locks instead of atomics, for helgrind:
# tests/helgrind/locked.c.
FLAGS_explore = $(CPPFLAGS) -O1 -g -DLAWN_EXPLORE
FLAGS_sim = $(CPPFLAGS) -O2 -g -DLAWN_EXPLORE -DEXPLORE_FIBRES=10 -DCHOOSE_STEPS=1000000 \
    -DMEMORY_POOL=2097152u -DMEMORY_PIECES=256 -DWORDS_BITS=16
FLAGS_helgrind = $(CPPFLAGS) -O1 -g -DLAWN_EXPLORE -DLAWN_TESTS_LOCKED

# A lawn without its optimizations, to compare with.
FLAGS_naive = $(CPPFLAGS) -O1 -g -fPIC -DLAWN_NAIVE -DLAWN_TUNING_PERIOD=UINT64_C\(0x100000000\)

# For `make abi`, which reads the debugging information; always with the same compiler.
FLAGS_abi = $(CPPFLAGS) -O0 -g -DNDEBUG -fPIC
CC_abi = gcc

# The library's sources define the feature macros that they need; all others get POSIX.
define variant
build/$(1)/src/%.o: src/%.c build/$(1)/flags
	@mkdir -p $$(@D)
	$$(call say,CC)$$(CC_$(1)) -std=c11 $$(WARNINGS) -Iinclude $$(FLAGS_$(1)) -MMD -MP -c -o $$@ $$<
build/$(1)/src/adapters/%.o: src/adapters/%.c build/$(1)/flags
	@mkdir -p $$(@D)
	$$(call say,CC)$$(CC_$(1)) -std=c11 -D_GNU_SOURCE $$(WARNINGS) -Iinclude $$(PEER_INCLUDES) $$(FLAGS_$(1)) -MMD -MP -c -o $$@ $$<
build/$(1)/%.o: %.c build/$(1)/flags
	@mkdir -p $$(@D)
	$$(call say,CC)$$(CC_$(1)) -std=c11 -D_POSIX_C_SOURCE=200809L $$(WARNINGS) $$(INCLUDES) $$(FLAGS_$(1)) -MMD -MP -c -o $$@ $$<
build/$(1)/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$$(CC_$(1)) $$(WARNINGS) $$(FLAGS_$(1))' | cmp -s - $$@ || \
	    echo '$$(CC_$(1)) $$(WARNINGS) $$(FLAGS_$(1))' >$$@
CC_$(1) ?= $$(CC)
endef
$(foreach v,$(VARIANTS),$(eval $(call variant,$(v))))
