/* Which builds of the kernels this processor runs. */
#include "model/kernels/kernels.h"
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef KERNELS_amx
#include <cpuid.h>
#endif

/* The Makefile defines KERNELS_X for every level X that it builds. */
extern const struct kernels kernels_baseline, kernels_rounded_baseline;
#ifdef KERNELS_avx2
extern const struct kernels kernels_avx2, kernels_rounded_avx2, kernels_avx512, kernels_rounded_avx512;
#endif
#ifdef KERNELS_avx512_bf16
extern const struct kernels kernels_avx512_bf16;
#endif
#ifdef KERNELS_amx
extern const struct kernels kernels_amx;
#endif

static bool always(void)
{
    return true;
}

#ifdef KERNELS_avx2
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

#ifdef KERNELS_avx512_bf16
static bool has_avx512_bf16(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512bf16");
}
#endif

#ifdef KERNELS_amx
/* Linux gives a process the tiles' registers when it asks for them (Documentation/arch/x86/xstate.rst). */
static bool has_amx(void)
{
    enum { ASK_FOR_STATE = 0x1023, TILE_DATA = 18, AMX = 1 << 24 | 1 << 22 /* AMX-TILE, AMX-BF16 */ };
    unsigned a, b, c, d;

    return has_avx512_bf16() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & AMX) == AMX &&
           syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) == 0;
}
#endif

/* A level, from the lowest up: what it has for each precision. */
static const struct vector_level {
    const char *name;
    bool (*runs)(void);
    const struct kernels *kernels[PRECISIONS];
} levels[] = {
    {"baseline", always, {&kernels_baseline, &kernels_rounded_baseline}},
#ifdef KERNELS_avx2
    {"avx2", has_avx2, {&kernels_avx2, &kernels_rounded_avx2}},
    {"avx512", has_avx512, {&kernels_avx512, &kernels_rounded_avx512}},
#endif
#ifdef KERNELS_avx512_bf16
    {"avx512_bf16", has_avx512_bf16, {&kernels_avx512, &kernels_avx512_bf16}},
#endif
#ifdef KERNELS_amx
    {"amx", has_amx, {&kernels_avx512, &kernels_amx}},
#endif
};
enum { LEVELS = sizeof(levels) / sizeof(*levels) };

/* What the environment asks for; NULL: nothing. */
static const char *level_asked(void)
{
    const char *asked = getenv("NORMSWEEP_VECTOR");

    return asked && *asked ? asked : NULL;
}

/* The best level that runs, up to the one that the environment asks for. */
static const struct vector_level *level_in_use(void)
{
    const struct vector_level *best = levels;
    const char *asked = level_asked();
    int last = LEVELS - 1;

    for (int i = 0; asked && i < LEVELS; i++)
        if (strcmp(asked, levels[i].name) == 0)
            last = i;
    for (int i = 0; i <= last; i++)
        if (levels[i].runs())
            best = &levels[i];
    return best;
}

const struct kernels *kernels_best(enum precision precision)
{
    return level_in_use()->kernels[precision];
}

const char *kernels_level_in_use(void)
{
    return level_in_use()->name;
}

const char *kernels_level_missing(void)
{
    const char *asked = level_asked();

    return asked && strcmp(asked, kernels_level_in_use()) != 0 ? asked : NULL;
}

const char *kernels_level(int place, bool *runs)
{
    if (place >= LEVELS)
        return NULL;
    *runs = levels[place].runs();
    return levels[place].name;
}

/* Transposes [Dp][Tp], panels of columns, twice for factors of their own, and copies of rows [T][Dp]. */
int64_t attention_scratch(int64_t length, int64_t depth, bool tangents)
{
    enum { COLUMNS = ATTENTION_COLUMNS, LANES = ATTENTION_LANES };
    int64_t transposes = tangents ? 4 : 2, panels = tangents ? 4 : 2, copies = tangents ? 13 : 8;
    int64_t padded_length = (length + COLUMNS - 1) / COLUMNS * COLUMNS;
    int64_t padded_depth = (depth + LANES - 1) / LANES * LANES;

    return transposes * padded_depth * padded_length + 2 * panels * ATTENTION_BLOCK * (length + 1) +
           copies * (length + 1) * padded_depth + (transposes + 3 * panels + copies) * LANES;
}
