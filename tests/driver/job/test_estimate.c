/* Groups of a plan that are not measured, and plans of very many groups. */
#include "driver/plan/plan.h"
#include "driver/sweep/inside.h"
#include "tests/test.h"

#include <time.h>

#define SMALL                                                                                                \
    "corpus: markov\nvocabulary: 9\ncorpus_tokens: 400\nlayers: 1\nheads: 1\nfeedforward: 4\ncontext: 4\n"   \
    "batch: 1\nvalidate: {tokens: 4}\n"

/* Makes a plan with hardly any sampling, so that it is fast; false if it failed. */
static bool make(struct estimate *estimate, struct sweep *sweep, struct corpus *corpus, const char *yaml)
{
    const struct terminal terminal = {.columns = 80};
    struct waiting waiting;
    struct error error;

    waiting_begin(&waiting, stderr, &terminal);
    if (sweep_parse(sweep, "a.yaml", "", yaml, strlen(yaml), NULL, 0, &error) == 0) {
        if (sweep_load_corpus(sweep, corpus, &error) == 0) {
            if (estimate_make(estimate, sweep, corpus, NULL, -1, 1, 0, &waiting, &error) == 0)
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

/* The measured group whose cost of a step is nearest, on a logarithmic scale; the first in a tie. */
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
        for (enum cost_part part = 0; part < PART_COUNT; part++)
            CHECK(group->timed || group->seconds[part] == near->seconds[part] * ratio);
    }
    release(&estimate, &sweep, &corpus);
}

/* A range around the time. Shares of a search and of seeds are in it, whatever the steps took. */
TEST(estimate_has_a_range)
{
    static const char *const yaml[] = {SMALL "steps: 20\nwidth: {range: [1, 12]}\n",
        SMALL "steps: 20\nlearning_rate: {log: [1e-3, 1], points: 64}\nrefine: {axis: learning_rate}\n",
        SMALL "steps: 20\nwidth: [1, 2]\nseed: {range: [1, 8]}\n"
              "refine: {seeds: {variable: norm_growth, width: 0.1, least: 2, most: 6}}\n"};
    static const struct span runs[] = {{1, 1}, {0.75, 1.25}, {0.5, 1.5}};

    for (size_t i = 0; i < sizeof(yaml) / sizeof(*yaml); i++) {
        struct estimate estimate;
        struct sweep sweep;
        struct corpus corpus;
        struct span low = {INFINITY, 0}, high = low;
        if (!make(&estimate, &sweep, &corpus, yaml[i]))
            return;
        for (int64_t group = 0; group < estimate.group_count; group++) {
            const struct cost_group *one = &estimate.group[group];
            CHECK(one->factor.low > 0 && one->factor.low <= 1 && one->factor.high >= 1);
            CHECK(!one->timed || (one->busy >= 0 && one->busy < 1));
            low = (struct span){fmin(low.low, one->factor.low), fmax(low.high, one->factor.low)};
            high = (struct span){fmin(high.low, one->factor.high), fmax(high.high, one->factor.high)};
        }
        double least = estimate.factor.low / runs[i].low, most = estimate.factor.high / runs[i].high;
        CHECK(least >= 0.999 * low.low && least <= 1.001 * low.high);
        CHECK(most >= 0.999 * high.low && most <= 1.001 * high.high);
        CHECK(estimate.busy >= 0 && estimate.busy < 1);
        release(&estimate, &sweep, &corpus);
    }
}

/* Seconds that a plan with this many groups takes. The bounds below are a factor of a hundred above the
 * usual time, for slow machines. */
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
