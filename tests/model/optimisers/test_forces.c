/* What steps add to |theta|^2, against the norms before and after them; steps that count it are those that do
 * not; threads change no number. */
#include "tests/model/optimisers/optimised.h"

/* W1 is longer than the ranges whose sums stand for themselves. */
static const struct tensor tensors[] = {{.kind = TENSOR_Q, .rows = 16, .columns = 17},
    {.kind = TENSOR_W1, .rows = 97, .columns = 160}, {.kind = TENSOR_W1_BIAS, .rows = 1, .columns = 71},
    {.kind = TENSOR_TOKEN, .layer = -1, .rows = 30, .columns = 16}};

enum { COUNT = sizeof(tensors) / sizeof(*tensors), INSIDE = COUNT - 1, STEPS = 6 };

struct counted {
    struct optimised plain; /* lays out and steps without counting */
    struct optimiser optimiser; /* counts, on weights of its own */
    struct arena arena;
    scalar *weights;
    double force[LAYER_TENSOR_COUNT][FORCE_COUNT];
};

static void counted_layout(struct counted *c, const struct optimiser_options *options, int64_t threads)
{
    optimiser_layout(&c->optimiser, options, &c->plain.layout, threads, true, &c->arena);
    c->weights = arena_plane(&c->arena, 1, c->plain.layout.size);
}

static void counted_init(struct counted *c, const struct optimiser_options *options, int64_t threads)
{
    optimised_init(&c->plain, options, threads, tensors, COUNT);
    LAY_OUT(&c->arena, counted_layout(c, options, threads));
    draw(c->plain.weights, c->plain.layout.size, 0.1, 1);
    memcpy(c->weights, c->plain.weights, c->plain.bytes);
    c->optimiser.team.least = 0; /* so little work is shared, too */
    optimiser_begin(&c->plain.optimiser, c->plain.weights);
    optimiser_begin(&c->optimiser, c->weights);
}

static void counted_step(struct counted *c, int64_t number)
{
    struct optimised *o = &c->plain;

    draw(o->gradient, o->layout.size, 1, 100 + (uint64_t)number);
    memcpy(o->before, c->weights, o->bytes);
    optimiser_step(&o->optimiser, o->weights, o->gradient, 0.5, number, 1e-2);
    optimiser_step(&c->optimiser, c->weights, o->gradient, 0.5, number, 1e-2);
    optimiser_forces(&c->optimiser, number, 1e-2, c->force);
}

static void counted_release(struct counted *c)
{
    optimised_release(&c->plain);
    arena_release(&c->arena);
}

/* Before the first step there is nothing to remember. */
static bool chance_is_known(
    const struct optimiser_options *options, const struct tensor *tensor, int64_t number)
{
    bool remembers = optimiser_has(options->kind, HAS_BETAS) && number > 1;
    bool selects = options->decay_rule == DECAY_CAUTIOUS && options->weight_decay != 0 && remembers;

    return !selects && (options->kind != OPTIMISER_MUON || tensor->kind == TENSOR_W1_BIAS);
}

/* The forces of the last step sum to what it did to each tensor of the layers, or are all NaN. */
static void check_sums(const struct counted *c, int64_t number, bool known)
{
    for (int i = 0; i < INSIDE; i++) {
        const struct tensor *t = &c->plain.tensor[i];
        const double *force = c->force[t->kind - LAYER_TENSOR_FIRST];
        const scalar *before = c->plain.before + t->offset, *after = c->weights + t->offset;
        double old = dot(before, before, t->size), change = dot(after, after, t->size) - old, sum = 0;
        bool chance = known && chance_is_known(&c->optimiser.options, t, number);
        for (int k = 0; k < FORCE_COUNT; k++) {
            CHECK(isnan(force[k]) == !(k == FORCE_CHANCE ? chance : known));
            sum += isnan(force[k]) ? 0 : force[k];
        }
        CHECK(!known || fabs(change) > 1e-6 * old);
        if (known)
            CHECK_CLOSE(sum, change, (sizeof(scalar) == sizeof(double) ? 1e-13 : 1e-7) * old);
    }
}

static void check_steps(const struct optimiser_options *options, bool known)
{
    struct counted one, more;

    counted_init(&one, options, 1);
    counted_init(&more, options, 3);
    for (int64_t number = 1; number <= STEPS; number++) {
        counted_step(&one, number);
        counted_step(&more, number);
        CHECK(memcmp(one.weights, one.plain.weights, one.plain.bytes) == 0);
        CHECK(memcmp(one.weights, more.weights, one.plain.bytes) == 0);
        for (int i = 0; i < INSIDE; i++) {
            int k = tensors[i].kind - LAYER_TENSOR_FIRST;
            CHECK(memcmp(one.force[k], more.force[k], sizeof(*one.force)) == 0);
        }
        check_sums(&one, number, known);
    }
    counted_release(&one);
    counted_release(&more);
}

static struct optimiser_options options_of(int kind, enum decay_rule rule, double weight_decay)
{
    return (struct optimiser_options){.kind = (enum optimiser_kind)kind,
        .decay_rule = rule,
        .weight_decay = weight_decay,
        .peak_rate = 2e-2,
        .beta1 = 0.9,
        .beta2 = 0.99,
        .epsilon = 1e-8,
        .momentum = 0.8};
}

TEST(forces_sum_to_the_change_of_the_norm)
{
    const enum decay_rule rules[] = {DECAY_SCALED, DECAY_INDEPENDENT, DECAY_CORRECTED, DECAY_CAUTIOUS};

    for (int kind = 0; kind < OPTIMISER_COUNT; kind++)
        for (size_t rule = 0; rule < sizeof(rules) / sizeof(*rules); rule++)
            for (int decays = 0; decays < 2; decays++) {
                bool coupled = kind == OPTIMISER_ADAM || kind == OPTIMISER_SGD;
                bool cautious = rules[rule] == DECAY_CAUTIOUS;
                const struct optimiser_options options = options_of(kind, rules[rule], decays * 0.3);
                if (cautious && coupled) /* refused: it has no decay of its own */
                    continue;
                check_steps(&options, kind != OPTIMISER_ADAM || !decays);
            }
}

/* A decay by a factor that is rounded loses what it rounds; here it rounds little. */
TEST(forces_of_a_factor)
{
    struct optimiser_options options = options_of(OPTIMISER_ADAMW, DECAY_SCALED, 0.5);

    options.decay = DECAY_FACTOR;
    check_steps(&options, true);
}

TEST(forces_of_rounded_weights_are_unknown)
{
    struct optimiser_options options = options_of(OPTIMISER_ADAMW, DECAY_SCALED, 0.1);

    options.weights = WEIGHTS_BFLOAT16_STOCHASTIC;
    check_steps(&options, false);
}

/* The matrices keep their norms, biases do not. */
TEST(forces_of_fixed_norms_are_unknown)
{
    struct counted c;
    struct optimiser_options options = options_of(OPTIMISER_ADAMW, DECAY_SCALED, 0.1);

    options.norm_rule = NORM_FIXED;
    counted_init(&c, &options, 1);
    counted_step(&c, 1);
    for (int k = 0; k < FORCE_COUNT; k++) {
        CHECK(isnan(c.force[TENSOR_W1 - LAYER_TENSOR_FIRST][k]));
        CHECK(isfinite(c.force[TENSOR_W1_BIAS - LAYER_TENSOR_FIRST][k]));
    }
    counted_release(&c);
}

/* White noise moves |theta|^2 by injection and chance alone: pull is 0 on average, and what remains is the
 * random walk with its memory. */
TEST(forces_of_white_noise)
{
    const struct optimiser_options options = options_of(OPTIMISER_ADAMW, DECAY_SCALED, 0.1);
    double sum[FORCE_COUNT] = {0};
    struct counted c;

    counted_init(&c, &options, 1);
    for (int64_t number = 1; number <= 400; number++) {
        counted_step(&c, number);
        for (int k = 0; number > 100 && k < FORCE_COUNT; k++)
            sum[k] += c.force[TENSOR_W1 - LAYER_TENSOR_FIRST][k];
    }
    /* S of 0.9 and no decay is 9: chance is 18 times injection, all but 1/19 of growth. */
    CHECK_CLOSE(sum[FORCE_CHANCE] / sum[FORCE_INJECTION], 18, 0.5);
    CHECK_CLOSE(sum[FORCE_PULL] / sum[FORCE_CHANCE], 0, 0.1);
    counted_release(&c);
}
