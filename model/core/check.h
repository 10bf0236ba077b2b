#ifndef NORMSWEEP_MODEL_CORE_CHECK_H
#define NORMSWEEP_MODEL_CORE_CHECK_H

/*
 * INVARIANT(condition, format, ...): aborts if `condition` is false, which only a defect of the program can
 * cause, after one line on stderr with the values of the printf format:
 *     normsweep: driver/schedule/pool.c:45: worker < pool->size (worker 7, size 4)
 * It stays in the release build: a process that would go on with wrong data ends instead, and the sweep goes
 * on as after any death. Input, files and the network are never checked with it: these are errors.
 */
#define INVARIANT(condition, ...)                                                                            \
    do {                                                                                                     \
        if (__builtin_expect(!(condition), 0))                                                               \
            check_failed(__FILE__, __LINE__, #condition, __VA_ARGS__);                                       \
    } while (0)

_Noreturn void check_failed(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((cold, format(printf, 4, 5)));

#endif
