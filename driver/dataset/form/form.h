#ifndef NORMSWEEP_DRIVER_DATASET_FORM_FORM_H
#define NORMSWEEP_DRIVER_DATASET_FORM_FORM_H

#include <netcdf.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/sweep/sweep.h"
#include "model/core/error.h"
#include "model/network/network.h"
#include "worker/run/run.h"
#include "worker/train/train.h"

/* The exact size in bytes of a sweep's dataset; NaN: unknown. */
double dataset_size(const struct sweep *sweep, const struct corpus *corpus);

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

/*
 * The layout of a dataset: its dimensions, variables and attributes, all from tables.
 */

enum {
    SESSIONS_FIRST = 64, /* rows of the session table; doubled when it is full */
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
};

/* What a dataset's variables follow from. All borrowed. */
struct outline {
    int64_t axis_count;
    const struct axis *axis;
    const struct run *base; /* the parameters that are not axes; NULL: there are no runs */
    int64_t step_count, sessions; /* sessions 0: no variables of runs and sessions */
    const int64_t *step; /* [step_count] */
    const struct metric_form *form;
    bool dimension[DIMENSION_COUNT], metric[METRIC_COUNT]; /* those that the file has */
    int64_t positions, width; /* of the states of a network; positions 0: the file has no states */
};

/* The layout that the sweep needs. */
void layout_init(struct layout *layout, const struct sweep *sweep, const struct corpus *corpus);
void layout_release(struct layout *layout);

/* Adds steps to the layout's own. -1: no memory. */
int layout_add_steps(struct layout *layout, const int64_t *step, int64_t count);

/* Makes each dimension at least as long as in an existing file. Is any dimension longer than in the file? */
bool layout_lengthen(struct layout *layout, const struct metric_form *file);

/*
 * Maps values of a metric from a run's row to the dataset's row, which may be longer, for example with more
 * layers, or with both stacks where the run has one. Returns the index in the dataset's row of the run's
 * value `index`; the *count values from there on are contiguous in both rows.
 */
size_t layout_find(const struct metric_form *dataset, const struct metric_form *run, enum metric metric,
    size_t index, size_t *count);

/*
 * Copies the values of a metric of one cell between files, whose rows differ as in layout_find; `to` has all
 * steps of `from`, and NaN where `from` has no value. A run that has one stack and a place among those of
 * `to` has first_stack.
 */
void layout_spread(const struct outline *to, const struct outline *from, int64_t first_stack,
    enum metric metric, const double *values, double *spread);

/* Text of the attribute `measure`. The caller frees it; NULL: no memory. Options of measuring have attributes
 * of their own, named like their keys: see measure_option_text. */
char *layout_measure_text(const struct measure *measure);

/*
 * "phase.nc: No space left on device" from a netCDF status, or from an errno if it is above 0; of NC_ENOTNC
 * "phase.nc: is not a normsweep dataset". ERROR_INPUT if the user must choose another path, else
 * ERROR_ENVIRONMENT. Always -1.
 */
int layout_error(struct error *error, const char *name, int status);

/* The range of a variable's values in the file. */
struct extent {
    int64_t begin, bytes;
};

/*
 * Checks that a path is a complete CDF-5 file, which contains all its variables, or a netCDF-4 file, which
 * only the netCDF library can check. Sets its length, and *extent to the extents of its variables, indexed by
 * netCDF id, which the caller frees; NULL: it is a netCDF-4 file. On failure -1 with ERROR_INPUT.
 */
int layout_check_file(const char *path, int64_t *bytes, struct extent **extent, struct error *error);

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
    VARIABLE_DECAY, /* weight_decay of runs that have a timescale, over the axes that it follows from */
    VARIABLE_COORDINATE, /* of metric_dimension_table */
    VARIABLE_STATE, /* of enum state_variable: what `inspect` keeps of a network's states */
};

/* Over position, of words as integers, or over position, depth and width, position and width. */
enum state_variable { STATE_token, STATE_sequence, STATE_stream, STATE_output, STATE_VARIABLE_COUNT };

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
    int64_t
        begin; /* its offset in a file, see variable_table_of; -1: the file has none of this name and size */
};

/* Of the file that a sweep needs. */
struct outline layout_outline(const struct layout *layout);

/* The rows [*count]. The caller frees them; NULL: no memory. */
struct variable *variable_table(const struct outline *outline, int *count);

/* The same with their offsets in an open file with these extents; without extents, all are -1. */
struct variable *variable_table_of(
    const struct outline *outline, const struct extent *extent, int file, int *count);

/* The first row of a kind for a row of its table; NULL: the file has none. */
const struct variable *variable_find(
    const struct variable *row, int count, enum variable_kind kind, int which);

/* Value `index` of a coordinate, from what the outline says: of a text the word, NULL if the program knows
 * none for this place, perhaps in `text`; else the number. */
const char *variable_word(
    const struct outline *outline, const struct variable *row, int64_t index, char text[static PARAM_TEXT]);
union param_value variable_number(const struct outline *outline, const struct variable *row, int64_t index);

struct file_dimension {
    const char *name; /* NULL: of characters */
    int64_t length;
};

/* All dimensions of a variable in the file: the axes if it is of cells, its own, and its characters. Returns
 * their number. */
int variable_shape(
    const struct outline *outline, const struct variable *row, struct file_dimension shape[DIMENSIONS_MAX]);

/* Bytes of a variable in the file: for each cell, if it is of cells. */
int64_t variable_bytes(const struct variable *variable);

/* Values of a coordinate: the product of its lengths. */
int64_t variable_values(const struct variable *row);

/* The type of a parameter's values, along an axis or as an attribute. */
nc_type variable_param_type(enum param_kind kind);

/*
 * Writes a complete new file to `path`: header, coordinates and fill values; every cell is pending or
 * skipped. Returns a netCDF status; the file is closed but not synced.
 */
int layout_write(const struct layout *layout, const char *path);

enum { LAYOUT_PATH = 64 };

/* Lays the file out in memory, without values. A descriptor, which the caller closes, and the path at which
 * the file can be opened meanwhile; -1: it cannot be done. */
int layout_in_memory(const struct layout *layout, char path[LAYOUT_PATH]);

/* The bytes of the file, by laying it out in memory, without values; NaN: unknown. */
double layout_bytes(const struct layout *layout);

/*
 * What was measured on a trained network, and a small dataset of it: variables, dimensions and coordinates
 * are rows of the same table as a sweep's, without axes, runs and steps.
 */

/* The attribute `source` of such a file. */
#define INSPECTED_SOURCE "normsweep inspect"

/* The first states of the residual stream of each stack. */
struct inspected_states {
    int64_t sequences; /* 0: none are kept */
    struct inspected_stack {
        int64_t rows, depths; /* depths: blocks and one */
        int32_t *token, *sequence; /* [rows] what a row reads, and its sequence */
        scalar *state; /* [rows, depths, C] after so many blocks */
        scalar *output; /* [rows, C] the stack's, behind a final norm where there is one */
    } stack[STACKS_MOST];
};

struct inspected {
    const char *family, *file, *text; /* names of files, without folders; text NULL: none */
    const char *note; /* what was not measured, and why, or what is suspicious; NULL: nothing */
    const struct architecture *architecture; /* of the files; borrowed, like all names */
    int64_t parameters;
    int64_t window; /* the most tokens of a sequence */
    int64_t sequences, tokens; /* measured */
    int64_t left_out; /* tokens behind the last whole window; of lines 0 */
    int64_t lines_cut; /* lines longer than a window */
    bool lines; /* each line was a sequence */
    bool has_output;
    int64_t mask, sentinel; /* ids; -1: none */

    struct metric_form form;
    struct measured measured; /* its values are owned */
    bool has[METRIC_COUNT]; /* those that were measured */
    struct inspected_states states; /* borrowed */

    /* See inspected_table. */
    struct outline outline;
    struct variable *variable; /* [variables] owned */
    int variables;
};

/* Room for the values of a network, whose tensors are those of the layout; bins 0: no histograms. A struct
 * inspected is not copied: it points into itself. */
void inspected_init(struct inspected *inspected, const struct architecture *architecture,
    const struct weight_layout *layout, int64_t bins);
void inspected_release(struct inspected *inspected);

/* Lists the variables of the file, once all is measured. */
void inspected_table(struct inspected *inspected);

/* What the file says of the network and of its text, as global attributes. Those of a network have the names
 * of a sweep's parameters. */
struct inspected_attribute {
    const char *name;
    const char *text; /* NULL: it is a number */
    int64_t number;
};

enum { INSPECTED_ATTRIBUTES = 32 }; /* at most */

/* Returns their number. */
int inspected_attributes(
    const struct inspected *inspected, struct inspected_attribute attribute[INSPECTED_ATTRIBUTES]);

/* Refuses a path at which inspected_write would fail, or would replace anything but a file of its own. */
int inspected_check(const char *path, struct error *error);

/*
 * Writes the file under a temporary name, syncs and renames it. Kept states of an encoder-decoder have the
 * dimension `stack` in front, and a stack with fewer positions or blocks has NaN, or -1, beyond its own.
 */
int inspected_write(const struct inspected *inspected, const char *path, struct error *error);

#endif
