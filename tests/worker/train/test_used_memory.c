/* What earlier runs leave in a process, memory and counts of the texts, changes nothing of the next run. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "worker/train/train.h"

enum { VALUES_MOST = 1 << 16 };

/* All values of a run, in the order in which they come. */
struct values {
    size_t count;
    double value[VALUES_MOST];
};

static void keep_values(void *context, int64_t step, const double *values, size_t count)
{
    struct values *kept = context;
    bool room = count < VALUES_MOST - kept->count;

    CHECK(room);
    if (!room)
        return;
    kept->value[kept->count++] = (double)step;
    memcpy(kept->value + kept->count, values, count * sizeof(*values));
    kept->count += count;
}

struct process {
    struct corpus corpus;
    struct arena arena;
    struct unigram unigram;
};

static void process_init(struct process *process, int64_t tokens)
{
    struct corpus_source source = {.kind = CORPUS_MARKOV, .vocabulary = 32, .tokens = tokens};
    enum corpus_fault fault;
    struct error error;

    *process = (struct process){0};
    CHECK(corpus_load(&process->corpus, &source, &fault, &error) == 0);
}

static void process_release(struct process *process)
{
    arena_release(&process->arena);
    corpus_release(&process->corpus);
}

static struct run tiny_run(void)
{
    struct run run;

    run_init(&run);
    run.corpus = CORPUS_MARKOV;
    run.corpus_tokens = 3000;
    run.vocabulary = 32;
    run.layers = 2;
    run.width = 12;
    run.heads = 2;
    run.feedforward = 20;
    run.context = 11;
    run.batch = 3;
    run.steps = 4;
    return run;
}

/* All groups are measured if `all`. The values of the run are kept. */
static void process_train(struct process *process, const struct run *run, bool all, struct values *values)
{
    struct observer observer = {.context = values, .row = keep_values, .unigram = &process->unigram};
    struct measure measure;
    struct result result;

    measure_init(&measure);
    measure.hessian_probes = 1;
    measure.hessian_steps = 3;
    measure.lyapunov_exponents = 2;
    measure.lyapunov_sweeps = 1;
    for (int group = 0; group < GROUP_COUNT; group++)
        measure.group[group] = measure.group[group] || (all && group != GROUP_HOMOGENEITY);
    values->count = 0;
    train(run, &process->corpus, &measure, &observer, &process->arena, &result);
    CHECK(result.outcome == OUTCOME_DONE && values->count > 0);
    measure_release(&measure);
}

static void check_same(const struct values *a, const struct values *b)
{
    CHECK(a->count == b->count && memcmp(a->value, b->value, a->count * sizeof(*a->value)) == 0);
}

/* Trains the run in fresh memory, and again with NaN wherever memory need not be zero. */
static void check_run(const struct run *run, bool all)
{
    static struct values fresh, used;
    struct process process;

    process_init(&process, 3000);
    process_train(&process, run, all, &fresh);
    const struct arena *arena = &process.arena;
    CHECK(arena->base && arena->soiled > 0);
    if (arena->base)
        memset(arena->base + arena->size - arena->soiled, 0xff, arena->soiled);
    process_train(&process, run, all, &used);
    check_same(&fresh, &used);
    process_release(&process);
}

TEST(used_memory_of_optimisers)
{
    static const enum optimiser_kind kinds[] = {OPTIMISER_ADAMW, OPTIMISER_ADAM, OPTIMISER_SGD,
        OPTIMISER_NORMALIZED_SGD, OPTIMISER_ADAFACTOR, OPTIMISER_LION, OPTIMISER_MUON};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct run run = tiny_run();
        run.optimiser = kinds[i];
        check_run(&run, false);
    }
}

TEST(used_memory_of_networks)
{
    for (int number = 0; number < 12; number++) {
        struct run run = tiny_run();
        run.norm_placement = number % 3;
        run.norm = number % 2;
        run.qk_norm = number % 4 == 1;
        run.gated = number % 5 == 2;
        run.kv_heads = number % 4 == 2 ? 1 : 0;
        run.attention_mask = number % 2 ? MASK_CAUSAL : MASK_MULTIPLICATIVE;
        run.positions = number % 3 == 0   ? POSITIONS_LEARNED
                        : number % 3 == 1 ? POSITIONS_ROTARY
                                          : POSITIONS_RELATIVE;
        run.threads = 1 + number % 2;
        check_run(&run, true);
    }
}

/* Runs that read their texts in different ways have different unigram losses, whatever was counted before. */
TEST(unigram_loss_of_earlier_runs)
{
    static const int64_t contexts[] = {11, 7, 11, 11, 5};
    static struct values alone, after;
    struct process process, other;

    process_init(&process, 3000);
    for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
        struct run run = tiny_run();
        run.context = contexts[i];
        run.seed = (int64_t)i;
        process_init(&other, 3000);
        process_train(&other, &run, false, &alone);
        process_release(&other);
        process_train(&process, &run, false, &after);
        check_same(&alone, &after);
    }
    process_release(&process);
}

TEST(unigram_loss_is_of_its_texts)
{
    struct process process, other;
    struct reading reading = {.sequences = SEQUENCES_STREAM, .context = 11, .vocabulary = 32};

    process_init(&process, 3000);
    process_init(&other, 3001);
    struct unigram unigram = {true, process.corpus.digest, reading, 100, 1.5};
    CHECK(unigram_is_of(&unigram, &process.corpus, &reading, 100));
    CHECK(!unigram_is_of(&unigram, &other.corpus, &reading, 100));
    CHECK(!unigram_is_of(&unigram, &process.corpus, &reading, 101));
    reading.seed = 5; /* has no effect */
    CHECK(unigram_is_of(&unigram, &process.corpus, &reading, 100));
    reading.task = TASK_LAST;
    CHECK(!unigram_is_of(&unigram, &process.corpus, &reading, 100));
    unigram.known = false;
    CHECK(!unigram_is_of(&unigram, &process.corpus, &unigram.reading, 100));
    process_release(&process);
    process_release(&other);
}
