/* The learning rate as a function of the step alone: warm-up, then the course of the schedule. */
#include "model/optimisers/optimisers.h"

#include <math.h>

/* How far step t is on the way from `from` to the last step, in [0, 1]. */
static double way(const struct schedule *s, double t, double from)
{
    return t > from ? (t - from) / ((double)s->last_step - from) : 0;
}

double schedule_rate(const struct schedule *s, int64_t step)
{
    double t = (double)step, start = (double)s->start, rate = s->learning_rate;

    switch (s->kind) {
    case SCHEDULE_CONSTANT:
        break;
    case SCHEDULE_LINEAR:
        if (t > start)
            rate *= 1 - (1 - s->end) * (t - start) / ((double)s->last_step - start);
        break;
    case SCHEDULE_INVERSE_SQRT:
        start = start < 1 ? 1 : start;
        rate *= t > start ? sqrt(start / t) : 1;
        break;
    case SCHEDULE_COSINE:
        rate *= s->end + (1 - s->end) * (1 + cos(M_PI * way(s, t, start))) / 2;
        break;
    case SCHEDULE_WSD:
        rate *= 1 - (1 - s->end) * way(s, t, (1 - s->decay) * (double)s->last_step);
        break;
    }
    if (step < s->warmup_steps)
        rate *= t / (double)s->warmup_steps;
    return rate;
}

int64_t schedule_lasting(const struct schedule *s)
{
    switch (s->kind) {
    case SCHEDULE_CONSTANT:
    case SCHEDULE_INVERSE_SQRT:
        break;
    case SCHEDULE_LINEAR:
    case SCHEDULE_COSINE:
        return s->start < s->last_step ? s->start : s->last_step;
    case SCHEDULE_WSD:
        return (int64_t)floor((1 - s->decay) * (double)s->last_step);
    }
    return s->last_step;
}
