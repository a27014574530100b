# module.mk - the module for Redis and Valkey: lawn.so
#
# Defines: MODULE_C (all of its sources), MODULE_PLAIN_C (those that do not use the
#   server, so that test programs can contain them).
# Needs: config.mk, variants.mk, library.mk.

MODULE_C := $(wildcard module/*.c)
MODULE_PLAIN_C := $(filter-out module/server_%.c $(patsubst %,module/%.c,redismodule_api invariant module type config info),$(MODULE_C))

ALL += build/lawn.so

# The server looks up one symbol; the others are not exported.
build/lawn.so: $(call objects,release,$(MODULE_C)) build/liblawn.a module/module.map
	$(call say,LINK)$(CC) $(CFLAGS) $(HARDEN_LD) $(LDFLAGS) -shared -Wl,--version-script=module/module.map \
	    -Wl,-Bsymbolic -Wl,-z,defs -o $@ $(filter %.o %.a,$^) $(LDLIBS)

# Without -z defs: the functions of the sanitizer are in a library that is loaded first.
build/watched/lawn.so: $(call objects,watched,$(MODULE_C) $(LIB_C)) module/module.map
	$(call say,LINK)$(CC_watched) $(FLAGS_watched) $(LDFLAGS) -shared \
	    -Wl,--version-script=module/module.map -Wl,-Bsymbolic -o $@ $(filter %.o,$^) $(LDLIBS)

# A module with one server timer per event, for `make bench-module` to compare with.
build/release/bench/module/per_timer.o: private INCLUDES = -Imodule
build/bench/per_timer.so: $(call objects,release,bench/module/per_timer.c module/redismodule_api.c)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-Bsymbolic-functions -o $@ $^
