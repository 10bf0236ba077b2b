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

int arena_renew(struct arena *arena, size_t size)
{
    if (!arena->base || size > arena->size) {
        arena_release(arena);
        return arena_init(arena, size);
    }
    memset(arena->base, 0, size < arena->touched ? size : arena->touched);
    return 0;
}

void arena_rest(struct arena *arena)
{
    if (arena->size > ARENA_KEPT)
        arena_release(arena);
    if (arena->used > arena->touched)
        arena->touched = arena->used;
    arena->used = 0;
}

void *arena_take(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;

    INVARIANT(!__builtin_mul_overflow(count, size, &bytes) && bytes <= SIZE_MAX - ALIGNMENT, "%zu x %zu",
        count, size);
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *taken = arena->base ? arena->base + arena->used : NULL;
    arena->used += bytes;
    INVARIANT(!arena->base || arena->used <= arena->size, "%zu of %zu bytes", arena->used, arena->size);
    return taken;
}
