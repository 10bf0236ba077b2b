#ifndef NORMSWEEP_TESTS_FAILING_H
#define NORMSWEEP_TESTS_FAILING_H

#include <stdbool.h>

/*
 * Lets single calls of the program fail in a C test: of libc, of the system and of the netCDF library, as far
 * as they are in the table of failing.c. The linker leads them there, so calls inside libraries never fail.
 * Only calls of the thread that asked for it fail.
 */

enum {
    FAILING_HALF = -1, /* pwrite writes half of the bytes, and says so */
    FAILING_NONE = -2, /* pwrite writes nothing, and says so */
    FAILING_UNTOLD = -3, /* link makes the link, and says that it exists */
};

/*
 * The next call of a function fails, as if with the errno `cause`, or for functions nc_... with this status.
 * The name may end with "*": any function that begins so. Several may wait at once; they do not follow one
 * another, each waits for its own call.
 */
void failing_next(const char *name, int cause);

/* The same after `calls` further calls that succeed. */
void failing_after(int calls, const char *name, int cause);

/* All calls fail from now on. */
void failing_always(const char *name, int cause);

/* Nothing fails, but `act` is called before a call of the function, as if another process did it just then.
 */
void failing_before(int calls, const char *name, void (*act)(void *context), void *context);

/*
 * The next call fails that comes from a place in the program from which none has failed yet, since the
 * program began or failing_forget. So a loop that ends when failing_end() returns false lets one call from
 * each place fail.
 */
void failing_anew(const char *name, int cause);
void failing_forget(void);

/* Lets clocks of all threads run ahead. */
void failing_clock(long seconds);

/* No call fails any longer. Has everything failed that was to fail? */
bool failing_end(void);

/* All kinds of calls, with what they may fail with, for loops over failing_anew. */
struct failing_kind {
    const char *calls;
    int cause;
};
extern const struct failing_kind failing_kinds[];
extern const int failing_kind_count;

/*
 * for (const struct failing_kind *kind = NULL; failing_goes_on(&kind);)
 * goes through all kinds, and stays at one for as long as failing_end() returns true in the body, which lets
 * failing_anew() fail where it likes.
 */
bool failing_goes_on(const struct failing_kind **kind);

#endif
