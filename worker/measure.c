#include "worker/measure.h"

#include <stdlib.h>

void measure_init(struct measure *measure)
{
    *measure = (struct measure){
        .every = MEASURE_EVERY_DEFAULT,
        .validate_every = VALIDATE_END,
        .validate_tokens = VALIDATE_TOKENS_DEFAULT,
    };
    for (int group = 0; group < GROUP_COUNT; group++)
        measure->group[group] = true;
}

void measure_release(struct measure *measure)
{
    free(measure->steps);
    *measure = (struct measure){0};
}

static bool listed(const struct measure *measure, int64_t step)
{
    int64_t low = 0, high = measure->step_count;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (measure->steps[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < measure->step_count && measure->steps[low] == step;
}

bool measure_at(const struct measure *measure, int64_t step, int64_t last_step)
{
    if (step == 0 || step == last_step)
        return true;
    return measure->every ? step % measure->every == 0 : listed(measure, step);
}

bool validate_at(const struct measure *measure, int64_t step, int64_t last_step)
{
    if (step == last_step)
        return true;
    return measure->validate_every != VALIDATE_END && step % measure->validate_every == 0;
}

/* The first step above `step` that is a row. */
static int64_t next_row(const struct measure *measure, int64_t *place, int64_t step, int64_t last_step)
{
    int64_t next = last_step;

    if (measure->every && step < last_step - measure->every)
        next = (step / measure->every + 1) * measure->every;
    while (*place < measure->step_count && measure->steps[*place] <= step)
        (*place)++;
    if (*place < measure->step_count && measure->steps[*place] < next)
        next = measure->steps[*place];
    if (measure->validate_every != VALIDATE_END && step < last_step - measure->validate_every) {
        int64_t validated = (step / measure->validate_every + 1) * measure->validate_every;
        next = validated < next ? validated : next;
    }
    return next;
}

int64_t measure_rows(const struct measure *measure, int64_t last_step, int64_t *steps)
{
    int64_t count = 0, place = 0;

    for (int64_t step = 0;; step = next_row(measure, &place, step, last_step)) {
        if (steps)
            steps[count] = step;
        count++;
        if (step == last_step)
            return count;
    }
}

int step_compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

void measure_digest(const struct measure *measure, struct digest *digest)
{
    digest_add(digest, &measure->every, sizeof(measure->every));
    digest_add(digest, &measure->step_count, sizeof(measure->step_count));
    if (measure->step_count)
        digest_add(digest, measure->steps, (size_t)measure->step_count * sizeof(*measure->steps));
    for (int group = 0; group < GROUP_COUNT; group++)
        if (measure->group[group])
            digest_add_string(digest, metric_group_names[group]);
    digest_add(digest, &measure->validate_every, sizeof(measure->validate_every));
    digest_add(digest, &measure->validate_tokens, sizeof(measure->validate_tokens));
}
