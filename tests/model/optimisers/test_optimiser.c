/* Steps shared out among threads, what is measured of updates against the steps themselves, and weights that
 * are kept in bfloat16. */
#include "tests/model/optimisers/optimised.h"

static const char *const names[] = {
#define X(KIND, word, row, traits) #word,
    OPTIMISERS(X)
#undef X
};

TEST(optimisers_are_listed)
{
    CHECK_TEXT(optimiser_list(HAS_MOMENTUM, "or").text, "sgd");
    CHECK(strncmp(optimiser_list(HAS_MUP_RATES, "and").text, "adamw, adam", 11) == 0);
}

/* Matrices and a vector, together no whole number of shares. */
static const struct tensor tensors[] = {{.kind = TENSOR_W1, .rows = 97, .columns = 160},
    {.kind = TENSOR_W1_BIAS, .rows = 1, .columns = 71}, {.kind = TENSOR_W2, .rows = 160, .columns = 97},
    {.kind = TENSOR_Q, .rows = 3, .columns = 70}, {.kind = TENSOR_K, .rows = 17, .columns = 16},
    {.kind = TENSOR_V, .rows = 16, .columns = 17}, {.kind = TENSOR_O, .rows = 48, .columns = 64}};

static struct optimiser_options options_of(int kind, double weight_decay)
{
    return (struct optimiser_options){.kind = (enum optimiser_kind)kind,
        .weight_decay = weight_decay,
        .seed = 5,
        .beta1 = 0.9,
        .beta2 = 0.99,
        .epsilon = 1e-8,
        .momentum = 0.8};
}

static void subject_init(struct optimised *s, int kind, double weight_decay, int64_t threads)
{
    const struct optimiser_options options = options_of(kind, weight_decay);

    optimised_init(s, &options, threads, tensors, sizeof(tensors) / sizeof(*tensors));
    draw(s->weights, s->layout.size, 0.1, 1);
}

static void subject_step(struct optimised *s, int64_t number)
{
    draw(s->gradient, s->layout.size, 0.01, 100 + (uint64_t)number);
    optimiser_step(&s->optimiser, s->weights, s->gradient, 0.5, number, 1e-3);
}

static struct update update_of(const struct optimised *s, int64_t number)
{
    return optimiser_update(&s->optimiser, s->weights, s->gradient, 0.5, number, 1e-3, 0, s->layout.size);
}

/* Nor what is measured of an update, which for muon adds up whole matrices. */
TEST(optimiser_threads_change_nothing)
{
    for (int kind = 0; kind < OPTIMISER_COUNT; kind++)
        for (int64_t threads = 2; threads <= 9; threads++) {
            struct optimised one, more;
            subject_init(&one, kind, 0.1, 1);
            subject_init(&more, kind, 0.1, threads);
            for (int64_t number = 1; number <= 3; number++) {
                subject_step(&one, number);
                subject_step(&more, number);
            }
            struct update first = update_of(&one, 4), other = update_of(&more, 4);
            if (memcmp(one.weights, more.weights, one.bytes) != 0 || first.square != other.square ||
                first.product != other.product)
                test_fail(__FILE__, __LINE__, "%s by %d threads differs", names[kind], (int)threads);
            optimised_release(&one);
            optimised_release(&more);
        }
}

/* Of a gradient of 0 nothing moves, and nothing becomes NaN. */
TEST(optimiser_without_a_gradient)
{
    for (int kind = 0; kind < OPTIMISER_COUNT; kind++) {
        struct optimised s;
        subject_init(&s, kind, 0, 1);
        memcpy(s.before, s.weights, s.bytes);
        optimiser_step(&s.optimiser, s.weights, s.gradient, 1, 1, 0.5);
        CHECK(memcmp(s.before, s.weights, s.bytes) == 0);
        optimised_release(&s);
    }
}

/* u as measured before a step is what the step does without decay, over -eta. */
TEST(optimiser_update_is_the_step)
{
    for (int kind = 0; kind < OPTIMISER_COUNT; kind++) {
        double square = 0, product = 0;
        struct optimised s;

        subject_init(&s, kind, 0, 1);
        subject_step(&s, 1);
        memcpy(s.before, s.weights, s.bytes);
        draw(s.gradient, s.layout.size, 0.01, 102);
        struct update u = update_of(&s, 2);
        subject_step(&s, 2);
        for (int64_t i = 0; i < s.layout.size; i++) {
            double step = ((double)s.before[i] - (double)s.weights[i]) / 1e-3;
            square += step * step;
            product += step * (double)s.before[i];
        }
        CHECK_CLOSE(u.square, square, 1e-5 * square);
        CHECK_CLOSE(u.product, product, 1e-4 * sqrt(square));
        optimised_release(&s);
    }
}

static struct stride stride_of(const struct optimised *s, int i, int64_t number)
{
    const scalar *own = s->weights + s->tensor[i].offset;

    return optimiser_stride(&s->optimiser, &s->tensor[i], sqrt(dot(own, own, s->tensor[i].size)),
        sqrt(dot(s->weights, s->weights, s->layout.size)), s->weights, s->gradient,
        optimiser_clip(&s->optimiser, s->gradient), number, 1e-3);
}

/* Gradients that keep their direction, here that of theta, make full steps; muon's singular values are
 * between 0.7 and 1.2. Gradients far below clipping, or below epsilon, do not. */
TEST(optimiser_full_steps)
{
    const double apart[OPTIMISER_COUNT] = {[OPTIMISER_ADAFACTOR] = 0.01, [OPTIMISER_MUON] = 0.2};
    struct optimised s;

    for (int kind = 0; kind < OPTIMISER_COUNT; kind++) {
        subject_init(&s, kind, 0, 1);
        s.optimiser.options.gradient_clip = 2;
        draw(s.gradient, s.layout.size, 10, 1); /* as theta is drawn */
        for (int64_t number = 1; number <= 20; number++) {
            for (int i = 0; i < 2; i++) {
                struct stride stride = stride_of(&s, i, number);
                CHECK_CLOSE(stride.taken / stride.full, 1, apart[kind] + 2e-3);
            }
            optimiser_step(
                &s.optimiser, s.weights, s.gradient, optimiser_clip(&s.optimiser, s.gradient), number, 1e-5);
        }
        for (int64_t i = 0; i < s.layout.size; i++)
            s.gradient[i] *= (scalar)1e-6;
        if (kind == OPTIMISER_SGD || kind == OPTIMISER_ADAMW)
            CHECK(stride_of(&s, 0, 21).taken < 0.95 * stride_of(&s, 0, 21).full);
        s.optimiser.options.gradient_clip = 0;
        CHECK(isinf(stride_of(&s, 1, 21).full) == (kind == OPTIMISER_SGD));
        optimised_release(&s);
    }
    subject_init(&s, OPTIMISER_ADAMW, 0, 1);
    s.optimiser.options.epsilon = 1;
    draw(s.gradient, s.layout.size, 1e-3, 1);
    CHECK(stride_of(&s, 0, 1).taken < 2e-3 * stride_of(&s, 0, 1).full);
    optimised_release(&s);
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

/* ---- weights kept in bfloat16 ---- */

/* A matrix with magnitudes well between 1 and 2, where neighbours in bfloat16 are 2^-7 apart. */
static void rounded_init(struct optimised *s, int kind, int kept, int64_t threads)
{
    struct optimiser_options options = options_of(kind, 0);

    options.weights = (enum weights_kept)kept;
    optimised_init(s, &options, threads, tensors, 1);
    for (uint64_t i = 0; i < (uint64_t)s->layout.size; i++) {
        double size = 1.1 + 0.8 * random_uniform(1, RANDOM_TEST, i);
        s->weights[i] = (scalar)(i % 2 ? size : -size);
    }
    optimiser_begin(&s->optimiser, s->weights);
}

static void rounded_step(struct optimised *s, int64_t number, double rate)
{
    draw(s->gradient, s->layout.size, 1, 100 + (uint64_t)number);
    optimiser_step(&s->optimiser, s->weights, s->gradient, 1, number, rate);
}

static bool all_in_bfloat16(const struct optimised *s)
{
    for (int64_t i = 0; i < s->layout.size; i++) {
        float narrow = (float)s->weights[i];
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof(bits));
        if (!((bits & 0xffff) == 0 && (double)narrow == (double)s->weights[i]))
            return false;
    }
    return true;
}

TEST(rounding_is_the_same_by_any_threads)
{
    struct optimised one, more;

    for (int kind = 0; kind < OPTIMISER_COUNT; kind++)
        for (int kept = WEIGHTS_BFLOAT16; kept <= WEIGHTS_BFLOAT16_STOCHASTIC; kept++)
            for (int64_t threads = 2; threads <= 5; threads++) {
                rounded_init(&one, kind, kept, 1);
                rounded_init(&more, kind, kept, threads);
                for (int64_t number = 1; number <= 3; number++) {
                    rounded_step(&one, number, 1e-2);
                    rounded_step(&more, number, 1e-2);
                    CHECK(all_in_bfloat16(&one));
                }
                CHECK(memcmp(one.weights, more.weights, one.bytes) == 0);
                optimised_release(&one);
                optimised_release(&more);
            }
}

/* Lion moves all by the rate. Just below half a distance, every weight stays where it was; just above, each
 * moves. */
TEST(rounding_to_the_nearest_loses_small_steps)
{
    struct optimised s;
    const double rates[] = {0x0.ffp-8, 0x1.01p-8};

    for (int i = 0; i < 2; i++) {
        int64_t moved = 0;
        rounded_init(&s, OPTIMISER_LION, WEIGHTS_BFLOAT16, 1);
        memcpy(s.before, s.weights, s.bytes);
        rounded_step(&s, 1, rates[i]);
        for (int64_t k = 0; k < s.layout.size; k++)
            moved += fabs((double)s.weights[k] - (double)s.before[k]) == 0x1p-7;
        CHECK(moved == (i ? s.layout.size : 0));
        CHECK(i || memcmp(s.weights, s.before, s.bytes) == 0);
        optimised_release(&s);
    }
}

/* The same steps by chance: the mean of what they do is what they are, within 5 standard deviations. */
TEST(rounding_by_chance_loses_nothing_on_average)
{
    struct optimised s;
    const double rate = 1e-4, share = rate / 0x1p-7;
    enum { STEPS = 20 };
    int64_t moved = 0;

    rounded_init(&s, OPTIMISER_LION, WEIGHTS_BFLOAT16_STOCHASTIC, 1);
    for (int64_t number = 1; number <= STEPS; number++) {
        memcpy(s.before, s.weights, s.bytes);
        rounded_step(&s, number, rate);
        struct update u =
            optimiser_update(&s.optimiser, s.weights, s.gradient, 1, number + 1, rate, 0, s.layout.size);
        CHECK(u.square == (double)s.layout.size); /* lion's updates are signs, whatever becomes of them */
        for (int64_t i = 0; i < s.layout.size; i++) {
            double change = fabs((double)s.weights[i] - (double)s.before[i]);
            moved += change != 0;
            CHECK(change == 0 || change == 0x1p-7);
        }
    }
    double tried = STEPS * (double)s.layout.size;
    CHECK_CLOSE((double)moved / tried, share, 5 * sqrt(share / tried));
    optimised_release(&s);
}

/* Both begin alike, and no two steps or seeds draw alike. */
TEST(rounding_begins_to_the_nearest)
{
    struct optimised nearest, by_chance, other;

    rounded_init(&nearest, OPTIMISER_SGD, WEIGHTS_BFLOAT16, 1);
    rounded_init(&by_chance, OPTIMISER_SGD, WEIGHTS_BFLOAT16_STOCHASTIC, 1);
    rounded_init(&other, OPTIMISER_SGD, WEIGHTS_BFLOAT16_STOCHASTIC, 1);
    CHECK(all_in_bfloat16(&nearest));
    CHECK(memcmp(nearest.weights, by_chance.weights, nearest.bytes) == 0);
    memset(nearest.gradient, 0, nearest.bytes);
    optimiser_step(&by_chance.optimiser, by_chance.weights, nearest.gradient, 1, 1, 1e-3);
    CHECK(memcmp(nearest.weights, by_chance.weights, nearest.bytes) == 0); /* nothing to round */
    for (int64_t i = 0; i < nearest.layout.size; i++)
        nearest.gradient[i] = 1;
    optimiser_step(&by_chance.optimiser, by_chance.weights, nearest.gradient, 1, 1, 1e-3);
    for (int i = 0; i < 3; i++) { /* another step, another seed, the same */
        memcpy(other.weights, nearest.weights, nearest.bytes);
        memset(other.optimiser.first, 0, other.bytes);
        other.optimiser.options.seed = by_chance.optimiser.options.seed + (i == 1);
        optimiser_step(&other.optimiser, other.weights, nearest.gradient, 1, 1 + (i == 0), 1e-3);
        CHECK((memcmp(by_chance.weights, other.weights, other.bytes) == 0) == (i == 2));
    }
    optimised_release(&nearest);
    optimised_release(&by_chance);
    optimised_release(&other);
}
