/* Weights that are kept in bfloat16: what a step leaves of them, and that threads do not matter. */
#include "tests/test.h"

#include <string.h>

#include "model/core/random.h"
#include "model/optimisers/optimiser.h"

/* A matrix of several shares of threads, the last one cut. */
enum { ROWS = 97, COLUMNS = 160, COUNT = ROWS * COLUMNS };

struct subject {
    struct tensor tensor;
    struct weight_layout layout;
    struct arena arena;
    struct optimiser optimiser;
    scalar weights[COUNT], gradient[COUNT];
};

/* Weights with magnitudes well between 1 and 2, where neighbours in bfloat16 are 2^-7 apart. */
static void subject_init(struct subject *s, enum optimiser_kind kind, enum weights_kept kept, int64_t threads)
{
    const struct optimiser_options options = {.kind = kind,
        .weights = kept,
        .seed = 5,
        .beta1 = 0.9,
        .beta2 = 0.99,
        .epsilon = 1e-8,
        .momentum = 0.8};

    *s = (struct subject){0};
    s->tensor = (struct tensor){.kind = TENSOR_W1, .rows = ROWS, .columns = COLUMNS, .size = COUNT};
    s->layout = (struct weight_layout){.size = COUNT,
        .layers_end = COUNT,
        .largest = COUNT,
        .largest_in_layers = COUNT,
        .tensor_count = 1,
        .tensor = &s->tensor};
    optimiser_layout(&s->optimiser, &options, &s->layout, threads, &s->arena);
    CHECK(arena_init(&s->arena, s->arena.used) == 0);
    optimiser_layout(&s->optimiser, &options, &s->layout, threads, &s->arena);
    for (uint64_t i = 0; i < COUNT; i++) {
        double size = 1.1 + 0.8 * random_uniform(1, RANDOM_TEST, i);
        s->weights[i] = (scalar)(i % 2 ? size : -size);
    }
    optimiser_begin(&s->optimiser, s->weights);
}

static void subject_step(struct subject *s, int64_t number, double rate)
{
    for (uint64_t i = 0; i < COUNT; i++)
        s->gradient[i] = (scalar)random_normal(100 + (uint64_t)number, RANDOM_TEST, i);
    optimiser_step(&s->optimiser, s->weights, s->gradient, 1, number, rate);
}

static bool all_in_bfloat16(const scalar *x)
{
    for (int i = 0; i < COUNT; i++) {
        float narrow = (float)x[i];
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof(bits));
        if (!((bits & 0xffff) == 0 && (double)narrow == (double)x[i]))
            return false;
    }
    return true;
}

TEST(rounding_is_the_same_by_any_threads)
{
    static struct subject one, more;

    for (int kind = 0; kind < OPTIMISER_COUNT; kind++)
        for (int kept = WEIGHTS_BFLOAT16; kept <= WEIGHTS_BFLOAT16_STOCHASTIC; kept++)
            for (int64_t threads = 2; threads <= 5; threads++) {
                subject_init(&one, (enum optimiser_kind)kind, (enum weights_kept)kept, 1);
                subject_init(&more, (enum optimiser_kind)kind, (enum weights_kept)kept, threads);
                for (int64_t number = 1; number <= 3; number++) {
                    subject_step(&one, number, 1e-2);
                    subject_step(&more, number, 1e-2);
                    CHECK(all_in_bfloat16(one.weights));
                }
                CHECK(memcmp(one.weights, more.weights, sizeof(one.weights)) == 0);
                arena_release(&one.arena);
                arena_release(&more.arena);
            }
}

/* Lion moves all by the rate. Just below half a distance, every weight stays where it was; just above, each
 * moves. */
TEST(rounding_to_the_nearest_loses_small_steps)
{
    static struct subject s;
    static scalar initial[COUNT];
    const double rates[] = {0x0.ffp-8, 0x1.01p-8};

    for (int i = 0; i < 2; i++) {
        int moved = 0;
        subject_init(&s, OPTIMISER_LION, WEIGHTS_BFLOAT16, 1);
        memcpy(initial, s.weights, sizeof(initial));
        subject_step(&s, 1, rates[i]);
        for (int k = 0; k < COUNT; k++)
            moved += fabs((double)s.weights[k] - (double)initial[k]) == 0x1p-7;
        CHECK(moved == (i ? COUNT : 0));
        CHECK(i || memcmp(s.weights, initial, sizeof(initial)) == 0);
        arena_release(&s.arena);
    }
}

/* The same steps by chance: the mean of what they do is what they are, within 5 standard deviations. */
TEST(rounding_by_chance_loses_nothing_on_average)
{
    static struct subject s;
    static scalar before[COUNT];
    const double rate = 1e-4, share = rate / 0x1p-7;
    enum { STEPS = 20 };
    int64_t moved = 0;

    subject_init(&s, OPTIMISER_LION, WEIGHTS_BFLOAT16_STOCHASTIC, 1);
    for (int64_t number = 1; number <= STEPS; number++) {
        memcpy(before, s.weights, sizeof(before));
        subject_step(&s, number, rate);
        struct update u =
            optimiser_update(&s.optimiser, s.weights, s.gradient, 1, number + 1, rate, 0, COUNT);
        CHECK(u.square == COUNT); /* lion's updates are signs, whatever becomes of them */
        for (int i = 0; i < COUNT; i++) {
            double change = fabs((double)s.weights[i] - (double)before[i]);
            moved += change != 0;
            CHECK(change == 0 || change == 0x1p-7);
        }
    }
    double tried = (double)STEPS * COUNT;
    CHECK_CLOSE((double)moved / tried, share, 5 * sqrt(share / tried));
    arena_release(&s.arena);
}

/* Both begin alike, and no two steps or seeds draw alike. */
TEST(rounding_begins_to_the_nearest)
{
    static struct subject nearest, by_chance, other;

    subject_init(&nearest, OPTIMISER_SGD, WEIGHTS_BFLOAT16, 1);
    subject_init(&by_chance, OPTIMISER_SGD, WEIGHTS_BFLOAT16_STOCHASTIC, 1);
    subject_init(&other, OPTIMISER_SGD, WEIGHTS_BFLOAT16_STOCHASTIC, 1);
    CHECK(all_in_bfloat16(nearest.weights));
    CHECK(memcmp(nearest.weights, by_chance.weights, sizeof(nearest.weights)) == 0);
    memset(nearest.gradient, 0, sizeof(nearest.gradient));
    optimiser_step(&by_chance.optimiser, by_chance.weights, nearest.gradient, 1, 1, 1e-3);
    CHECK(memcmp(nearest.weights, by_chance.weights, sizeof(nearest.weights)) == 0); /* nothing to round */
    for (int i = 0; i < COUNT; i++)
        nearest.gradient[i] = 1;
    memcpy(by_chance.weights, nearest.weights, sizeof(nearest.weights));
    optimiser_step(&by_chance.optimiser, by_chance.weights, nearest.gradient, 1, 1, 1e-3);
    optimiser_step(&other.optimiser, other.weights, nearest.gradient, 1, 2, 1e-3);
    CHECK(memcmp(by_chance.weights, other.weights, sizeof(other.weights)) != 0);
    memcpy(other.weights, nearest.weights, sizeof(nearest.weights));
    memset(other.optimiser.first, 0, sizeof(other.weights));
    other.optimiser.options.seed++;
    optimiser_step(&other.optimiser, other.weights, nearest.gradient, 1, 1, 1e-3);
    CHECK(memcmp(by_chance.weights, other.weights, sizeof(other.weights)) != 0);
    memcpy(other.weights, nearest.weights, sizeof(nearest.weights));
    memset(other.optimiser.first, 0, sizeof(other.weights));
    other.optimiser.options.seed--;
    optimiser_step(&other.optimiser, other.weights, nearest.gradient, 1, 1, 1e-3);
    CHECK(memcmp(by_chance.weights, other.weights, sizeof(other.weights)) == 0);
    arena_release(&nearest.arena);
    arena_release(&by_chance.arena);
    arena_release(&other.arena);
}
