#ifndef NORMSWEEP_MODEL_CORE_BREATH_H
#define NORMSWEEP_MODEL_CORE_BREATH_H

/* A callback that tells slow work from a process that hangs. Functions that may run for long call breathe()
 * at least once for every BREATH_BYTES that they read, write or generate. NULL: no callback. */
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
