# What only developers need: tests, fuzzers, benchmarks of sweeps, checks of a release. The Makefile includes this file;
# its own targets use check_programs and programs.
DEVELOPERS = check-thorough check-all check-python check-slurm check-openmpi5 check-hosts check-dist wheel check-wheel \
	faults simulate parity parity-trained early-ends inject fuzz coverage setup bench-sweeps bench-scale bench-boundary \
	results programs flags

# Every program of these variants has one more file.
leaks = $(if $(findstring -fsanitize,$(variant)),tests/leaks.c)
counted = $(if $(filter coverage,$(VARIANT)),tests/counted.c)
# C tests of what computes in the scalar are built with either; the others once, in float.
TESTED = tests/test_main.c tests/failing.c tests/scratch.c
SCALAR_TESTS = $(wildcard $(patsubst %,tests/%/test_*.c,model/kernels model/layers model/network model/optimisers \
	model/instruments worker/run worker/train worker/checkpoint))
PLAIN_TESTS = $(filter-out tests/test_main.c $(SCALAR_TESTS),$(shell find tests -name "test_*.c"))
# The functions whose calls tests let fail (tests/failing.h).
WRAPPED = $(shell grep -ohE '^FAILS[A-Z_]*.[a-z]\w+|__wrap_[a-z]\w+' tests/failing.c | \
	sed -E 's/^FAILS[A-Z_]*.|^__wrap_//' | sort -u)

test_programs = tests-plain tests-double tests-float
check_programs = normsweep tests-plain tests-double replay-double
programs = $(check_programs) normsweep-double tests-float replay-float speed scale
fuzzers = fuzz-sweep fuzz-dataset

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
$(BUILD)/scale: $(call objects,float,$(PROGRAM) tests/scale.c)

# Rooms that must not be wrong: `make coverage` counts the branches that tests take in them.
COVERED = driver/schedule driver/dataset driver/output worker/checkpoint
ifeq ($(VARIANT),coverage)
LINK += --coverage
$(foreach room,$(COVERED),$(BUILD)/float/$(room)/%.o): private COMPILE += -O0 --coverage
endif

## check-thorough: install what is missing, build and run the tests that `check` leaves out because they take long
check-thorough:
	$(SAY_ROOT)
	@.ci/setup build figures tests thorough
	@.ci/checker
	+@$(MAKE_ALL) programs
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" tests/all thorough

## check-all: check and check-thorough
check-all:
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory check-thorough

## check-python: test the Python package with the least and the newest versions of what it needs; wants a package index
check-python:
	@.ci/setup build venv
	+@$(MAKE_ALL) $(BUILD)/normsweep
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" .ci/check-python

## check-slurm: install and start a Slurm of four nodes on this machine, and run sweeps on it (as root)
check-slurm:
	$(SAY_ROOT)
	@.ci/setup build figures tests
	@.ci/setup slurm || echo "check-slurm: continues without Slurm"
	+@$(MAKE_ALL) all
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python pytest numpy xarray netCDF4 scipy)" -m pytest -q -p no:cacheprovider \
		--color=no -rs tests/slurm/check_slurm.py

## check-openmpi5: build with Open MPI 5 and with Intel MPI from a package index, and test faults there (N=20)
check-openmpi5:
	$(SAY_ROOT)
	@.ci/setup build tests venv
	+@MAKE_ALL="$(MAKE_ALL)" N="$(N)" .ci/check-openmpi5

## check-hosts: train on three hosts in network namespaces of this machine, which die, freeze, are cut off (as root)
check-hosts:
	$(SAY_ROOT)
	@.ci/setup build tests
	+@$(MAKE_ALL) all
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy netCDF4)" tests/driver/ranks/check_hosts.py

## check-hyperqueue: a sweep in parts under HyperQueue, from a package index, in a network without other interfaces
DEVELOPERS += check-hyperqueue
hq = $(BUILD)/hyperqueue
check-hyperqueue:
	$(SAY_ROOT)
	+@$(MAKE_ALL) all
	@test -x $(hq)/bin/python || { python="$$(.ci/python pytest numpy xarray netCDF4 scipy)" && \
		"$$python" -m venv --system-site-packages $(hq) && $(hq)/bin/pip install -q hyperqueue; } || rm -rf $(hq)
	@if ! test -x $(hq)/bin/python; then echo "check-hyperqueue: skipped: pip cannot get hyperqueue here"; \
	elif ! unshare -rn ip link set lo up; then echo "check-hyperqueue: skipped: no network namespace can be made here"; \
	else NORMSWEEP_BUILD="$$PWD/$(BUILD)" unshare -rn sh -c 'ip link set lo up && exec "$$@"' sh \
		$(hq)/bin/python -m pytest -q -p no:cacheprovider --color=no -rs tests/hyperqueue/check_hyperqueue.py; fi

## faults: inject faults into small sweeps and check that nothing measured is lost (N=300, SEED=1)
faults:
	$(SAY_ROOT)
	@.ci/setup build tests
	+@$(MAKE_ALL) $(BUILD)/normsweep
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy netCDF4)" tests/driver/ranks/faults.py \
		$(N:%=-n %) $(SEED:%=--seed %)
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python pytest numpy netCDF4)" -m pytest -q -p no:cacheprovider \
		--color=no -rs tests/driver/ranks/check_faults.py

## simulate: simulate the coordinator's faulty workers, with everything drawn (N=1000, SEED=1)
simulate:
	@.ci/setup build
	+@$(MAKE_ALL) $(BUILD)/tests-plain
	@SIMULATION_SEEDS=$(or $(N),1000) SIMULATION_SEED=$(or $(SEED),1) $(BUILD)/tests-plain coordinator_survives

## parity: train networks drawn at random beside PyTorch, and print the worst differences (N=100, SEED=1)
parity:
	@.ci/setup build tests
	+@$(MAKE_ALL) $(BUILD)/replay-double
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy torch)" tests/parity.py $(N:%=-n %) $(SEED:%=-s %)

## early-ends: look for runs that end early with another phase, on sweeps drawn at random (N=30, SEED=1)
early-ends:
	@.ci/setup build tests
	+@$(MAKE_ALL) $(BUILD)/normsweep
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy netCDF4)" tests/early_search.py $(N:%=-n %) $(SEED:%=-s %)

## parity-trained: measure networks published by others beside the library that defines them: the worst differences
parity-trained:
	@.ci/setup build tests
	+@$(MAKE_ALL) $(BUILD)/normsweep $(BUILD)/normsweep-double
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python pytest numpy netCDF4 torch transformers)" tests/parity_trained.py

## inject: let allocations and every write, sync, rename, open of small sweeps fail (CASE='new show' FAMILY=memory)
inject:
	$(SAY_ROOT)
	@.ci/setup build tests
	+@$(MAKE_ALL) $(BUILD)/normsweep
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
	+@$(MAKE_ALL) VARIANT=coverage build/coverage/tests-plain build/coverage/tests-float build/coverage/normsweep
	@.ci/coverage $(V:%=-v) build/coverage $(COVERED)

## setup: install everything that building, figures, tests and lint need
setup:
	@.ci/setup build figures tests thorough lint

## bench-sweeps: measure whole sweeps against joblib and Ray Tune with PyTorch (PYTORCH=python, ROUNDS=3)
bench-sweeps:
	@.ci/setup build figures
	$(SAY_ROOT)
	+@$(MAKE_ALL) $(BUILD)/normsweep $(BUILD)/replay-float
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy netCDF4)" tests/speed_peer.py $(PYTORCH:%=--pytorch %) \
		$(ROUNDS:%=-r %)

## bench-scale: measure a coordinator with 10,000 workers that end their runs at once, and how soon xarray has a result
bench-scale:
	@.ci/setup build figures
	$(SAY_ROOT)
	+@$(MAKE_ALL) $(BUILD)/normsweep $(BUILD)/scale
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy netCDF4 xarray)" tests/scale.py

## results: train the small variants behind docs/results again, compare (STUDIES='figure6', TEXT=folder, WRITE=yes)
results:
	$(if $(filter-out yes,$(WRITE)),$(error WRITE=$(WRITE) is not yes: leave it out to compare numbers))
	$(SAY_ROOT)
	@.ci/setup build figures
	+@$(MAKE_ALL) $(BUILD)/normsweep $(BUILD)/normsweep-double
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy netCDF4 xarray)" docs/results/rerun.py $(STUDIES) \
		$(if $(TEXT),--text "$(TEXT)") $(WRITE:%=--write)

## bench-boundary: measure the time to a boundary against bisection and python-adaptive (PYTORCH=python, ROUNDS=3)
bench-boundary:
	@.ci/setup build figures
	$(SAY_ROOT)
	+@$(MAKE_ALL) $(BUILD)/normsweep $(BUILD)/replay-float
	@NORMSWEEP_BUILD="$$PWD/$(BUILD)" "$$(.ci/python numpy netCDF4)" tests/speed_boundary.py $(PYTORCH:%=--pytorch %) \
		$(ROUNDS:%=-r %)

## check-dist: check that dist gives the same bytes twice; build its tarball where there is no git, and run a sweep
check-dist:
	$(SAY_ROOT)
	@.ci/setup build dist
	+@MAKE_ALL="$(MAKE_ALL)" .ci/check-dist

## wheel: write a Linux wheel with program, libraries, Python package and sweeps into build/dist; wants a package index
wheel:
	@.ci/setup build venv
	+@MAKE_ALL="$(MAKE_ALL) -s" .ci/wheel build/dist/wheel

## check-wheel: make the wheel, install it into an environment, and run a sweep there, without MPI and on two workers
check-wheel: wheel
	$(SAY_ROOT)
	@.ci/check-wheel build/dist/wheel/*.whl

# For .ci/lint: all programs, and the compiler's flags.
programs: $(programs:%=$(BUILD)/%)
flags:
	@echo '$(COMPILE:$(CC)%=%)'
