/* The order in which runs that share steps begin, whatever is chosen, and when, and however runs end. */
#include "driver/sweep/inside.h"
#include "model/core/random.h"
#include "tests/test.h"

#define SHARING                                                                                              \
    "corpus: markov\nvocabulary: 9\ncorpus_tokens: 500\ncontext: 8\nbatch: 2\nlayers: 1\nwidth: 8\n"         \
    "feedforward: 8\nheads: 1\nschedule: wsd\n"                                                              \
    "steps: [40, 10, 80, 20]\nschedule_decay: [0.5, 0.1, 0.2]\nseed: [1, 2, 3]\n"

enum { CELLS = 36, SEEDS = 200 };

struct order_of_runs {
    struct sweep sweep;
    struct corpus corpus;
    struct trunks *trunks;
    uint64_t seed, draws;
    bool chosen[CELLS], begun[CELLS], passed[CELLS], ended[CELLS];
};

static int64_t draw(struct order_of_runs *o, int64_t below)
{
    return (int64_t)(random_bits(o->seed, RANDOM_DRAW, o->draws++) % (uint64_t)below);
}

/* A run begins once, if it was chosen, and when the chosen one before it has left its state. */
static void begin(struct order_of_runs *o, int64_t cell)
{
    int64_t step, before = trunks_before(o->trunks, cell, &step);

    CHECK(o->chosen[cell] && !o->begun[cell]);
    o->begun[cell] = true;
    while (before >= 0 && !o->chosen[before])
        before = trunks_before(o->trunks, before, &step);
    CHECK(before < 0 || o->passed[before]);
}

static void choose_some(struct order_of_runs *o)
{
    for (int64_t cell; draw(o, 4) > 0;)
        if (!o->chosen[cell = draw(o, CELLS)]) {
            o->chosen[cell] = true;
            CHECK(trunks_choose(o->trunks, cell));
        }
    for (int64_t cell; (cell = trunks_next(o->trunks)) >= 0;)
        begin(o, cell);
}

/* Some run that trains leaves its state, or ends, perhaps without one. */
static void pass_one(struct order_of_runs *o)
{
    int64_t cell = draw(o, CELLS);
    struct run run, other;

    for (int64_t i = 0; i < CELLS && (!o->begun[cell] || o->ended[cell]); i++)
        cell = (cell + 1) % CELLS;
    if (!o->begun[cell] || o->ended[cell])
        return;
    bool ends = o->passed[cell] || draw(o, 2);
    o->passed[cell] = true;
    o->ended[cell] = ends;
    int64_t next = trunks_pass(o->trunks, cell, ends);
    if (next >= 0)
        begin(o, next);
    CHECK(trunks_has(o->trunks, cell));
    bool over = trunks_over(o->trunks, cell), all = true;
    sweep_cell(&o->sweep, cell, &run);
    for (int64_t i = 0; i < CELLS; i++) {
        sweep_cell(&o->sweep, i, &other);
        all = all && (other.seed != run.seed || !o->chosen[i] || o->ended[i]);
    }
    CHECK(over == all);
}

TEST(trunks_let_every_run_begin_in_order)
{
    struct order_of_runs o = {0};
    struct error error;
    int64_t shared = 0;

    CHECK(sweep_parse(&o.sweep, "a.yaml", ".", SHARING, strlen(SHARING), NULL, 0, &error) == 0);
    CHECK(o.sweep.cells == CELLS && sweep_load_corpus(&o.sweep, &o.corpus, &error) == 0);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        o = (struct order_of_runs){
            .sweep = o.sweep, .corpus = o.corpus, .seed = seed, .trunks = trunks_new(&o.sweep, &o.corpus)};
        for (int i = 0; i < 3 * CELLS; i++) {
            choose_some(&o);
            pass_one(&o);
        }
        for (int i = 0; i < 2 * CELLS; i++)
            pass_one(&o);
        for (int64_t cell = 0; cell < CELLS; cell++)
            CHECK(o.chosen[cell] == o.ended[cell]);
        trunks_free(o.trunks);
    }
    o.trunks = trunks_new(&o.sweep, &o.corpus);
    for (int64_t cell = 0, step; cell < CELLS; cell++)
        if (trunks_before(o.trunks, cell, &step) >= 0)
            shared += step;
    /* kept: 5 8 9 10 16 18 20 32 36 40 64 72 of each seed, all but the last */
    CHECK(shared == 3 * (5 + 8 + 9 + 10 + 16 + 18 + 20 + 32 + 36 + 40 + 64));
    trunks_free(o.trunks);
    corpus_release(&o.corpus);
    sweep_release(&o.sweep);
}
