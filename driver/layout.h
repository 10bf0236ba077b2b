#ifndef NORMSWEEP_DRIVER_LAYOUT_H
#define NORMSWEEP_DRIVER_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/dataset.h"

#include <netcdf.h>

/*
 * What a dataset looks like: its dimensions, variables and attributes, all of them from tables. Inside the
 * dataset's own files alone; the rest of the program sees dataset.h and view.h.
 */

enum {
    FORMAT_VERSION = 1, /* to be raised when a file of the old layout can no longer be carried on */
    SESSIONS_FIRST = 64, /* rows of the session table; doubled when they are used up */
    AXES_MAX = (int)(sizeof(struct run) / sizeof(int64_t)), /* every axis has a parameter of its own */
    DIMENSIONS_MAX = AXES_MAX + 3, /* of a variable: axes, step, layer, tensor or axes, characters */
    STRING_SHORT = 64,
    STRING_LONG = 128,
};

#define STEP_DIMENSION "step"
#define LAYER_DIMENSION "layer"
#define TENSOR_DIMENSION "tensor"
#define SESSION_DIMENSION "sessions"
#define STRING_DIMENSION "string" /* and its length */

/* Global attributes that are read back. */
#define ATTRIBUTE_SOURCE "source"
#define ATTRIBUTE_FORMAT "format_version"
#define ATTRIBUTE_BYTES "file_bytes"
#define ATTRIBUTE_DATA "data_digest"
#define ATTRIBUTE_MEASURE "measure"
#define ATTRIBUTE_VALIDATE "validate"
#define PROGRAM "normsweep"

/*
 * What is known of each run beside its metrics: X(name, type, width, filled, unit, long_name, comment).
 * `width`: characters of an NC_CHAR. What is `filled` is -1 (integers) or NaN where there is nothing, and so
 * says its _FillValue; the rest starts at 0.
 */
#define RUN_VARIABLES(X)                                                                                     \
    X(outcome, NC_BYTE, 0, false, "1", "how the run stands",                                                 \
        "pending and running runs are still to be done")                                                     \
    X(phase, NC_BYTE, 0, false, "1", "phase of the parameter norm", "growing where norm_growth is above 1")  \
    X(last_step, NC_INT64, 0, true, "1", "steps taken", "fewer than planned where the run diverged")         \
    X(diverged_step, NC_INT64, 0, true, "1", "step of divergence", "whose loss or norm is not finite")       \
    X(seconds, NC_DOUBLE, 0, true, "s", "duration of the run", "measuring and validating included")          \
    X(tokens_per_second, NC_DOUBLE, 0, true, "s-1", "training speed",                                        \
        "tokens over the time in training steps")                                                            \
    X(attempts, NC_INT64, 0, false, "1", "times the run was started",                                        \
        "above 1 where it was lost or stopped")                                                              \
    X(host, NC_CHAR, STRING_SHORT, false, "1", "host that trained the run", "of the last attempt")           \
    X(session, NC_INT64, 0, true, "1", "session of the run", "index along sessions, of the last attempt")    \
    X(reason, NC_CHAR, REASON_SIZE, false, "1", "why the run failed", "empty unless outcome is failed")

enum run_variable {
#define X(name, ...) RUN_VARIABLE_##name,
    RUN_VARIABLES(X)
#undef X
        RUN_VARIABLE_COUNT,
};

struct run_variable_row {
    const char *name;
    nc_type type;
    int width;
    bool filled;
    const char *unit, *long_name, *comment;
};
extern const struct run_variable_row run_variable_table[RUN_VARIABLE_COUNT];

/*
 * The session table: X(field of struct session, width, long_name). A last variable, `start`, is the dataset's
 * own: when the session began. All are named session_<field>.
 */
#define SESSION_VARIABLES(X)                                                                                 \
    X(version, STRING_SHORT, "program version")                                                              \
    X(commit, STRING_SHORT, "source revision of the program")                                                \
    X(compiler, STRING_LONG, "compiler")                                                                     \
    X(blas, STRING_LONG, "BLAS library")                                                                     \
    X(blas_kernel, STRING_SHORT, "BLAS kernel")                                                              \
    X(vector_level, STRING_SHORT, "vector instructions of the program's own loops")                          \
    X(mpi, STRING_LONG, "MPI library")                                                                       \
    X(host, STRING_SHORT, "host of the coordinator")

enum session_variable {
#define X(field, ...) SESSION_VARIABLE_##field,
    SESSION_VARIABLES(X)
#undef X
        SESSION_VARIABLE_start,
    SESSION_VARIABLE_COUNT,
};

struct session_variable_row {
    const char *name;
    int width;
    const char *long_name;
};
extern const struct session_variable_row session_variable_table[SESSION_VARIABLE_COUNT];

/* The extents of a dataset, and what it describes. */
struct layout {
    const struct sweep *sweep; /* borrowed */
    const struct corpus *corpus; /* borrowed */
    int64_t step_count;
    int64_t *step; /* [step_count] ascending, owned */
    int64_t layers; /* of the deepest run */
    int64_t sessions;
    int64_t bytes; /* of the file; -1 when it could not be told beforehand */
};

/* What the sweep needs, nothing more. On failure -1 and nothing held. */
int layout_init(
    struct layout *layout, const struct sweep *sweep, const struct corpus *corpus, struct error *error);
void layout_release(struct layout *layout);

/* Adds steps to the layout's own. -1: no memory. */
int layout_add_steps(struct layout *layout, const int64_t *step, int64_t count);

/* Lays the file out in memory, without its values, and sets `bytes`. */
void layout_measure(struct layout *layout);

/* The axis on which a parameter moves, or NULL. */
const struct axis *layout_axis(const struct sweep *sweep, const struct param *param);

/* Is a metric measured in this sweep, and so a variable of its dataset? */
bool layout_has(const struct layout *layout, enum metric metric);

/* The header alone, at the length of the whole file. Returns a netCDF status. */
int layout_write_header(const struct layout *layout, const char *path);

/*
 * Writes a whole new file to `path`: header, coordinates, fill; every cell pending or skipped. Returns a
 * netCDF status; the file is closed and not synced.
 */
int layout_write(const struct layout *layout, const char *path);

/* Texts of the attributes `measure` and `validate`; the caller's to free, NULL: no memory. */
char *layout_measure_text(const struct measure *measure);
char *layout_validate_text(const struct measure *measure);

/*
 * "phase.nc: No space left on device" from a netCDF status or, where it is above 0, an errno; ERROR_INPUT
 * where the user named a path that cannot be used. Always -1.
 */
int layout_error(struct error *error, const char *name, int status);

#endif
