/*
 * How fast a sweep goes. Time left is reckoned from the cost of what was done since the start, because runs
 * differ in size: a run under way has credit for its steps, a resumed one only for those of this start.
 */
#include "driver/job/job.h"

#include <math.h>
#include <stdlib.h>

#define RATE_SECONDS 10 /* over which rates are smoothed */
#define ROUNDING 1e-12 /* relative rounding error of sums of costs */

void meter_read(struct meter *meter, double now)
{
    double since = now - meter->read;

    if (isfinite(since) && since > 0) {
        double rest = exp(-since / RATE_SECONDS);
        meter->counted = meter->counted * rest + meter->tokens;
        meter->seconds = meter->seconds * rest + since;
        meter->tokens = 0;
    }
    meter->read = now;
}

double meter_rate(const struct meter *meter)
{
    return meter->seconds > 0 ? meter->counted / meter->seconds : NAN;
}

int speed_init(struct speed *speed, int workers, double now)
{
    *speed = (struct speed){.begun = now, .cost_first = NAN};
    speed->worker = calloc((size_t)workers, sizeof(*speed->worker));
    return speed->worker ? 0 : -1;
}

void speed_release(struct speed *speed)
{
    free(speed->worker);
    speed->worker = NULL;
}

static void set_credit(struct speed *speed, struct worker_speed *w, double credit)
{
    speed->credit += credit - w->credit;
    w->credit = credit;
}

void speed_begin(struct speed *speed, int worker, double cost)
{
    set_credit(speed, &speed->worker[worker], 0);
    speed->worker[worker] = (struct worker_speed){.busy = true, .cost = cost};
}

int64_t speed_step(struct speed *speed, int worker, int64_t step, int64_t last_step, int64_t tokens)
{
    struct worker_speed *w = &speed->worker[worker];
    double credit = last_step > 0 ? w->cost * (double)step / (double)last_step : 0;

    if (!w->busy || tokens < w->tokens)
        return -1;
    if (!w->begun) {
        w->begun = true;
        w->tokens = tokens;
        speed->given += credit;
    }
    int64_t new = tokens - w->tokens;
    w->tokens = tokens;
    set_credit(speed, w, credit);
    return new;
}

void speed_end(struct speed *speed, int worker)
{
    set_credit(speed, &speed->worker[worker], 0);
    speed->worker[worker].busy = false;
}

double speed_left(struct speed *speed, double cost_left, double now)
{
    double left = cost_left - speed->credit, elapsed = now - speed->begun;

    if (isnan(speed->cost_first))
        speed->cost_first = cost_left;
    double behind = speed->cost_first - speed->given - left;
    return elapsed >= 1 && behind > ROUNDING * speed->cost_first ? fmax(left, 0) / behind * elapsed : NAN;
}
