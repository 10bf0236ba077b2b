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
CFLAGS_ALL = -std=c11 -D_GNU_SOURCE $($(VARIANT)) $(WARNINGS) -fopenmp-simd -I. $(CBLAS) $(NETCDF) $(YAML) $(CFLAGS)
LIBS = $(CBLAS) $(NETCDF) $(YAML) -lm -lpthread
OUT = build/$(VARIANT)
SOURCES = $(wildcard model/*.c worker/*.c driver/*.c)
LIBRARY = $(filter-out driver/main.c,$(SOURCES))
TESTS = $(wildcard tests/*.c)

all: build/normsweep

$(OUT)/float/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@
$(OUT)/double/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -DSCALAR_DOUBLE -MMD -MP -c $< -o $@

build/normsweep: $(SOURCES:%.c=$(OUT)/float/%.o)
	$(CC) $($(VARIANT)) $^ $(LIBS) -o $@
build/normsweep-double: $(SOURCES:%.c=$(OUT)/double/%.o)
	$(CC) $($(VARIANT)) $^ $(LIBS) -o $@


build/tests-float: $(LIBRARY:%.c=$(OUT)/float/%.o) $(TESTS:%.c=$(OUT)/float/%.o)
	$(CC) $($(VARIANT)) $^ $(LIBS) -o $@
build/tests-double: $(LIBRARY:%.c=$(OUT)/double/%.o) $(TESTS:%.c=$(OUT)/double/%.o)
	$(CC) $($(VARIANT)) $^ $(LIBS) -o $@
-include $(wildcard $(OUT)/*/*/*.d)
