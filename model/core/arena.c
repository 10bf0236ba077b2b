/*
 * The memory of a run, as one mapping. A layout function takes its pieces from an arena that counts, the
 * caller allocates what that counted (arena_init for one use, arena_renew from run to run), and the function
 * takes them again. Plain pieces grow from the front, scratch from the end; `touched` and `soiled` remember
 * how far runs wrote on each side, and arena_renew clears only that much of what must be zero. Only the
 * mapping can fail, with -1; a piece that does not fit is a defect of a layout function and ends the process.
 */
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

int arena_renew(struct arena *arena, const struct arena *counted)
{
    if (!arena->base || counted->used > arena->size) {
        arena_release(arena);
        return arena_init(arena, counted->used);
    }

    /* Clears what earlier runs wrote of the plain part: at its front, and as scratch at its end. */
    size_t plain = counted->used - counted->scratch, soiled = end_of_scratch(arena) - arena->soiled;
    memset(arena->base, 0, plain < arena->touched ? plain : arena->touched);
    if (plain > soiled)
        memset(arena->base + soiled, 0, plain - soiled);
    return 0;
}

void arena_rest(struct arena *arena)
{
    if (arena->size > ARENA_KEPT)
        arena_release(arena); /* which sets the counts below to 0 */
    size_t plain = arena->used - arena->scratch;
    arena->touched = plain > arena->touched ? plain : arena->touched;
    arena->soiled = arena->scratch > arena->soiled ? arena->scratch : arena->soiled;
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
