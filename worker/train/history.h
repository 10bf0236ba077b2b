#ifndef NORMSWEEP_WORKER_TRAIN_HISTORY_H
#define NORMSWEEP_WORKER_TRAIN_HISTORY_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/instruments/instruments.h"
#include "worker/run/metric.h"

/* What a run has measured so far: its rows, and the norms to which laws of growth are fitted. */
struct history {
    struct metric_form form;
    int64_t rows_most; /* capacity, in rows */
    int64_t row_count;
    int64_t *step; /* [rows_most] step of each row, ascending */
    double *values; /* [rows_most][form.row_size] as the observer got them */
    int64_t norm_count;
    int64_t *norm_step; /* [rows_most] the measured steps */
    double *norm; /* [rows_most] |theta_t| at these steps */
    double *reach; /* [rows_most] of the steps from there (measure_reach); NaN: not measured */
    double *scratch; /* [2 * rows_most] for the fits */
    double *fitted; /* [3 * rows_most] norms of the fitted recursions */
};

void history_layout(
    struct history *history, const struct metric_form *form, int64_t rows, struct arena *arena);

/* A row by its index. The row at row_count is the next one; history_begin_row fills it with NaN. */
double *history_row(const struct history *history, int64_t index);
double *history_begin_row(const struct history *history);

/* Adds the next row, which is complete, for `step`. */
void history_add_row(struct history *history, int64_t step);

void history_add_norm(struct history *history, int64_t step, double norm);

/* |theta| at the last measured step divided by |theta| at step 0. */
double history_growth(const struct history *history);
void history_fit(const struct history *history, struct growth *growth);

#endif
