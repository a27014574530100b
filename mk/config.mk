# config.mk - variables you may set, and flags that all parts share
#
# Defines: the compiler and its flags, the folders of `make install`, WARNINGS,
#   INCLUDES, the hardening flags HARDEN_*, and the functions `say` and `objects`.
# Needs: nothing.

CFLAGS ?= -O2 -g
CLANG ?= clang
CLANG_MCDC ?= clang-19
OBJCOPY ?= objcopy
SEED ?= 1

PREFIX ?= /usr/local
bindir ?= $(PREFIX)/bin
libdir ?= $(PREFIX)/lib
includedir ?= $(PREFIX)/include
datadir ?= $(PREFIX)/share
mandir ?= $(datadir)/man
zshdir ?= $(datadir)/zsh/site-functions
# A relative PREFIX is below this folder; the other relative folders are below PREFIX.
override PREFIX := $(if $(PREFIX),$(if $(filter /%,$(PREFIX)),$(PREFIX),$(CURDIR)/$(PREFIX)))
$(foreach d,bindir libdir includedir datadir mandir zshdir,$(eval \
    override $(d) := $$(if $$(filter /%,$$($(d))),$$($(d)),$$(PREFIX)/$$($(d)))))

# tests/api/amalgamation reads this list.
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
    -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla \
    -Wformat=2 $(if $(WERROR),-Werror)

# For everything except the library, which has -Iinclude only.
INCLUDES := -Iinclude -Itests/kit -Isrc/core -Icli/common -Icli/filter -Ibench -Ibuild/bench -Imodule

# The release is hardened; SECURITY.md explains each flag. Your flags come later on the
# command line and override them. HARDEN=0 disables all of them.
HARDEN ?= 1
hardened = $(if $(filter-out 0,$(HARDEN)),$(1))
# The library and the benchmark set this to -fstack-protector, which adds no
# instruction to their hot functions.
HARDEN_STACK = -fstack-protector-strong
# _FORTIFY_SOURCE needs optimization.
HARDEN_C = $(call hardened,$(HARDEN_STACK) -fstack-clash-protection \
    $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(if \
        $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS)))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)))
HARDEN_LD = $(call hardened,$(foreach z,relro now noexecstack,-z $(z)))
HARDEN_PIE = $(call hardened,$(if $(filter -static%,$(LDFLAGS) $(CFLAGS)),,-pie))

# $(call say,WORD): starts a recipe's command and prints WORD and the target instead
# of the command. V=1 prints the command itself.
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $@;)

# $(call objects,VARIANT,SOURCES): the object files of the sources in that variant.
objects = $(patsubst %.c,build/$(1)/%.o,$(2))
