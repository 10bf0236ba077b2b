# The inner loops are built once for each vector level; the program picks one when it starts. For `precision: bfloat16`
# the sources of products are built again, with rounded factors, at each of these levels and, in float, with the
# instructions for pairs of bfloat16 numbers that the compiler knows. PLAIN_LEVEL has the other loops.
# The Makefile includes this file and uses KERNEL_SOURCES, KERNEL_FLAGS and $(call KERNELS,SCALAR), the objects.

# clang warns about loops that it cannot vectorise; they are correct anyway.
KERNEL_FLAGS = -ffp-contract=fast -Wno-pass-failed

KERNEL_SOURCES = $(filter-out $(ONCE:%=model/kernels/%.c),$(wildcard model/kernels/*.c))
ONCE = levels pool product team
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

define level_rules
$$(BUILD)/$(1)/model/%-$(2).o: model/%.c $$(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC)$$(COMPILE) $$(KERNEL_FLAGS) $$($(1)) $$($(2)) -DKERNELS_LEVEL=$(2) -MMD -MP -c $$< -o $$@
endef
$(foreach scalar,float double,\
	$(foreach level,$(levels) $(rounded) $(paired) amx_model,$(eval $(call level_rules,$(scalar),$(level)))) \
	$(eval $(BUILD)/$(scalar)/model/kernels/levels.o: private COMPILE += $(call LEVELS_BUILT,$(scalar))))
