#include "model/instruments/certainty.h"

#include <math.h>
#include <string.h>

/* Rounding must not decide: what is below or above 1 by less is not certain. */
#define MARGIN 1e-9

void certainty_layout(struct certainty *certainty, int64_t most, struct arena *arena)
{
    size_t count = (size_t)most;

    *certainty = (struct certainty){
        .step = arena_take(arena, count, sizeof(int64_t)),
        .kept = arena_take(arena, count, sizeof(double)),
        .weight = arena_take(arena, count, sizeof(double)),
        .kept_rest = arena_take(arena, count, sizeof(double)),
        .weight_rest = arena_take(arena, count, sizeof(double)),
    };
}

/* D and W of the steps from `from` to `to`; also moves *first behind the largest rate. False: a decay is too
 * large. */
static bool pass_interval(
    struct certainty *c, const struct schedule *schedule, double decay, int64_t k, double *largest)
{
    double kept = 1, weight = 0;

    for (int64_t s = c->step[k - 1] + 1; s <= c->step[k]; s++) {
        double rate = schedule_rate(schedule, s), left = 1 - rate * decay;
        if (!(rate * decay < CERTAINTY_DECAY_MOST))
            return false;
        kept *= left * left;
        weight = weight * left * left + rate;
        if (rate > *largest) {
            *largest = rate;
            c->first = c->first < s ? s : c->first;
        }
    }
    c->kept[k] = kept;
    c->weight[k] = weight;
    return true;
}

/* The rest behind each measured step, from the last one back. */
static void sum_rests(struct certainty *c)
{
    int64_t last = c->count - 1;

    c->kept_rest[last] = 1;
    c->weight_rest[last] = 0;
    for (int64_t k = last; k > 0; k--) {
        c->kept_rest[k - 1] = c->kept[k] * c->kept_rest[k];
        c->weight_rest[k - 1] = c->weight[k] * c->kept_rest[k] + c->weight_rest[k];
    }
}

void certainty_begin(struct certainty *certainty, const struct schedule *schedule, double decay,
    const int64_t *step, int64_t count)
{
    double largest = 0;

    certainty->count = 0;
    certainty->first = (int64_t)ceil(CERTAINTY_PART * (double)step[count - 1]);
    memcpy(certainty->step, step, (size_t)count * sizeof(*step));
    for (int64_t k = 1; k < count; k++)
        if (!pass_interval(certainty, schedule, decay, k, &largest))
            return;
    certainty->count = count;
    sum_rests(certainty);
}

enum certain certainty_of(const struct certainty *certainty, const double *norm, int64_t count)
{
    const struct certainty *c = certainty;
    double most = 0, least = 0, start = norm[0] * norm[0], square = 1;
    int64_t last = count - 1;

    if (count >= c->count || last < CERTAINTY_INTERVALS || c->step[last] < c->first || !(start > 0))
        return CERTAIN_NOTHING;
    for (int64_t k = 1; k < count; k++) {
        double next = norm[k] * norm[k] / start, gain = (next - c->kept[k] * square) / c->weight[k];
        if (!isfinite(gain))
            return CERTAIN_NOTHING;
        most = fmax(most, gain);
        least = fmin(least, gain);
        square = next;
    }
    double left = c->kept_rest[last] * square, rest = c->weight_rest[last];
    if (left + CERTAINTY_LARGER * fmax(most, -least) * rest < 1 - MARGIN)
        return CERTAIN_SHRINKING;
    if (left - fmax(-CERTAINTY_LARGER * least, CERTAINTY_LOSS * most) * rest > 1 + MARGIN)
        return CERTAIN_GROWING;
    return CERTAIN_NOTHING;
}
