# normsweep. `make help` lists the targets.
VARIANT ?= release
CC = mpicc
PKG_CONFIG ?= pkg-config
CBLAS ?= $(shell $(PKG_CONFIG) --cflags --libs openblas)
NETCDF ?= $(shell $(PKG_CONFIG) --cflags --libs netcdf)
YAML ?= $(shell $(PKG_CONFIG) --cflags --libs yaml-0.1)
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
release = -O3 -g
debug = -Og -g3
san = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
CFLAGS_ALL = -std=c11 -D_GNU_SOURCE $($(VARIANT)) $(WARNINGS) -fopenmp-simd -fno-math-errno -fno-trapping-math -I. $(CBLAS) $(NETCDF) $(YAML) $(CFLAGS)
LIBS = $(CBLAS) $(NETCDF) $(YAML) -lm -lpthread
OUT = build/$(VARIANT)
SOURCES = $(filter-out model/kernels.c,$(wildcard model/*.c worker/*.c driver/*.c))
LEVELS = baseline avx2 avx512
flags_baseline =
flags_avx2 = -mavx2 -mfma
flags_avx512 = -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512
KERNELS = $(LEVELS:%=model/kernels-%.c)
LIBRARY = $(filter-out driver/main.c,$(SOURCES)) $(KERNELS)
TESTS = $(wildcard tests/test_*.c)

all: build/normsweep

$(OUT)/float/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@
$(OUT)/double/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -DSCALAR_DOUBLE -MMD -MP -c $< -o $@

$(OUT)/float/model/kernels-%.o: model/kernels.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -ffp-contract=fast -DKERNELS_LEVEL=$* $(flags_$*) -MMD -MP -c $< -o $@
$(OUT)/double/model/kernels-%.o: model/kernels.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -DSCALAR_DOUBLE -ffp-contract=fast -DKERNELS_LEVEL=$* $(flags_$*) -MMD -MP -c $< -o $@

build/normsweep: $(KERNELS:%.c=$(OUT)/float/%.o) $(SOURCES:%.c=$(OUT)/float/%.o)
	$(CC) $($(VARIANT)) $^ $(LIBS) -o $@
build/normsweep-double: $(KERNELS:%.c=$(OUT)/double/%.o) $(SOURCES:%.c=$(OUT)/double/%.o)
	$(CC) $($(VARIANT)) $^ $(LIBS) -o $@


build/tests-float: $(LIBRARY:%.c=$(OUT)/float/%.o) $(TESTS:%.c=$(OUT)/float/%.o)
	$(CC) $($(VARIANT)) $^ $(LIBS) -o $@
build/tests-double: $(LIBRARY:%.c=$(OUT)/double/%.o) $(TESTS:%.c=$(OUT)/double/%.o)
	$(CC) $($(VARIANT)) $^ $(LIBS) -o $@
-include $(wildcard $(OUT)/*/*/*.d)
