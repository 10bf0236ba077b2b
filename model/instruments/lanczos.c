#include "model/instruments/lanczos.h"

#include <float.h>
#include <math.h>

#include "model/core/check.h"
#include "model/core/random.h"
#include "model/instruments/dot.h"
#include "model/instruments/tridiagonal.h"

/* Elements that stay in the first-level cache while all vectors of the basis pass by. */
enum { CHUNK = 1024 };

void lanczos_layout(struct lanczos *lanczos, int64_t size, int64_t steps, struct arena *arena)
{
    *lanczos = (struct lanczos){
        .most_size = size,
        .most_steps = steps,
        .basis = arena_plane(arena, steps, size),
        .product = arena_take(arena, (size_t)size, sizeof(double)),
        .diagonal = arena_take(arena, (size_t)steps, sizeof(double)),
        .beside = arena_take(arena, (size_t)steps, sizeof(double)),
        .part = arena_take(arena, (size_t)steps, sizeof(double)),
    };
}

static scalar *vector_of(const struct lanczos *l, int64_t i)
{
    return l->basis + i * l->size;
}

void lanczos_begin(struct lanczos *l, int64_t size, uint64_t seed, uint64_t probe)
{
    const double unit = 1 / sqrt((double)size);

    INVARIANT(size > 0 && size <= l->most_size, "%lld of %lld", (long long)size, (long long)l->most_size);
    l->size = size;
    l->steps = size < l->most_steps ? size : l->most_steps;
    l->taken = 0;
    l->ended = false;
    for (int64_t i = 0; i < size; i++) {
        uint64_t bits = random_bits(seed, RANDOM_PROBE, probe << 40 | (uint64_t)i);
        l->basis[i] = (scalar)(bits & 1 ? unit : -unit);
    }
}

const scalar *lanczos_vector(const struct lanczos *l)
{
    return l->ended || l->taken == l->steps ? NULL : vector_of(l, l->taken);
}

static double norm_of(const double *x, int64_t count)
{
    return sqrt(dot(x, x, count));
}

/* Subtracts from the product its parts along the first `count` vectors; returns the part along the last. */
static double orthogonalise(struct lanczos *l, int64_t count)
{
    for (int64_t j = 0; j < count; j++)
        l->part[j] = 0;
    for (int64_t begin = 0; begin < l->size; begin += CHUNK) {
        int64_t end = begin + CHUNK < l->size ? begin + CHUNK : l->size;
        for (int64_t j = 0; j < count; j++) {
            const scalar *v = vector_of(l, j);
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t i = begin; i < end; i++)
                sum += (double)v[i] * l->product[i];
            l->part[j] += sum;
        }
    }
    for (int64_t begin = 0; begin < l->size; begin += CHUNK) {
        int64_t end = begin + CHUNK < l->size ? begin + CHUNK : l->size;
        for (int64_t j = 0; j < count; j++) {
            const scalar *v = vector_of(l, j);
            double part = l->part[j];
#pragma omp simd
            for (int64_t i = begin; i < end; i++)
                l->product[i] -= part * (double)v[i];
        }
    }
    return l->part[count - 1];
}

/* In exact arithmetic the product has parts along the last two vectors only; rounding adds the others, which
 * would bring back eigenvalues that were found before. */
void lanczos_step(struct lanczos *l)
{
    int64_t at = l->taken++;
    double size = norm_of(l->product, l->size);

    l->diagonal[at] = orthogonalise(l, l->taken);
    l->diagonal[at] += orthogonalise(l, l->taken);
    if (at == 0)
        l->first = l->diagonal[0];
    double rest = norm_of(l->product, l->size);
    l->beside[at] = rest;
    /* What is left is rounding: of the product, in scalars. */
    l->ended =
        !(rest > size * (sizeof(scalar) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON)) || !isfinite(rest);
    if (lanczos_vector(l)) {
        scalar *next = vector_of(l, l->taken);
        for (int64_t i = 0; i < l->size; i++)
            next[i] = (scalar)(l->product[i] / rest);
    }
}

void lanczos_end(struct lanczos *l, double *ritz, double *weight)
{
    for (int64_t i = 0; i < l->most_steps; i++) {
        bool taken = i < l->taken;
        ritz[i] = taken ? l->diagonal[i] : NAN;
        weight[i] = NAN;
    }
    if (l->taken > 0)
        tridiagonal_solve(ritz, l->beside, weight, l->taken);
}
