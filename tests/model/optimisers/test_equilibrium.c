/*
 * What momentum and decay do by themselves, simulated: steps of the optimisers on gradients that are white
 * noise, from weights of 0 to three times 1 / (eta lambda), against the formulas of equilibrium.h.
 */
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "model/core/random.h"
#include "model/optimisers/optimiser.h"

enum { ROWS = 128, COLUMNS = 128, COUNT = ROWS * COLUMNS, POOL = 1 << 20, STEPS = 3000, LATE = 2400 };

struct walk {
    struct tensor tensor;
    struct weight_layout layout;
    struct arena arena;
    struct optimiser optimiser;
    scalar weights[COUNT], before[COUNT], gradient[COUNT];
};

/* Means over the late steps: the angle of a step, the root mean square, and cos(theta, -u), by chance, too.
 */
struct late {
    double rotation, rms, alignment, by_chance;
    double full; /* eta |u| / |theta| */
};

/* Each step has another piece of the pool, so that no weight has the same gradients twice. */
static void fill_gradient(scalar *gradient, const scalar *pool, int64_t number)
{
    uint64_t from = random_below(5, RANDOM_TEST, (uint64_t)number, POOL - COUNT);

    memcpy(gradient, pool + from, COUNT * sizeof(*pool));
}

static const scalar *white_noise(void)
{
    static scalar pool[POOL];

    if (pool[0] == 0)
        for (uint64_t i = 0; i < POOL; i++)
            pool[i] = (scalar)(0.03 * random_normal(15, RANDOM_TEST, i));
    return pool;
}

static void walk_init(struct walk *w, const struct optimiser_options *options)
{
    *w = (struct walk){0};
    w->tensor = (struct tensor){.kind = TENSOR_Q, .rows = ROWS, .columns = COLUMNS, .size = COUNT};
    w->layout = (struct weight_layout){.size = COUNT,
        .layers_end = COUNT,
        .largest = COUNT,
        .largest_in_layers = COUNT,
        .tensor_count = 1,
        .tensor = &w->tensor};
    optimiser_layout(&w->optimiser, options, &w->layout, 1, &w->arena);
    CHECK(arena_init(&w->arena, w->arena.used) == 0);
    optimiser_layout(&w->optimiser, options, &w->layout, 1, &w->arena);
}

static double dot(const scalar *a, const scalar *b)
{
    double sum = 0;

    for (int i = 0; i < COUNT; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* Adds a late step, from `before` to `weights`. */
static void add_step(struct late *late, const struct walk *w, const struct update *update, double rate)
{
    double here = sqrt(dot(w->before, w->before)), there = sqrt(dot(w->weights, w->weights));
    double cosine = dot(w->before, w->weights) / (here * there), u = sqrt(update->square);

    late->rotation += acos(cosine) / (STEPS - LATE);
    late->rms += here / sqrt(COUNT) / (STEPS - LATE);
    late->alignment -= update->product / (here * u) / (STEPS - LATE);
    late->by_chance += update->by_chance / (here * u) / (STEPS - LATE);
    late->full += rate * u / here / (STEPS - LATE);
}

/* Walks; `expected` receives the formulas' balance. */
static struct late walk(const struct optimiser_options *options, double rate, struct equilibrium *expected)
{
    static struct walk w;
    struct late late = {0};

    walk_init(&w, options);
    *expected = optimiser_equilibrium(&w.optimiser, &w.tensor, rate);
    for (int64_t number = 1; number <= STEPS; number++) {
        fill_gradient(w.gradient, white_noise(), number);
        memcpy(w.before, w.weights, sizeof(w.before));
        struct update update =
            optimiser_update(&w.optimiser, w.weights, w.gradient, 1, number, rate, 0, COUNT);
        optimiser_step(&w.optimiser, w.weights, w.gradient, 1, number, rate);
        if (number > LATE)
            add_step(&late, &w, &update, rate);
    }
    arena_release(&w.arena);
    return late;
}

struct trial {
    const char *name;
    enum optimiser_kind kind;
    enum decay_rule rule;
    double rate, weight_decay, beta1, beta2, momentum;
    double hidden_rate; /* mup: times the rate of the tensor, which is a matrix of the layers */
};

/* sgd's decay acts 1 / (1 - momentum) times as fast. */
static const struct trial balanced[] = {
    {"adamw", OPTIMISER_ADAMW, DECAY_SCALED, 1e-2, 0.1, 0.9, 0.95, 0, 1},
    {"adamw, beta1 0", OPTIMISER_ADAMW, DECAY_SCALED, 1e-3, 1, 0, 0.99, 0, 1},
    {"adamw, beta1 0.95", OPTIMISER_ADAMW, DECAY_SCALED, 1e-3, 1, 0.95, 0.99, 0, 1},
    {"sgd", OPTIMISER_SGD, DECAY_SCALED, 1e-2, 0.1, 0, 0, 0, 1},
    {"sgd, momentum 0.9", OPTIMISER_SGD, DECAY_SCALED, 1e-2, 0.01, 0, 0, 0.9, 1},
    {"sgd, momentum 0.5", OPTIMISER_SGD, DECAY_SCALED, 1e-1, 0.005, 0, 0, 0.5, 1},
    {"lion", OPTIMISER_LION, DECAY_SCALED, 1e-3, 1, 0.9, 0.99, 0, 1},
    {"lion, 0.95 and 0.98", OPTIMISER_LION, DECAY_SCALED, 1e-2, 0.1, 0.95, 0.98, 0, 1},
    {"normalized_sgd", OPTIMISER_NORMALIZED_SGD, DECAY_SCALED, 1e-2, 0.1, 0, 0, 0, 1},
    {"adamw, narrower", OPTIMISER_ADAMW, DECAY_SCALED, 4e-2, 0.1, 0.9, 0.95, 0, 0.25},
    {"adamw, wider, independent", OPTIMISER_ADAMW, DECAY_INDEPENDENT, 1e-2, 1e-3, 0.9, 0.95, 0, 4},
    {"lion, narrower", OPTIMISER_LION, DECAY_SCALED, 4e-3, 1, 0.9, 0.99, 0, 0.25},
};

static struct optimiser_options options_of(const struct trial *trial)
{
    return (struct optimiser_options){.kind = trial->kind,
        .decay_rule = trial->rule,
        .peak_rate = trial->rate,
        .hidden_rate = trial->hidden_rate,
        .weight_decay = trial->weight_decay,
        .beta1 = trial->beta1,
        .beta2 = trial->beta2,
        .epsilon = 1e-12,
        .momentum = trial->momentum};
}

/* Within 3 %; NaN fails. */
static void check_near(const char *name, const char *what, double found, double expected)
{
    if (!(fabs(found - expected) <= 0.03 * expected))
        test_fail(__FILE__, __LINE__, "%s: %s is %g, expected %g", name, what, found, expected);
}

/* The alignment by chance: within 4 % of what its largest part is. */
static void check_alignment(const char *name, const struct late *late, double memory)
{
    double most = fmax(memory, 1) * late->full;

    if (!(fabs(late->alignment - late->by_chance) <= 0.04 * most))
        test_fail(__FILE__, __LINE__, "%s: alignment is %g, by chance %g of at most %g", name,
            late->alignment, late->by_chance, most);
}

static double memory_of(const struct trial *trial)
{
    double beta = trial->kind == OPTIMISER_SGD ? trial->momentum : trial->beta1;

    return trial->kind == OPTIMISER_LION ? memory_of_sign(beta, trial->beta2, 0, INFINITY)
                                         : memory_of_mean(beta, 0, INFINITY);
}

TEST(equilibrium_is_that_of_white_noise)
{
    for (size_t i = 0; i < sizeof(balanced) / sizeof(*balanced); i++) {
        const struct trial *trial = &balanced[i];
        const struct optimiser_options options = options_of(trial);
        struct equilibrium expected;
        struct late late = walk(&options, trial->rate, &expected);

        check_near(trial->name, "rotation", late.rotation, expected.rotation);
        if (trial->kind == OPTIMISER_SGD)
            CHECK(isnan(expected.rms));
        else
            check_near(trial->name, "rms", late.rms, expected.rms);
        check_alignment(trial->name, &late, memory_of(trial));
    }
}

/* Without a balance, the alignment by chance is known nevertheless. */
static const struct trial unbalanced[] = {
    {"adamw without decay", OPTIMISER_ADAMW, DECAY_SCALED, 1e-2, 0, 0.9, 0.95, 0, 1},
    {"adam without decay", OPTIMISER_ADAM, DECAY_SCALED, 1e-2, 0, 0.9, 0.95, 0, 1},
    {"sgd without decay", OPTIMISER_SGD, DECAY_SCALED, 1e-2, 0, 0, 0, 0.9, 1},
    {"lion without decay", OPTIMISER_LION, DECAY_SCALED, 1e-2, 0, 0.9, 0.99, 0, 1},
    {"adafactor", OPTIMISER_ADAFACTOR, DECAY_SCALED, 1e-2, 0.1, 0, 0, 0, 1},
};

TEST(alignment_by_chance_needs_no_balance)
{
    for (size_t i = 0; i < sizeof(unbalanced) / sizeof(*unbalanced); i++) {
        const struct trial *trial = &unbalanced[i];
        const struct optimiser_options options = options_of(trial);
        struct equilibrium expected;
        struct late late = walk(&options, trial->rate, &expected);

        CHECK(isnan(expected.rotation) && isnan(expected.rms));
        check_alignment(trial->name, &late, memory_of(trial));
    }
}

/* Weights that are rounded by chance hold past updates, on average. */
TEST(alignment_by_chance_survives_stochastic_rounding)
{
    struct optimiser_options options = options_of(&unbalanced[0]);
    struct equilibrium expected;

    options.weights = WEIGHTS_BFLOAT16_STOCHASTIC;
    struct late late = walk(&options, unbalanced[0].rate, &expected);
    check_alignment("adamw with stochastic rounding", &late, memory_of(&unbalanced[0]));
}

/* Of one step: is the alignment by chance known, is the balance? */
static void check_known(const struct optimiser_options *options, bool by_chance, bool balance)
{
    static struct walk w;

    walk_init(&w, options);
    fill_gradient(w.gradient, white_noise(), 1);
    memcpy(w.weights, w.gradient, sizeof(w.weights));
    optimiser_begin(&w.optimiser, w.weights);
    struct update update = optimiser_update(&w.optimiser, w.weights, w.gradient, 1, 9, 0.1, 0, COUNT);
    struct equilibrium found = optimiser_equilibrium(&w.optimiser, &w.tensor, 0.1);
    CHECK(isfinite(update.by_chance) == by_chance);
    CHECK(isfinite(found.rotation) == balance);
    arena_release(&w.arena);
}

TEST(equilibrium_is_unknown_without_a_formula)
{
    struct optimiser_options options = {.kind = OPTIMISER_ADAMW,
        .weight_decay = 0.1,
        .peak_rate = 0.2,
        .beta1 = 0.9,
        .beta2 = 0.99,
        .epsilon = 1e-12};

    check_known(&options, true, true);
    options.fixed_norm = true;
    check_known(&options, true, false);
    options.fixed_norm = false;
    options.decay_rule = DECAY_CAUTIOUS;
    check_known(&options, false, false);
    options.weight_decay = 0;
    check_known(&options, true, false);
    options.weight_decay = 0.1;
    options.decay_rule = DECAY_SCALED;
    options.kind = OPTIMISER_ADAM;
    check_known(&options, false, false);
    options.kind = OPTIMISER_ADAFACTOR;
    check_known(&options, true, false);
    options.kind = OPTIMISER_MUON;
    check_known(&options, false, false);
    options.kind = OPTIMISER_ADAMW;
    options.weights = WEIGHTS_BFLOAT16_STOCHASTIC;
    check_known(&options, true, false);
    options.weights = WEIGHTS_BFLOAT16;
    check_known(&options, false, false);
    options.beta1 = 0; /* no momentum, so that it is 0 */
    check_known(&options, true, false);
}

/* With decays just below and from where on weights swing ever further. */
TEST(equilibrium_needs_a_decay_that_holds)
{
    static const struct {
        enum optimiser_kind kind;
        double momentum, most;
    } bounded[] = {{OPTIMISER_ADAMW, 0, 2}, {OPTIMISER_LION, 0, 2}, {OPTIMISER_NORMALIZED_SGD, 0, 2},
        {OPTIMISER_SGD, 0, 2}, {OPTIMISER_SGD, 0.5, 3}};
    static struct walk w;

    for (size_t i = 0; i < sizeof(bounded) / sizeof(*bounded); i++) {
        for (int quarters = 1; quarters < 8; quarters++) {
            const double share = 0.25 * quarters;
            const struct optimiser_options options = {.kind = bounded[i].kind,
                .weight_decay = share * bounded[i].most,
                .peak_rate = 1,
                .beta1 = 0.9,
                .beta2 = 0.99,
                .epsilon = 1e-12,
                .momentum = bounded[i].momentum};
            bool stands = share < 1;
            walk_init(&w, &options);
            struct equilibrium found = optimiser_equilibrium(&w.optimiser, &w.tensor, 1);
            CHECK(stands ? found.rotation > 0 && isfinite(found.rotation) : isnan(found.rotation));
            CHECK(stands && options.kind != OPTIMISER_SGD ? found.rms > 0 && isfinite(found.rms)
                                                          : isnan(found.rms));
            arena_release(&w.arena);
        }
    }
}

/* Of normalized_sgd, whose updates have a norm of 1: is the balance that of this rate and decay, eta lambda?
 */
static void check_balance(const struct walk *w, const struct tensor *tensor, double rate, double decayed)
{
    struct equilibrium found = optimiser_equilibrium(&w->optimiser, tensor, 0.1);
    double turn = sqrt(decayed * (2 - decayed));

    CHECK_CLOSE(found.rotation, turn, 1e-12);
    CHECK_CLOSE(found.rms, rate / sqrt((double)tensor->size) / turn, 1e-12);
}

/* The decay of the step's rate, as each rule has it: lambda 0.1 at half the peak rate of 0.2. With mup,
 * matrices of the layers have a quarter of both rates, and an independent decay does not change with them. */
TEST(equilibrium_has_the_rules_decay_and_the_tensors_rate)
{
    static const double lambda[] = {
        [DECAY_SCALED] = 0.1, [DECAY_INDEPENDENT] = 0.5, [DECAY_CORRECTED] = 0.05};
    const struct tensor bias = {.kind = TENSOR_Q_BIAS, .rows = 1, .columns = COLUMNS, .size = COLUMNS};
    const struct tensor words = {.kind = TENSOR_TOKEN, .rows = ROWS, .columns = COLUMNS, .size = COUNT};
    static struct walk w;

    for (int rule = 0; rule < (int)(sizeof(lambda) / sizeof(*lambda)); rule++) {
        struct optimiser_options options = {.kind = OPTIMISER_NORMALIZED_SGD,
            .decay_rule = (enum decay_rule)rule,
            .weight_decay = 0.1,
            .peak_rate = 0.2};
        double decayed = 0.1 * lambda[rule];
        walk_init(&w, &options);
        check_balance(&w, &w.tensor, 0.1, decayed);
        arena_release(&w.arena);

        options.hidden_rate = 0.25;
        walk_init(&w, &options);
        check_balance(&w, &w.tensor, 0.025, rule == DECAY_INDEPENDENT ? decayed : decayed / 4);
        check_balance(&w, &bias, 0.1, decayed);
        check_balance(&w, &words, 0.1, decayed);
        arena_release(&w.arena);
    }
}

/* The sum of 2 / pi asin of the correlations, term by term. */
TEST(memory_of_signs_is_the_sum_of_their_correlations)
{
    static const double beta[][2] = {
        {0.9, 0.99}, {0.95, 0.98}, {0.99, 0.9}, {0.5, 0}, {0, 0.99}, {0.999, 0.999}};

    for (size_t i = 0; i < sizeof(beta) / sizeof(*beta); i++) {
        double beta1 = beta[i][0], beta2 = beta[i][1], first = 1 - beta1, next = beta1 * (1 - beta2);
        double variance = first * first + next * next / (1 - beta2 * beta2), sum = 0;
        for (int j = 1; j <= 500; j++) {
            double shared =
                first * next * pow(beta2, j - 1) + next * next * pow(beta2, j) / (1 - beta2 * beta2);
            sum += pow(0.998, j - 1) * M_2_PI * asin(shared / variance);
        }
        CHECK_CLOSE(memory_of_sign(beta1, beta2, 0.002, 500), sum, 1e-5 * (1 + sum));
    }
}
