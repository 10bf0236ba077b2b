#include "model/core/arena.h"

#include "model/core/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64 };

int arena_init(struct arena *arena, size_t size)
{
    /* Fresh anonymous pages are zero. Huge pages make the first touch and the TLB many times cheaper. */
    void *base = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED)
        return -1;
#ifdef MADV_HUGEPAGE
    madvise(base, size, MADV_HUGEPAGE);
#endif
    *arena = (struct arena){.base = base, .size = size ? size : 1};
    return 0;
}

void arena_release(struct arena *arena)
{
    if (arena->base)
        munmap(arena->base, arena->size);
    *arena = (struct arena){0};
}

/* Where scratch ends, which begins at multiples of ALIGNMENT, too. */
static size_t end_of_scratch(const struct arena *arena)
{
    return arena->size / ALIGNMENT * ALIGNMENT;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Zeroes what may not be zero of the first `size` bytes. */
static void clear_first(struct arena *arena, size_t size)
{
    size_t soiled = end_of_scratch(arena) - arena->soiled;

    memset(arena->base, 0, smaller(size, arena->touched));
    if (size > soiled)
        memset(arena->base + soiled, 0, size - soiled);
}

int arena_renew(struct arena *arena, const struct arena *counted)
{
    size_t size = counted->used;

    if (!arena->base || size > arena->size) {
        arena_release(arena);
        return arena_init(arena, size);
    }
    clear_first(arena, size - counted->scratch);
    return 0;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

void arena_rest(struct arena *arena)
{
    if (arena->size > ARENA_KEPT)
        arena_release(arena);
    arena->touched = larger(arena->touched, arena->used - arena->scratch);
    arena->soiled = larger(arena->soiled, arena->scratch);
    arena->used = arena->scratch = 0;
}

/* The bytes of so many items, counted as used. */
static size_t use(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;

    INVARIANT(!__builtin_mul_overflow(count, size, &bytes) && bytes <= SIZE_MAX - ALIGNMENT, "%zu x %zu",
        count, size);
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    arena->used += bytes;
    INVARIANT(!arena->base || arena->used <= arena->size, "%zu of %zu bytes", arena->used, arena->size);
    return bytes;
}

void *arena_take(struct arena *arena, size_t count, size_t size)
{
    size_t bytes = use(arena, count, size);

    return arena->base ? arena->base + (arena->used - arena->scratch - bytes) : NULL;
}

void *arena_take_scratch(struct arena *arena, size_t count, size_t size)
{
    arena->scratch += use(arena, count, size);
    return arena->base ? arena->base + (end_of_scratch(arena) - arena->scratch) : NULL;
}
