/* Steps shared out among threads, and what is measured of updates against the steps themselves. */
#include "tests/test.h"

#include <string.h>

#include "model/core/random.h"
#include "model/optimisers/optimiser.h"

/* A matrix and a vector, together no whole number of shares. */
enum { ROWS = 97, COLUMNS = 160, BIAS = 71, COUNT = ROWS * COLUMNS + BIAS };

static const char *const names[OPTIMISER_COUNT] = {
    "adamw", "adam", "sgd", "normalized_sgd", "adafactor", "lion", "muon"};

struct subject {
    struct tensor tensor[2];
    struct weight_layout layout;
    struct arena arena;
    struct optimiser optimiser;
    scalar weights[COUNT], gradient[COUNT];
};

static void draw(scalar *x, double scale, uint64_t seed)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = (scalar)(scale * random_normal(seed, RANDOM_TEST, (uint64_t)i));
}

static void subject_init(struct subject *s, int kind, double weight_decay, int64_t threads)
{
    struct optimiser_options options = {.kind = (enum optimiser_kind)kind,
        .weight_decay = weight_decay,
        .beta1 = 0.9,
        .beta2 = 0.99,
        .epsilon = 1e-8,
        .momentum = 0.8};

    *s = (struct subject){0};
    s->tensor[0] =
        (struct tensor){.kind = TENSOR_W1, .rows = ROWS, .columns = COLUMNS, .size = ROWS * COLUMNS};
    s->tensor[1] = (struct tensor){
        .kind = TENSOR_W1_BIAS, .offset = ROWS * COLUMNS, .rows = 1, .columns = BIAS, .size = BIAS};
    s->layout = (struct weight_layout){.size = COUNT,
        .layers_end = COUNT,
        .largest = ROWS * COLUMNS,
        .largest_in_layers = ROWS * COLUMNS,
        .tensor_count = 2,
        .tensor = s->tensor};
    optimiser_layout(&s->optimiser, &options, &s->layout, threads, &s->arena);
    CHECK(arena_init(&s->arena, s->arena.used) == 0);
    optimiser_layout(&s->optimiser, &options, &s->layout, threads, &s->arena);
    draw(s->weights, 0.1, 1);
}

static void subject_step(struct subject *s, int64_t number)
{
    draw(s->gradient, 0.01, 100 + (uint64_t)number);
    optimiser_step(&s->optimiser, s->weights, s->gradient, 0.5, number, 1e-3);
}

TEST(optimiser_threads_change_nothing)
{
    static struct subject one, more;

    for (int kind = 0; kind < OPTIMISER_COUNT; kind++)
        for (int64_t threads = 2; threads <= 5; threads++) {
            subject_init(&one, kind, 0.1, 1);
            subject_init(&more, kind, 0.1, threads);
            for (int64_t number = 1; number <= 3; number++) {
                subject_step(&one, number);
                subject_step(&more, number);
            }
            if (memcmp(one.weights, more.weights, sizeof(one.weights)) != 0)
                test_fail(__FILE__, __LINE__, "%s by %d threads differs", names[kind], (int)threads);
            arena_release(&one.arena);
            arena_release(&more.arena);
        }
}

/* u as measured before a step is what the step does without decay, over -eta. */
TEST(optimiser_update_is_the_step)
{
    static struct subject s;
    static scalar before[COUNT];

    for (int kind = 0; kind < OPTIMISER_COUNT; kind++) {
        double square = 0, product = 0;

        subject_init(&s, kind, 0, 1);
        subject_step(&s, 1);
        memcpy(before, s.weights, sizeof(before));
        draw(s.gradient, 0.01, 102);
        struct update u = optimiser_update(&s.optimiser, s.weights, s.gradient, 0.5, 2, 1e-3, 0, COUNT);
        subject_step(&s, 2);
        for (int i = 0; i < COUNT; i++) {
            double step = ((double)before[i] - (double)s.weights[i]) / 1e-3;
            square += step * step;
            product += step * (double)before[i];
        }
        CHECK_CLOSE(u.square, square, 1e-5 * square);
        CHECK_CLOSE(u.product, product, 1e-4 * sqrt(square));
        arena_release(&s.arena);
    }
}

static struct stride stride_of(const struct subject *s, int i, int64_t number)
{
    double square[2] = {0};

    for (int at = 0; at < COUNT; at++)
        square[at >= s->tensor[1].offset] += (double)s->weights[at] * (double)s->weights[at];
    return optimiser_stride(&s->optimiser, &s->tensor[i], sqrt(square[i]), sqrt(square[0] + square[1]),
        s->weights, s->gradient, optimiser_clip(&s->optimiser, s->gradient), number, 1e-3);
}

/* Gradients that keep their direction, here that of theta, make full steps; muon's singular values are
 * between 0.7 and 1.2. Gradients far below clipping, or below epsilon, do not. */
TEST(optimiser_full_steps)
{
    static struct subject s;
    const double apart[OPTIMISER_COUNT] = {[OPTIMISER_ADAFACTOR] = 0.01, [OPTIMISER_MUON] = 0.2};

    for (int kind = 0; kind < OPTIMISER_COUNT; kind++) {
        subject_init(&s, kind, 0, 1);
        s.optimiser.options.gradient_clip = 2;
        draw(s.gradient, 10, 1); /* as theta is drawn */
        for (int64_t number = 1; number <= 20; number++) {
            for (int i = 0; i < 2; i++) {
                struct stride stride = stride_of(&s, i, number);
                CHECK_CLOSE(stride.taken / stride.full, 1, apart[kind] + 2e-3);
            }
            optimiser_step(
                &s.optimiser, s.weights, s.gradient, optimiser_clip(&s.optimiser, s.gradient), number, 1e-5);
        }
        for (int i = 0; i < COUNT; i++)
            s.gradient[i] *= (scalar)1e-6;
        if (kind == OPTIMISER_SGD || kind == OPTIMISER_ADAMW)
            CHECK(stride_of(&s, 0, 21).taken < 0.95 * stride_of(&s, 0, 21).full);
        s.optimiser.options.gradient_clip = 0;
        CHECK(isinf(stride_of(&s, 1, 21).full) == (kind == OPTIMISER_SGD));
        arena_release(&s.arena);
    }
    subject_init(&s, OPTIMISER_ADAMW, 0, 1);
    s.optimiser.options.epsilon = 1;
    draw(s.gradient, 1e-3, 1);
    CHECK(stride_of(&s, 0, 1).taken < 2e-3 * stride_of(&s, 0, 1).full);
    arena_release(&s.arena);
}

/* The steps that a longer run takes at the same rates, bit for bit; and not one fewer. */
TEST(schedule_lasting_steps)
{
    for (int kind = SCHEDULE_CONSTANT; kind <= SCHEDULE_WSD; kind++)
        for (int64_t steps = 1; steps < 60; steps++) {
            struct schedule shorter = {(enum schedule_kind)kind, 0.3, 7, 5, steps, 0.1, 0.2};
            struct schedule longer = shorter;
            longer.last_step = steps + 1;
            int64_t lasting = schedule_lasting(&shorter), same = 0;
            while (same < steps && schedule_rate(&shorter, same + 1) == schedule_rate(&longer, same + 1))
                same++;
            if (!(lasting <= same && (lasting == same || lasting == 0)))
                test_fail(__FILE__, __LINE__, "schedule %d of %lld steps: %lld last, %lld are the same", kind,
                    (long long)steps, (long long)lasting, (long long)same);
            CHECK(schedule_lasting(&longer) >= lasting);
        }
}
