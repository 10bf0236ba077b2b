#ifndef NORMSWEEP_TESTS_WORKER_SMALL_RUN_H
#define NORMSWEEP_TESTS_WORKER_SMALL_RUN_H

#include "tests/test.h"
#include "worker/run/run.h"

/* A run of a small decoder. */
static inline struct run small_run(int64_t width, int64_t context, int64_t steps)
{
    struct run run;

    run_init(&run);
    run.corpus = CORPUS_MARKOV;
    run.layers = run.heads = 2;
    run.width = width;
    run.feedforward = 3 * width / 2;
    run.context = context;
    run.steps = steps;
    return run;
}

/* Loads a corpus of the Markov source for a run. */
static inline void small_corpus(struct run *run, int64_t vocabulary, int64_t tokens, struct corpus *corpus)
{
    const struct corpus_source source = {.kind = CORPUS_MARKOV, .vocabulary = vocabulary, .tokens = tokens};
    enum corpus_fault fault;
    struct error error;

    run->vocabulary = vocabulary;
    run->corpus_tokens = tokens;
    CHECK(corpus_load(corpus, &source, &fault, &error) == 0);
}

#endif
