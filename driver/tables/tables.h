#ifndef NORMSWEEP_DRIVER_TABLES_TABLES_H
#define NORMSWEEP_DRIVER_TABLES_TABLES_H

#include <stdbool.h>

#include "driver/text/text.h"
#include "worker/run/run.h"
#include "worker/train/train.h"

enum storage { STORED_BYTE, STORED_INTEGER, STORED_REAL, STORED_TEXT }; /* byte, int64, double, char */

enum { STRING_SHORT = 64, STRING_LONG = 128, STRING_LONGEST = REASON_SIZE }; /* characters of texts */

#define SESSION_DIMENSION "sessions"
#define STRING_DIMENSION "string" /* and its length */

#define PROGRAM "normsweep"

#define DATASET_CONVENTIONS "CF-1.10"
#define DATASET_REFERENCES                                                                                   \
    "Merrill, Ramanujan, Goldberg, Schwartz, Smith: Effects of Parameter Norm Growth During Transformer "    \
    "Training. EMNLP 2021"

/* Names of global attributes. */
#define ATTRIBUTE_CONVENTIONS "Conventions"
#define ATTRIBUTE_TITLE "title"
#define ATTRIBUTE_SWEEP_TITLE "sweep_title"
#define ATTRIBUTE_SWEEP_NOTES "sweep_notes"
#define ATTRIBUTE_SOURCE "source"
#define ATTRIBUTE_HISTORY "history"
#define ATTRIBUTE_REFERENCES "references"
#define ATTRIBUTE_FORMAT "format_version"
#define ATTRIBUTE_CONFIGURATION "configuration_digest"
#define ATTRIBUTE_DATA "data_digest"
#define ATTRIBUTE_PRECISION "training_precision"
#define ATTRIBUTE_MEASURE "measure"
#define ATTRIBUTE_VALIDATE "validate"
#define ATTRIBUTE_REFINE "refine"
#define ATTRIBUTE_PART "part"
#define ATTRIBUTE_GRADIENT_BATCHES "gradient_batches"
#define ATTRIBUTE_HESSIAN "hessian"
#define ATTRIBUTE_SPECTRA "spectra"
#define ATTRIBUTE_LYAPUNOV_EXPONENTS "lyapunov_exponents"
#define ATTRIBUTE_LYAPUNOV_SWEEPS "lyapunov_sweeps"
#define ATTRIBUTE_SWEEP "sweep"

/* All global attributes except the parameters that are not axes, which keep their own names: X(name,
 * meaning). */
#define ATTRIBUTES(X)                                                                                        \
    X(ATTRIBUTE_CONVENTIONS, "CF-1.10, the convention that names and units follow")                          \
    X(ATTRIBUTE_TITLE, "sweep_title when the file was made, or " PROGRAM "; then yours to change")           \
    X(ATTRIBUTE_SWEEP_TITLE, "value of title, if the sweep has one")                                         \
    X(ATTRIBUTE_SWEEP_NOTES, "value of notes, if the sweep has any")                                         \
    X(ATTRIBUTE_SOURCE, PROGRAM "; marks the file as a dataset of this program")                             \
    X(ATTRIBUTE_HISTORY, "when the file was created and extended; the session variables record the starts")  \
    X(ATTRIBUTE_REFERENCES, "the paper whose quantities are measured")                                       \
    X(ATTRIBUTE_FORMAT, "version of this layout; a file of another one is refused")                          \
    X(ATTRIBUTE_CONFIGURATION, "digest of everything that the numbers of all runs depend on")                \
    X(ATTRIBUTE_DATA, "digest of the contents of the training and validation text")                          \
    X(ATTRIBUTE_PRECISION, "float32, or float64 of normsweep-double: the type of weights, gradients and "    \
                           "activations")                                                                    \
    X(ATTRIBUTE_MEASURE, "value of measure, with defaults filled in")                                        \
    X(ATTRIBUTE_VALIDATE, "value of validate, with defaults filled in")                                      \
    X(ATTRIBUTE_REFINE, "value of refine, with defaults filled in, if the sweep has it")                     \
    X(ATTRIBUTE_PART, "of a sweep divided by --part: which part this is, and the digest of the division")    \
    X(ATTRIBUTE_GRADIENT_BATCHES, "value of gradient_batches, if gradients are measured")                    \
    X(ATTRIBUTE_HESSIAN, "value of hessian, with defaults filled in, if it is measured")                     \
    X(ATTRIBUTE_SPECTRA, "value of spectra, with defaults filled in, if they are measured")                  \
    X(ATTRIBUTE_LYAPUNOV_EXPONENTS, "value of lyapunov_exponents, if lyapunov is measured")                  \
    X(ATTRIBUTE_LYAPUNOV_SWEEPS, "value of lyapunov_sweeps, if lyapunov is measured")                        \
    X(ATTRIBUTE_SWEEP, "the text of the sweep file, YAML; included files and --set as comments at its end")

struct attribute_row {
    const char *name, *meaning;
};
#define X(...) +1
enum { ATTRIBUTE_COUNT = ATTRIBUTES(X) };
#undef X
extern const struct attribute_row attribute_table[ATTRIBUTE_COUNT];

/*
 * What is stored of each run besides its metrics: X(name, type, width, filled, unit, long_name, comment).
 * `width`: characters of a STORED_TEXT. A `filled` variable is -1 (integers) or NaN where it has no value,
 * which is its _FillValue; the others start at 0.
 */
#define RUN_VARIABLES(X)                                                                                     \
    X(outcome, STORED_BYTE, 0, false, "1", "state of the run",                                               \
        "pending and running runs have not ended yet")                                                       \
    X(phase, STORED_BYTE, 0, false, "1", "phase of the parameter norm",                                      \
        "growing where norm_growth is above 1; of a skipped cell, what refine found around it implies")      \
    X(dynamics, STORED_BYTE, 0, false, "1", "class of the growth of the parameter norm",                     \
        "the fit with the lowest AIC, by at least 2, of fit_aligned, fit_misaligned and fit_adam_like; "     \
        "relative: one of the first two; none: no norms, the best R^2 is below 0.5, or two fit alike; "      \
        "aligned with k below 0 shrinks towards the origin")                                                 \
    X(last_step, STORED_INTEGER, 0, true, "1", "steps taken",                                                \
        "fewer than planned if the run diverged or ended early")                                             \
    X(diverged_step, STORED_INTEGER, 0, true, "1", "step of divergence", "its loss or norm is not finite")   \
    X(ended_early, STORED_BYTE, 0, false, "1", "why the run ended before its last step",                     \
        "phase: stop_when, as its phase was forecast at last_step; its final values are of that step")       \
    X(seconds, STORED_REAL, 0, true, "s", "duration of the run", "including measuring and validating")       \
    X(tokens_per_second, STORED_REAL, 0, true, "s-1", "training speed",                                      \
        "tokens divided by the time spent in training steps")                                                \
    X(attempts, STORED_INTEGER, 0, false, "1", "times the run was started",                                  \
        "above 1 if the run was lost or stopped")                                                            \
    X(deaths, STORED_INTEGER, 0, false, "1", "deaths of its workers",                                        \
        "since the run's last checkpoint; a run fails at three")                                             \
    X(host, STORED_TEXT, STRING_SHORT, false, "1", "host that trained the run", "in the last attempt")       \
    X(session, STORED_INTEGER, 0, true, "1", "session of the run",                                           \
        "of the last attempt; index along the dimension sessions")                                           \
    X(worker, STORED_INTEGER, 0, true, "1", "worker that trained the run",                                   \
        "in the last attempt; counted from 1 in each session")                                               \
    X(begin, STORED_REAL, 0, true, "s", "begin of the run", "of the last attempt; since the sweep began")    \
    X(end, STORED_REAL, 0, true, "s", "end of the run",                                                      \
        "of the last attempt; since the sweep began; of a run that was stopped or lost when that was known") \
    X(reason, STORED_TEXT, REASON_SIZE, false, "1", "why the run failed or was not needed",                  \
        "empty unless outcome is failed or skipped")

enum run_variable {
#define X(name, ...) RUN_VARIABLE_##name,
    RUN_VARIABLES(X)
#undef X
        RUN_VARIABLE_COUNT,
};

struct run_variable_row {
    const char *name;
    enum storage type;
    int width;
    bool filled;
    const char *unit, *long_name, *comment;
};
extern const struct run_variable_row run_variable_table[RUN_VARIABLE_COUNT];

/* The words for a variable's values 0, 1, ...; *count is their number. NULL and 0: its values are not flags.
 */
const char *const *run_variable_flags(enum run_variable variable, int *count);

/*
 * Texts of the session table: X(field of struct session, width, long_name). The dataset itself adds `start`,
 * when the session began. All variables are named session_<field>.
 */
#define SESSION_VARIABLES(X)                                                                                 \
    X(version, STRING_SHORT, "program version")                                                              \
    X(commit, STRING_SHORT, "source revision of the program")                                                \
    X(compiler, STRING_LONG, "compiler")                                                                     \
    X(blas, STRING_LONG, "BLAS library")                                                                     \
    X(blas_kernel, STRING_SHORT, "BLAS kernel")                                                              \
    X(vector_level, STRING_SHORT, "vector instructions of the program's own loops")                          \
    X(mpi, STRING_LONG, "MPI library")                                                                       \
    X(host, STRING_SHORT, "host of the coordinator")                                                         \
    X(bad_hosts, STRING_LONG, "hosts that got no more runs, as workers had died there and no run had ended")

/* Numbers of the session table, NaN until they are known: those that the dataset itself adds, and those of a
 * running sweep's pace; X(field, unit, long_name), X(field of struct pace, unit, long_name). */
#define SESSION_TIMES(X)                                                                                     \
    X(begin, "s", "begin of the session, since the sweep began")                                             \
    X(end, "s", "last moment at which the session is known to have worked, since the sweep began")

#define SESSION_NUMBERS(X)                                                                                   \
    X(seconds_left, "s", "last estimate of the time to the end of the sweep")                                \
    X(tokens_per_second, "s-1", "recent training speed of all workers together")                             \
    X(workers, "1", "number of workers")                                                                     \
    X(runs, "1", "last estimate of the number of runs that the sweep trains in all")

enum session_variable {
#define X(field, ...) SESSION_VARIABLE_##field,
    SESSION_VARIABLES(X)
#undef X
        SESSION_VARIABLE_start,
#define X(field, ...) SESSION_VARIABLE_##field,
    SESSION_TIMES(X) SESSION_NUMBERS(X)
#undef X
        SESSION_VARIABLE_COUNT,
};

enum { SESSION_NUMBER_FIRST = SESSION_VARIABLE_start + 1 };

struct session_variable_row {
    const char *name;
    enum storage type; /* STORED_TEXT or STORED_REAL */
    int width;
    const char *unit, *long_name;
};
extern const struct session_variable_row session_variable_table[SESSION_VARIABLE_COUNT];

#define PART_REASON "trained by part " /* of a skipped cell, and which one */

/* The words of enum outcome, as in the dataset's flag_meanings. */
extern const char *const outcome_words[OUTCOME_COUNT];

/* How a run's parameter norm developed, as in the dataset's flag_values. */
enum phase {
    PHASE_NONE, /* the run has not ended, failed, or measured no norms */
    PHASE_GROWING, /* norm_growth above 1 */
    PHASE_SHRINKING,
    PHASE_DIVERGED,
    PHASE_COUNT,
};

/*
 * May a dataset contain a dimension or variable of this name, other than a parameter? A `together` axis must
 * not have such a name.
 */
bool dataset_reserves(const char *name);

/*
 * The keys of a sweep file that are not parameters of a run: X(KEY, name, form, default, help). Together with
 * the parameter table this is the single source of what a sweep file may contain.
 */
#define KEYS(X)                                                                                              \
    X(INCLUDE, include, "path | [path, ...]", "none",                                                        \
        "sweep files whose keys this file takes over, except output; a key of this file wins as a whole, a " \
        "later file over an earlier one; null takes a key out; relative to this file")                       \
    X(TITLE, title, "text", "", "title of the dataset and its figures")                                      \
    X(NOTES, notes, "text", "", "free text about the sweep, of any number of lines, for the dataset")        \
    X(OUTPUT, output, "path", "the sweep file's name with .nc",                                              \
        "the dataset; relative to the current directory")                                                    \
    X(TRAIN_TEXT, train_text, "path | [path, path]", "",                                                     \
        "file to train on, for corpus text, bytes and tokens; for pairs the source and its translation, "    \
        "line by line; relative to the sweep file, with --set to the current directory")                     \
    X(VALID_TEXT, valid_text, "path | [path, path]", "none",                                                 \
        "file for valid_loss, for corpus text, bytes and tokens; for pairs the source and its translation, " \
        "line by line; relative to the sweep file, with --set to the current directory")                     \
    X(TOGETHER, together, "{axis: {label: {key: value}}}", "none",                                           \
        "axes along which several keys change together; every label of an axis sets the same keys")          \
    X(SKIP, skip, "[{key: value}]", "none",                                                                  \
        "runs to leave out: those that match every key of an entry; a value may be a list")                  \
    X(REFINE, refine,                                                                                        \
        "{axis: key | axes: [key, key], variable: metric, at: number, coarse: N, at_once: N, seeds: "        \
        "{variable: metric, width: number, least: N, most: N, difference: axis}}",                           \
        "none",                                                                                              \
        "trains only what it takes to find the neighbours along the axis between which the variable "        \
        "(norm_growth) crosses at (1), at_once runs of a line beside each other (1); with axes: all of "     \
        "them in the plane, by a coarse pass of every N-th value (8) and halved steps where neighbours "     \
        "differ; seeds, alone or beside these: the least seeds (3), and further ones, up to most, only of "  \
        "cells where Student's 95 % interval of the mean of seeds.variable over the seeds, or of its "       \
        "difference along an axis, is wider than width, from end to end")                                    \
    X(MEASURE, measure, "{every: N | steps: [N], metrics: [word]}",                                          \
        "{every: 100, metrics: [norms, alignment]}",                                                         \
        "what is measured and when; losses, step 0 and the last step always are, and if every is above "     \
        "steps, these alone; saturation, heads and attention use the tokens of validate")                    \
    X(VALIDATE, validate, "{every: end | N, tokens: N | all}", "{every: end, tokens: 16384}",                \
        "when valid_loss is measured and on how many tokens from the start of valid_text; of pairs those "   \
        "of the target count, of modular the sums")                                                          \
    X(GRADIENT_BATCHES, gradient_batches, "1 to 100000", "10",                                               \
        "batches over which the group gradients averages, at each measured step")                            \
    X(HESSIAN, hessian, "{probes: N, steps: N, batches: N, every: ends | start | N}",                        \
        "{probes: 10, steps: 80, batches: 1, every: ends}",                                                  \
        "how the group hessian measures: random start vectors, Lanczos steps of each, batches whose loss "   \
        "is averaged, and when: at step 0 and the last (ends), at step 0, or at both and the multiples of "  \
        "N, which is a multiple of measure.every")                                                           \
    X(SPECTRA, spectra, "{every: auto | ends | start | N}", "{every: auto}",                                 \
        "when the group spectra measures: at step 0 and the last (ends), at step 0, at both and the "        \
        "multiples of N, which is a multiple of measure.every, or (auto) at each measured step up to "       \
        "width 256, beyond that at both ends")                                                               \
    X(LYAPUNOV_EXPONENTS, lyapunov_exponents, "1 to 10000", "8",                                             \
        "number of exponents that the group lyapunov measures")                                              \
    X(LYAPUNOV_SWEEPS, lyapunov_sweeps, "0 to 10000", "10",                                                  \
        "passes forward and back by which the group lyapunov turns its random start towards the directions " \
        "that grow most; with many, its exponents are the logarithms of singular values over the layers")    \
    X(CHECKPOINT_MINUTES, checkpoint_minutes, "number > 0", "5",                                             \
        "minutes between checkpoints of a run; a run that is stopped also saves one and later resumes from " \
        "it")                                                                                                \
    X(TRUNKS, trunks, "true | false", "true",                                                                \
        "runs that take the same first steps, as with wsd and several values of steps, carry on from each "  \
        "other's state; numbers are the same with false")

enum key {
#define X(key, name, form, initial, help) KEY_##key,
    KEYS(X)
#undef X
        KEY_COUNT,
};

struct key_row {
    const char *name, *form, *initial, *help;
};

extern const struct key_row key_table[KEY_COUNT];

/* The key of this name, or KEY_COUNT. */
enum key key_find(const char *name);

/* "; did you mean 'learning_rate'?" for a name that is neither a key nor a parameter, or "". */
struct hint key_hint(const char *name);

/* Does the path name a regular file that starts like a netCDF file? False if it cannot be read. */
bool magic_is_netcdf(const char *path);

/*
 * The nature of a variable whose attribute METRIC_NATURE is `word`. A variable that others have added has
 * none (NULL), or any word, and is a record.
 */
const struct nature_row *nature_of(const char *word);

/* What this build was made from: release, commit, compiler and flags. */
extern const char version_number[]; /* "0.1.0" */
extern const char version_commit[]; /* 12 digits, and + if files differed from it; "" outside a checkout */
extern const char version_compiler[]; /* with the variant's flags */
extern const char version_flags[]; /* other flags that affect numbers or speed */

#endif
