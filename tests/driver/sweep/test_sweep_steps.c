#include "tests/test.h"

#include "driver/sweep/grid.h"
#include "driver/sweep/sweep.h"
#include "driver/sweep/texts.h"

#include <stdlib.h>
#include <string.h>

#define BASE "corpus: markov\nsteps: 10\n"

static bool parse(struct sweep *sweep, const char *text)
{
    struct error error;

    if (sweep_parse(sweep, "sweep.yaml", "", text, strlen(text), NULL, 0, &error) == 0)
        return true;
    test_fail(__FILE__, __LINE__, "%s", error.text);
    return false;
}

TEST(sweep_steps_union)
{
    struct sweep sweep;
    struct corpus corpus = {0};
    int64_t count = 0;
    const int64_t expected[] = {0, 4, 5, 7, 8, 10, 12, 15};

    if (!parse(&sweep, "corpus: markov\nsteps: [7, 15, 100]\nseed: [1, 2]\nskip: [{steps: 100}]\n"
                       "measure: {every: 5}\nvalidate: {every: 4}\n"))
        return;
    int64_t *steps = sweep_steps(&sweep, &corpus, &count);
    CHECK(count == 8);
    for (int64_t i = 0; i < 8 && i < count; i++)
        CHECK(steps[i] == expected[i]);
    free(steps);
    sweep_release(&sweep);
}

/* Compares the union with rows collected run by run. */
TEST(sweep_steps_agree_with_rows)
{
    struct sweep sweep;
    struct corpus corpus = {0};
    struct run run;
    int64_t count = 0, rows[64], found = 0;
    bool seen[64] = {false};

    if (!parse(&sweep, "corpus: markov\nsteps: {range: [9, 40]}\nmeasure: {steps: [3, 11, 38, 60]}\n"))
        return;
    for (int64_t cell = 0; cell < sweep.cells; cell++) {
        sweep_cell(&sweep, cell, &run);
        int64_t length = measure_rows(&sweep.measure, run.steps, rows);
        for (int64_t i = 0; i < length; i++)
            seen[rows[i]] = true;
    }
    int64_t *steps = sweep_steps(&sweep, &corpus, &count);
    for (int64_t step = 0; step < 64; step++)
        if (seen[step]) {
            CHECK(found < count && steps[found] == step);
            found++;
        }
    CHECK(found == count);
    free(steps);
    sweep_release(&sweep);
}

TEST(sweep_load_corpus_built_in)
{
    struct sweep sweep;
    struct corpus corpus;
    struct error error;

    if (!parse(&sweep, "corpus: counter\nepochs: [1, 2]\ncorpus_tokens: 4096\ncontext: 16\nbatch: [2, 8]\n"))
        return;
    if (sweep_load_corpus(&sweep, &corpus, &error) < 0) {
        test_fail(__FILE__, __LINE__, "%s", error.text);
    } else {
        int64_t count, *steps = sweep_steps(&sweep, &corpus, &count);
        /* 0, 31, 62, 100, 127, 200, 254 */
        CHECK(count == 7 && steps[1] == 4095 / 16 / 8 && steps[6] == 2 * (4095 / 16 / 2));
        free(steps);
        corpus_release(&corpus);
    }
    sweep_release(&sweep);
}

/* Two runs have the same digest exactly if nothing that affects their numbers differs. */
TEST(sweep_run_digests)
{
    static const char *const texts[] = {BASE, BASE "seed: 1\n", BASE "measure: {every: 7}\n",
        BASE "measure: {metrics: [norms]}\n", BASE "validate: {tokens: 100}\n", BASE "weight_decay: 0.02\n"};
    struct corpus corpus = {0};
    struct digest digest[6];
    struct sweep sweep;

    for (int i = 0; i < 6; i++) {
        if (!parse(&sweep, texts[i]))
            return;
        sweep_run_digest(&sweep, &corpus, &sweep.base, &digest[i]);
        for (int j = 0; j < i; j++)
            CHECK(memcmp(&digest[i], &digest[j], sizeof(digest[i])) != 0);
        sweep_release(&sweep);
    }
    if (!parse(&sweep, BASE "title: x\noutput: y\ncheckpoint_minutes: 9\nweight_decay: 1.0e-2\nseed: -0\n"))
        return;
    sweep_run_digest(&sweep, &corpus, &sweep.base, &digest[1]);
    CHECK(memcmp(&digest[0], &digest[1], sizeof(digest[0])) == 0);
    corpus.digest.low = 1;
    sweep_run_digest(&sweep, &corpus, &sweep.base, &digest[1]);
    CHECK(memcmp(&digest[0], &digest[1], sizeof(digest[0])) != 0);
    sweep_release(&sweep);
}
