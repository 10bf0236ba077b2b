#ifndef NORMSWEEP_MODEL_CORE_RANDOM_H
#define NORMSWEEP_MODEL_CORE_RANDOM_H

#include <stdint.h>

/*
 * Counter-based random numbers: each draw is a function of (seed, purpose, index) alone, so that a resumed
 * run needs no generator state and no draw depends on another. Philox4x32-10: J. K. Salmon et al., "Parallel
 * random numbers: as easy as 1, 2, 3", SC 2011.
 */
enum random_purpose {
    RANDOM_INIT, /* index: tensor identity << 40 | element */
    RANDOM_PERMUTATION, /* index: epoch << 40 | draw */
    RANDOM_SOURCE, /* the structure of a built-in corpus */
    RANDOM_TRAIN_TEXT, /* the training tokens of a built-in corpus */
    RANDOM_VALID_TEXT, /* the validation tokens of a built-in corpus */
    RANDOM_TEST, /* only for tests */
    RANDOM_HOMOGENEITY, /* the sequences on which homogeneity is measured */
    RANDOM_PROBE, /* the start vectors of Lanczos processes; index: probe << 40 | element */
    RANDOM_RESIDUAL, /* states, perturbations and directions of the residual stream */
    RANDOM_LYAPUNOV, /* the tangents that Lyapunov exponents begin with: exponent << 40 | element */
    RANDOM_DRAW, /* which finished runs of a sweep `verify` trains again; index: cell */
    RANDOM_SEQUENCE = 12, /* the seed of a sequence's own draws; index: epoch << 40 | sequence */
    RANDOM_SPANS, /* where spans and gaps of a sequence end, from its own seed */
    RANDOM_MASKED, /* which words of a sequence are masked, and how, from its own seed */
    RANDOM_STEP, /* the seed of a step's own draws; index: step */
    RANDOM_ROUNDING, /* how a step rounds its weights, from its own seed: see model/kernels/rounding.c */
};

/*
 * The numbers of Philox4x32-10, for the generator itself and for the kernels that compute many of its blocks
 * at once. Each of 10 rounds multiplies two of the four words of a block, combines the upper halves of the
 * products with the other two words and the keys by exclusive or, and then raises each key by its weight.
 */
enum { PHILOX_ROUNDS = 10 };
#define PHILOX_MULTIPLIER_0 UINT32_C(0xD2511F53)
#define PHILOX_MULTIPLIER_2 UINT32_C(0xCD9E8D57)
#define PHILOX_WEIGHT_0 UINT32_C(0x9E3779B9)
#define PHILOX_WEIGHT_1 UINT32_C(0xBB67AE85)

/* 64 uniform bits. */
uint64_t random_bits(uint64_t seed, enum random_purpose purpose, uint64_t index);

/* Uniform on [0, 1), 53 bits. */
double random_uniform(uint64_t seed, enum random_purpose purpose, uint64_t index);

/* Standard normal, by Box and Muller, from the two halves of one block. */
double random_normal(uint64_t seed, enum random_purpose purpose, uint64_t index);

/* The number of 0 .. bound-1 (bound > 0) that 64 uniform bits stand for; the bias is at most 2^-64. */
static inline uint64_t random_share(uint64_t bits, uint64_t bound)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)bits * bound >> 64);
}

/* Uniform on 0 .. bound-1 in this way. */
uint64_t random_below(uint64_t seed, enum random_purpose purpose, uint64_t index, uint64_t bound);

#endif
