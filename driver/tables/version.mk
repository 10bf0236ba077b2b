# What version.c is built with; the Makefile includes this file.
# COMMIT is the commit of a checkout, with a + if files differ from it; in a tarball, the one that git has written into
# .ci/commit.
COMMIT := $(shell if test -e .git; then git describe --always --abbrev=12 --exclude='*' --dirty=+ 2>/dev/null; \
	else sed -nE 's/^([0-9a-f]{12})[0-9a-f]*$$/\1/p' .ci/commit; fi)
VERSION_FLAGS = -DVERSION='"$(VERSION)"' -DCOMMIT='"$(COMMIT)"' -DCOMPILER='"$(COMPILER) $(variant)"' \
	-DFLAGS='"$(subst ",\",$(strip $(filter-out -W%,$(NUMERICS) $(KERNEL_FLAGS)) $(CFLAGS)))"'
VERSION_OBJECTS = $(BUILD)/float/driver/tables/version.o $(BUILD)/double/driver/tables/version.o
$(VERSION_OBJECTS): private COMPILE += $(VERSION_FLAGS)
$(VERSION_OBJECTS): $(BUILD)/version
$(BUILD)/version: FORCE
	$(call stamp,$(VERSION_FLAGS))
