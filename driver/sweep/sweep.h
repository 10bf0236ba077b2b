#ifndef NORMSWEEP_DRIVER_SWEEP_SWEEP_H
#define NORMSWEEP_DRIVER_SWEEP_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/tables/tables.h"
#include "driver/text/text.h"
#include "model/core/error.h"
#include "model/corpora/corpora.h"
#include "worker/run/run.h"

#define GRID_MOST 10000000 /* cells of a grid, values of a list */

/* Every axis has at least one parameter of its own. */
enum { AXES_MAX = (int)(sizeof(struct run) / sizeof(int64_t)) };

enum refine_kind {
    REFINE_NONE, /* every cell is trained */
    REFINE_LINES, /* on each line along one axis, the two neighbours between which the variable crosses */
    REFINE_CELLS, /* all such neighbours in each part of the grid that one or two axes span: a coarse pass
                     first, then halved steps wherever neighbours differ */
    REFINE_SEEDS, /* every cell, but no more seeds than it needs */
};

enum { REFINE_AXES = 2, REFINE_COARSE = 8, REFINE_COARSE_MOST = 1 << 10, REFINE_AT_ONCE_MOST = 64 };

enum { REFINE_SEEDS_LEAST = 3 };

/* Further seeds are trained where the 95 % interval of a mean over the seeds is wider. */
struct refine_seeds {
    enum metric variable; /* one value of the whole run */
    double width;
    int64_t least, most; /* seeds of a cell; most 0: all seeds are trained */
    int64_t axis; /* index of the axis of seeds */
    int64_t difference; /* the mean is of the differences along this axis, from its first value; -1: none */
};

/* How a sweep looks for a boundary, in place of training its whole grid. */
struct refine {
    enum refine_kind kind;
    int axis_count; /* 1, or with REFINE_CELLS also 2 */
    int64_t axis[REFINE_AXES]; /* indices of the sweep's axes, each of a parameter that is a number */
    enum metric variable; /* one value of the whole run */
    double at; /* the value that the variable crosses */
    int64_t coarse; /* REFINE_CELLS: the first pass takes every value at this distance; a power of 2 */
    int64_t at_once; /* runs of a line that are trained beside each other, and further seeds of a cell */
    struct refine_seeds seeds;
};

/* A position in the sweep file; line and column count from 1. Line 0 is outside the file: see below. */
struct position {
    int line, column;
    const char *file; /* another file, which the sweep file includes; NULL: the sweep file. Borrowed */
};

/* One axis of the grid: one parameter, or the parameters that a `together` axis changes together. */
struct axis {
    char *name; /* the parameter's key, or the together axis's own name */
    int64_t length;
    char **label; /* [length] and a final NULL, of a together axis; NULL otherwise */
    int64_t param_count; /* 1 for a plain axis */
    const struct param **param; /* [param_count] */
    union param_value *value; /* [param_count][length] */
    struct position *written; /* [param_count][length] the position of each value; NULL: a rule made them */
};

enum { NOTES_LONGEST = 1 << 16 }; /* bytes */

/* Frees what an axis holds. */
void axis_release(struct axis *axis);

/* A file that a sweep file includes. */
struct included {
    char *path; /* as it was opened; positions point at it */
    char *name; /* as it is written in the file that includes it */
    char *text; /* [size] */
    size_t size;
};

/* A sweep file, read, checked and laid out as a grid. Plain data once loaded. */
struct sweep {
    char *path; /* as given; the prefix of every message */
    char *text; /* the whole YAML text, with included files and --set settings as comments at its end */
    struct included *included; /* [included_count] all files that are included, each once */
    int included_count;
    char *title, *output; /* title: "" if not given; output: relative to the current directory */
    char *notes; /* "" if not given; at most NOTES_LONGEST bytes */
    struct run base; /* the parameters that are not axes */
    struct corpus_source source; /* paths resolved against the file's folder; owned by the sweep */
    char *train_path, *valid_path; /* of pairs, the targets */
    char *train_source_path, *valid_source_path; /* of pairs; NULL otherwise */
    struct starts starts; /* the files of initial_weights */
    struct measure measure;
    double checkpoint_minutes;
    bool trunks; /* may runs carry on from the state of another with the same first steps? */
    int64_t axis_count;
    struct axis *axis; /* in the order of the file; values of numbers in a strict one, see list.h */
    int64_t cells; /* the product of the axes' lengths */
    uint64_t *skip; /* one bit for each cell, set if the cell is skipped; NULL: none is */
    int64_t skipped; /* number of skipped cells */
    int part, parts; /* of a divided sweep, the part that is trained, from 1 on; parts 0: it is not divided */
    char *parts_folder; /* OUT.parts; NULL: it is not divided */
    int *part_of; /* [cells] the part of each cell, 0: skipped; NULL: not divided, or not yet: job_divide */
    char *part_text; /* "3/8 <digest of the division>"; NULL likewise */
    bool *only; /* [cells] those that this start may train, the others wait; NULL: all */
    struct refine refine; /* which of the others are trained */
    struct spots *spots; /* opaque: the position of each key */
};

/*
 * Reads a sweep file and the files that it includes, applies the `--set key=value` settings, and checks
 * everything that does not need the texts. On failure -1, nothing held, and one line such as
 * "sweep.yaml:12:18: weight_decay: -0.1 is below 0" in error.
 */
int sweep_load(struct sweep *sweep, const char *path, const char *const *settings, int setting_count,
    struct error *error);

void sweep_release(struct sweep *sweep);

/*
 * A walk over the cells that are not skipped, in order, with the run of each. Each step updates only the
 * parameters that change, so that a walk over millions of cells takes a fraction of a second. struct walk
 * walk; walk_init(&walk, sweep); while (walk_next(&walk)) ... walk.cell, walk.run ...
 */
struct walk {
    const struct sweep *sweep;
    int64_t cell; /* -1 before the first */
    int64_t index[AXES_MAX]; /* [axis_count] */
    struct run run;
};

void walk_init(struct walk *walk, const struct sweep *sweep);
bool walk_next(struct walk *walk);

/* Cells are numbered in row-major order; the first axis of the file is the outermost. */

/* The run of a cell; and that of a cell of a grid with these axes [count] and other parameters. */
void sweep_cell(const struct sweep *sweep, int64_t cell, struct run *run);
void grid_run(int64_t count, const struct axis *axis, const struct run *base, int64_t cell, struct run *run);

/*
 * When the run of a cell has its turn among runs of equal cost: coarse first, so that a diagram is whole
 * early. All runs of the first seed come before those of the second; within a seed, the cells of a coarse
 * grid, which is halved again and again, up to 64 values of an axis. An axis of words, or of parameters that
 * move together, is no scale: each word has a grid of its own.
 */
int sweep_turn(const struct sweep *sweep, int64_t cell);

/* Does the sweep skip this cell? */
bool sweep_skips(const struct sweep *sweep, int64_t cell);

/* Is the cell neither skipped nor of another part? */
bool sweep_trains(const struct sweep *sweep, int64_t cell);

/* May this start train the cell, as far as --only goes? */
bool sweep_chooses(const struct sweep *sweep, int64_t cell);

/*
 * Makes the sweep a part, given as "3/8", of a sweep whose output is OUT.nc or OUT.parts: it becomes
 * OUT.parts/3-of-8.nc. Which cells the part has is known after job_divide. -1: ERROR_INPUT.
 */
int sweep_take_part(struct sweep *sweep, const char *part, struct error *error);

/* The index of a cell along axis `number` of the axes [count] of a grid. */
int64_t axis_index(int64_t count, const struct axis *axis, int64_t number, int64_t cell);

/* The row of a parameter in the values of an axis; -1: the axis does not move it. */
int64_t axis_row(const struct axis *axis, const struct param *param);

/* Sets the parameters of an axis to their values at `index`. */
void axis_set(const struct axis *axis, int64_t index, struct run *run);

/* Is a parameter neither fixed nor along an axis, but derived in each cell? weight_decay is, if `base` or an
 * axis has a timescale. */
bool axis_derives(int64_t count, const struct axis *axis, const struct run *base, const struct param *param);

/* Orders two indices of a struct axis, `context`, by the values of its parameters, for memory_sorted. */
int axis_compare(const void *context, int64_t a, int64_t b);

/* The number of the axis of this name; -1: there is none. */
int64_t axis_named(int64_t count, const struct axis *axis, const char *name);

/* Which of the axes [count] moves a parameter; NULL: none. */
const struct axis *axis_find(int64_t count, const struct axis *axis, const struct param *param);

/* The least and the largest number of threads that a run of a sweep has. */
struct threads {
    int64_t least, most;
};

struct threads threads_of(const struct sweep *sweep);

/* The number of workers that can run on this process's processors, one processor for each thread; at least 1.
 */
int threads_workers(const struct sweep *sweep);

enum { LABEL_SIZE = 160 };

/*
 * People read the values of an axis everywhere, in pictures and messages, with as many digits as tell them
 * apart on this axis, and --at takes them so.
 */

/* The number of significant digits, at least 3, with which all numbers differ. */
int label_digits(const double *number, int64_t length);

/* A number with so many digits; integers with all. Returns text. */
char *label_number(double value, int digits, char *text, size_t size);

/* How a label names its axes. */
enum naming {
    NAMING_WHOLE, /* "learning_rate=0.1 model=small" */
    NAMING_INITIALS, /* "lr=0.1 model=small": no axes of one value */
    NAMING_NONE, /* "0.1 small", likewise */
    NAMING_COUNT,
};

/* Cell `cell` of a grid with these axes, cut if it is longer. Returns text. */
char *label_named(
    int64_t axis_count, const struct axis *axis, int64_t cell, enum naming naming, char text[LABEL_SIZE]);

/* The same with the longest naming that fits in `columns`; cut if none fits. Returns text. */
char *label_fit(
    int64_t axis_count, const struct axis *axis, int64_t cell, int columns, char text[LABEL_SIZE]);

/* Removes an incomplete UTF-8 character at the end of a text. Returns text. */
char *label_cut(char *text);

/* Cuts a text that is wider than `columns`; its last column is then a '~'. Returns text. */
char *label_shorten(char *text, int columns);

/* The shortest text that reads as the same number: "10", where param_format, which digests are made from,
 * writes 1e+01. Returns text. */
char *label_real(double value, char *text, size_t size);

/* "0.001", "pre", "small": the value of an axis at an index with all its digits, safe for a terminal. Returns
 * text. */
char *label_axis_value(const struct axis *axis, int64_t index, char *text, size_t size);

/* Writes "cell": 3, "axes": {"learning_rate": 0.1, "model": "small"} into an open object: the number of a
 * cell of a grid with these axes, and the value of each axis there. */
void cell_json(struct json_writer *writer, int64_t axis_count, const struct axis *axis, int64_t cell);

/* Prints remarks, lines that begin with "note: ", on what in a valid sweep is probably not meant: keys that
 * no cell uses, a warm-up longer than its run, steps that decay weights by more than their size. */
void remarks_print(const struct sweep *sweep, FILE *out);

/*
 * Loads the corpus and checks it against every cell that is not skipped: the text must fill a batch, and so
 * on. On failure -1; the message has the position of the key at fault.
 */
int sweep_load_corpus(const struct sweep *sweep, struct corpus *corpus, struct error *error);

/* Prints "; 2.41 % of the validation tokens are <unk>", or nothing without validation text or <unk>. */
void sweep_print_unknown(const struct corpus *corpus, FILE *out);

/* Writes the numbers of cells, ascending, for sweep_keep_chosen. -1: ERROR_ENVIRONMENT. */
int chosen_write(const char *path, const int64_t *cell, int64_t count, struct error *error);

/*
 * Makes the sweep one of the runs in this list alone: cell i is that of the i-th number, along one axis
 * `run`, whose labels name the cells; a sweep without axes stays as it is. -1 with ERROR_ENVIRONMENT
 * and the sweep as it was: it is not a list of cells of this sweep.
 */
int sweep_keep_chosen(struct sweep *sweep, const char *path, struct error *error);

/*
 * The digest of one run: its parameters, the corpus's content, measure and validate. Two runs with equal
 * digests give equal numbers (with the same BLAS kernel and vector level).
 */
void sweep_run_digest(
    const struct sweep *sweep, const struct corpus *corpus, const struct run *run, struct digest *digest);

/*
 * The digest that runs have in common which take the same steps until run_kept_step: they differ in `steps`
 * and in what their schedules do later. With save_weights: state only in `steps`, so that each keeps a state
 * of its own.
 */
void sweep_trunk_digest(
    const struct sweep *sweep, const struct corpus *corpus, const struct run *run, struct digest *digest);

/*
 * Which runs of a sweep share their first steps, and which of them wait for others. NULL: none share any. All
 * functions take NULL.
 */
struct trunks;
struct trunks *trunks_new(const struct sweep *sweep, const struct corpus *corpus);
void trunks_free(struct trunks *trunks);

/* Does the run share steps with others? Their states have the name sweep_trunk_digest. */
bool trunks_has(const struct trunks *trunks, int64_t cell);

/* The run from whose state this one carries on, if both are trained, and the step of it; -1: none. */
int64_t trunks_before(const struct trunks *trunks, int64_t cell, int64_t *step);

/* The run is to be trained, when trunks_next or trunks_pass say so. False: it shares nothing, and may begin.
 */
bool trunks_choose(struct trunks *trunks, int64_t cell);

/* A chosen run that waits for no other, and begins now; -1: there is none. Ask for all of them once no more
 * are chosen for now. */
int64_t trunks_next(struct trunks *trunks);

/* The run has left its state, or has ended. Returns a cell that waited for it and begins now, or -1. */
int64_t trunks_pass(struct trunks *trunks, int64_t cell, bool ended);

/* Have all chosen runs ended that share steps with this one, so that nobody needs their states? */
bool trunks_over(const struct trunks *trunks, int64_t cell);

/* The digest of everything that the numbers of all runs depend on: axes and fixed parameters, the corpus's
 * content, measure and validate. */
void sweep_digest(const struct sweep *sweep, const struct corpus *corpus, struct digest *digest);

/*
 * The steps of the dataset's `step` coordinate: the sorted union of the rows of all cells that are not
 * skipped, and their number in *count. The caller frees them. Takes a corpus from sweep_load_corpus.
 */
int64_t *sweep_steps(const struct sweep *sweep, const struct corpus *corpus, int64_t *count);

#define TOGETHER_NAME_MORE 63 /* bytes of a name after its first letter */

enum { TOGETHER_LABEL_LONGEST = 255, TOGETHER_NAME_LONGEST = 1 + TOGETHER_NAME_MORE }; /* bytes */

/* Names of axes as a regular expression: letters, digits and underscores, a letter first. */
#define TOGETHER_NAME_PATTERN TOGETHER_NAME_PATTERN_OF(TOGETHER_NAME_MORE)
#define TOGETHER_NAME_PATTERN_OF(more) "^[A-Za-z][A-Za-z0-9_]{0," TOGETHER_NAME_DIGITS(more) "}$"
#define TOGETHER_NAME_DIGITS(number) #number

/* Negative, 0 or positive, as a is below, equal to or above b. */
int value_compare(const struct param *param, union param_value a, union param_value b);

/* "0.2.5": the library's version. */
const char *yaml_library(void);

#endif
