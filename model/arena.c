#include "model/arena.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64 };

int arena_init(struct arena *arena, size_t size)
{
    /* Fresh anonymous pages are zero; huge ones make the first touch and the TLB many times cheaper. */
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

void *arena_take(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        abort();
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *taken = arena->base ? arena->base + arena->used : NULL;
    arena->used += bytes;
    if (arena->base && arena->used > arena->size)
        abort();
    return taken;
}
