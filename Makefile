# Makefile - the product as a whole
#
# `make` builds the library, the tool, the benchmark and the module; `make help` lists
# all targets.
#
# You may set CC, CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS. By default make builds the
# release: optimized, without assertions; `make CPPFLAGS=-UNDEBUG` keeps them. Tests
# compile the same sources again, each variant in its own folder below build/. CFLAGS
# apply to the release only, since each variant is defined by its flags. If flags
# change, files that were built with other flags are rebuilt.
#
# Each part of the product has a file in mk/, which begins with a list of what it
# defines and needs.

VERSION := 0.1.0
SOVERSION := 0

# In this order: a rule's targets and prerequisites are expanded when it is read.
MK := $(patsubst %,mk/%.mk,config variants library module tool bench programs fuzz tests \
    checks install compdb)

.DEFAULT_GOAL := all
include $(MK)

# The included files add their targets to ALL.
all: $(ALL) ## the library, the tool, the benchmark and the module, in build/

clean: ## remove build/ and compile_commands.json
	rm -rf build compile_commands.json

# A target is listed if its line has a comment that starts with ##; each file's
# targets are headed by the first line of the file.
help: ## this list
	@awk -F ':.*## ' 'FNR == 1 { sub(/^# .* - /, ""); head = $$0 } \
	    /^[a-z-]+:.*## / { if (head) print head ":"; head = ""; printf "  %-14s %s\n", $$1, $$2 }' \
	    Makefile $(MK)
	@echo 'Variables: PREFIX=/usr/local DESTDIR= PROBES=1 (probes for bpftrace) CPPFLAGS=-UNDEBUG (keeps'
	@echo 'assertions) HARDEN=0 (no hardening); give them to `make install` as well. V=1 shows commands,'
	@echo 'WERROR=1 makes warnings errors.'

.PHONY: all clean help FORCE
.DELETE_ON_ERROR:
-include $(shell find build \( -path build/deb -o -path build/deb-root -o -path build/cbmc \) -prune \
    -o -name "*.d" -print 2>/dev/null)
