# normsweep. `make help` lists the targets.
VERSION = 0.1.0
VARIANT ?= release
PREFIX ?= /usr/local
CC = mpicc
PKG_CONFIG ?= pkg-config
MAKEFLAGS += --no-builtin-rules

# Libraries: from pkg-config, or from you: make CBLAS='-I/opt/blas/include -L/opt/blas/lib -lopenblas'. Without either
# the compiler has to find them, for example through CPATH and LIBRARY_PATH, which the modules of clusters set.
ifndef CBLAS
CBLAS := $(shell $(PKG_CONFIG) --cflags --libs openblas 2>/dev/null || echo -lopenblas)
endif
ifndef NETCDF
NETCDF := $(shell { $(PKG_CONFIG) --cflags --libs netcdf || nc-config --cflags --libs || echo -lnetcdf; } 2>/dev/null)
endif
ifndef YAML
YAML := $(shell $(PKG_CONFIG) --cflags --libs yaml-0.1 2>/dev/null || echo -lyaml)
endif
PACKAGES = $(CBLAS) $(NETCDF) $(YAML)

# Flags. WERROR=1 makes warnings errors, as `make lint` does; no -ffast-math: it breaks isfinite.
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(if $(WERROR),-Werror)
NUMERICS = -fopenmp-simd -fno-math-errno -fno-trapping-math
COMPILER := $(shell $(CC) --version 2>/dev/null | head -n 1)
release = -O3 -g
debug = -Og -g3
san = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
fuzz = $(san) -fsanitize=fuzzer-no-link
coverage = -O2 -g
variant := $(or $($(VARIANT)),$(error VARIANT=$(VARIANT): release, debug or san))
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE $(variant) $(NUMERICS) $(WARNINGS) -I. $(filter -I% -D%,$(PACKAGES)) $(CFLAGS)
LINK = $(CC) $(variant) $(LDFLAGS)
LIBS = $(filter-out -I% -D%,$(PACKAGES)) -lm -lpthread -ldl

# The release variant is built in build/, the others in build/VARIANT.
BUILD = build$(filter-out /release,/$(VARIANT))
# model and worker, without the wire, form a library with all that trains and measures a run.
LIBRARY = $(filter-out $(KERNEL_SOURCES) worker/wire/%,$(wildcard model/*/*.c worker/*/*.c))
PROGRAM = $(wildcard worker/wire/*.c driver/*/*.c driver/*/*/*.c)
objects = $(patsubst %.c,$(BUILD)/$(1)/%.o,$(2) $(leaks) $(counted)) $(BUILD)/$(1)/libnormsweep.a

## all: build the program, build/normsweep
all: $(BUILD)/normsweep

include model/kernels/levels.mk # the inner loops, once for each vector level: KERNEL_SOURCES, KERNELS
include driver/tables/version.mk # what --version says
include .ci/developers.mk # other programs, the targets DEVELOPERS

$(BUILD)/normsweep: $(call objects,float,$(PROGRAM) driver/main.c)
define library_rule
$$(BUILD)/$(1)/libnormsweep.a: $$(patsubst %,$$(BUILD)/$(1)/%.o,$$(LIBRARY:%.c=%) $$(call KERNELS,$(1)))
	@rm -f $$@
	$$(call say,AR)$$(AR) rcs $$@ $$^
endef
$(foreach scalar,float double,$(eval $(call library_rule,$(scalar))))
$(programs:%=$(BUILD)/%) $(fuzzers:%=$(BUILD)/%):
	$(call say,LINK)$(LINK) $^ $(LIBS) -o $@

say = $(if $(V),,@echo '$(1) $@' && )

float =
double = -DSCALAR_DOUBLE
define scalar_rules
$$(BUILD)/$(1)/%.o: %.c $$(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC)$$(COMPILE) $$($(1)) -MMD -MP -c $$< -o $$@
endef
$(foreach scalar,float double,$(eval $(call scalar_rules,$(scalar))))
-include $(foreach depth,*/* */*/* */*/*/*,$(wildcard $(BUILD)/*/$(depth).d))

# help.c includes these files of docs.
$(BUILD)/float/driver/commands/help.o $(BUILD)/double/driver/commands/help.o: docs/sweep.schema.json \
	$(wildcard docs/completion/*)

# Files that contain a command line and change only when it does, so that a changed command line causes a rebuild. Two
# makes may run at once.
stamp = @mkdir -p $(@D); trap 'rm -f $@.$$$$' EXIT; printf '%s\n' '$(subst ','\'',$(1))' >$@.$$$$; \
	cmp -s $@.$$$$ $@ || { $(if $(2),$(2) &&) mv $@.$$$$ $@; }
$(BUILD)/flags: FORCE
	$(call stamp,$(COMPILE) $(KERNEL_FLAGS) $(LINK) $(LIBS) $(COMPILER) $(CPATH) $(LIBRARY_PATH), \
		.ci/libraries "$(CC)" "$(CBLAS)" "$(NETCDF)" "$(YAML)")
FORCE:

# A sub-make with all cores, for use after the set-up has installed what was missing.
MAKE_ALL = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))
ifeq ($(shell id -u),0)
export OMPI_ALLOW_RUN_AS_ROOT = 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
SAY_ROOT = @echo "As root: OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 are set for Open MPI"
endif

## quickstart: install what is missing, build, run a small sweep and draw its phase diagram
quickstart:
	$(SAY_ROOT)
	@.ci/setup build figures
	+@$(MAKE_ALL) all
	$(BUILD)/normsweep run sweeps/quickstart.yaml
	$(BUILD)/normsweep show quickstart.nc
	analysis/figures quickstart.nc -o quickstart-figures
	@echo "begin with quickstart-figures/quickstart-phase.png, a diagram as in README.md"

## check: install what is missing, build and run the tests that prove the promises (VARIANT=san: under sanitizers)
check:
	$(SAY_ROOT)
	@.ci/setup build figures tests
	+@$(MAKE_ALL) $(check_programs:%=$(BUILD)/%)
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" tests/all quick

## lint: what rooms include, headers, warnings of gcc and clang, clang-format, clang-tidy, cppcheck, shellcheck
lint:
	@.ci/setup build lint
	+@MAKE_ALL="$(MAKE_ALL)" .ci/lint

## bench: measure the speed of training against sgemm and PyTorch (PYTORCH=python, THREADS=2, ROUNDS=5, SHAPES='tiny')
bench:
	@.ci/setup build
	@$(if $(PYTORCH),,.ci/setup bench || echo "bench: continues without PyTorch")
	$(SAY_ROOT)
	+@$(MAKE_ALL) $(BUILD)/speed $(BUILD)/normsweep
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python)" tests/speed.py $(PYTORCH:%=--pytorch %) \
		$(THREADS:%=-t %) $(ROUNDS:%=-r %) $(LEVELS:%=--levels) $(SHAPES)
	@$(if $(SHAPES),,echo && NORMSWEEP_BUILD="$$PWD/$(BUILD)" tests/speed_sweep)

## install: install program, sweeps, scripts, documents and completions into PREFIX (/usr/local), below DESTDIR
install: $(BUILD)/normsweep
	@.ci/install "$(DESTDIR)$(PREFIX)" "$<"

## uninstall: remove what install has installed
uninstall:
	@.ci/install --remove "$(DESTDIR)$(PREFIX)"

## dist: write the commit's tarball, which builds without git, and the Python package into build/dist
dist:
	@.ci/setup dist
	@.ci/dist build/dist

## clean: remove everything that was built
clean:
	rm -rf build

## help: show this list
help:
	@sed -n 's/^## //p' Makefile .ci/developers.mk | while IFS=: read -r target text; do \
		printf '%-15s%s\n' "$$target" "$$text"; done
	@echo "Variables: VARIANT=release|debug|san, V=1 (show commands), WERROR=1 (warnings are errors)"
	@echo "           CC, CFLAGS, LDFLAGS, CBLAS, NETCDF, YAML, PREFIX, DESTDIR"

.PHONY: all quickstart check lint bench install uninstall dist clean help FORCE $(DEVELOPERS)
.DELETE_ON_ERROR:
