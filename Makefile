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
leaks = $(if $(findstring -fsanitize,$(variant)),tests/leaks.c)
counted = $(if $(filter coverage,$(VARIANT)),tests/counted.c)
# C tests of what computes in the scalar are built with either; the others once, in float.
TESTED = tests/test_main.c tests/failing.c
SCALAR_TESTS = $(wildcard $(patsubst %,tests/%/test_*.c,model/kernels model/layers model/network model/optimisers \
	model/instruments worker/run worker/train worker/checkpoint))
PLAIN_TESTS = $(filter-out tests/test_main.c $(SCALAR_TESTS),$(shell find tests -name "test_*.c"))
# The functions whose calls tests let fail (tests/failing.h).
WRAPPED = $(shell grep -ohE '^FAILS[A-Z_]*.[a-z]\w+|__wrap_[a-z]\w+' tests/failing.c | \
	sed -E 's/^FAILS[A-Z_]*.|^__wrap_//' | sort -u)

# clang warns about loops that it cannot vectorise; they are correct anyway.
KERNEL_FLAGS = -ffp-contract=fast -Wno-pass-failed

# The inner loops are built once for each vector level; the program picks one when it starts. For `precision: bfloat16`
# the sources of products are built again, with rounded factors, at each of these levels and, in float, with the
# instructions for pairs of bfloat16 numbers that the compiler knows. PLAIN_LEVEL has the other loops.
KERNEL_SOURCES = $(filter-out $(ONCE:%=model/kernels/%.c),$(wildcard model/kernels/*.c))
ONCE = levels parking pool pool_thread product team
$(foreach once,$(ONCE:%=model/kernels/%.c),$(if $(wildcard $(once)),,$(error ONCE names $(once), which is not there)))
PRODUCT_SOURCES = $(addprefix model/kernels/,attention.c attention_tangent.c kernels.c matrix.c tile.c)
x86 := $(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null))
knows = $(shell $(CC) $(1) -fsyntax-only -x c /dev/null 2>/dev/null && echo yes)
levels = baseline $(if $(x86),avx2 avx512)
rounded = $(levels:%=rounded_%)
paired := $(if $(x86),$(if $(call knows,-mavx512bf16),avx512_bf16 $(if $(call knows,-mamx-bf16),amx)))
baseline =
avx2 = -mavx2 -mfma
avx512 = -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512
$(foreach level,$(levels),$(eval rounded_$(level) = $($(level)) -DKERNELS_BFLOAT16 -DPLAIN_LEVEL=$(level) \
	-DLEVEL_NAME=$(level)))
avx512_bf16 = $(avx512) -mavx512bf16 -DKERNELS_BFLOAT16 -DPLAIN_LEVEL=avx512
# Attention's products are too small for tiles of AMX.
without_amx = %/attention.c %/attention_tangent.c
amx = $(avx512_bf16) -mamx-tile -mamx-bf16 -DKERNELS_AMX -DATTENTION_LEVEL=avx512_bf16
# For tests, on a model of its instructions.
MODELLED = $(if $(filter amx,$(paired)),kernels matrix tile)
amx_model = $(avx512_bf16) -DKERNELS_AMX -DATTENTION_LEVEL=avx512_bf16 -include tests/model/kernels/amx_model.h
LEVELS_BUILT = $(foreach level,$(levels) $(if $(filter float,$(1)),$(paired)),-DKERNELS_$(level))
KERNELS = $(foreach level,$(levels),$(KERNEL_SOURCES:%.c=%-$(level))) $(foreach level,$(rounded) \
	$(if $(filter float,$(1)),$(paired)),$(patsubst %.c,%-$(level),$(filter-out $(without_$(level)),$(PRODUCT_SOURCES))))

objects = $(patsubst %.c,$(BUILD)/$(1)/%.o,$(2) $(leaks) $(counted)) $(BUILD)/$(1)/libnormsweep.a
test_programs = tests-plain tests-double tests-float
check_programs = normsweep tests-plain tests-double replay-double
programs = $(check_programs) normsweep-double tests-float replay-float speed
fuzzers = fuzz-sweep fuzz-dataset
python = $(shell .ci/python $(1))

## all: build the program, build/normsweep
all: $(BUILD)/normsweep

$(BUILD)/normsweep: $(call objects,float,$(PROGRAM) driver/main.c)
$(BUILD)/normsweep-double: $(call objects,double,$(PROGRAM) driver/main.c)
$(BUILD)/tests-plain: $(call objects,float,$(PROGRAM) $(TESTED) $(PLAIN_TESTS))
$(BUILD)/tests-float: $(call objects,float,$(TESTED) $(SCALAR_TESTS))
$(BUILD)/tests-double: $(call objects,double,$(TESTED) $(SCALAR_TESTS))
$(BUILD)/tests-float: $(MODELLED:%=$(BUILD)/float/model/kernels/%-amx_model.o)
$(test_programs:%=$(BUILD)/%): private LINK += $(WRAPPED:%=-Wl,--wrap=%)
$(BUILD)/replay-float: $(call objects,float,tests/replay.c)
$(BUILD)/replay-double: $(call objects,double,tests/replay.c)
$(fuzzers:%=$(BUILD)/%): private LINK += -fsanitize=fuzzer
$(BUILD)/fuzz-sweep: $(call objects,float,$(PROGRAM) tests/fuzz_sweep.c)
$(BUILD)/fuzz-dataset: $(call objects,float,$(PROGRAM) tests/fuzz_dataset.c)
$(BUILD)/speed: $(call objects,float,$(PROGRAM) tests/speed.c)
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
define level_rules
$$(BUILD)/$(1)/model/%-$(2).o: model/%.c $$(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC)$$(COMPILE) $$(KERNEL_FLAGS) $$($(1)) $$($(2)) -DKERNELS_LEVEL=$(2) -MMD -MP -c $$< -o $$@
endef
$(foreach scalar,float double,$(eval $(call scalar_rules,$(scalar))) \
	$(foreach level,$(levels) $(rounded) $(paired) amx_model,$(eval $(call level_rules,$(scalar),$(level)))) \
	$(eval $(BUILD)/$(scalar)/model/kernels/levels.o: private COMPILE += $(call LEVELS_BUILT,$(scalar))))
-include $(foreach depth,*/* */*/* */*/*/*,$(wildcard $(BUILD)/*/$(depth).d))

# help.c includes these files of docs.
$(BUILD)/float/driver/commands/help.o $(BUILD)/double/driver/commands/help.o: docs/sweep.schema.json \
	$(wildcard docs/completion/*)

# Rooms that must not be wrong: `make coverage` counts the branches that tests take in them.
COVERED = driver/schedule driver/dataset driver/output worker/checkpoint
ifeq ($(VARIANT),coverage)
LINK += --coverage
$(foreach room,$(COVERED),$(BUILD)/float/$(room)/%.o): private COMPILE += -O0 --coverage
endif

# For --version: the commit of a checkout, with a + if files differ from it; in a tarball, the one that git has written
# into .ci/commit.
COMMIT := $(shell if test -e .git; then git describe --always --abbrev=12 --exclude='*' --dirty=+ 2>/dev/null; \
	else sed -nE 's/^([0-9a-f]{12})[0-9a-f]*$$/\1/p' .ci/commit; fi)
VERSION_FLAGS = -DVERSION='"$(VERSION)"' -DCOMMIT='"$(COMMIT)"' -DCOMPILER='"$(COMPILER) $(variant)"' \
	-DFLAGS='"$(subst ",\",$(strip $(filter-out -W%,$(NUMERICS) $(KERNEL_FLAGS)) $(CFLAGS)))"'
VERSION_OBJECTS = $(BUILD)/float/driver/tables/version.o $(BUILD)/double/driver/tables/version.o
$(VERSION_OBJECTS): private COMPILE += $(VERSION_FLAGS)
$(VERSION_OBJECTS): $(BUILD)/version

# Files that contain a command line and change only when it does, so that a changed command line causes a rebuild. Two
# makes may run at once.
stamp = @mkdir -p $(@D); trap 'rm -f $@.$$$$' EXIT; printf '%s\n' '$(subst ','\'',$(1))' >$@.$$$$; \
	cmp -s $@.$$$$ $@ || { $(if $(2),$(2) &&) mv $@.$$$$ $@; }
$(BUILD)/version: FORCE
	$(call stamp,$(VERSION_FLAGS))
$(BUILD)/flags: FORCE
	$(call stamp,$(COMPILE) $(KERNEL_FLAGS) $(LINK) $(LIBS) $(COMPILER) $(CPATH) $(LIBRARY_PATH), \
		.ci/libraries "$(CC)" "$(CBLAS)" "$(NETCDF)" "$(YAML)")
FORCE:

# A sub-make with all cores, for use after the set-up has installed what was missing.
MAKE_ALL = $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 2))
ifeq ($(shell id -u),0)
RUNS_MPI = quickstart check check-thorough check-dist check-python check-slurm faults inject fuzz coverage \
	bench bench-sweeps
$(RUNS_MPI): export OMPI_ALLOW_RUN_AS_ROOT = 1
$(RUNS_MPI): export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
SAY_ROOT = @echo "As root: OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 are set for Open MPI"
endif

## quickstart: install what is missing, build, run a small sweep and draw its phase diagram
quickstart:
	$(SAY_ROOT)
	@.ci/setup build figures
	@$(MAKE_ALL) all
	$(BUILD)/normsweep run sweeps/quickstart.yaml
	$(BUILD)/normsweep show quickstart.nc
	analysis/figures quickstart.nc -o quickstart-figures

## check: install what is missing, build and run the tests that prove the promises (VARIANT=san: under sanitizers)
check:
	$(SAY_ROOT)
	@.ci/setup build figures tests
	@$(MAKE_ALL) $(check_programs:%=$(BUILD)/%)
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" tests/all quick

## check-thorough: install what is missing, build and run the tests that `check` leaves out because they take long
check-thorough:
	$(SAY_ROOT)
	@.ci/setup build figures tests thorough
	@.ci/checker
	@$(MAKE_ALL) programs
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" tests/all thorough

## check-all: check and check-thorough
check-all:
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory check-thorough

## check-python: test the Python package with the least and the newest versions of what it needs; wants a package index
check-python:
	@.ci/setup build venv
	@$(MAKE_ALL) $(BUILD)/normsweep
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" .ci/check-python

## check-slurm: install and start a Slurm of four nodes on this machine, and run sweeps on it (as root)
check-slurm:
	$(SAY_ROOT)
	@.ci/setup build figures tests
	@.ci/setup slurm || echo "check-slurm: continues without Slurm"
	@$(MAKE_ALL) all
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python pytest numpy xarray netCDF4 scipy)" -m pytest -q -p no:cacheprovider \
		--color=no -rs tests/slurm/check_slurm.py

## lint: what rooms include, headers, warnings of gcc and clang, clang-format, clang-tidy, cppcheck, shellcheck
lint:
	@.ci/setup build lint
	@MAKE_ALL="$(MAKE_ALL)" .ci/lint

## faults: inject faults into small sweeps and check that nothing measured is lost (N=300, SEED=1)
faults:
	$(SAY_ROOT)
	@.ci/setup build tests
	@$(MAKE_ALL) $(BUILD)/normsweep
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy netCDF4)" tests/driver/ranks/faults.py \
		$(N:%=-n %) $(SEED:%=--seed %)
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python pytest numpy netCDF4)" -m pytest -q -p no:cacheprovider \
		--color=no -rs tests/driver/ranks/check_faults.py

## simulate: simulate the coordinator's faulty workers, with everything drawn (N=1000, SEED=1)
simulate:
	@.ci/setup build
	@$(MAKE_ALL) $(BUILD)/tests-plain
	@SIMULATION_SEEDS=$(or $(N),1000) SIMULATION_SEED=$(or $(SEED),1) $(BUILD)/tests-plain coordinator_survives

## parity: train networks drawn at random beside PyTorch, and print the worst differences (N=100, SEED=1)
parity:
	@.ci/setup build tests
	@$(MAKE_ALL) $(BUILD)/replay-double
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy torch)" tests/parity.py $(N:%=-n %) $(SEED:%=-s %)

## early-ends: look for runs that end early with another phase, on sweeps drawn at random (N=30, SEED=1)
early-ends:
	@.ci/setup build tests
	@$(MAKE_ALL) $(BUILD)/normsweep
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy netCDF4)" tests/early_search.py $(N:%=-n %) $(SEED:%=-s %)

## parity-trained: measure networks published by others beside the library that defines them: the worst differences
parity-trained:
	@.ci/setup build tests
	@$(MAKE_ALL) $(BUILD)/normsweep $(BUILD)/normsweep-double
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python pytest numpy netCDF4 torch transformers)" tests/parity_trained.py

## inject: let allocations and every write, sync, rename, open of small sweeps fail (CASE='new show' FAMILY=memory)
inject:
	$(SAY_ROOT)
	@.ci/setup build tests
	@$(MAKE_ALL) $(BUILD)/normsweep
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python pytest numpy netCDF4)" tests/inject.py $(CASE) $(FAMILY:%=-f %) \
		$(EVERY:%=--every) $(LASTING:%=--lasting)

## fuzz: fuzz the readers of sweep files and of datasets for a minute each
fuzz:
	@.ci/setup build lint
	@OMPI_CC=clang $(MAKE_ALL) VARIANT=fuzz $(fuzzers:%=build/fuzz/%)
	@mkdir -p build/fuzz/corpus build/fuzz/corpus-dataset
	build/fuzz/fuzz-sweep -max_total_time=60 -timeout=30 -print_final_stats=1 \
		-artifact_prefix=build/fuzz/ build/fuzz/corpus tests/fuzz
	build/fuzz/fuzz-dataset -max_total_time=60 -timeout=30 -print_final_stats=1 -close_fd_mask=1 \
		-max_len=128 -len_control=0 -artifact_prefix=build/fuzz/ build/fuzz/corpus-dataset tests/fuzz_dataset

## coverage: show the branches that tests take in schedule, dataset, output and checkpoint (V=1: and all others)
coverage:
	$(SAY_ROOT)
	@.ci/setup build figures tests thorough
	@$(MAKE_ALL) VARIANT=coverage build/coverage/tests-plain build/coverage/tests-float build/coverage/normsweep
	@.ci/coverage $(V:%=-v) build/coverage $(COVERED)

## setup: install everything that building, figures, tests and lint need
setup:
	@.ci/setup build figures tests thorough lint

## bench: measure the speed of training against sgemm and PyTorch (PYTORCH=python, THREADS=2, ROUNDS=5, SHAPES='tiny')
bench:
	@.ci/setup build
	@$(if $(PYTORCH),,.ci/setup bench || echo "bench: continues without PyTorch")
	$(SAY_ROOT)
	@$(MAKE_ALL) $(BUILD)/speed $(BUILD)/normsweep
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python)" tests/speed.py $(PYTORCH:%=--pytorch %) \
		$(THREADS:%=-t %) $(ROUNDS:%=-r %) $(LEVELS:%=--levels) $(SHAPES)
	@$(if $(SHAPES),,echo && NORMSWEEP_BUILD="$$PWD/$(BUILD)" tests/speed_sweep)

## bench-sweeps: measure whole sweeps against joblib and Ray Tune with PyTorch (PYTORCH=python, ROUNDS=3)
bench-sweeps:
	@.ci/setup build figures
	$(SAY_ROOT)
	@$(MAKE_ALL) $(BUILD)/normsweep $(BUILD)/replay-float
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy netCDF4)" tests/speed_peer.py $(PYTORCH:%=--pytorch %) \
		$(ROUNDS:%=-r %)

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

## check-dist: check that dist gives the same bytes twice; build its tarball where there is no git, and run a sweep
check-dist:
	$(SAY_ROOT)
	@.ci/setup build dist
	@MAKE_ALL="$(MAKE_ALL)" .ci/check-dist

# For .ci/lint: all programs, and the compiler's flags.
programs: $(programs:%=$(BUILD)/%)
flags:
	@echo '$(COMPILE:$(CC)%=%)'

## clean: remove everything that was built
clean:
	rm -rf build

## help: show this list
help:
	@sed -n 's/^## //p' Makefile | while IFS=: read -r target text; do printf '%-15s%s\n' "$$target" "$$text"; done
	@echo "Variables: VARIANT=release|debug|san, V=1 (show commands), WERROR=1 (warnings are errors)"
	@echo "           CC, CFLAGS, LDFLAGS, CBLAS, NETCDF, YAML, PREFIX, DESTDIR"

.PHONY: all quickstart check check-thorough check-all check-dist check-python check-slurm dist faults simulate \
	parity parity-trained early-ends inject lint fuzz coverage bench bench-sweeps setup programs flags install \
	uninstall clean help FORCE
.DELETE_ON_ERROR:
