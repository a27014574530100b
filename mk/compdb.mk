# compdb.mk - compile_commands.json, for clangd, clang-tidy and other tools
#
# For each source the file has a command of `make -n`: the one that compiles it in the
# variant that the recipe lists for its folder, or else in `debug`. It is rewritten if a source is added
# or removed, or if a makefile changes; after a change of flags, remove it.
#
# Needs: all others, when the recipe runs.

ALL += compile_commands.json

# The list of sources; changed only if a source was added or removed.
build/sources: FORCE
	@mkdir -p $(@D)
	@find src cli module bench tests -name '*.c' 2>/dev/null | LC_ALL=C sort >$@.new; \
	    cmp -s $@.new $@ && rm $@.new || mv $@.new $@

compile_commands.json: build/sources Makefile $(MK)
	$(call say,GEN)sed -e 's|^bench/peers/|build/release/&|; t end' \
	    -e 's|^tests/explore/|build/explore/&|; t end' \
	    -e 's|^tests/sim/|build/sim/&|; t end' \
	    -e 's|^tests/helgrind/|build/helgrind/&|; t end' \
	    -e 's|^tests/naive/|build/naive/&|; t end' \
	    -e 's|^tests/fuzz/fuzz_schedule|build/fibres/&|; t end' \
	    -e 's|^tests/fuzz/|build/fuzz/&|; t end' \
	    -e 's|^tests/adapters/|build/asan/&|; t end' \
	    -e 's|^|build/debug/|' -e ':end' -e 's|\.c$$|.o|' build/sources | \
	    xargs $(MAKE_COMMAND) -n -B V=1 2>/dev/null >build/sources.commands && awk -v folder='$(CURDIR)' ' \
	    BEGIN { printf "[" } \
	    END { print "\n]" } \
	    / -c -o build\/[^ ]+\.o [^ ]+\.c$$/ && !seen[$$NF]++ { \
	        command = $$0; \
	        gsub(/\\/, "&&", command); \
	        gsub(/"/, "\\\\&", command); \
	        printf "%s\n{\"directory\": \"%s\", \"file\": \"%s\",\n \"command\": \"%s\"}", \
	            comma, folder, $$NF, command; \
	        comma = "," \
	    }' build/sources.commands >$@
