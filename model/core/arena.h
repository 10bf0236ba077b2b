#ifndef NORMSWEEP_MODEL_CORE_ARENA_H
#define NORMSWEEP_MODEL_CORE_ARENA_H

#include <stddef.h>

/*
 * All memory of one run, taken once. A layout function is walked twice: over an arena without memory it only
 * counts, so that a plan knows the exact size before anything is allocated; over one with memory it hands out
 * the same pieces.
 */
struct arena {
    char *base; /* NULL while counting */
    size_t used, size;
    size_t touched; /* bytes that may not be zero */
};

/* Memory of a run that is not larger is kept for the next. */
#define ARENA_KEPT ((size_t)64 << 20)

/* Memory of `size` bytes, zeroed, in huge pages where the system has them; 0 or -1 (no memory). */
int arena_init(struct arena *arena, size_t size);
void arena_release(struct arena *arena);

/*
 * The same as arena_init for an arena that may hold memory of earlier runs, {0} for none: what it has is
 * cleared and used again, as a run of milliseconds would spend a tenth of its time on the first touch of
 * fresh pages.
 */
int arena_renew(struct arena *arena, size_t size);

/* Ends the use of what was taken: up to ARENA_KEPT is kept for arena_renew, more goes back at once. */
void arena_rest(struct arena *arena);

/* The next `count` items of `size` bytes, aligned to 64; NULL while counting. Taking past the end aborts: a
 * layout bug. */
void *arena_take(struct arena *arena, size_t count, size_t size);

#endif
