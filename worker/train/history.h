#ifndef NORMSWEEP_WORKER_TRAIN_HISTORY_H
#define NORMSWEEP_WORKER_TRAIN_HISTORY_H

#include <stdint.h>

#include "model/core/arena.h"
#include "model/instruments/instruments.h"
#include "worker/run/metric.h"

/* What a run has measured so far: its rows, and the norms that the law of its growth is fitted to. */
struct history {
    struct metric_form form;
    int64_t rows_most; /* rows there is room for */
    int64_t row_count;
    int64_t *step; /* [rows_most] of each row, ascending */
    double *values; /* [rows_most][form.row_size] as the observer got them */
    int64_t norm_count;
    int64_t *norm_step; /* [rows_most] the measured steps */
    double *norm; /* [rows_most] and |theta_t| then */
    double *scratch; /* [2 * rows_most] of the fits */
    double *fitted; /* [3 * rows_most] the norms of the recursions that fit best */
};

void history_layout(
    struct history *history, const struct metric_form *form, int64_t rows, struct arena *arena);

/* A row by its index; that at row_count is the one to come, full of NaN after history_begin_row. */
double *history_row(const struct history *history, int64_t index);
double *history_begin_row(const struct history *history);

/* The row to come is complete. */
void history_add_row(struct history *history, int64_t step);

void history_add_norm(struct history *history, int64_t step, double norm);

/* |theta| at the last measured step over that at step 0. */
double history_growth(const struct history *history);
void history_fit(const struct history *history, struct growth *growth);

#endif
