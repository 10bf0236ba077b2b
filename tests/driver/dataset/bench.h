#ifndef NORMSWEEP_TESTS_DRIVER_DATASET_BENCH_H
#define NORMSWEEP_TESTS_DRIVER_DATASET_BENCH_H

#include "driver/dataset/extend/extend.h"
#include "driver/dataset/ledger/ledger.h"
#include "tests/scratch.h"

/* Prepended to the sweeps of these tests. */
#define BASE_UNTITLED                                                                                        \
    "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\ncontext: 4\nbatch: 2\n"                              \
    "measure: {every: 5, metrics: [norms, alignment, saturation, heads, attention, homogeneity, gradients, " \
    "hessian, hessian_layers, residual, lyapunov, equilibrium, forces, sharpness, "                          \
    "spectra, spectra_values]}\n"                                                                            \
    "hessian: {probes: 2, steps: 3}\nlyapunov_exponents: 2\n"
#define BASE_WITHOUT_STEPS "title: a test\n" BASE_UNTITLED
#define BASE BASE_WITHOUT_STEPS "steps: 10\n"

/* A dataset in a folder of its own, and its sweep. */
struct bench {
    char folder[64], path[96];
    struct sweep sweep;
    struct corpus corpus;
    struct dataset *dataset;
    struct error error;
};

void bench_init(struct bench *bench);

/* Reads a sweep and its corpus, so that only calls of the dataset itself are left; false if that fails. */
bool bench_prepare(struct bench *bench, const char *yaml);
void bench_unprepare(struct bench *bench);
extern const struct session bench_session;

/* Opens the bench's output with a sweep. On failure -1, with bench->error. */
int bench_open(struct bench *bench, const char *yaml, const struct dataset_options *options);

/* The same, but a failure fails the test and returns false. */
bool bench_opens(struct bench *bench, const char *yaml);

/* The same for a bench that is open: it is closed before. */
bool bench_reopens(struct bench *bench, const char *yaml);

void bench_close(struct bench *bench);

/* Removes the folder, which must not contain other files. */
void bench_release(struct bench *bench);

/* Calls the test on a dataset of the sweep, or with NULL in an empty folder; closes and releases the bench.
 */
void bench_run(void (*test)(struct bench *bench), const char *yaml);

#define IN_BENCH(id, yaml)                                                                                   \
    static void in_bench_##id(struct bench *bench);                                                          \
    TEST(id)                                                                                                 \
    {                                                                                                        \
        bench_run(in_bench_##id, yaml);                                                                      \
    }                                                                                                        \
    static void in_bench_##id(struct bench *bench)

/* Writes a row of made-up measurements, in parts of `parts` values. */
void bench_write_row(struct bench *bench, int64_t cell, int64_t step, size_t parts);

/* Writes a whole run, without the commit. */
void bench_write_run(struct bench *bench, int64_t cell, enum outcome outcome, size_t parts);

/* One value of the file's variable. */
double bench_read_value(const struct bench *bench, const char *name, int64_t index);

/* Counts the wrong values of one per-step metric of a cell; values at steps that the run does not have must
 * be NaN. */
int64_t bench_count_wrong(const struct bench *bench, enum metric metric, int64_t cell);

/* The made-up norm_growth of a cell. */
double bench_growth(const struct bench *bench, int64_t cell);

/* Files of that name in the folder: is there one, its path, one that is written, a short text in it. */
enum { BENCH_PATH = 128 };
bool bench_exists(const struct bench *bench, const char *name);
char *bench_path(const struct bench *bench, const char *name, char path[BENCH_PATH]);
void bench_put(const struct bench *bench, const char *name, const void *bytes, size_t size);
void bench_check_text(const struct bench *bench, const char *name, const char *text);

#endif
