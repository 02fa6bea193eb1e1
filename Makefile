# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# The commands of rcm; `make help` lists them.

TOP	:= $(CURDIR)
BUILD	:= $(TOP)/build
MAKEFLAGS += --no-print-directory

ifneq ($(T),)
export T
endif
ifneq ($(KERNELS),)
export KERNELS
endif
ifneq ($(SEED),)
export SEED
endif
ifneq ($(IOCTLS),)
export IOCTLS
endif

VERSION := $(shell git -C $(TOP) describe --tags --always --dirty 2>/dev/null || echo 0.1)

# --- where things go

PREFIX	?= /usr/local
prefix	?= $(PREFIX)
multiarch := $(shell $(CC) -print-multiarch 2>/dev/null)
libdir	?= $(prefix)/lib$(if $(multiarch),/$(multiarch))
bindir	?= $(prefix)/bin
includedir ?= $(prefix)/include
mandir	?= $(prefix)/share/man
pkgconfigdir ?= $(libdir)/pkgconfig
udevdir	?= $(if $(filter /usr /usr/local,$(prefix)),/usr/lib/udev/rules.d,$(prefix)/lib/udev/rules.d)
rcmlibdir = $(libdir)/rcm
INSTALL	?= install

# --- the kernel to build for

running	:= $(shell uname -r)
KDIR	?= /lib/modules/$(running)/build
krelease := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
# INSTRUMENT=gcov, kcov: for coverage, where the kernel can do that
kbuild_dir = $(BUILD)/$(if $(INSTRUMENT),$(INSTRUMENT)/)$(krelease)
instrument_gcov := GCOV_PROFILE=y
instrument_kcov := KCOV_INSTRUMENT=y
# A User-Mode Linux tree says so itself
karch	= $(if $(shell grep -sx CONFIG_UML=y $(KDIR)/.config),ARCH=um)
# Headers that come with a vmlinux want the modules' types for BPF described, by a
# pahole as new as the kernel's own. Without it they have none, and load all the same.
pahole_wanted = $(shell sed -n 's/^CONFIG_PAHOLE_VERSION=//p' $(KDIR)/include/config/auto.conf 2>/dev/null)
no_btf	= $(shell [ "$$(pahole --numeric_version 2>/dev/null || echo 0)" -ge "$(or $(pahole_wanted),0)" ] || \
	    echo CONFIG_DEBUG_INFO_BTF_MODULES=)
# kbuild DIRECTORY: for the modules in it
kbuild	= $(MAKE) -C $(KDIR) $(karch) M=$(1) RCM_VERSION=$(VERSION) \
	  $(if $(W),W=$(W)) $(if $(C),C=$(C)) $(if $(CF),CF="$(CF)") \
	  $(instrument_$(INSTRUMENT)) $(no_btf)

module_sources := $(sort Kbuild $(wildcard kernel/*.[ch] kernel/include/*/*.h \
	kernel/tests/*.[ch] kernel/dropin/Kbuild kernel/dropin/*.[ch] uapi/*/*.h))

# --- the library

lib_sources := $(sort $(wildcard user/*.c))
lib_objects := $(lib_sources:user/%.c=$(BUILD)/user/obj/%.o)
lib_map	:= user/librdmacm.map
rcm_map	:= $(firstword $(wildcard user/librcm.map) $(lib_map))
lib_cflags := -O2 -g -Wall -Wextra -fPIC -fvisibility=default -Iuapi -Iuser/include \
	-D_GNU_SOURCE $(if $(W),-Wmissing-prototypes -Wstrict-prototypes -Wshadow)
lib_link = $(CC) -shared -Wl,-soname,$(1) -Wl,--version-script=$(2) -Wl,-z,defs \
	$(CFLAGS) $(LDFLAGS) -o $@ $(lib_objects) -libverbs -lpthread

.PHONY: all
all: module lib

.PHONY: help
help:
	@echo 'Build (nothing is written outside build/):'
	@echo '  make                module and library (below) for the running kernel'
	@echo '  make module         build/RELEASE/rcm.ko; KDIR=DIR for another kernel, W=1 C=2 as in kbuild'
	@echo '  make dropin         rdma_cm.ko in place of the kernel'"'"'s, over rcm.ko; refuses other symbol versions'
	@echo '  make lib            build/user/: librdmacm.so.1, librcm.so, rcm-run'
	@echo '  make selftests      build/selftests/: the test programs in C'
	@echo '  make sanitizers     build/asan, build/tsan: library and tests with sanitizers'
	@echo '  make format         clang-format the C files in place'
	@echo '  make clean          remove build/'
	@echo
	@echo 'Try (needs no RDMA hardware and no root; kernels come from Debian into ~/.cache/rcm):'
	@echo '  make demo           an unmodified rping over rcm, on the distribution kernel in a VM'
	@echo '  make check          lint, every test on UML and in the VM, programs; ends with the counts'
	@echo '    KERNELS="6.1 6.12 7.x"  every test on each of these, not a few on the last two'
	@echo '  make check-fast     the tests on UML alone: KUnit and selftests under KASAN'
	@echo '  make check-vm       the tests in the VM alone: selftests and both managers side by side'
	@echo '  make check-apps     unmodified programs over rcm, in the VM: rdmacm-utils, perftest, MPI ...'
	@echo '  make check-mixed    two VMs, one on rcm, the other on the kernel'"'"'s own: storage, programs'
	@echo '  make check-apps-dropin  the same over the drop-in, with the distribution'"'"'s library'
	@echo '  make check-debug    the long tests, races and faults, on UML and on an SMP debug kernel in QEMU'
	@echo '    SEED=NUMBER       again what a test printed that failed by chance'
	@echo '    T=PATTERN         of these only tests whose name matches, like T="interop_*"'
	@echo '    VERBOSE=1         with the console of the kernel under test'
	@echo '  make coverage       the tests on UML, and which lines of kernel/ they run; fails below 90 %'
	@echo '  make fuzz           a million random ioctls on UML; IOCTLS=NUMBER SEED=NUMBER'
	@echo '  make bench          both connection managers measured in one VM: table, build/bench/*.csv, plots'
	@echo '  make lint           checkpatch, sparse, cppcheck, clang-format, W=1, licences'
	@echo '  make uml-kernel     the UML kernel alone (15 minutes the first time); prints its place'
	@echo '  make vm-kernel      the VM kernel alone (half a minute the first time)'
	@echo '  make vmdebug-kernel the debug VM kernel alone (20 minutes the first time)'
	@echo '  make clean-cache    remove ~/.cache/rcm: kernels, sources, logs'
	@echo
	@echo 'Install (honours DESTDIR, PREFIX=$(PREFIX), libdir, bindir):'
	@echo '  make install        module, library, headers, udev rule, rcm-run, man pages'
	@echo '  make uninstall      remove them'
	@echo '  make install-lib, install-module, install-man   one without the others'
	@echo '  make install-dropin, uninstall-dropin'
	@echo '                      rcm.ko and rdma_cm.ko under updates/: kernel consumers run on rcm'
	@echo '    The library goes to $$(libdir)/rcm, where nothing finds it by accident:'
	@echo '    "rcm-run PROGRAM" runs PROGRAM on it.'

# --- module

# Sources are copied where they differ; the copy's time tells kbuild
.PHONY: module-sources
module-sources:
	@if [ -z "$(krelease)" ]; then \
		echo "There is no kernel build tree in $(KDIR)." >&2; \
		echo "Install its headers (Debian: apt-get install linux-headers-$(running))," >&2; \
		echo "or name another tree: make KDIR=/path/to/linux-headers." >&2; \
		echo "Without any: 'make lib' for the library, 'make check' to build and test in a VM." >&2; \
		exit 1; \
	fi
	@for f in $(module_sources); do \
		cmp -s $$f $(kbuild_dir)/$$f || $(INSTALL) -D -m 644 $$f $(kbuild_dir)/$$f || exit 1; \
	done
	@cd $(kbuild_dir) && find Kbuild kernel uapi -name '*.[ch]' ! -name '*.mod.c' | while read -r f; do \
		[ -e $(TOP)/$$f ] || rm -f $$f; done

.PHONY: module dropin
module: module-sources
	+@$(call kbuild,$(kbuild_dir)) modules

# rdma_cm.ko in place of the kernel's. Not part of "all": it takes the place of
# something. A kernel's modules load on it only when it has the same versions.
dropin_dir = $(kbuild_dir)/kernel/dropin
dropin: module
	+@$(call kbuild,$(dropin_dir)) \
		KBUILD_EXTRA_SYMBOLS=$(kbuild_dir)/Module.symvers modules
	@kernel/dropin/check-versions.sh $(KDIR)/Module.symvers $(dropin_dir)/Module.symvers

# --- library

.PHONY: lib lib-only
lib lib-only: $(BUILD)/user/librdmacm.so.1 $(BUILD)/user/librcm.so $(BUILD)/user/rcm-run

$(BUILD)/user/obj/%.o: user/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(lib_cflags) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(lib_objects:.o=.d)

$(BUILD)/user/librdmacm.so.1: $(lib_objects) $(lib_map)
	$(call lib_link,librdmacm.so.1,$(lib_map))

$(BUILD)/user/librcm.so.1: $(lib_objects) $(rcm_map)
	$(call lib_link,librcm.so.1,$(rcm_map))

$(BUILD)/user/librcm.so: $(BUILD)/user/librcm.so.1
	ln -sfn $(<F) $@

fill = sed -e 's,@rcmlibdir@,$(rcmlibdir),g' -e 's,@libdir@,$(libdir),g' \
	-e 's,@includedir@,$(includedir),g' -e 's,@prefix@,$(prefix),g' -e 's,@version@,$(VERSION),g'

# Filled in with the places of this very run
$(BUILD)/user/rcm-run: user/rcm-run.in FORCE
	@mkdir -p $(@D)
	@$(fill) $< >$@.new && chmod 755 $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(BUILD)/user/rcm.pc: user/rcm.pc.in FORCE
	@mkdir -p $(@D)
	@$(fill) $< >$@

.PHONY: FORCE
FORCE:

# --- install

.PHONY: install uninstall install-lib uninstall-lib install-module uninstall-module \
	install-man uninstall-man
install: install-module install-lib install-man
uninstall: uninstall-module uninstall-lib uninstall-man

install-lib: lib $(BUILD)/user/rcm.pc
	$(INSTALL) -d $(DESTDIR)$(rcmlibdir) $(DESTDIR)$(bindir) $(DESTDIR)$(pkgconfigdir) \
		$(DESTDIR)$(includedir)/rcm $(DESTDIR)$(includedir)/rdma $(DESTDIR)$(udevdir)
	$(INSTALL) -m 644 $(BUILD)/user/librdmacm.so.1 $(DESTDIR)$(rcmlibdir)/
	$(INSTALL) -m 644 $(BUILD)/user/librcm.so.1 $(DESTDIR)$(libdir)/
	ln -sfn librcm.so.1 $(DESTDIR)$(libdir)/librcm.so
	$(INSTALL) -m 644 $(BUILD)/user/rcm.pc $(DESTDIR)$(pkgconfigdir)/
	$(INSTALL) -m 644 $(wildcard user/include/rcm/*.h) $(DESTDIR)$(includedir)/rcm/
	$(INSTALL) -m 644 uapi/rdma/rcm.h $(DESTDIR)$(includedir)/rdma/
	$(INSTALL) -m 644 user/60-rcm.rules $(DESTDIR)$(udevdir)/
	$(INSTALL) -m 755 $(BUILD)/user/rcm-run $(DESTDIR)$(bindir)/
	$(if $(DESTDIR),,-ldconfig)

uninstall-lib:
	rm -f $(DESTDIR)$(rcmlibdir)/librdmacm.so.1 $(DESTDIR)$(libdir)/librcm.so \
		$(DESTDIR)$(libdir)/librcm.so.1 $(DESTDIR)$(pkgconfigdir)/rcm.pc \
		$(patsubst user/include/rcm/%,$(DESTDIR)$(includedir)/rcm/%,$(wildcard user/include/rcm/*.h)) \
		$(DESTDIR)$(includedir)/rdma/rcm.h $(DESTDIR)$(udevdir)/60-rcm.rules \
		$(DESTDIR)$(bindir)/rcm-run
	-rmdir $(DESTDIR)$(rcmlibdir) $(DESTDIR)$(includedir)/rcm 2>/dev/null
	$(if $(DESTDIR),,-ldconfig)

# Each name of a page's first section is one to find it by
man_pages := $(sort $(wildcard Documentation/man/*.[1-9]))
man_names = for page in $(man_pages); do \
	section=$${page\#\#*.} name=$$(basename $${page%.*}); \
	for n in $$(sed -n 's/^\.Nm \([^ ]*\).*/\1/p; /^\.Nd/q' $$page); do \
		$(1); \
	done; done

install-man:
	@$(call man_names,[ $$n != $$name ] || $(INSTALL) -D -m 644 $$page \
		$(DESTDIR)$(mandir)/man$$section/$$n.$$section || exit 1)
	@$(call man_names,[ $$n = $$name ] || \
		ln -sfn $$name.$$section $(DESTDIR)$(mandir)/man$$section/$$n.$$section || exit 1)

uninstall-man:
	@$(call man_names,rm -f $(DESTDIR)$(mandir)/man$$section/$$n.$$section)

install-module: module
	$(INSTALL) -D -m 644 $(kbuild_dir)/rcm.ko $(DESTDIR)/lib/modules/$(krelease)/updates/rcm.ko
	$(if $(DESTDIR),,depmod $(krelease))

uninstall-module:
	rm -f $(DESTDIR)/lib/modules/$(or $(krelease),$(running))/updates/rcm.ko
	$(if $(DESTDIR),,-depmod $(or $(krelease),$(running)))

# Wins over the kernel's own because it is under updates/
.PHONY: install-dropin uninstall-dropin
install-dropin: dropin
	$(INSTALL) -d $(DESTDIR)/lib/modules/$(krelease)/updates
	$(INSTALL) -m 644 $(kbuild_dir)/rcm.ko $(dropin_dir)/rdma_cm.ko \
		$(DESTDIR)/lib/modules/$(krelease)/updates/
	$(if $(DESTDIR),,depmod $(krelease))

# Leaves rcm.ko, which uninstall-module removes
uninstall-dropin:
	rm -f $(DESTDIR)/lib/modules/$(or $(krelease),$(running))/updates/rdma_cm.ko
	$(if $(DESTDIR),,-depmod $(or $(krelease),$(running)))

# --- tests

.PHONY: demo check check-fast check-vm check-apps check-apps-dropin check-debug check-mixed \
	coverage fuzz lint uml-kernel vm-kernel vmdebug-kernel selftests
.PHONY: bench bench-program
bench:
	@selftests/bench/bench.sh
bench-program:
	@$(MAKE) -C selftests ../build/selftests/bench
demo:
	@selftests/demo/demo.sh
check:
	@selftests/rig/check.sh all
check-fast:
	@selftests/rig/check.sh uml
check-vm:
	@selftests/rig/check.sh vm
check-apps:
	@selftests/rig/check.sh apps
coverage:
	@selftests/rig/check.sh coverage
fuzz:
	@selftests/rig/check.sh fuzz
check-mixed:
	@selftests/rig/check.sh vms
check-apps-dropin:
	@selftests/rig/check.sh apps-dropin
check-debug:
	@selftests/rig/check.sh debug
lint:
	@selftests/rig/check.sh lint
uml-kernel vm-kernel vmdebug-kernel:
	@selftests/rig/$@.sh
selftests:
	@$(MAKE) -C selftests KSELFTEST_DIR="$$(selftests/rig/kernel-source.sh)/selftests"

# --- the library and its test programs with sanitizers, for selftests/sanitize.sh

sanitized := lib_concurrent lib_sync lib_own_qp lib_udp lib_ports
sanitize_asan := -fsanitize=address,undefined -fno-omit-frame-pointer
sanitize_tsan := -fsanitize=thread
sanitize_plain :=
sanitize_cc = $(CC) -O1 -g -Wall -Wextra -D_GNU_SOURCE -Iuapi -Iuser/include \
	$(sanitize_$(notdir $(@D))) -o $@

.PHONY: sanitizers
sanitizers: $(foreach s,asan tsan,$(BUILD)/$s/librdmacm.so.1 \
		$(sanitized:%=$(BUILD)/$s/%)) \
	$(foreach s,asan tsan plain,$(BUILD)/$s/plant) $(BUILD)/plain/lib_concurrent

$(BUILD)/asan/librdmacm.so.1 $(BUILD)/tsan/librdmacm.so.1: $(lib_sources) \
		$(wildcard user/*.h user/include/*/*.h uapi/*/*.h) $(lib_map) Makefile
	@mkdir -p $(@D)
	$(sanitize_cc) -shared -fPIC -Wl,-soname,librdmacm.so.1 \
		-Wl,--version-script=$(lib_map) $(lib_sources) -libverbs -lpthread

$(BUILD)/asan/plant $(BUILD)/tsan/plant $(BUILD)/plain/plant: selftests/sanitize/plant.c Makefile
	@mkdir -p $(@D)
	$(sanitize_cc) $< -lrdmacm -libverbs -lpthread

# One rule each: a pattern with several targets would make them all at once
define sanitize_test
$(BUILD)/$(1)/lib_%: selftests/lib_%.c selftests/lib_test.h Makefile
	@mkdir -p $$(@D)
	$$(sanitize_cc) -O0 -isystem "$$$$(selftests/rig/kernel-source.sh)/selftests" \
		$$< -lrdmacm -libverbs -lpthread
endef
$(foreach s,asan tsan plain,$(eval $(call sanitize_test,$(s))))

# Trace events are a language of their own
format_sources = $(filter-out kernel/trace.h,$(filter %.c %.h,$(module_sources)) \
	$(wildcard user/*.[ch] user/include/*/*.h selftests/*.[ch] selftests/diff/*.[ch] \
	selftests/fuzz/*.[ch] selftests/bench/*.[ch] selftests/bench/*/*.[ch]))

.PHONY: format format-check
format:
	clang-format -i $(format_sources)
format-check:
	@clang-format --dry-run -Werror --ferror-limit=5 $(format_sources)

.PHONY: clean clean-cache
clean:
	rm -rf $(BUILD)
clean-cache:
	rm -rf "$${RCM_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/rcm}"
