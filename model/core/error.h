#ifndef NORMSWEEP_MODEL_CORE_ERROR_H
#define NORMSWEEP_MODEL_CORE_ERROR_H

/*
 * One failure: the line that the user reads and the exit status that it leads to.
 * A function that can fail takes a struct error last, returns 0 or -1, and fills the error only on failure:
 *     return error_set(error, ERROR_INPUT, "%s: %s", path, strerror(errno));
 * What the text quotes of others becomes printable here (printable.h), once for all who pass the text on.
 */
enum error_status {
    ERROR_INPUT = 2, /* the sweep file, its texts, an output path: for the user to correct */
    ERROR_ENVIRONMENT = 3, /* the machine: MPI, memory, I/O, disk space */
};

struct error {
    enum error_status status;
    char text[1024]; /* printable, so without a newline; truncated to fit */
};

/* Fills `error` from a printf format. Returns -1. */
int error_set(struct error *error, enum error_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<prefix>: " before the text of `error`. Returns -1. */
int error_prefix(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
