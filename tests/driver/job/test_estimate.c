/* Groups of a plan that are not measured, and plans of very many groups. */
#include "driver/job/estimate.h"
#include "driver/sweep/sweep.h"
#include "driver/sweep/texts.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SMALL                                                                                                \
    "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\nlayers: 1\nheads: 1\nfeedforward: 4\ncontext: 4\n"   \
    "batch: 1\nvalidate: {tokens: 4}\n"

/* A plan of a sweep with so little measuring that it takes a moment; false where it failed. */
static bool make(struct estimate *estimate, struct sweep *sweep, struct corpus *corpus, const char *yaml)
{
    const struct terminal terminal = {.columns = 80};
    struct waiting waiting;
    struct error error;

    waiting_begin(&waiting, stderr, &terminal);
    if (sweep_parse(sweep, "a.yaml", "", yaml, strlen(yaml), NULL, 0, &error) == 0) {
        if (sweep_load_corpus(sweep, corpus, &error) == 0) {
            if (estimate_make(estimate, sweep, corpus, 1, 0, &waiting, &error) == 0)
                return true;
            corpus_release(corpus);
        }
        sweep_release(sweep);
    }
    test_fail(__FILE__, __LINE__, "%s", error.text);
    return false;
}

static void release(struct estimate *estimate, struct sweep *sweep, struct corpus *corpus)
{
    estimate_release(estimate);
    corpus_release(corpus);
    sweep_release(sweep);
}

/* Of all measured groups the nearest in the logarithm of a step's cost; of two that are as near, the first.
 */
static const struct cost_group *nearest(const struct estimate *estimate, const struct cost_group *group)
{
    const struct cost_group *near = NULL;

    for (int64_t i = 0; i < estimate->group_count; i++) {
        const struct cost_group *other = &estimate->group[i];
        if (other->timed && (!near || fabs(log(other->step_cost / group->step_cost)) <
                                          fabs(log(near->step_cost / group->step_cost))))
            near = other;
    }
    return near;
}

TEST(estimate_interpolates_from_the_nearest_sample)
{
    static const char yaml[] = SMALL "steps: [4, 5, 6]\nwidth: {range: [1, 12]}\n";
    struct estimate estimate;
    struct sweep sweep;
    struct corpus corpus;

    if (!make(&estimate, &sweep, &corpus, yaml))
        return;
    CHECK(estimate.group_count == 36 && estimate.timed == 6);
    CHECK(estimate.group[0].timed && estimate.group[35].timed);
    for (int64_t i = 0; i < estimate.group_count; i++) {
        const struct cost_group *group = &estimate.group[i], *near = nearest(&estimate, group);
        double ratio = group->step_cost / near->step_cost;
        CHECK(group->timed || group->step_seconds == near->step_seconds * ratio);
        CHECK(group->timed || group->setup_seconds == near->setup_seconds * ratio);
        CHECK(group->timed || group->validate_seconds == near->validate_seconds * ratio);
    }
    release(&estimate, &sweep, &corpus);
}

/* Seconds that a plan of so many lengths takes; the bounds below leave a factor of a hundred to slow
 * machines. */
static double plan_seconds(const char *yaml, int64_t groups)
{
    struct estimate estimate;
    struct sweep sweep;
    struct corpus corpus;
    clock_t begin = clock();

    if (!make(&estimate, &sweep, &corpus, yaml))
        return NAN;
    CHECK(estimate.group_count == groups && estimate.timed == 6);
    release(&estimate, &sweep, &corpus);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

TEST(estimate_of_many_lengths)
{
    static const char yaml[] = SMALL "steps: {range: [10, 100009]}\nmeasure: {every: 100000}\n";

    CHECK(plan_seconds(yaml, 100000) < 20);
}

TEST(estimate_of_many_lengths_and_listed_steps)
{
    static const char yaml[] = SMALL "steps: {range: [10, 100009]}\nmeasure: {steps: {range: [0, 99999]}}\n";

    CHECK(plan_seconds(yaml, 100000) < 20);
}
