#ifndef NORMSWEEP_MODEL_OPTIMISERS_SCHEDULE_H
#define NORMSWEEP_MODEL_OPTIMISERS_SCHEDULE_H

#include <stdint.h>

enum schedule_kind {
    SCHEDULE_CONSTANT,
    SCHEDULE_LINEAR,
    SCHEDULE_INVERSE_SQRT,
    SCHEDULE_COSINE,
    SCHEDULE_WSD /* warm-up, stable, decay: Hu et al. 2024 */
};

/* The learning rate over the steps t = 1 .. t_end. */
struct schedule {
    enum schedule_kind kind;
    double learning_rate; /* the peak */
    int64_t start; /* t0: linear, inverse_sqrt and cosine fall from there on */
    int64_t warmup_steps; /* 0: none */
    int64_t last_step; /* t_end */
    double end; /* the last rate of linear, cosine and wsd, over the peak */
    double decay; /* wsd: the share of the steps over which it falls */
};

/* The learning rate of step t = 1 .. t_end. */
double schedule_rate(const struct schedule *schedule, int64_t step);

/* The first steps, as many as have the rate that they would have in a longer run; last_step if all have. */
int64_t schedule_lasting(const struct schedule *schedule);

#endif
