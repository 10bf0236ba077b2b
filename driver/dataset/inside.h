#ifndef NORMSWEEP_DRIVER_DATASET_INSIDE_H
#define NORMSWEEP_DRIVER_DATASET_INSIDE_H

#include <netcdf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/dataset/dataset.h"
#include "driver/dataset/view.h"
#include "driver/tables/dataset_tables.h"
#include "model/core/breath.h"

/* Shared by the files of this room; the rest of the program uses dataset.h, view.h and start_plan.h. */

/*
 * These find a part of an open netCDF file by its name, as the library's functions do; but they tell a name
 * that is not there from one that the library could not look up for lack of memory. Each returns a netCDF
 * status, and stores a result only with NC_NOERR.
 */
int lookup_variable(int file, const char *name, int *variable);
/* Is there such a variable? One that cannot be looked up does not pass for missing: reading it says why. */
bool lookup_has_variable(int file, const char *name);
int lookup_dimension(int file, const char *name, int *dimension);
/* `type` and `length` may be NULL. */
int lookup_attribute(int file, int variable, const char *name, nc_type *type, size_t *length);

/* The errno of a netCDF status with which an attribute that is there could not be read; 0: its value does not
 * fit. */
int lookup_cause(int status);

/*
 * The layout of a dataset: its dimensions, variables and attributes, all from tables.
 */

enum {
    FORMAT_VERSION = 2, /* raise it with every change of what a file has */
    SESSIONS_FIRST = 64, /* rows of the session table; doubled when it is full */
    AXES_MAX =
        (int)(sizeof(struct run) / sizeof(int64_t)), /* every axis has at least one parameter of its own */
    DIMENSIONS_MAX =
        AXES_MAX + METRIC_RANK_MOST, /* of a variable: the axes, and those of a metric or of a text */
};

/* The sizes of a dataset, and its sweep. */
struct layout {
    const struct sweep *sweep; /* borrowed */
    const struct corpus *corpus; /* borrowed */
    int64_t step_count;
    int64_t *step; /* [step_count] ascending, owned */
    struct metric_form form; /* in each dimension as long as that of the longest run */
    int64_t sessions;
    /* of the file that this one replaces, for its attributes: lines, and what others may have made of the
     * title; NULL: none. Owned */
    char *history, *title;
    int64_t bytes; /* of the file; -1: unknown */
};

/* The layout that the sweep needs. On failure -1, nothing held. */
int layout_init(
    struct layout *layout, const struct sweep *sweep, const struct corpus *corpus, struct error *error);
void layout_release(struct layout *layout);

/* Adds steps to the layout's own. -1: no memory. */
int layout_add_steps(struct layout *layout, const int64_t *step, int64_t count);

/* Makes each dimension at least as long as in an existing file. Is any dimension longer than in the file? */
bool layout_lengthen(struct layout *layout, const struct metric_form *file);

/* Is a metric measured in this sweep, and therefore a variable of its dataset? */
bool layout_has(const struct layout *layout, enum metric metric);

/*
 * Maps values of a metric from a run's row to the dataset's row, which may be longer, for example with more
 * layers, or with both stacks where the run has one. Returns the index in the dataset's row of the run's
 * value `index`; the *count values from there on are contiguous in both rows.
 */
size_t layout_find(const struct metric_form *dataset, const struct metric_form *run, enum metric metric,
    size_t index, size_t *count);

/* Text of the attribute `measure`. The caller frees it; NULL: no memory. Options of measuring have attributes
 * of their own, named like their keys: see measure_option_text. */
char *layout_measure_text(const struct measure *measure);

/* Text of the attribute `refine`, "" of a sweep without it. The caller frees it; NULL: no memory. */
char *layout_refine_text(const struct sweep *sweep);

/*
 * "phase.nc: No space left on device" from a netCDF status, or from an errno if it is above 0. ERROR_INPUT if
 * the user must choose another path, else ERROR_ENVIRONMENT. Always -1.
 */
int layout_error(struct error *error, const char *name, int status);

/* "phase.nc: is not a normsweep dataset". Always -1. */
int layout_refuse(struct error *error, const char *name);

/* The range of a variable's values in the file. */
struct extent {
    int64_t begin, bytes;
};

/*
 * Checks that a path is a complete CDF-5 file, which contains all its variables, or a netCDF-4 file, which
 * only the netCDF library can check. Sets its length and *netcdf4. On failure -1 with ERROR_INPUT.
 */
int layout_check_file(const char *path, int64_t *bytes, bool *netcdf4, struct error *error);

/* Checks a CDF-5 file likewise and returns the extents of its variables, indexed by netCDF id. The caller
 * frees them; NULL with the error set. */
struct extent *layout_extents(const char *path, struct error *error);

/*
 * The variables of one dataset as rows, in the order of the file. Whatever is done with all of them (define,
 * fill, verify, place, copy) is a loop over these rows.
 */

enum variable_kind {
    VARIABLE_RUN, /* a row of run_variable_table */
    VARIABLE_METRIC, /* of metric_table */
    VARIABLE_SESSION, /* of session_variable_table */
    VARIABLE_LABEL, /* the labels of a `together` axis */
    VARIABLE_PARAM, /* a parameter along an axis */
    VARIABLE_COORDINATE, /* of metric_dimension_table */
};

struct variable {
    enum variable_kind kind;
    int which; /* its row of that table; of a label or a parameter: its axis */
    int param; /* of a parameter: its number among those of the axis */
    const char *name, *long_name, *unit, *comment;
    const char *nature; /* NULL: a coordinate, or a text of a session */
    nc_type type;
    int64_t width; /* characters of a text */
    bool filled; /* has a _FillValue, -1 or NaN */
    bool of_cells; /* over the axes of the grid and, behind them, its own dimensions */
    int rank; /* its own dimensions; a text has one more, of characters */
    const char *dimension[METRIC_RANK_MOST];
    int64_t length[METRIC_RANK_MOST];
};

/* What a dataset's variables follow from. All borrowed. */
struct outline {
    int64_t axis_count;
    const struct axis *axis;
    int64_t step_count, sessions; /* sessions 0: no variables of runs and sessions */
    const int64_t *step; /* [step_count] */
    const struct metric_form *form;
    bool dimension[DIMENSION_COUNT], metric[METRIC_COUNT]; /* those that the file has */
};

/* Of a file that a sweep needs, and of one that is there. */
struct outline layout_outline(const struct layout *layout);
struct outline view_outline(const struct view *view);

/* The rows [*count]. The caller frees them; NULL: no memory. */
struct variable *variable_table(const struct outline *outline, int *count);

/* Bytes of a variable in the file: for each cell, if it is of cells. */
int64_t variable_bytes(const struct variable *variable);

/* The type of a parameter's values, along an axis or as an attribute. */
nc_type variable_param_type(enum param_kind kind);

/*
 * A dataset file while it is being defined; shared by the files that write one. Keeps the first error, after
 * which all calls do nothing.
 */
struct definition {
    struct outline outline;
    const struct sweep *sweep; /* NULL: a network that is measured, which has no variables of runs */
    struct variable *row; /* [count], owned; row i is variable i of the file */
    int count;
    int file;
    int status; /* of netCDF */
};

/* Keeps a status unless there was an error before. */
void definition_keep(struct definition *definition, int status);

/* Defines dimensions and variables, with their attributes. */
void definition_variables(struct definition *definition);

/* Defines the global attributes. */
void definition_globals(struct definition *definition, const struct layout *layout);

/* Defines a dimension on first use; returns its id. */
int definition_dimension(struct definition *definition, const char *name, int64_t length);

/* Defines a variable over dimensions [count], and for NC_CHAR also over `width` characters. Returns its id.
 */
int definition_variable(struct definition *definition, const char *name, nc_type type, int64_t width,
    int count, const int *dimensions);
void definition_describe(struct definition *definition, int variable, const char *long_name, const char *unit,
    const char *comment);

/* After the definition: writes the coordinates, and what variables of runs have in place of a fill value. */
void definition_write(struct definition *definition);

/* When the file was created or, if there are lines of a file before it, extended; these lines come below.
 * Starts are in the session table. */
void definition_history(struct definition *definition, const char *before);

/* Write an attribute. A text that is NULL is an error, no memory; an empty text is not written. */
void definition_text(struct definition *definition, int variable, const char *name, const char *text);
void definition_integer(
    struct definition *definition, int variable, const char *name, nc_type type, int64_t value);
void definition_real(struct definition *definition, int variable, const char *name, double value);

/*
 * Writes a complete new file to `path`: header, coordinates and fill values; every cell is pending or
 * skipped. Returns a netCDF status; the file is closed but not synced.
 */
int layout_write(const struct layout *layout, const char *path);

enum { LAYOUT_PATH = 64 };

/* Lays the file out in memory, without values. A descriptor, which the caller closes, and the path at which
 * the file can be opened meanwhile; -1: it cannot be done. */
int layout_in_memory(const struct layout *layout, char path[LAYOUT_PATH]);

/* Sets `bytes` by laying the file out in memory, without values. */
void layout_measure(struct layout *layout);

/*
 * A buffer for writes to a file. A flush writes the pieces in the order of their offsets and joins neighbours
 * into one write; where pieces overlap, the later one wins. A full buffer flushes itself, so its memory is
 * bounded.
 */
struct write_buffer {
    int descriptor; /* of the file; -1: none. Owned */
    unsigned char *bytes, *joined; /* [WRITE_BUFFER_BYTES] in the order of puts; space to join neighbours */
    struct piece *piece; /* [WRITE_BUFFER_PIECES] */
    size_t used, pieces; /* of both */
    int64_t end; /* of the file, which has its full size from the beginning */
};

enum { WRITE_BUFFER_BYTES = 1 << 20, WRITE_BUFFER_PIECES = 1 << 15 };

/* A range of the buffer, and its offset in the file. */
struct piece {
    int64_t place;
    uint32_t at, size;
};

/* For the file at `path`, which exists. 0, or an errno with nothing held. */
int write_buffer_open(struct write_buffer *buffer, const char *path);

/* Flushes and closes; takes a buffer that was never opened (descriptor -1). 0 or an errno. */
int write_buffer_close(struct write_buffer *buffer);

/* Writes `size` bytes at offset `place`. 0, or the errno of a flush. */
int write_buffer_put(struct write_buffer *buffer, int64_t place, const void *bytes, size_t size);

/* Passes everything to the system, where other processes can read it. 0; or an errno, and the buffer keeps
 * its contents. */
int write_buffer_flush(struct write_buffer *buffer);

/* Drops everything that was not flushed. */
void write_buffer_forget(struct write_buffer *buffer);

/* Flushes, and waits until the data is on disk. 0 or an errno. */
int write_buffer_sync(struct write_buffer *buffer);

/* Flushes, and copies the file to an empty one, onto the disk. The buffer stays with its file. 0 or an errno.
 */
int write_buffer_copy(struct write_buffer *buffer, int copy, const struct breath *breath);

/* Closes the file, and writes from now on to this copy of it, which the buffer owns. */
void write_buffer_turn_to(struct write_buffer *buffer, int copy);

/* An open dataset, for the files that implement it. */
struct dataset {
    char *name; /* as given, for messages */
    char *path; /* absolute, links followed */
    const char *fate; /* what has become of the file at the path: see displaced.c */
    char *ours; /* the copy that is written instead; NULL: none */
    struct layout layout;
    struct write_buffer buffer; /* values on their way into the file */
    struct longer longer; /* beyond the dataset that this start has set aside */
    int64_t session; /* this start's row of the session table */
    int64_t run[RUN_VARIABLE_COUNT], metric[METRIC_COUNT]; /* offsets of their values; -1: not measured */
    int64_t number[SESSION_VARIABLE_COUNT]; /* offsets of the numbers of the session table */
    signed char *outcome; /* [cells] */
    int *attempts, *deaths; /* [cells] */
    double **end; /* [cells] row of the whole run until its outcome is written; NULL: none. Owned */
    struct waiting_result *waiting; /* results that wait for dataset_commit */
    int64_t waiting_count, waiting_size;
};

struct waiting_result {
    int64_t cell;
    struct result result;
};

/* Maps cells of an existing file to cells of the sweep. */
struct mapping {
    int64_t axis_count; /* of the file */
    int64_t *to[AXES_MAX]; /* [length of the file's axis] index along the sweep's axis; owned */
    int64_t stride[AXES_MAX]; /* of the sweep's axis, in cells; 0 if it is now a fixed parameter */
    int64_t base; /* cells: offset by axes whose parameters are fixed in the file */
    int64_t shorter; /* the file's fixed `steps`, if the sweep has more and its runs carry on from kept
                      * states, so that nothing is copied; else 0 */
    bool identity; /* every cell keeps its number, and none is new */
};

/*
 * Maps an existing file, which verify_content has accepted, and which holds this sweep or a part of it. On
 * failure -1; the message lists all differences.
 */
int mapping_init(
    struct mapping *mapping, const struct view *view, const struct layout *layout, struct error *error);
void mapping_release(struct mapping *mapping);

/*
 * The cell of an open dataset that holds the run of each cell of the sweep, -1: none. Sets *place to [cells],
 * which the caller frees. The dataset, which verify_content has accepted, holds the whole sweep or a part of
 * it, or, none of its runs, a shorter one. -1: it holds something else, or memory is lacking; the message is
 * that of `run`.
 */
int mapping_places(const struct view *view, const struct sweep *sweep, const struct corpus *corpus,
    int64_t **place, struct error *error);

/* The sweep's cell for a cell of the file. */
int64_t mapping_cell(const struct mapping *mapping, const struct view *view, int64_t cell);

/*
 * Copies the session table, and everything about runs that were ever started, from the file of `view` to the
 * new file at `path`. Returns a netCDF status.
 */
int mapping_copy(
    const struct mapping *mapping, const struct view *view, const struct layout *layout, const char *path);

/* Bytes of a variable for each cell. */
int64_t run_variable_bytes(enum run_variable variable);

/* Finds the offsets of all values in an open file of the sweep. -1 with the error set. */
int places_find(struct dataset *dataset, int file, struct error *error);

/* The offset in the file of a metric's values of a cell, in a row (0 for metrics of the whole run). */
int64_t metric_place(const struct dataset *dataset, enum metric metric, int64_t cell, int64_t row);

/* "phase.nc: ..." from a netCDF status or an errno. Always -1. */
int dataset_error(const struct dataset *dataset, int status, struct error *error);

/* The outcome of a cell at the start: nothing runs yet, and skip may have changed. What a search for a
 * boundary has skipped stays so until the search needs it. */
enum outcome dataset_first_outcome(
    const struct sweep *sweep, int64_t cell, enum outcome outcome, bool retry_failed);

/*
 * The bytes that other programs have added to the file of `view`, and that the layout's file does not have:
 * 0: nothing was added; NaN: unknown.
 */
double foreign_bytes(const struct view *view, const struct layout *layout);

/*
 * Copies these additions into the new file at `path`, which is laid out: global attributes, attributes of
 * variables, variables with their dimensions. -1: something cannot be kept, because its variable is over a
 * dimension that changes, or has the name of a new axis; then ERROR_INPUT names it. Or ERROR_ENVIRONMENT.
 */
int foreign_check(const struct view *view, const struct mapping *mapping, const struct layout *layout,
    struct error *error); /* writes nothing; 0, too, if it is unknown */
int foreign_copy(const struct view *view, const struct mapping *mapping, const struct layout *layout,
    const char *path, struct error *error);

/* Shared by the files that implement a view; the rest of the program uses view.h. */

/* Can the library convert values of this type to numbers? Not texts, and not user-defined types of netCDF-4.
 */
bool view_is_number(nc_type type);

/* An attribute that is one number; false: there is none, with errno 0, or it cannot be read. */
bool view_attribute_number(const struct view *view, int variable, const char *name, double *value);

/* The same for a global attribute that is one integer. */
bool view_attribute_integer(const struct view *view, const char *name, int64_t *value);

/* Text `index` of a text variable, row-major over all its dimensions except the last, as it is stored. The
 * caller frees it; NULL: there is none, with errno 0, or it cannot be read. */
char *view_stored_text(const struct view *view, int variable, int64_t index);

/*
 * Checks that an existing file is one that this program could have written. The netCDF library converts types
 * silently, writes past a buffer that is too small for the file's dimensions, and does not check bounds; so
 * everything is compared with the tables before it is used.
 */

/* Checks that there is a variable of this name, type and shape; a width of 0 is any. -1 with ERROR_INPUT; the
 * message names the fault. */
int verify_variable(const struct view *view, const struct variable *expected, struct error *error);

/* "a.nc: <format>; normsweep did not write this", ERROR_INPUT. Always -1. */
int verify_fault(struct error *error, const struct view *view, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Checks everything that a start relies on: types, dimensions and widths of all variables that the program
 * knows, and every value that controls what it does. Nothing may be written before this returns 0. On failure
 * -1 with ERROR_INPUT; the message says what the user can do.
 */
int verify_dataset(const struct view *view, struct error *error);

/*
 * Are all numbers of runs and sessions at multiples of 8, so that a reader never sees half of one? A file
 * that nccopy has written may differ.
 */
bool verify_alignment(const struct view *view);

#endif
