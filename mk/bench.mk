# bench.mk - the benchmark lawn-bench: contenders, peers, workloads, report
#
# Defines: BENCH_C (its own sources), REPORT_C, PEERS (those of the libraries to
#   compare with that are installed), and the targets that measure.
# Needs: config.mk, variants.mk, library.mk, module.mk, tool.mk.

# The HTML page of the report, as C.
PAGE_C := build/report_page.c
REPORT_C := $(wildcard bench/report*.c) $(PAGE_C)
BENCH_C := $(wildcard bench/*.c bench/contenders/*.c bench/stores/*.c bench/crews/*.c bench/hosts/*.c) $(PAGE_C)

LINES ?= 10000000
KEYS ?= 1000000
RUNS ?= 3
SERVER ?= both

# Like RUN_LAWN in tool.mk.
RUN_BENCH ?= build/lawn-bench

COMMANDS += lawn-bench
ALL += build/lawn-bench $(SHELLS:%=build/lawn-bench.%)

$(call objects,release,$(BENCH_C)): private HARDEN_STACK = -fstack-protector

build/lawn-bench: $(call objects,release,$(COMMON_C) $(BENCH_C)) build/liblawn.a
	$(call link,-lm -ldl)

$(SHELLS:%=build/lawn-bench.%): build/lawn-bench.%: build/lawn-bench
	$(call say,GEN)$(RUN_BENCH) --completion $* >$@

# Files that the build writes for the benchmark ----------------------------------------

$(PAGE_C): tools/page $(wildcard bench/report/page.*)
	@mkdir -p $(@D)
	$(call say,PAGE)tools/page >$@

# The lines of code of each contender.
build/bench/lines.h: tools/lines $(wildcard bench/contenders/*.[ch] bench/heap4.h src/core/*.[ch] src/base/*.h) $(HEADERS)
	@mkdir -p $(@D)
	@tools/lines >$@
$(VARIANTS:%=build/%/bench/contenders.o): build/bench/lines.h

# Information about the build for reports, without -f*-prefix-map options. COMMIT is
# for builds outside of git. The flags are those of the benchmark and the library.
build/bench/build.h: private HARDEN_STACK = -fstack-protector
build/bench/build.h: FORCE
	@mkdir -p $(@D)
	@{ echo '#define BUILD_VERSION "$(VERSION)"'; \
	    echo '#define BUILD_FLAGS "$(strip $(subst ",\",$(filter-out -ffile-prefix-map=% -fdebug-prefix-map=%,$(FLAGS_release))))"'; \
	    echo "#define BUILD_COMPILER \"$$($(CC) --version | sed 1q)\""; \
	    echo "#define BUILD_COMMIT \"$(or $(COMMIT),$$(git describe --always --dirty 2>/dev/null || echo unknown))\""; \
	} >$@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(foreach o,bench machine print_json,$(VARIANTS:%=build/%/bench/$(o).o)): build/bench/build.h

# Peers: plug-ins, each built if the header of its library is found --------------------

PEERS := $(filter-out $(ADAPTERS_LEFT:%=%host),$(shell \
    CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' tools/peers names $(wildcard bench/peers/*.c)))
PEERS_SO := $(if $(PEERS),build/peers/peer.so) $(PEERS:%=build/peers/%.so)
# Event loops with an adapter of lawn.
HOSTS := $(filter %host,$(PEERS))
PEERS_PLAIN := $(filter-out $(HOSTS),$(PEERS))
LIBS_common := -levent_core
LIBS_ghash := -lglib-2.0
LIBS_gplain := -lglib-2.0
LIBS_sqlite := -lsqlite3
LIBS_uvloops := -luv
LIBS_dpdk := -lrte_timer -lrte_eal

ALL += $(PEERS_SO)

# They share a clock, which is in peer.so in the same folder.
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

# The folder of the installed peers is compiled into the program.
build/libdir: FORCE
	@mkdir -p $(@D)
	@echo '$(libdir)' | cmp -s - $@ || echo '$(libdir)' >$@
$(foreach v,$(VARIANTS),build/$(v)/bench/peers.o): build/libdir
$(foreach v,$(VARIANTS),build/$(v)/bench/peers.o): private INCLUDES += \
    -DLAWN_PEERS_DIR='"$(libdir)/lawn/peers"'

# Measuring -----------------------------------------------------------------------------

# tools/deps may install the library of a peer; only a new make process finds it.
gate: ## compare lawn with all contenders and check its limits; half an hour
	@tools/deps bench
	+@$(MAKE) --no-print-directory all
	@build/lawn-bench --gate

bench: ## the whole benchmark, hours: build/bench.json, build/bench.html
	@tools/deps bench
	+@$(MAKE) --no-print-directory all
	@build/lawn-bench --instructions --json --report build/bench.html >build/bench.json
	@echo 'see build/bench.html; the data is in build/bench.json'

benchmarks: ## measure the tables of docs/BENCHMARKS.md and write them; an hour
	@tools/deps bench
	+@$(MAKE) --no-print-directory all
	@tools/benchmarks

benchmarks-clean: ## remove the measurements of `make benchmarks`
	@rm -rf build/benchmarks

bench-cli: ## compare the filters with awk and check their limits: LINES=10000000 KEYS=1000000 RUNS=3 SAVE=
	@tools/deps bench-cli
	+@$(MAKE) --no-print-directory build/lawn
	@LAWN=build/lawn LINES='$(LINES)' KEYS='$(KEYS)' RUNS='$(RUNS)' SAVE='$(SAVE)' tools/bench-cli

bench-module: ## compare the module with other ways to delay jobs and check its limits: SERVER=both QUICK= REALTIME= PARTS= SAVE=
	@tools/deps bench-module
	+@$(MAKE) --no-print-directory build/lawn.so build/bench/per_timer.so
	@tools/bench-module --server '$(SERVER)' $(if $(QUICK),--quick) $(if $(REALTIME),--realtime) \
	    $(if $(PARTS),--only '$(PARTS)') $(if $(SAVE),--save '$(SAVE)')

.PHONY: gate bench benchmarks benchmarks-clean bench-cli bench-module
