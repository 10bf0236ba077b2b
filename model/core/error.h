#ifndef NORMSWEEP_MODEL_CORE_ERROR_H
#define NORMSWEEP_MODEL_CORE_ERROR_H

/*
 * One failure, as the one line that its user reads and the exit status that it leads to.
 * A function that can fail takes a struct error last, returns 0 or -1, and fills it only on failure:
 *     return error_set(error, ERROR_INPUT, "%s: %s", path, strerror(errno));
 */
enum error_status {
    ERROR_INPUT = 2, /* the sweep file, its texts, an output path: the user mends it */
    ERROR_ENVIRONMENT = 3, /* MPI, memory, I/O, no space: the machine */
};

struct error {
    enum error_status status;
    char text[1024]; /* no newline; cut when longer */
};

/* Fills `error` from a printf format. Always -1. */
int error_set(struct error *error, enum error_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<prefix>: " before what `error` says already. Always -1. */
int error_prefix(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
