/* Work that the threads of a team share out, and whole models that they compute together. */
#include "tests/model/lay_out.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "model/kernels/kernels.h"
#include "model/network/inside.h"
#include "tests/model/draw.h"
#include "tests/model/network/model_case.h"
#include "worker/host/host.h"

enum { THREADS = 3, WAIT_SECONDS = 30 };

/* ---- shares ---- */

enum { MOST_ITEMS = 130, SCRATCH = 8 };

/* What the shares of one call did. An item is one share's alone, so they write without a lock. */
struct record {
    const struct team *team;
    struct items items;
    int times[MOST_ITEMS]; /* that an item was done */
    int64_t share[MOST_ITEMS]; /* whose scratch it had */
    bool whole[MOST_ITEMS]; /* its share began and ended at multiples, or at the end */
};

/* The record is the context's, but not its constness. */
struct work {
    struct record *record;
};

static void record_share(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    struct record *record = ((const struct work *)context)->record;
    struct items items = record->items;
    bool whole = begin % items.multiple == 0 && (end % items.multiple == 0 || end == items.count);

    for (int64_t i = begin; i < end; i++) {
        record->times[i]++;
        record->share[i] = (scratch - record->team->scratch) / SCRATCH;
        record->whole[i] = whole;
    }
}

static void team_init(struct team *team, int64_t threads, struct arena *arena)
{
    LAY_OUT(arena, team_layout(team, PRECISION_FLOAT, threads, SCRATCH, arena));
}

/* In order, share by share, none of them empty. */
static void check_record(const struct record *record)
{
    int64_t shares = team_shares(record->team, record->items), last = -1;

    for (int64_t i = 0; i < record->items.count; i++) {
        CHECK(record->times[i] == 1 && record->whole[i]);
        CHECK(record->share[i] == last || record->share[i] == last + 1);
        last = record->share[i];
    }
    CHECK(last == shares - 1 && shares <= record->team->threads);
}

TEST(team_does_every_item_once)
{
    static struct record record;
    const struct work work = {&record};

    for (int64_t threads = 1; threads <= 5; threads++) {
        struct arena arena;
        struct team team;

        team_init(&team, threads, &arena);
        for (int64_t multiple = 1; multiple <= 64; multiple *= 4)
            for (int64_t count = 1; count <= MOST_ITEMS; count += 3)
                for (int digits = -3; digits < 7; digits += 2) {
                    record = (struct record){.team = &team, .items = {count, multiple, pow(10, digits)}};
                    team_run(&team, record.items, record_share, &work);
                    check_record(&record);
                }
        arena_release(&arena);
    }
}

static int64_t shares_of(const struct team *team, int64_t count, double takes)
{
    return team_shares(team, (struct items){count, 1, takes});
}

/* A share is not worth a thread if it takes less time than a thread needs to begin. */
TEST(team_leaves_little_work_to_one)
{
    struct arena arena;
    struct team team;

    team_init(&team, THREADS, &arena);
    CHECK(team.least > 1000 && team.least < 100000);
    CHECK(shares_of(&team, 1, 1e9) == 1);
    CHECK(shares_of(&team, 100, 0) == 1);
    CHECK(shares_of(&team, 100, team.least / 100) == 1);
    CHECK(shares_of(&team, 1000, 1.999 * team.least / 1000) == 1);
    CHECK(shares_of(&team, 1000, 2.001 * team.least / 1000) == 2);
    CHECK(shares_of(&team, 1000, 2.999 * team.least / 1000) == 2);
    CHECK(shares_of(&team, 1000, 3.001 * team.least / 1000) == 3);
    CHECK(shares_of(&team, 1000, team.least) == THREADS && shares_of(&team, 2, team.least) == 2);
    team.least = 0;
    CHECK(shares_of(&team, 100, 0) == THREADS && shares_of(&team, 1, 0) == 1);
    arena_release(&arena);
}

struct meeting {
    _Atomic int begun;
    pthread_t thread[THREADS];
};

/* The meeting is the context's, but not its constness. */
struct meeting_work {
    struct meeting *meeting;
};

/* A share is one item. It waits for a while until the others have begun, so that nobody does two. */
static void meet(const void *context, scalar *scratch, int64_t begin, int64_t end)
{
    struct meeting *meeting = ((const struct meeting_work *)context)->meeting;
    clock_t last = clock() + CLOCKS_PER_SEC / 20;

    (void)scratch, (void)end;
    meeting->thread[begin] = pthread_self();
    atomic_fetch_add(&meeting->begun, 1);
    while (atomic_load(&meeting->begun) < THREADS && clock() < last)
        sched_yield();
}

static bool all_meet(const struct team *team)
{
    struct meeting meeting = {0};
    const struct meeting_work work = {&meeting};
    bool differ = true;

    team_run(team, (struct items){THREADS, 1, team->least}, meet, &work);
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < i; j++)
            differ = differ && !pthread_equal(meeting.thread[i], meeting.thread[j]);
    return differ;
}

/* Numbers would not tell: one thread could do the shares of all. It may in one job, but not in all. */
TEST(team_is_of_threads)
{
    struct arena arena;
    struct team team;
    time_t last = time(NULL) + WAIT_SECONDS;
    bool met = false;

    team_init(&team, THREADS, &arena);
    while (!met && time(NULL) < last)
        met = all_meet(&team);
    CHECK(met);
    arena_release(&arena);
}

/* ---- whole models ---- */

static const double rounding = sizeof(scalar) == sizeof(double) ? 1e-12 : 1e-5;

/* Sequences of every length, more rows than logits are computed at a time, and no whole number of shares. */
enum { CONTEXT = 90, SEQUENCES = 9, ROWS = CONTEXT * SEQUENCES };

static const int64_t lengths[SEQUENCES] = {90, 1, 90, 37, 90, 90, 65, 90, 90};

struct whole {
    struct model_case base;
    scalar *gradient;
    double loss, row_loss[ROWS];
};

static void whole_init(
    struct whole *k, const struct architecture *architecture, int64_t threads, bool tangents)
{
    model_case_begin(&k->base, architecture, lengths, SEQUENCES, threads, tangents, 3);
    k->base.model.activations->team.least = 0;
    k->gradient = malloc((size_t)k->base.model.layout.size * sizeof(*k->gradient));
}

static void whole_release(struct whole *k)
{
    free(k->gradient);
    model_case_release(&k->base);
}

/* Loss by itself and with its gradient, over planes that hold nothing of an earlier time. */
static void compute(struct whole *k)
{
    for (int64_t i = 0; i < k->base.model.layout.size; i++)
        k->gradient[i] = NAN;
    for (int64_t row = 0; row < ROWS; row++)
        k->row_loss[row] = NAN;
    double alone = transformer_loss(&k->base.model, k->base.weights, &k->base.batch, k->row_loss);
    k->loss = transformer_gradient(&k->base.model, k->base.weights, &k->base.batch, k->gradient);
    CHECK_CLOSE(alone, k->loss, rounding * alone);
}

/* The largest difference of two gradients, relative to the largest element of the first; NaN if any is. */
static double difference(const struct whole *a, const struct whole *b)
{
    double largest = 0, apart = 0;

    for (int64_t i = 0; i < a->base.model.layout.size; i++) {
        double here = fabs((double)a->gradient[i] - (double)b->gradient[i]);
        if (isnan(here))
            return NAN;
        largest = fmax(largest, fabs((double)a->gradient[i]));
        apart = fmax(apart, here);
    }
    return apart / largest;
}

/* One thread and three agree to rounding; three and the same three again to the bit, in other memory too. */
static void check_architecture(const struct architecture *architecture, const char *level)
{
    static struct whole one, team[2];
    size_t size;

    whole_init(&one, architecture, 1, false);
    compute(&one);
    for (int i = 0; i < 2; i++) {
        whole_init(&team[i], architecture, THREADS, false);
        compute(&team[i]);
    }
    size = (size_t)one.base.model.layout.size * sizeof(scalar);
    CHECK_CLOSE(team[0].loss, one.loss, rounding * one.loss);
    for (int64_t row = 0; row < one.base.batch.rows; row++)
        CHECK_CLOSE(team[0].row_loss[row], one.row_loss[row], rounding * one.loss);
    if (!(difference(&one, &team[0]) <= rounding))
        test_fail(__FILE__, __LINE__, "%s, norm %d, activation %d: gradients apart by %.3g", level,
            (int)architecture->norm_placement, (int)architecture->activation, difference(&one, &team[0]));
    compute(&team[0]);
    CHECK(team[0].loss == team[1].loss && memcmp(team[0].gradient, team[1].gradient, size) == 0);
    whole_release(&one);
    whole_release(&team[0]);
    whole_release(&team[1]);
}

/* The product with the Hessian along a fixed direction in the place of the gradient, then a block's Jacobian
 * times a direction in that of the losses. */
static void compute_tangents(struct whole *k)
{
    const int64_t width = k->base.model.architecture.width, count = k->base.batch.rows * width;
    scalar *direction = malloc((size_t)k->base.model.layout.size * sizeof(*direction));
    scalar *state = malloc((size_t)count * sizeof(*state));
    double slope;

    draw(direction, k->base.model.layout.size, 1, 8);
    draw(state, count, 1, 9);
    for (int64_t i = 0; i < k->base.model.layout.size; i++)
        k->gradient[i] = NAN;
    k->loss = transformer_hessian_product(
        &k->base.model, k->base.weights, &k->base.batch, direction, k->gradient, &slope);
    transformer_block_tangent(&k->base.model, k->base.weights, &k->base.batch, 1, state);
    transformer_block_gradient(&k->base.model, k->base.weights, &k->base.batch, 0, state);
    for (int64_t row = 0; row < k->base.batch.rows; row++)
        k->row_loss[row] = (double)state[row * width + row % width];
    k->loss += slope;
    free(direction);
    free(state);
}

/* One thread, two and three agree to rounding, of which the tangents of norms collect some more. */
static void check_tangents(const struct architecture *architecture, const char *level)
{
    static struct whole one, team;

    whole_init(&one, architecture, 1, true);
    compute_tangents(&one);
    for (int64_t threads = 2; threads <= THREADS; threads++) {
        whole_init(&team, architecture, threads, true);
        compute_tangents(&team);
        CHECK_CLOSE(team.loss, one.loss, 10 * rounding * fabs(one.loss));
        for (int64_t row = 0; row < one.base.batch.rows; row++)
            CHECK_CLOSE(team.row_loss[row], one.row_loss[row], 30 * rounding);
        if (!(difference(&one, &team) <= 10 * rounding))
            test_fail(__FILE__, __LINE__, "%s, norm %d, activation %d: tangents apart by %.3g", level,
                (int)architecture->norm_placement, (int)architecture->activation, difference(&one, &team));
        whole_release(&team);
    }
    whole_release(&one);
}

static void *be_busy(void *ended)
{
    while (!atomic_load((_Atomic bool *)ended))
        ;
    return NULL;
}

/* Every branch of the model once or more; all their combinations are the gradient checks' matter. */
static struct architecture branch(int i)
{
    return (struct architecture){
        .init_scale = 1,
        .residual_scale = 1,
        .vocabulary = 131,
        .context = CONTEXT,
        .width = 48,
        .heads = 3,
        .feedforward = 100,
        .layers = 2,
        .norm_placement = (enum norm_placement)(i / 2),
        .norm = i % 4 == 3 ? RMSNORM : LAYERNORM,
        .gated = i % 3 == 1,
        .activation = (enum activation)(i % 3),
        .attention_mask = i % 2 ? MASK_MULTIPLICATIVE : MASK_CAUSAL,
        .biases = i % 4 < 2 ? BIAS_ALL : BIAS_OUTPUT,
        .tied = i % 3 == 0,
    };
}

/* Who does which share is another one each time; the numbers are the same. */
TEST(team_beside_busy_threads)
{
    enum { BUSY = 3 };
    const struct architecture architecture = branch(0);
    static struct whole quiet, disturbed;
    _Atomic bool ended = false;
    pthread_t busy[BUSY];

    whole_init(&quiet, &architecture, THREADS, false);
    whole_init(&disturbed, &architecture, THREADS, false);
    for (int i = 0; i < BUSY; i++)
        CHECK(pthread_create(&busy[i], NULL, be_busy, &ended) == 0);
    compute(&quiet);
    for (int i = 0; i < 5; i++) {
        compute(&disturbed);
        CHECK(disturbed.loss == quiet.loss);
        CHECK(memcmp(disturbed.gradient, quiet.gradient,
                  (size_t)quiet.base.model.layout.size * sizeof(scalar)) == 0);
    }
    atomic_store(&ended, true);
    for (int i = 0; i < BUSY; i++)
        pthread_join(busy[i], NULL);
    whole_release(&quiet);
    whole_release(&disturbed);
}

static void check_level(const char *level)
{
    environment_threads(1); /* of the BLAS library, as runs have it */
    setenv("NORMSWEEP_VECTOR", level, 1);
    for (int i = 0; i < 6; i++) {
        const struct architecture architecture = branch(i);
        check_architecture(&architecture, level);
        check_tangents(&architecture, level);
    }
    unsetenv("NORMSWEEP_VECTOR");
}

TEST(team_computes_what_one_thread_does)
{
    check_level("avx512");
}

/* The products are the BLAS library's there. */
THOROUGH(team_computes_what_one_thread_does_at_baseline,
    "every vector level; gradients and parity have the processor's own")
{
    check_level("baseline");
}
