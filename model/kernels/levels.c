/* Which build of kernels.c this processor runs. */
#include <stdlib.h>
#include <string.h>

#include "model/kernels/levels.h"

#include "model/kernels/kernels.h"

extern const struct kernels kernels_baseline;

#if defined(__x86_64__)
extern const struct kernels kernels_avx2, kernels_avx512;

static const struct kernels *best_supported(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return &kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &kernels_avx2;
    return &kernels_baseline;
}

static const struct kernels *const by_level[] = {&kernels_baseline, &kernels_avx2, &kernels_avx512, NULL};
#else
static const struct kernels *best_supported(void)
{
    return &kernels_baseline;
}

static const struct kernels *const by_level[] = {&kernels_baseline, NULL};
#endif

const struct kernels *kernels_best(void)
{
    const struct kernels *best = best_supported();
    const char *asked = getenv("NORMSWEEP_VECTOR");

    for (int i = 0; asked && by_level[i]; i++) {
        if (strcmp(asked, by_level[i]->level) == 0)
            return by_level[i];
        if (by_level[i] == best)
            break;
    }
    return best;
}

const char *kernels_level(int place, bool *runs)
{
    const struct kernels *best = best_supported();

    *runs = true;
    for (int i = 0; i < place && by_level[i]; i++)
        *runs = *runs && by_level[i] != best;
    return by_level[place] ? by_level[place]->level : NULL;
}

/* Takes `transposes` copies [Dp][Tp], `panels` of columns and `copies` [T][Dp]. */
static int64_t scratch_for(int64_t length, int64_t depth, int transposes, int panels, int copies)
{
    enum { COLUMNS = ATTENTION_COLUMNS, LANES = ATTENTION_LANES };
    int64_t padded_length = (length + COLUMNS - 1) / COLUMNS * COLUMNS;
    int64_t padded_depth = (depth + LANES - 1) / LANES * LANES;

    return transposes * padded_depth * padded_length + panels * ATTENTION_BLOCK * length +
           copies * (length + 1) * padded_depth + (transposes + panels + copies) * LANES;
}

int64_t attention_scratch(int64_t length, int64_t depth)
{
    return scratch_for(length, depth, 2, 2, 6);
}

int64_t attention_tangent_scratch(int64_t length, int64_t depth)
{
    return scratch_for(length, depth, 4, 4, 9);
}
