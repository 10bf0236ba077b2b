/* Weights that decay below the smallest normal number: denormals are zero while a run trains, and only then.
 */
#include "tests/test.h"

#include <string.h>

#include "model/core/denormals.h"
#include "model/kernels/pool.h"
#include "worker/train/train.h"

enum { THREADS = 3, SHARES = 64, MOST_WEIGHTS = 20000 };

struct vanishing {
    struct run run;
    struct corpus corpus;
    struct measure measure;
    struct arena arena;
    struct result result;
    int64_t calls, denormal_products;
    scalar weights[MOST_WEIGHTS];
    int64_t size;
};

static bool product_is_denormal(void)
{
    volatile double small = 1e-200, smaller = 1e-120;

    return small * smaller > 0;
}

static void product_share(const void *denormal, int64_t share)
{
    ((bool *)denormal)[share] = product_is_denormal();
}

/* By the threads that a run has. */
static int64_t count_denormal_products(void)
{
    bool denormal[SHARES] = {false};
    int64_t count = product_is_denormal();

    pool_run(THREADS, SHARES, product_share, denormal);
    for (int i = 0; i < SHARES; i++)
        count += denormal[i];
    return count;
}

static enum verdict on_step(void *context, int64_t step, int64_t last_step, int64_t tokens)
{
    struct vanishing *vanishing = context;

    (void)step, (void)last_step, (void)tokens;
    vanishing->calls++;
    vanishing->denormal_products += count_denormal_products();
    return VERDICT_CARRY_ON;
}

static void on_finish(void *context, const struct snapshot *snapshot)
{
    struct vanishing *vanishing = context;

    vanishing->size = snapshot->model->layout.size;
    CHECK(vanishing->size <= MOST_WEIGHTS);
    memcpy(vanishing->weights, snapshot->weights, (size_t)vanishing->size * sizeof(scalar));
}

/* Each step takes nearly all of a weight. */
static void vanishing_init(struct vanishing *v)
{
    struct corpus_source source = {.kind = CORPUS_MARKOV, .vocabulary = 32, .tokens = 5000};
    enum corpus_fault fault;
    struct error error;

    *v = (struct vanishing){0};
    run_init(&v->run);
    v->run.corpus = CORPUS_MARKOV;
    v->run.corpus_tokens = 5000;
    v->run.vocabulary = 32;
    v->run.layers = 2;
    v->run.width = 16;
    v->run.heads = 2;
    v->run.feedforward = 24;
    v->run.context = 12;
    v->run.batch = 4;
    v->run.steps = 100;
    v->run.threads = THREADS;
    v->run.optimiser = OPTIMISER_SGD;
    v->run.learning_rate = 0.1;
    v->run.weight_decay = 9.999;
    measure_init(&v->measure);
    CHECK(corpus_load(&v->corpus, &source, &fault, &error) == 0);
}

static void vanishing_train(struct vanishing *v)
{
    const struct observer observer = {.context = v, .carry_on = on_step, .finish = on_finish};

    train(&v->run, &v->corpus, &v->measure, &observer, &v->arena, &v->result);
}

static int64_t count_weights(const struct vanishing *v, int class)
{
    int64_t count = 0;

    for (int64_t i = 0; i < v->size; i++)
        count += fpclassify(v->weights[i]) == class;
    return count;
}

static void check_vanishing(void)
{
    static struct vanishing v;

    vanishing_init(&v);
    vanishing_train(&v);
    CHECK(v.result.outcome == OUTCOME_DONE && v.calls > 100 && v.size > 0);
    CHECK(v.denormal_products == 0);
    CHECK(count_weights(&v, FP_SUBNORMAL) == 0 && count_weights(&v, FP_ZERO) > v.size / 2);
    measure_release(&v.measure);
    arena_release(&v.arena);
    corpus_release(&v.corpus);
}

/* Also of a caller that had them flushed before. */
TEST(train_flushes_denormals)
{
    if (denormals_why_not()) {
        test_skip("this processor cannot flush denormals, so their being zero in training is not checked");
        return;
    }
    check_vanishing();
    CHECK(!denormals_flushed() && count_denormal_products() == 1 + SHARES);
    denormals_flush(true);
    check_vanishing();
    CHECK(denormals_flushed() && count_denormal_products() == 0);
    denormals_flush(false);
}
