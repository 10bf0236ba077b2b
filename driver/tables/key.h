#ifndef NORMSWEEP_DRIVER_TABLES_KEY_H
#define NORMSWEEP_DRIVER_TABLES_KEY_H

#include "driver/text/nearest.h"

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
    X(REFINE, refine, "{axis: key | axes: [key, key], variable: metric, at: number, coarse: N}", "none",     \
        "trains only what it takes to find the neighbours along the axis between which the variable "        \
        "(norm_growth) crosses at (1); with axes: all of them in the plane, by a coarse pass of every N-th " \
        "value (8) and halved steps where neighbours differ")                                                \
    X(MEASURE, measure, "{every: N | steps: [N], metrics: [word]}",                                          \
        "{every: 100, metrics: [norms, alignment]}",                                                         \
        "what is measured and when; losses, step 0 and the last step always are; saturation and heads use "  \
        "the tokens of validate")                                                                            \
    X(VALIDATE, validate, "{every: end | N, tokens: N | all}", "{every: end, tokens: 16384}",                \
        "when valid_loss is measured and on how many tokens from the start of valid_text; of pairs those "   \
        "of the target count, of modular the sums")                                                          \
    X(GRADIENT_BATCHES, gradient_batches, "1 to 100000", "10",                                               \
        "batches over which the group gradients averages, at each measured step")                            \
    X(HESSIAN, hessian, "{probes: N, steps: N, batches: N, every: ends | start | N}",                        \
        "{probes: 10, steps: 80, batches: 1, every: ends}",                                                  \
        "how the group hessian measures: random start vectors, Lanczos steps of each, batches whose loss "   \
        "is averaged, and when: at both ends, at step 0, or at the measured steps that are multiples of N")  \
    X(LYAPUNOV_EXPONENTS, lyapunov_exponents, "1 to 10000", "8",                                             \
        "number of exponents that the group lyapunov measures")                                              \
    X(LYAPUNOV_SWEEPS, lyapunov_sweeps, "0 to 10000", "10",                                                  \
        "passes forward and back by which the group lyapunov turns its random start towards the directions " \
        "that grow most; with many, its exponents are the logarithms of singular values over the layers")    \
    X(CHECKPOINT_MINUTES, checkpoint_minutes, "number > 0", "5",                                             \
        "minutes between checkpoints of a run; a run that is stopped also saves one and later resumes from " \
        "it")

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

/* "; did you mean 'learning_rate'?" for a name that is neither a key nor a parameter, or "". Returns text. */
const char *key_hint(const char *name, char text[NEAREST_SIZE]);

#endif
