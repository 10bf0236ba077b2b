#include "driver/picture/remaining.h"

#include <math.h>

/* Seconds for what costs 1. Whole runs are apart from steps: some end early, as they diverge. */
struct pace {
    double run, step;
};

static double run_cost(const struct kind *kind)
{
    return kind->step_cost * (double)kind->last_step;
}

static struct pace pace_of_ended(const struct remaining *remaining)
{
    double seconds = 0, runs = 0, steps = 0;

    for (int64_t i = 0; i < remaining->kind_count; i++) {
        const struct kind *kind = &remaining->kind[i];
        seconds += kind->seconds;
        runs += run_cost(kind) * (double)kind->ended;
        steps += kind->step_cost * kind->steps;
    }
    return (struct pace){seconds / runs, seconds / steps};
}

/* Nothing has ended: what workers have behind them that began with this session. */
static struct pace pace_of_steps(const struct remaining *remaining)
{
    double behind = 0, workers = 0;

    for (int64_t i = 0; i < remaining->run_count; i++) {
        const struct under_way *run = &remaining->run[i];
        if (!run->anew)
            continue;
        behind += remaining->kind[run->kind].step_cost * (double)run->step;
        workers++;
    }
    double pace = remaining->age * workers / behind;
    return (struct pace){pace, pace};
}

static bool is_known(const struct pace *pace)
{
    return isfinite(pace->run) && isfinite(pace->step);
}

static double run_seconds(const struct kind *kind, const struct pace *pace)
{
    return kind->ended ? kind->seconds / (double)kind->ended : pace->run * run_cost(kind);
}

static double step_seconds(const struct kind *kind, const struct pace *pace)
{
    return kind->steps > 0 ? kind->seconds / kind->steps : pace->step * kind->step_cost;
}

static double run_left(
    const struct remaining *remaining, const struct under_way *run, const struct pace *pace)
{
    const struct kind *kind = &remaining->kind[run->kind];
    double steps = (double)kind->last_step - (double)run->step;

    return fmax(steps * step_seconds(kind, pace) - run->silent, 0);
}

/* No schedule is shorter than all work in equal parts, nor than its longest run; longest first comes near. */
static double schedule(const struct remaining *remaining, const struct pace *pace)
{
    double all = 0, longest = 0;

    for (int64_t i = 0; i < remaining->kind_count; i++) {
        const struct kind *kind = &remaining->kind[i];
        if (!kind->pending)
            continue;
        double seconds = run_seconds(kind, pace);
        all += seconds * (double)kind->pending;
        longest = fmax(longest, seconds);
    }
    for (int64_t i = 0; i < remaining->run_count; i++) {
        double seconds = run_left(remaining, &remaining->run[i], pace);
        all += seconds;
        longest = fmax(longest, seconds);
    }
    return fmax(all / (double)remaining->run_count, longest);
}

double remaining_seconds(const struct remaining *remaining)
{
    struct pace pace = pace_of_ended(remaining);

    if (!is_known(&pace))
        pace = pace_of_steps(remaining);
    return is_known(&pace) && remaining->run_count > 0 ? schedule(remaining, &pace) : NAN;
}
