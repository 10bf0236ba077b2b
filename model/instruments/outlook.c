/*
 * The forecast of a run's phase. outlook_begin walks over all steps once and keeps what the schedule says of
 * each interval and of the rest behind it; training calls outlook_of at measured steps with the norms so far.
 * Every doubt is OUTLOOK_OPEN, and the run goes on: a decay that is too large, norms that are not finite, too
 * few intervals, steps far below full ones.
 */
#include "model/instruments/instruments.h"

#include <math.h>
#include <string.h>

/* Rounding must not decide: what is below or above 1 by less stays open. Steps that are rounded to float
 * change N by 1e-8 in hundreds of steps. */
#define MARGIN 1e-6

void outlook_layout(struct outlook *outlook, int64_t most, struct arena *arena)
{
    size_t count = (size_t)most;

    *outlook = (struct outlook){
        .step = arena_take(arena, count, sizeof(int64_t)),
        .kept = arena_take(arena, count, sizeof(double)),
        .weight = arena_take(arena, count, sizeof(double)),
        .kept_rest = arena_take(arena, count, sizeof(double)),
        .weight_rest = arena_take(arena, count, sizeof(double)),
    };
}

void outlook_begin(
    struct outlook *o, const struct schedule *schedule, double decay, const int64_t *step, int64_t count)
{
    int64_t last = count - 1;
    double largest = 0;

    o->count = 0;
    o->first = (int64_t)ceil(OUTLOOK_PART * (double)step[last]);
    memcpy(o->step, step, (size_t)count * sizeof(*step));
    for (int64_t k = 1; k < count; k++) {
        double kept = 1, weight = 0; /* D and W of the interval that ends at measured step k */
        for (int64_t s = step[k - 1] + 1; s <= step[k]; s++) {
            double rate = schedule_rate(schedule, s), left = 1 - rate * decay;
            if (!(rate * decay < OUTLOOK_DECAY_MOST))
                return;
            kept *= left * left;
            weight = weight * left * left + rate;
            if (rate > largest) { /* no forecast before the largest rate */
                largest = rate;
                o->first = o->first < s ? s : o->first;
            }
        }
        o->kept[k] = kept;
        o->weight[k] = weight;
    }
    o->count = count;
    o->kept_rest[last] = 1;
    o->weight_rest[last] = 0;
    for (int64_t k = last; k > 0; k--) {
        o->kept_rest[k - 1] = o->kept[k] * o->kept_rest[k];
        o->weight_rest[k - 1] = o->weight[k] * o->kept_rest[k] + o->weight_rest[k];
    }
}

enum outlook_phase outlook_of(const struct outlook *o, const double *norm, const double *reach, int64_t count)
{
    double most = 0, least = 0, reached = 0, start = norm[0] * norm[0], square = 1;
    int64_t last = count - 1;

    if (count >= o->count || last < OUTLOOK_INTERVALS || o->step[last] < o->first || !(start > 0))
        return OUTLOOK_OPEN;
    for (int64_t k = 1; k < count; k++) {
        double next = norm[k] * norm[k] / start, gain = (next - o->kept[k] * square) / o->weight[k];
        if (!isfinite(gain))
            return OUTLOOK_OPEN;
        most = fmax(most, gain);
        least = fmin(least, gain);
        reached += reach[k - 1] * (double)(o->step[k] - o->step[k - 1]);
        square = next;
    }
    if (!(reached >= OUTLOOK_REACH * (double)o->step[last]) || !(reach[last - 1] >= OUTLOOK_REACH))
        return OUTLOOK_OPEN;
    double left = o->kept_rest[last] * square, rest = o->weight_rest[last];
    if (left + OUTLOOK_LARGER * fmax(most, -least) * rest < 1 - MARGIN)
        return OUTLOOK_SHRINKING;
    if (left - fmax(-OUTLOOK_LARGER * least, OUTLOOK_LOSS * most) * rest > 1 + MARGIN)
        return OUTLOOK_GROWING;
    return OUTLOOK_OPEN;
}
