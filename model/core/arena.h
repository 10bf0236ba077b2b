#ifndef NORMSWEEP_MODEL_CORE_ARENA_H
#define NORMSWEEP_MODEL_CORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "model/core/scalar.h"

/*
 * All memory of one run, allocated once. A layout function runs twice: over an arena without memory it only
 * counts, so that a plan knows the exact size before anything is allocated; over an arena with memory it
 * hands out the same pieces. Scratch lies at the end, as it need not be zero.
 */
struct arena {
    char *base; /* NULL while counting */
    size_t used, size;
    size_t scratch; /* of the bytes used */
    size_t touched, soiled; /* the first and the last bytes, which may not be zero */
};

/* Up to this size, the memory of a run is kept for the next run. */
#define ARENA_KEPT ((size_t)64 << 20)

/* Allocates `size` zeroed bytes, in huge pages where the system has them. 0, or -1 without memory. */
int arena_init(struct arena *arena, size_t size);
void arena_release(struct arena *arena);

/*
 * Like arena_init for all that `counted` has, for an arena that may hold memory of earlier runs ({0}: none):
 * uses that memory again if it is large enough, and clears what is not to be scratch. A run of milliseconds
 * would spend a tenth of its time on the first touch of fresh pages.
 */
int arena_renew(struct arena *arena, const struct arena *counted);

/* Ends the use of everything taken. Memory up to ARENA_KEPT is kept for arena_renew, more is freed. */
void arena_rest(struct arena *arena);

/* Returns the next `count` items of `size` bytes, aligned to 64 bytes, zeroed; NULL while counting. Aborts
 * past the end, as that is a bug in a layout function. */
void *arena_take(struct arena *arena, size_t count, size_t size);

/* The same for scratch, which may hold anything, also NaN of an earlier run. */
void *arena_take_scratch(struct arena *arena, size_t count, size_t size);

/* The same for scalars [rows, columns]. */
static inline scalar *arena_plane(struct arena *arena, int64_t rows, int64_t columns)
{
    return arena_take(arena, (size_t)rows * (size_t)columns, sizeof(scalar));
}

#endif
