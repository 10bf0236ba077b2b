#ifndef NORMSWEEP_MODEL_CORE_BREATH_H
#define NORMSWEEP_MODEL_CORE_BREATH_H

/*
 * Long work shows that it goes on: it breathes between pieces of at most BREATH_BYTES that it reads, writes
 * or makes. Whoever has to tell slow work from a process that hangs passes one of these down; NULL: nobody
 * asks.
 */
struct breath {
    void (*take)(void *context);
    void *context;
};

enum { BREATH_BYTES = 16 << 20 };

static inline void breathe(const struct breath *breath)
{
    if (breath)
        breath->take(breath->context);
}

#endif
