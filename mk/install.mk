# install.mk - installation and Debian packages
#
# Needs: config.mk (the folders), library.mk, bench.mk, module.mk, tool.mk.

MAN := $(wildcard man/*.[1-9])
# $(call man_file,man/lawn.3): where it is installed.
man_file = $(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
# $(call script_file,COMMAND,SHELL): where its completion script is installed.
script_bash = $(datadir)/bash-completion/completions/$(1)
script_zsh = $(zshdir)/_$(1)
script_fish = $(datadir)/fish/vendor_completions.d/$(1).fish
script_file = $(DESTDIR)$(call script_$(2),$(1))

install: all ## install to PREFIX (/usr/local), libdir, ..., below DESTDIR
	install -d '$(DESTDIR)$(includedir)' '$(DESTDIR)$(libdir)' '$(DESTDIR)$(bindir)'
	install -m 644 $(filter-out $(ADAPTERS_LEFT:%=include/lawn_%.h),$(HEADERS)) '$(DESTDIR)$(includedir)'
	install -m 644 build/liblawn.a $(ADAPTERS_A) '$(DESTDIR)$(libdir)'
	install -m 755 build/$(SO) '$(DESTDIR)$(libdir)'
	ln -sf $(SO) '$(DESTDIR)$(libdir)/$(SONAME)'
	ln -sf $(SO) '$(DESTDIR)$(libdir)/liblawn.so'
	PREFIX='$(PREFIX)' libdir='$(libdir)' includedir='$(includedir)' VERSION=$(VERSION) \
	    SOVERSION=$(SOVERSION) ADAPTERS='$(ADAPTERS_NEED)' INSTALLED='$(ADAPTERS)' \
	    tools/package '$(DESTDIR)$(libdir)'
	install -m 755 $(COMMANDS:%=build/%) '$(DESTDIR)$(bindir)'
	$(foreach c,$(COMMANDS),$(foreach s,$(SHELLS),install -D -m 644 build/$(c).$(s) '$(call script_file,$(c),$(s))' &&)) :
	install -D -m 755 build/lawn.so '$(DESTDIR)$(libdir)/lawn/lawn.so'
	$(if $(PEERS),install -D -m 755 -t '$(DESTDIR)$(libdir)/lawn/peers' $(PEERS_SO))
	$(foreach m,$(MAN),install -D -m 644 $(m) '$(call man_file,$(m))';)
	umask 022; tools/manlinks $(ADAPTERS_LEFT) | while read -r name page; do n=$${page##*.}; \
	    echo ".so man$$n/$$page" >'$(DESTDIR)$(mandir)'"/man$$n/$$name.$$n" || exit; done

# Includes adapters and peers that only an earlier build had.
uninstall: ## remove the installed files
	rm -f $(HEADERS:include/%='$(DESTDIR)$(includedir)/%') \
	    $(foreach f,liblawn.a liblawn.so $(SONAME) $(SO) pkgconfig/lawn.pc \
	        $(foreach a,$(ADAPTERS_ALL),liblawn_$(a).a pkgconfig/lawn_$(a).pc) \
	        cmake/lawn/lawnConfig.cmake cmake/lawn/lawnConfigVersion.cmake,'$(DESTDIR)$(libdir)/$(f)') \
	    $(foreach m,$(MAN),'$(call man_file,$(m))') \
	    $(foreach p,$(notdir $(basename $(wildcard bench/peers/*.c))),'$(DESTDIR)$(libdir)/lawn/peers/$(p).so') \
	    '$(DESTDIR)$(libdir)/lawn/lawn.so' \
	    $(foreach c,$(COMMANDS),'$(DESTDIR)$(bindir)/$(c)' $(foreach s,$(SHELLS),'$(call script_file,$(c),$(s))'))
	tools/manlinks | while read -r name page; do n=$${page##*.}; \
	    rm -f '$(DESTDIR)$(mandir)'"/man$$n/$$name.$$n"; done
	@for folder in lawn/peers lawn cmake/lawn; do \
	    rmdir '$(DESTDIR)$(libdir)'/$$folder 2>/dev/null; done; :

deb: ## the Debian packages of the committed tree, in build/deb
	@tools/deps deb
	@tools/deb

deb-check: deb ## install, run, remove and rebuild the packages in a minimal Debian; as root
	@tools/deps deb-check
	@tools/deb-check

.PHONY: install uninstall deb deb-check
