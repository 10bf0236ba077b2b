/*
 * How far a step could go before it raised the loss of its batch (Kalra and others, arXiv 2601.16979). A twin
 * of the optimiser, without decay, takes the step from copies of weights and moments, which gives the update;
 * the caller takes the losses along it: sharpness_begin; while sharpness_next is not NULL, the loss there and
 * sharpness_take; then sharpness_end. The exponent of the rate moves by 1, 2, 4, .. up or down until one rate
 * raises the loss and one does not; then the middle of the two is tried, as long as passes are left. After an
 * earlier measurement it moves by 1/4, 1/2, 1, .. instead. Nothing can fail, and the optimiser's own state
 * stays as it is.
 */
#include "model/instruments/inside.h"

#include <string.h>

/* The rate at which the twin steps, as updates do not depend on it: so large that rounding weights does not
 * count, and a power of 2, so that dividing by it is exact. */
#define TWIN_RATE 0x1p20

/* Exponents of 2: the largest that is tried, and the first move with an earlier measurement and without. */
#define REACH_MOST 20.0
#define REACH_WARM 0.25
#define REACH_COLD 1.0

void sharpness_layout(struct sharpness *s, const struct optimiser_options *options,
    const struct weight_layout *layout, int64_t threads, struct arena *arena)
{
    struct optimiser_options plain = *options;
    size_t size = (size_t)layout->size;

    *s = (struct sharpness){.size = layout->size};
    plain.weight_decay = 0;
    plain.norm_rule = NORM_FREE;
    plain.weights = WEIGHTS_FLOAT;
    optimiser_layout(&s->twin, &plain, layout, threads, false, arena);
    s->update = arena_take(arena, size, sizeof(scalar));
    s->moved = arena_take(arena, size, sizeof(scalar));
}

void sharpness_begin(struct sharpness *s, const struct optimiser *optimiser, const scalar *weights,
    const scalar *gradient, double clip, int64_t number, double loss, double rate, double before)
{
    size_t size = (size_t)s->size * sizeof(scalar);
    bool warm = before > 0 && isfinite(before);

    if (s->twin.first)
        memcpy(s->twin.first, optimiser->first, size);
    if (s->twin.second)
        memcpy(s->twin.second, optimiser->second, size);
    memcpy(s->update, weights, size);
    optimiser_step(&s->twin, s->update, gradient, clip, number, TWIN_RATE);
    for (int64_t i = 0; i < s->size; i++)
        s->update[i] -= weights[i];
    s->weights = weights;
    s->loss = loss;
    s->rate = warm ? 2 / before : rate;
    s->passes = 0;
    s->low = -INFINITY;
    s->high = INFINITY;
    s->at = 0;
    s->reach = warm ? REACH_WARM : REACH_COLD;
}

const scalar *sharpness_next(struct sharpness *s)
{
    bool between = isfinite(s->low) && isfinite(s->high);

    if (s->passes == SHARPNESS_PASSES || s->high - s->low <= SHARPNESS_WIDTH)
        return NULL;
    if (!between && fabs(s->at) >= REACH_MOST)
        return NULL;
    if (between) {
        s->at = (s->low + s->high) / 2;
    } else if (s->passes > 0) {
        s->at = isfinite(s->low) ? fmin(s->at + s->reach, REACH_MOST) : fmax(s->at - s->reach, -REACH_MOST);
        s->reach *= 2;
    }
    s->passes++;
    for (int64_t i = 0; i < s->size; i++)
        s->moved[i] =
            (scalar)((double)s->weights[i] + exp2(s->at) * (s->rate / TWIN_RATE) * (double)s->update[i]);
    return s->moved;
}

void sharpness_take(struct sharpness *s, double loss)
{
    if (loss <= s->loss)
        s->low = s->at;
    else /* also NaN */
        s->high = s->at;
}

double sharpness_end(const struct sharpness *s)
{
    if (!isfinite(s->low) || !isfinite(s->high))
        return NAN;
    return 2 / (exp2((s->low + s->high) / 2) * s->rate);
}
