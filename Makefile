# Makefile - `make help` lists the targets.
#
# CC, CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS are yours. What make builds by
# default is the release: optimised, without assertions; to keep them, say
# `make CPPFLAGS=-UNDEBUG`. The tests compile the same sources again, each
# variant in a folder of its own under build/; CFLAGS go to the release alone,
# since a variant's flags are the point of it. When flags change, what was
# built with others is built anew.

VERSION := 0.1.0
SOVERSION := 0

CFLAGS ?= -O2 -g
CLANG ?= clang
OBJCOPY ?= objcopy
CLANG_MCDC ?= clang-19
PREFIX ?= /usr/local
bindir ?= $(PREFIX)/bin
libdir ?= $(PREFIX)/lib
includedir ?= $(PREFIX)/include
datadir ?= $(PREFIX)/share
mandir ?= $(datadir)/man
zshdir ?= $(datadir)/zsh/site-functions
# A relative prefix is below this folder, other relative folders are below it.
override PREFIX := $(if $(PREFIX),$(if $(filter /%,$(PREFIX)),$(PREFIX),$(CURDIR)/$(PREFIX)))
$(foreach d,bindir libdir includedir datadir mandir zshdir,$(eval \
    override $(d) := $$(if $$(filter /%,$$($(d))),$$($(d)),$$(PREFIX)/$$($(d)))))

SEED ?= 1
OPS ?= 1000000
MODEL_JOBS ?= 2
FUZZ_SECONDS ?= 600
SOAK_SECONDS ?= 3600
EXPLORE_SECONDS ?= 600
SIM_SEEDS ?= 100000
MUTATE_SAMPLE ?= 0
FAILOVER_ROUNDS ?= 20
KILL_CYCLES ?= 5000
LINES ?= 10000000
KEYS ?= 1000000
RUNS ?= 3
SERVER ?= both

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
    -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla \
    -Wformat=2 $(if $(WERROR),-Werror)
INCLUDES := -Iinclude -Itests/kit -Isrc/core -Icli -Icli/filter -Ibench -Ibuild/bench -Imodule

HEADERS := $(wildcard include/*.h include/*.hpp)
CORE_C := $(wildcard src/core/*.c)
WORKERS_C := $(wildcard src/workers/*.c)
LIB_C := $(filter-out src/adapters/%,$(wildcard src/*/*.c))
CLI_C := $(wildcard cli/*.c cli/filter/*.c)
# The module for servers, but for what knows the server.
MODULE_C := $(filter-out $(patsubst %,module/%.c,redis server module type wake config info),$(wildcard module/*.c))
# The report of the benchmark: its page is turned into C.
PAGE_C := build/report_page.c
REPORT_C := $(wildcard bench/report*.c) $(PAGE_C)
BENCH_C := $(wildcard bench/*.c bench/contenders/*.c bench/stores/*.c bench/crews/*.c bench/hosts/*.c) $(PAGE_C)
MAN := $(wildcard man/*.[1-9])
REGRESS := $(wildcard tests/regress/*.bin)
MIXES := few unique extreme
# Of lawns; and pairs of lawns that must fire alike, each in several mixes.
LAWN_MIXES := $(MIXES) edges
PAIR_MIXES := pieces naive
STORE_MIXES := $(MIXES:%=store-%)
WORKERS_MIXES := $(MIXES:%=workers-%)
LOOP_MIXES := $(MIXES:%=loop-%)
API := $(filter-out %.sh $(if $(wildcard examples/*.c),,%/examples),$(wildcard tests/api/*))
CLI_TESTS := $(wildcard tests/cli/*.bats)

# What the benchmark's own tests need of it.
CONTENDERS_C := $(wildcard bench/contenders/*.c bench/stores/*.c bench/crews/*.c bench/hosts/*.c) \
    bench/contenders.c bench/peers.c bench/agree.c bench/tap.c bench/store_agree.c bench/crew_agree.c bench/host_agree.c

# Test programs: each has a folder of sources, and the interpreter of the kit;
# the unit tests have the kit's main as well, and so have those of the benchmark
# and of the module.
PROGRAMS := $(foreach p,unit model oom soak contenders,$(if $(wildcard tests/$(p)/*.c),$(p))) \
    $(if $(wildcard tests/module/*.c),module_test)
OPS_C := $(filter-out tests/kit/kit.c,$(wildcard tests/kit/*.c))
LINK_contenders := $(foreach f,malloc calloc realloc aligned_alloc,-Wl,--wrap=$(f))
LINK_oom := $(LINK_contenders) -Wl,--wrap=mmap
program_c = $(wildcard tests/$(1:_test=)/*.c) $(or $(OWN_C_$(1)),$(OPS_C)) \
    $(if $(filter unit contenders module_test,$(1)),tests/kit/kit.c)
OWN_C_contenders = $(CONTENDERS_C)
OWN_C_module_test = $(MODULE_C) module/type.c module/wake.c

# The adapters to event loops, each a library of its own that is built if the
# event loop's header is there.
ADAPTERS := $(shell CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' tools/peers names $(wildcard src/adapters/*.c))
ADAPTERS_A := $(ADAPTERS:%=build/liblawn_%.a)
# Those that there is no event loop for are not installed.
ADAPTERS_LEFT := $(filter-out $(ADAPTERS),$(patsubst src/adapters/%.c,%,$(wildcard src/adapters/*.c)))
# What each stands on: a module of pkg-config, or a library that has none.
ADAPTERS_NEED := uv=libuv event=libevent_core ev=-lev uring=liburing glib=glib-2.0 sdevent=libsystemd
LIBS_uring := -luring
LIBS_sdevent := -lsystemd

# The libraries that the benchmark compares with, each a plug-in that is built
# if its header is there: looked up anew each time, by one run of the compiler.
PEER_INCLUDES := $(shell CC='$(CC)' tools/peers includes)
PEERS := $(filter-out $(ADAPTERS_LEFT:%=%host),$(shell \
    CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' tools/peers names $(wildcard bench/peers/*.c)))
PEERS_SO := $(if $(PEERS),build/peers/peer.so) $(PEERS:%=build/peers/%.so)
LIBS_uv := -luv
LIBS_event := -levent_core
LIBS_common := -levent_core
LIBS_ev := -lev
LIBS_glib := -lglib-2.0
LIBS_ghash := -lglib-2.0
LIBS_gplain := -lglib-2.0
LIBS_sqlite := -lsqlite3
LIBS_uvloops := -luv
LIBS_dpdk := -lrte_timer -lrte_eal
# Event loops with our timers in them.
HOSTS := $(filter %host,$(PEERS))
PEERS_PLAIN := $(filter-out $(HOSTS),$(PEERS))

# What a recipe does, in a word; V=1 shows the command itself.
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $@;)
objects = $(patsubst %.c,build/$(1)/%.o,$(2))

SANITIZE := -fno-omit-frame-pointer -fno-sanitize-recover=all
# What is released is hardened, and the core pays no instruction for it: SECURITY.md says
# why what is here is here. Your own flags come later, and win; HARDEN=0 leaves it out.
# Without optimisation nothing can be fortified.
HARDEN ?= 1
hardened = $(if $(filter-out 0,$(HARDEN)),$(1))
HARDEN_STACK = -fstack-protector-strong
HARDEN_C = $(call hardened,$(HARDEN_STACK) -fstack-clash-protection \
    $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(if \
        $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS)))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)))
HARDEN_LD = $(call hardened,$(foreach z,relro now noexecstack,-z $(z)))
HARDEN_PIE = $(call hardened,$(if $(filter -static%,$(LDFLAGS) $(CFLAGS)),,-pie))
# PROBES=1 puts probes into the library: see src/core/probes.h.
FLAGS_release = -DNDEBUG -fPIC -fno-semantic-interposition $(HARDEN_C) \
    $(if $(filter-out 0,$(PROBES)),-DLAWN_PROBES) $(CPPFLAGS) $(CFLAGS)
FLAGS_debug = $(CPPFLAGS) -O1 -g
# A lawn that changes its habits often: see src/core/habits.c; and a store and
# workers as on any machine.
FICKLE := -DLAWN_HABITS_TRIAL=32u -DLAWN_HABITS_MANY=8u -DLAWN_STORE_TABLE_PLAIN \
    -DLAWN_WORKERS_PORTABLE
FLAGS_asan = $(CPPFLAGS) -O1 -g $(SANITIZE) -fsanitize=address,undefined $(FICKLE)
FLAGS_fickle = $(CPPFLAGS) -O1 -g $(FICKLE)
# A module, for a server that is not built so: see tests/module/live/memcheck.py.
FLAGS_watched = $(FLAGS_asan) -fPIC
CC_watched = gcc
FLAGS_tsan = $(CPPFLAGS) -O1 -g $(SANITIZE) -fsanitize=thread
FLAGS_coverage = $(CPPFLAGS) -O0 -g -DNDEBUG --coverage -fprofile-update=atomic
# Which conditions decide: clang alone counts that.
FLAGS_mcdc = $(CPPFLAGS) -O1 -g -DNDEBUG -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc
CC_mcdc = $(CLANG_MCDC)
FLAGS_fuzz = $(FLAGS_asan) -fsanitize=fuzzer-no-link
CC_fuzz = $(CLANG)
# The fuzzers without sanitizers, for many more executions.
FLAGS_swift = $(CPPFLAGS) -O2 -g $(FICKLE) -fsanitize-coverage=inline-8bit-counters,pc-table
CC_swift = $(CLANG)
# The fuzzer of schedules; fibres are beyond AddressSanitizer.
FLAGS_fibres = $(FLAGS_explore) $(SANITIZE) -fsanitize=undefined -fsanitize=fuzzer-no-link
CC_fibres = $(CLANG)
# Threads as helgrind understands them: see tests/helgrind/locked.c.
FLAGS_helgrind = $(CPPFLAGS) -O1 -g -DLAWN_EXPLORE -DLAWN_TESTS_LOCKED
FLAGS_explore = $(CPPFLAGS) -O1 -g -DLAWN_EXPLORE
# More fibres, and longer schedules: see tests/sim.
FLAGS_sim = $(CPPFLAGS) -O2 -g -DLAWN_EXPLORE -DEXPLORE_FIBRES=10 -DCHOOSE_STEPS=1000000 \
    -DMEMORY_POOL=2097152u -DMEMORY_PIECES=256 -DWORDS_BITS=16
# The explorer, measured: it reaches what takes a race.
FLAGS_walked = $(CPPFLAGS) -O0 -g -DNDEBUG -DLAWN_EXPLORE --coverage
# For its debugging information alone; by one compiler, to be compared.
FLAGS_abi = $(CPPFLAGS) -O0 -g -DNDEBUG -fPIC
CC_abi = gcc
# A lawn with what makes it fast left out, and one that changes its habits often,
# to be run very long: see `make model-long`.
FLAGS_naive = $(CPPFLAGS) -O1 -g -fPIC -DLAWN_NAIVE -DLAWN_HABITS_TRIAL=UINT64_C\(0x100000000\)
FLAGS_long = $(CPPFLAGS) -O2 -g -DNDEBUG $(FICKLE)
VARIANTS := release debug fickle asan watched tsan coverage mcdc fuzz swift fibres helgrind explore sim \
    walked abi naive long

# The scripts by which shells complete the tool's words. The tool writes them;
# RUN_LAWN is one that runs here, if build/lawn is for another machine.
COMPLETIONS := $(if $(CLI_C),$(addprefix build/lawn.,bash zsh fish))
RUN_LAWN ?= build/lawn

SO := liblawn.so.$(VERSION)
SONAME := liblawn.so.$(SOVERSION)

all: build/liblawn.a build/liblawn.so $(ADAPTERS_A) $(if $(CLI_C),build/lawn) $(COMPLETIONS) $(PEERS_SO) build/lawn.so ## the library, the tool and the module, in build/

build/liblawn.a: $(call objects,release,$(LIB_C))
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(ADAPTERS_A): build/liblawn_%.a: build/release/src/adapters/%.o
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

# What is exported is said by the map alone.
build/$(SO): $(call objects,release,$(LIB_C)) src/lawn.map
	$(call say,LINK)$(CC) $(CFLAGS) $(HARDEN_LD) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) \
	    -Wl,--version-script=src/lawn.map -Wl,-Bsymbolic-functions \
	    -o $@ $(filter %.o,$^) $(LDLIBS)

build/liblawn.so: build/$(SO)
	@ln -sf $(SO) build/$(SONAME)
	@ln -sf $(SO) $@

build/abi/liblawn.so: $(call objects,abi,$(LIB_C)) src/lawn.map Makefile
	$(call say,LINK)$(CC_abi) $(FLAGS_abi) -shared -Wl,-soname,$(SONAME) \
	    -Wl,--version-script=src/lawn.map -o $@ $(filter %.o,$^)

# The server finds what it needs by one name, and shall not see our others.
build/lawn.so: $(call objects,release,$(wildcard module/*.c)) build/liblawn.a module/module.map
	$(call say,LINK)$(CC) $(CFLAGS) $(HARDEN_LD) $(LDFLAGS) -shared -Wl,--version-script=module/module.map \
	    -Wl,-Bsymbolic -Wl,-z,defs -o $@ $(filter %.o %.a,$^) $(LDLIBS)

# What it wants of the sanitizer comes from a library that is loaded before it.
build/watched/lawn.so: $(call objects,watched,$(wildcard module/*.c) $(LIB_C)) module/module.map
	$(call say,LINK)$(CC_watched) $(FLAGS_watched) $(LDFLAGS) -shared \
	    -Wl,--version-script=module/module.map -Wl,-Bsymbolic -o $@ $(filter %.o,$^) $(LDLIBS)

build/lawn: $(call objects,release,$(CLI_C) $(BENCH_C)) build/liblawn.a
	$(call say,LINK)$(CC) $(CFLAGS) $(HARDEN_PIE) $(HARDEN_LD) $(LDFLAGS) -o $@.new $^ -lm -ldl $(LDLIBS)
	@mv $@.new $@ # at once: tests may be running it

$(COMPLETIONS): build/lawn.%: build/lawn
	$(call say,GEN)$(RUN_LAWN) completion $* >$@

# They share a clock, which stands in peer.so beside them.
$(call objects,release,$(wildcard bench/peers/*.c)): private INCLUDES = -Iinclude $(PEER_INCLUDES)
build/peers/peer.so: build/release/bench/peers/peer.o
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -o $@ $^
$(HOSTS:%=build/peers/%.so): build/peers/%host.so: build/release/bench/peers/%host.o build/peers/peer.so \
    build/liblawn_%.a build/liblawn.a
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-Bsymbolic-functions \
	    -Wl,-rpath,'$$ORIGIN' -o $@ $^ $(LIBS_$*)
$(PEERS_PLAIN:%=build/peers/%.so): build/peers/%.so: build/release/bench/peers/%.o build/peers/peer.so
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-rpath,'$$ORIGIN' \
	    -o $@ $^ $(LIBS_$*)

# The place where they get installed is part of the tool.
build/libdir: FORCE
	@mkdir -p $(@D)
	@echo '$(libdir)' | cmp -s - $@ || echo '$(libdir)' >$@
$(foreach v,$(VARIANTS),build/$(v)/bench/peers.o): build/libdir
$(foreach v,$(VARIANTS),build/$(v)/bench/peers.o): private INCLUDES += \
    -DLAWN_PEERS_DIR='"$(libdir)/lawn/peers"'

# The core is plain C11; the tool and the tests need POSIX as well.
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
$(foreach p,$(PROGRAMS),$(call program,$(1),$(p)))
endef
define program
build/$(1)/$(2): $(call objects,$(1),$(call program_c,$(2)) $(LIB_C))
	$$(call say,LINK)$$(CC_$(1)) $$(FLAGS_$(1)) $$(LDFLAGS) $$(LINK_$(2)) -o $$@ $$^ $$(LDLIBS)

endef
$(foreach v,$(VARIANTS),$(eval $(call variant,$(v))))
# Here only what has a buffer of bytes on its stack: hardly anything, and cycles count.
$(call objects,release,$(LIB_C) $(filter-out bench/trace%,$(BENCH_C))): private HARDEN_STACK = -fstack-protector

# The interpreter with a naive lawn in it, as one object that only shows its entry.
NAIVE_C := $(addprefix tests/kit/,ops.c oracle.c witness.c script.c) tests/naive/naive.c $(CORE_C)
build/naive/naive.o: $(call objects,naive,$(NAIVE_C))
	$(call say,LINK)$(LD) -r -o $@.new $^
	@$(OBJCOPY) --redefine-sym ops_run=naive_ops_run --keep-global-symbol=naive_ops_run $@.new $@
	@rm $@.new
$(VARIANTS:%=build/%/model): build/naive/naive.o

# Fuzzers: what each is made of, the longest input, and its seconds in `make test`.
# tests/README.md says what each compares with what.
FUZZERS := ops callbacks store workers schedule loop blades tips table ids \
    trace snapshot json times resp state image commands
FUZZ_C_ops = $(OPS_C) $(LIB_C)
FUZZ_C_callbacks = tests/fuzz/small.c $(CORE_C)
FUZZ_C_store = $(OPS_C) $(LIB_C)
FUZZ_C_workers = $(OPS_C) $(LIB_C)
FUZZ_C_schedule = $(filter-out %/main.c %/choose.c,$(wildcard tests/explore/*.c)) $(CORE_C) $(WORKERS_C)
FUZZ_C_loop = $(OPS_C) $(LIB_C)
FUZZ_C_blades = tests/fuzz/small.c $(CORE_C)
FUZZ_C_tips = tests/fuzz/small.c $(CORE_C)
FUZZ_C_table = tests/fuzz/small.c $(CORE_C) src/store/slots.c src/store/memory.c
FUZZ_C_ids = tests/fuzz/small.c tests/module/memory.c $(addprefix module/,args.c ids.c late.c heap.c) \
    $(wildcard module/queue*.c) $(LIB_C)
FUZZ_C_trace = $(addprefix bench/trace_,read.c request.c lines.c) cli/text.c
FUZZ_C_snapshot = $(LIB_C)
FUZZ_C_json = tests/filter/json_plain.c cli/filter/json.c
FUZZ_C_times = $(addprefix cli/,filter/times.c options.c options_help.c text.c)
FUZZ_C_resp = $(addprefix cli/,resp.c text.c top_queues.c top_safe.c)
FUZZ_C_state = $(filter-out %/filter.c %/tell.c,$(wildcard cli/filter/*.c)) \
    $(addprefix cli/,options.c options_help.c text.c) $(LIB_C)
FUZZ_C_image = tests/fuzz/image_mutator.c tests/module/memory.c $(addprefix module/,image.c args.c ids.c table.c late.c heap.c) \
    $(wildcard module/queue*.c) $(LIB_C)
FUZZ_C_commands = tests/module/fake.c tests/module/memory.c $(MODULE_C) $(LIB_C)
FUZZ_LENGTHS := ops:4096 callbacks:64 store:4096 workers:1024 schedule:64 loop:2048 blades:64 tips:64 table:64 ids:64 \
    trace:4096 snapshot:4096 json:1024 times:256 resp:2048 state:512 image:2048 commands:2048
FUZZ_TEST := json:5 resp:5 times:5 state:10 image:10 commands:10 trace:5 snapshot:10 \
    blades:5 tips:5 table:5 ids:5 schedule:10 callbacks:10 store:10 workers:10 loop:10 ops:15
# The fuzzer is not to be led by what only watches.
FUZZ_WATCH_C := src/core/check.c src/store/store_check.c src/workers/workers_check.c \
    tests/kit/oracle.c tests/kit/witness.c tests/kit/store_oracle.c \
    $(addprefix tests/fuzz/,small.c image_mutator.c fuzz_callbacks.c fuzz_blades.c fuzz_tips.c)
$(call objects,fuzz,$(FUZZ_WATCH_C)): private FLAGS_fuzz = $(FLAGS_asan)
$(call objects,fibres,src/core/check.c src/workers/workers_check.c tests/fuzz/fuzz_schedule.c $(wildcard tests/explore/*.c)): \
    private FLAGS_fibres = $(FLAGS_explore)
$(call objects,swift,$(FUZZ_WATCH_C)): private FLAGS_swift = $(CPPFLAGS) -O2 -g $(FICKLE)
$(foreach v,fuzz swift,build/$(v)/fuzz_state): private LDFLAGS += -Wl,--wrap=lawn_store_new
$(foreach v,fuzz swift,$(call objects,$(v),$(addprefix tests/fuzz/,fuzz_image.c fuzz_commands.c fuzz_ids.c \
    image_mutator.c))): private INCLUDES += -Itests/module
define fuzzer
build/$(1)/fuzz_$(2): $$(call objects,$(1),tests/fuzz/fuzz_$(2).c $$(FUZZ_C_$(2)))
	$$(call say,LINK)$$(CC_$(1)) $$(FLAGS_$(1)) -fsanitize=fuzzer $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach v,fuzz swift,$(foreach f,$(filter-out schedule,$(FUZZERS)),$(eval $(call fuzzer,$(v),$(f)))))
$(eval $(call fuzzer,fibres,schedule))
build/fuzz/fuzz_schedule build/swift/fuzz_schedule: build/fibres/fuzz_schedule
	@mkdir -p $(@D)
	@cp $< $@

build/bench/lines.h: tools/lines $(wildcard bench/contenders/*.[ch] bench/heap4.h src/core/*.[ch]) $(HEADERS)
	@mkdir -p $(@D)
	@tools/lines >$@
$(VARIANTS:%=build/%/bench/contenders.o): build/bench/lines.h

# What a report says of the build it is from. A folder that a compiler is to
# forget is not told; and COMMIT is, if there is no git to ask.
build/bench/build.h: FORCE
	@mkdir -p $(@D)
	@{ echo '#define BUILD_VERSION "$(VERSION)"'; \
	    echo '#define BUILD_FLAGS "$(strip $(subst ",\",$(filter-out -ffile-prefix-map=% -fdebug-prefix-map=%,$(FLAGS_release))))"'; \
	    echo "#define BUILD_COMPILER \"$$($(CC) --version | sed 1q)\""; \
	    echo "#define BUILD_COMMIT \"$(or $(COMMIT),$$(git describe --always --dirty 2>/dev/null || echo unknown))\""; \
	} >$@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(foreach o,machine print_json,$(VARIANTS:%=build/%/bench/$(o).o)): build/bench/build.h

$(PAGE_C): tools/page $(wildcard bench/report/page.*)
	@mkdir -p $(@D)
	$(call say,PAGE)tools/page >$@

build/helgrind/threads: $(call objects,helgrind,$(wildcard tests/helgrind/*.c) tests/kit/kit.c \
    $(patsubst %,tests/unit/%.c,common store_common $(addprefix workers_,common troop threads stress)) $(LIB_C))
	$(call say,LINK)$(CC_helgrind) $(FLAGS_helgrind) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# An adapter, in its event loop.
ADAPTER_TESTS := $(ADAPTERS:%=build/asan/adapters/%)
$(call objects,asan,$(wildcard tests/adapters/*.c)): private INCLUDES += $(PEER_INCLUDES)
$(ADAPTER_TESTS): build/asan/adapters/%: build/asan/tests/adapters/%.o build/asan/tests/adapters/adapters.o \
    build/asan/src/adapters/%.o $(call objects,asan,tests/kit/kit.c $(LIB_C))
	@mkdir -p $(@D)
	$(call say,LINK)$(CC_asan) $(FLAGS_asan) $(LDFLAGS) -o $@ $^ $(LIBS_$*) $(LDLIBS)

# Traces in memory, and replayed.
build/asan/trace: $(call objects,asan,$(sort $(wildcard tests/trace/*.c) tests/kit/kit.c \
    $(filter-out cli/main.c,$(CLI_C)) $(BENCH_C) bench/contenders/heap4.c $(LIB_C)))
	$(call say,LINK)$(CC_asan) $(FLAGS_asan) $(LDFLAGS) -o $@ $^ -lm $(LDLIBS)

# What the filters of the tool find in lines; and JSON as they read it, for Python
# to compare with.
FILTER_C := $(addprefix cli/,$(patsubst %,filter/%.c,json times fields input sink) options.c options_help.c text.c)
build/asan/filter: $(call objects,asan,$(filter-out %/json_lines.c,$(wildcard tests/filter/*.c)) \
    tests/kit/kit.c $(FILTER_C))
build/asan/json_lines: $(call objects,asan,tests/filter/json_lines.c cli/filter/json.c)
build/asan/filter build/asan/json_lines:
	$(call say,LINK)$(CC_asan) $(FLAGS_asan) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The tool itself, for the model of its filters.
build/asan/lawn: $(call objects,asan,$(sort $(CLI_C) $(BENCH_C) $(LIB_C)))
	$(call say,LINK)$(CC_asan) $(FLAGS_asan) $(LDFLAGS) -o $@ $^ -lm -ldl $(LDLIBS)

# Makes pages and pictures for the browser.
build/asan/report: $(call objects,asan,$(wildcard tests/report/*.c) $(REPORT_C))
	$(call say,LINK)$(CC_asan) $(FLAGS_asan) $(LDFLAGS) -o $@ $^ -lm $(LDLIBS)

# The workers, with every step of their threads decided by the test.
EXPLORE_C := $(wildcard tests/explore/*.c) $(CORE_C) $(WORKERS_C)
build/explore/explore: $(call objects,explore,$(EXPLORE_C))
	$(call say,LINK)$(CC_explore) $(FLAGS_explore) $(LDFLAGS) -o $@ $^ $(LDLIBS)
build/walked/explore: $(call objects,walked,$(EXPLORE_C))
	$(call say,LINK)$(CC_walked) $(FLAGS_walked) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# The same for long: the explorer's fibres and memory, without its scenarios.
SIM_C := $(wildcard tests/sim/*.c) $(CORE_C) $(WORKERS_C) \
    $(patsubst %,tests/explore/%.c,fibre run run_atomic run_memory memory words)
build/sim/sim: $(call objects,sim,$(SIM_C))
	$(call say,LINK)$(CC_sim) $(FLAGS_sim) $(LDFLAGS) -o $@ $^ $(LDLIBS)

amalgamation: ## the library as one file, build/amalgamation/lawn.[ch], or lawn_single.h
	@tools/amalgamate build/amalgamation $(VERSION)

run: build/lawn ## a million timers on the real clock for ten seconds
	build/lawn demo

# Commands for tests/run: the suite of a variant, with so many model operations
# in each mix of lawns, of stores and loops, and of workers.
have = $(if $(filter $(1),$(PROGRAMS)),$(2))
suite = $(call have,unit,'build/$(1)/unit') $(call have,oom,'build/$(1)/oom$(5)') \
    $(call have,contenders,'build/$(1)/contenders') $(call have,module_test,'build/$(1)/module_test') \
    $(call have,model,$(foreach m,$(LAWN_MIXES) $(PAIR_MIXES),'build/$(1)/model --seed $(SEED) --ops $(2) --mix $(m)') \
        $(foreach m,$(STORE_MIXES),'build/$(1)/model --seed $(SEED) --ops $(3) --mix $(m)') \
        $(foreach m,$(WORKERS_MIXES),'build/$(1)/model --seed $(SEED) --ops $(4) --mix $(m)') \
        $(foreach m,$(LOOP_MIXES),'build/$(1)/model --seed $(SEED) --ops $(3) --mix $(m)') \
        $(if $(REGRESS),'build/$(1)/model --replay tests/regress/*.bin'))
suite_programs = $(foreach p,$(filter-out soak,$(PROGRAMS)),build/$(1)/$(p))
# The fuzzer of this name for so many seconds; new inputs go to build/. One input has
# two minutes, which are those of the wall.
fuzz = 'build/fuzz/fuzz_$(1) -seed=$(SEED) -max_total_time=$(2) -timeout=120 \
    -max_len=$(patsubst $(1):%,%,$(filter $(1):%,$(FUZZ_LENGTHS))) \
    -artifact_prefix=build/fuzz/$(1)- build/fuzz/corpus-$(1) tests/fuzz/corpus-$(1)'
# The tool's filters, each with so many lines; a run for each number, which is
# added to the seed.
model_filters = $(foreach i,$(2),'tests/cli/filter_model.py --seed $(shell expr $(SEED) + $(i)) --lines $(1)')
# The browser looks at a page of the tool itself as well.
report_test = 'build/lawn bench --quick --workload W1,W3,W4 --n 1k --t 1,20,N \
    --report build/quick.html >/dev/null && tests/report/browser.py build/quick.html'
fuzz_program = $(FUZZERS:%=build/fuzz/fuzz_%)
fuzz_folders = $(FUZZERS:%=build/fuzz/corpus-%)

# The module in servers. What is about time goes first; what is long, beside, and
# what mostly waits, beside that. So that these three end at about the same time, the
# second and the third also take what looks at no clock, and runs no make.
BESIDE_LONG := tests/api/valgrind
BESIDE_WAITING := tests/cli/trace.bats
timely = 'build/debug/unit' 'build/debug/module_test'
SERVERS := redis valkey
live = $(foreach s,$(SERVERS),'tests/module/live/$(1) --server $(s) $(2)')
live_quick = $(foreach t,commands rede keys block replica clocks golden lease sink docs,$(call live,$(t).py))
live_long = $(call live,clients.py) $(call live,memcheck.py) $(call live,model.py,--seed $(SEED) --ops 5000) \
    $(call live,wake.py,--seed $(SEED)) \
    $(call live,kill.py,--seed $(SEED) --cycles 100) $(call live,fuzz.py,--seed $(SEED)) \
    $(call live,torn.py,--seed $(SEED)) $(call live,million.py)
live_waiting = $(call live,failover.py,--seed $(SEED)) $(call live,cluster.py,--seed $(SEED)) \
    $(call live,examples.py) $(call live,top.py)

test: ## everything that must hold; ends with "N passed, N failed"
	@tools/deps test
	+@$(MAKE) --no-print-directory test-programs
	@CC='$(CC)' MAKE='$(MAKE_COMMAND)' tests/run --beside $(live_long) $(call model_filters,16000,0 1 2 3) \
	    'LAWN=build/asan/lawn tests/cli/filter_model.py --seed $(SEED) --lines 10000' \
	    'tests/filter/json_against_python.py build/asan/json_lines' \
	    $(call suite,asan,300000,100000,30000, --one-of 3) 'build/explore/explore --random 10000' \
	    'build/sim/sim --self' 'build/sim/sim --seeds 2000 --seed $(SEED)' $(BESIDE_LONG:%='%') \
	    --beside $(live_waiting) $(BESIDE_WAITING:%='bats %') \
	    $(filter-out $(timely),$(call suite,debug,1500000,500000,200000)) \
	    $(foreach f,$(FUZZ_TEST),$(call fuzz,$(word 1,$(subst :, ,$(f))),$(word 2,$(subst :, ,$(f))))) -- \
	    $(filter $(timely),$(call suite,debug,1500000,500000,200000)) $(call have,unit,'build/release/unit') \
	    $(call have,model,'build/release/model --seed $(SEED) --ops 4000000 --mix core --light 1 --check-every 65536') \
	    $(live_quick) $(filter-out $(BESIDE_LONG:%='%'),$(API:%='%')) \
	    $(patsubst %,'bats %',$(filter-out $(BESIDE_WAITING),$(CLI_TESTS))) tests/cli/live.py $(report_test) \
	    $(ADAPTER_TESTS) build/asan/trace build/asan/filter

test-programs: all $(call suite_programs,debug) $(call suite_programs,asan) \
    $(call have,unit,build/release/unit) $(call have,model,build/release/model) build/asan/report build/asan/trace \
    build/asan/filter build/asan/json_lines build/asan/lawn \
    build/helgrind/threads build/explore/explore build/sim/sim $(ADAPTER_TESTS) \
    build/watched/lawn.so $(fuzz_program)
	@mkdir -p $(fuzz_folders)

asan: $(call suite_programs,asan) ## the tests under AddressSanitizer and UBSan
	@tests/run $(call suite,asan,$(OPS),$(OPS),$(OPS))

tsan: $(addprefix build/tsan/,unit model) ## the tests of workers under ThreadSanitizer
	@tests/run 'build/tsan/unit between_threads' 'build/tsan/unit worker' 'build/tsan/unit very_many_threads' \
	    $(foreach i,1 2 3,'build/tsan/unit between_threads') \
	    $(foreach m,$(WORKERS_MIXES),'build/tsan/model --seed $(SEED) --ops 50000 --mix $(m)')

model: build/debug/model ## random operations against an oracle: SEED=1 OPS=1000000
	@tests/run $(foreach m,$(LAWN_MIXES) $(PAIR_MIXES) $(STORE_MIXES) $(WORKERS_MIXES) $(LOOP_MIXES),'build/debug/model --seed $(SEED) --ops $(OPS) --mix $(m)')

# Nearly all of it with habits that change often: then a case is short that has them
# all. The rest as it is shipped.
model-long: OPS := 1000000000
model-long: build/long/model build/release/model ## the same on lawns and pairs of them, lightly judged, with its rate: SEED=1 OPS=1000000000 MODEL_JOBS=2
	build/long/model --seed $(SEED) --ops $(shell expr $(OPS) / 10 '*' 9) --mix core --light 1 --check-every 65536 --jobs $(MODEL_JOBS)
	build/release/model --seed $(SEED) --ops $(shell expr $(OPS) / 10) --mix core --light 1 --check-every 65536 --jobs $(MODEL_JOBS)

model-filters: LINES := 1000000
model-filters: build/lawn ## the tool's filters against a plain reference: SEED=1 LINES=1000000
	@tests/run $(call model_filters,$(LINES),0)

fuzz: ## FUZZ_SECONDS of each fuzzer; what they find new goes to tests/fuzz/corpus-*
	@tools/deps fuzz
	+@$(MAKE) --no-print-directory $(fuzz_program)
	@tests/fuzz/run --seconds $(FUZZ_SECONDS) $(FUZZ_LENGTHS)

fuzz-swift: ## the same without sanitizers, for many more executions
	@tools/deps fuzz
	+@$(MAKE) --no-print-directory $(FUZZERS:%=build/swift/fuzz_%)
	@tests/fuzz/run --build swift --seconds $(FUZZ_SECONDS) $(FUZZ_LENGTHS)

fuzz-minimise: $(fuzz_program) ## leaves in tests/fuzz/corpus-* only inputs that reach something of their own
	@tests/fuzz/run --minimise $(FUZZ_LENGTHS)

soak: build/release/soak ## ten million timers on the real clock for SOAK_SECONDS=3600; a line a minute; SEED=1 TIMERS=10000000
	@build/release/soak --seconds $(SOAK_SECONDS) --seed $(SEED) $(if $(TIMERS),--timers $(TIMERS))

soak-rounds: build/debug/soak ## SOAK_SECONDS of random operations on large lawns and stores, against the oracles
	@tests/run 'build/debug/soak --rounds --seconds $(SOAK_SECONDS) --seed $(SEED)'

soak-module: build/lawn.so ## the module: kills, failovers, random commands and odd lines, in both servers; SEED=1 FAILOVER_ROUNDS=20 KILL_CYCLES=5000
	@tools/deps soak-module
	@tests/run --beside $(call live,failover.py,--seed $(SEED) --rounds $(FAILOVER_ROUNDS)) \
	    $(call live,cluster.py,--seed $(SEED) --rounds $(FAILOVER_ROUNDS)) -- \
	    $(call live,kill.py,--seed $(SEED) --cycles $(KILL_CYCLES)) \
	    $(call live,torn.py,--seed $(SEED) --cuts 65536 --flips 3000) \
	    $(call live,model.py,--seed $(SEED) --ops 20000 --runs 20) \
	    $(call live,wake.py,--seed $(SEED) --rounds 2000) \
	    $(call live,fuzz.py,--seed $(SEED) --lines 1000000 --payloads 100000)

explore: build/explore/explore ## EXPLORE_SECONDS of schedules of the workers' threads; SEED=1
	@build/explore/explore --seconds $(EXPLORE_SECONDS) --seed $(SEED)

sim: build/sim/sim ## SIM_SEEDS of long runs of the workers with faults; SEED=1
	@build/sim/sim --seeds $(SIM_SEEDS) --seed $(SEED) --jobs $$(nproc)

coverage: $(call suite_programs,coverage) build/walked/explore $(call suite_programs,debug) ## lines and branches of the library that the tests reach
	@tools/deps coverage
	@find build/coverage build/walked -name '*.gcda' -delete
	@tests/run $(call suite,coverage,100000,30000,30000) $(call suite,debug,100000,30000,30000) \
	    'build/walked/explore --schedules 5000 --random 5000'
	@tools/coverage build/coverage/src build/walked/src/workers tests/coverage-exceptions

# The unit tests, and the mixes of lawns alone.
MCDC_RAW = build/mcdc/raw
mcdc: ## conditions of the core that the tests show to decide, with clang-19
	@tools/deps mcdc
	+@$(MAKE) --no-print-directory build/mcdc/unit build/mcdc/model
	@rm -rf $(MCDC_RAW)
	@LLVM_PROFILE_FILE='$(CURDIR)/$(MCDC_RAW)/%p.profraw' tests/run build/mcdc/unit \
	    $(foreach m,$(MIXES),'build/mcdc/model --seed $(SEED) --ops 100000 --mix $(m)')
	@llvm-profdata$(CLANG_MCDC:clang%=%) merge -sparse $(MCDC_RAW)/*.profraw -o build/mcdc/all.profdata
	@tools/coverage --mcdc src/core/ '$(CLANG_MCDC:clang%=%)' build/mcdc/all.profdata \
	    build/mcdc/unit build/mcdc/model tests/mcdc-exceptions

mutants: ## break the library in many ways; the tests must notice each
	@tools/deps test
	@tools/mutants

promises: ## break each promise once; the test that is named for it must notice
	@tools/deps test
	@tools/mutants --promises

prove: ## the proofs of proofs/, by machine; under 25 minutes
	@tools/deps prove
	@tools/cbmc >/dev/null
	@proofs/run

mutate: ## break the core and the store in thousands of ways: MUTATE_SAMPLE=N (0: all) SEED=1
	@tools/deps mutate
	@tools/mutate --sample $(MUTATE_SAMPLE) --seed $(SEED)

# As make looks for the peers when it starts, it starts anew once they are there.
gate: ## lawn against all contenders, and its bars; half an hour
	@tools/deps bench
	+@$(MAKE) --no-print-directory all
	@build/lawn bench --gate

bench: ## the whole benchmark, hours: build/bench.json, build/bench.html
	@tools/deps bench
	+@$(MAKE) --no-print-directory all
	@build/lawn bench --instructions --json --report build/bench.html >build/bench.json
	@echo 'see build/bench.html; the data is in build/bench.json'

bench-cli: ## lawn's filters against awk, and their bars: LINES=10000000 KEYS=1000000 RUNS=3
	@tools/deps bench-cli
	+@$(MAKE) --no-print-directory build/lawn
	@LAWN=build/lawn LINES='$(LINES)' KEYS='$(KEYS)' RUNS='$(RUNS)' tools/bench-cli

# The module that has one timer per event, to compare with.
build/release/bench/module/per_timer.o: private INCLUDES = -Imodule
build/bench/per_timer.so: $(call objects,release,bench/module/per_timer.c module/redis.c)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-Bsymbolic-functions -o $@ $^

bench-module: ## the Redis and Valkey module against what else delays, and its bars: SERVER=both QUICK= REALTIME= PARTS= SAVE=
	@tools/deps bench-module
	+@$(MAKE) --no-print-directory build/lawn.so build/bench/per_timer.so
	@tools/bench-module --server '$(SERVER)' $(if $(QUICK),--quick) $(if $(REALTIME),--realtime) $(if $(PARTS),--only '$(PARTS)') $(if $(SAVE),--save '$(SAVE)')

man: build/lawn ## write the tool's options into the pages of man/ that list them
	@LAWN='$(RUN_LAWN)' tools/manoptions

lint: build/bench/lines.h build/bench/build.h ## format, static analysis, both compilers' warnings; silent if all is well
	@tools/deps lint
	@WARNINGS='$(WARNINGS)' tools/lint

abi: ## whether programs linked with the library as it was run with this one
	@tools/deps abi
	+@$(MAKE) --no-print-directory build/abi/liblawn.so
	@tools/abi compare

abi-update: ## store the library's interface as it is, for `make abi`
	@tools/deps abi
	+@$(MAKE) --no-print-directory build/abi/liblawn.so
	@tools/abi update

deb: ## the Debian packages of what is committed, in build/deb
	@tools/deps deb
	@tools/deb

deb-check: deb ## whether they install, serve, go, and build in a minimal Debian; as root
	@tools/deps deb-check
	@tools/deb-check

install: all ## to PREFIX (/usr/local), libdir, ...; DESTDIR is honoured
	install -d '$(DESTDIR)$(includedir)' '$(DESTDIR)$(libdir)' '$(DESTDIR)$(bindir)'
	install -m 644 $(filter-out $(ADAPTERS_LEFT:%=include/lawn_%.h),$(HEADERS)) '$(DESTDIR)$(includedir)'
	install -m 644 build/liblawn.a $(ADAPTERS_A) '$(DESTDIR)$(libdir)'
	install -m 755 build/$(SO) '$(DESTDIR)$(libdir)'
	ln -sf $(SO) '$(DESTDIR)$(libdir)/$(SONAME)'
	ln -sf $(SO) '$(DESTDIR)$(libdir)/liblawn.so'
	PREFIX='$(PREFIX)' libdir='$(libdir)' includedir='$(includedir)' VERSION=$(VERSION) \
	    SOVERSION=$(SOVERSION) ADAPTERS='$(ADAPTERS_NEED)' INSTALLED='$(ADAPTERS)' \
	    tools/package '$(DESTDIR)$(libdir)'
	$(if $(CLI_C),install -m 755 build/lawn '$(DESTDIR)$(bindir)')
	$(if $(CLI_C),install -D -m 644 build/lawn.bash '$(DESTDIR)$(datadir)/bash-completion/completions/lawn')
	$(if $(CLI_C),install -D -m 644 build/lawn.zsh '$(DESTDIR)$(zshdir)/_lawn')
	$(if $(CLI_C),install -D -m 644 build/lawn.fish '$(DESTDIR)$(datadir)/fish/vendor_completions.d/lawn.fish')
	install -D -m 755 build/lawn.so '$(DESTDIR)$(libdir)/lawn/lawn.so'
	$(if $(PEERS),install -D -m 755 -t '$(DESTDIR)$(libdir)/lawn/peers' $(PEERS_SO))
	$(foreach m,$(MAN),install -D -m 644 $(m) '$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))';)
	umask 022; tools/manlinks $(ADAPTERS_LEFT) | while read -r name page; do n=$${page##*.}; \
	    echo ".so man$$n/$$page" >'$(DESTDIR)$(mandir)'"/man$$n/$$name.$$n" || exit; done

uninstall: ## remove what install put there
	rm -f $(HEADERS:include/%='$(DESTDIR)$(includedir)/%') \
	    $(foreach f,liblawn.a liblawn.so $(SONAME) $(SO) pkgconfig/lawn.pc \
	        $(foreach a,$(patsubst src/adapters/%.c,%,$(wildcard src/adapters/*.c)),liblawn_$(a).a pkgconfig/lawn_$(a).pc) \
	        cmake/lawn/lawnConfig.cmake cmake/lawn/lawnConfigVersion.cmake,'$(DESTDIR)$(libdir)/$(f)') \
	    $(foreach m,$(MAN),'$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))') \
	    $(foreach p,$(notdir $(basename $(wildcard bench/peers/*.c))),'$(DESTDIR)$(libdir)/lawn/peers/$(p).so') \
	    '$(DESTDIR)$(libdir)/lawn/lawn.so' \
	    '$(DESTDIR)$(bindir)/lawn' '$(DESTDIR)$(datadir)/bash-completion/completions/lawn' \
	    '$(DESTDIR)$(zshdir)/_lawn' '$(DESTDIR)$(datadir)/fish/vendor_completions.d/lawn.fish'
	tools/manlinks | while read -r name page; do n=$${page##*.}; \
	    rm -f '$(DESTDIR)$(mandir)'"/man$$n/$$name.$$n"; done
	@for folder in lawn/peers lawn cmake/lawn; do \
	    rmdir '$(DESTDIR)$(libdir)'/$$folder 2>/dev/null; done; :

clean: ## remove build/
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile
	@echo 'with PREFIX=/usr/local, DESTDIR=, PROBES=1 (probes for bpftrace), CPPFLAGS=-UNDEBUG (checks'
	@echo 'what you do), HARDEN=0 (no hardening), each for `make install` too; V=1 (shows commands),'
	@echo 'WERROR=1 (warnings are errors)'

.PHONY: all amalgamation run test test-programs asan tsan model model-long model-filters fuzz \
    fuzz-swift fuzz-minimise soak soak-rounds soak-module explore sim coverage mcdc mutants \
    promises prove mutate gate bench bench-cli bench-module man lint abi abi-update deb deb-check install \
    uninstall clean help FORCE
.DELETE_ON_ERROR:
-include $(shell find build \( -path build/deb -o -path build/deb-root -o -path build/cbmc \) -prune \
    -o -name "*.d" -print 2>/dev/null)
