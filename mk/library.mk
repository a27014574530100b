# library.mk - the library: liblawn.a, liblawn.so, and the adapters to event loops
#
# Defines: HEADERS, LIB_C (the library's sources; CORE_C and WORKERS_C are parts of
#   it), ADAPTERS (those whose event loop is installed here), SO and SONAME.
# Needs: config.mk, variants.mk; VERSION and SOVERSION of the Makefile.

HEADERS := $(wildcard include/*.h include/*.hpp)
CORE_C := $(wildcard src/core/*.c)
WORKERS_C := $(wildcard src/workers/*.c)
LIB_C := $(filter-out src/adapters/%,$(wildcard src/*/*.c))

SO := liblawn.so.$(VERSION)
SONAME := liblawn.so.$(SOVERSION)

# Each adapter is a separate library. It is built and installed only if the header of
# its event loop is found.
ADAPTERS_ALL := $(patsubst src/adapters/%.c,%,$(wildcard src/adapters/*.c))
ADAPTERS := $(shell CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' tools/peers names $(wildcard src/adapters/*.c))
ADAPTERS_A := $(ADAPTERS:%=build/liblawn_%.a)
ADAPTERS_LEFT := $(filter-out $(ADAPTERS),$(ADAPTERS_ALL))
# What each depends on: a pkg-config module, or a library without one.
ADAPTERS_NEED := uv=libuv event=libevent_core ev=-lev uring=liburing glib=glib-2.0 sdevent=libsystemd
LIBS_uv := -luv
LIBS_event := -levent_core
LIBS_ev := -lev
LIBS_uring := -luring
LIBS_glib := -lglib-2.0
LIBS_sdevent := -lsystemd
# Where the headers of event loops and of the benchmark's peers may be.
PEER_INCLUDES := $(shell CC='$(CC)' tools/peers includes)

ALL += build/liblawn.a build/liblawn.so $(ADAPTERS_A)

build/liblawn.a: $(call objects,release,$(LIB_C))
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(ADAPTERS_A): build/liblawn_%.a: build/release/src/adapters/%.o
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

# Only the symbols in src/lawn.map are exported.
build/$(SO): $(call objects,release,$(LIB_C)) src/lawn.map
	$(call say,LINK)$(CC) $(CFLAGS) $(HARDEN_LD) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) \
	    -Wl,--version-script=src/lawn.map -Wl,-Bsymbolic-functions \
	    -o $@ $(filter %.o,$^) $(LDLIBS)

build/liblawn.so: build/$(SO)
	@ln -sf $(SO) build/$(SONAME)
	@ln -sf $(SO) $@

# For tools/abi.
build/abi/liblawn.so: $(call objects,abi,$(LIB_C)) src/lawn.map Makefile mk/library.mk
	$(call say,LINK)$(CC_abi) $(FLAGS_abi) -shared -Wl,-soname,$(SONAME) \
	    -Wl,--version-script=src/lawn.map -o $@ $(filter %.o,$^)

$(call objects,release,$(LIB_C)): private HARDEN_STACK = -fstack-protector

amalgamation: ## the library as one file, build/amalgamation/lawn.[ch], or lawn_single.h
	@tools/amalgamate build/amalgamation $(VERSION)

.PHONY: amalgamation
