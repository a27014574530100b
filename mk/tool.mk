# tool.mk - the tool lawn: filters, demo, trace, top
#
# Defines: COMMON_C (sources that lawn and lawn-bench share), TOOL_C (all sources of
#   the tool), COMMANDS (the programs to install; the next parts add theirs), link.
# Needs: config.mk, variants.mk, library.mk.

COMMON_C := $(wildcard cli/common/*.c)
TOOL_C := $(COMMON_C) $(wildcard cli/*.c cli/filter/*.c cli/trace/*.c module/top/*.c)

# Each program writes its own completion scripts. If build/lawn is for another machine,
# set RUN_LAWN to one that runs here.
SHELLS := bash zsh fish
RUN_LAWN ?= build/lawn

COMMANDS := lawn
ALL += build/lawn $(SHELLS:%=build/lawn.%)

# $(call link,LIBRARIES): a recipe that links a program. The file is replaced
# atomically, since a test may be running it.
define link
$(call say,LINK)$(CC) $(CFLAGS) $(HARDEN_PIE) $(HARDEN_LD) $(LDFLAGS) -o $@.new $^ $(1) $(LDLIBS)
@mv $@.new $@
endef

build/lawn: $(call objects,release,$(TOOL_C)) build/liblawn.a
	$(call link)

$(SHELLS:%=build/lawn.%): build/lawn.%: build/lawn
	$(call say,GEN)$(RUN_LAWN) completion $* >$@

run: build/lawn ## a million timers on the real clock for ten seconds
	build/lawn demo

man: build/lawn build/lawn-bench ## write options and contracts into the pages of man/
	@LAWN='$(RUN_LAWN)' BENCH='$(RUN_BENCH)' tools/manoptions
	@tools/manfunctions

.PHONY: run man
