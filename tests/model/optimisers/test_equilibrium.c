/*
 * What momentum and decay do by themselves, simulated: steps of the optimisers on gradients that are white
 * noise, from weights of 0 to three times 1 / (eta lambda), against the formulas of equilibrium.c.
 */
#include "tests/model/optimisers/optimised.h"

enum { ROWS = 128, COLUMNS = 128, COUNT = ROWS * COLUMNS, POOL = 1 << 20, STEPS = 3000, LATE = 2400 };

static const struct tensor square = {.kind = TENSOR_Q, .rows = ROWS, .columns = COLUMNS};

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

/* Adds a late step, from `before` to `weights`. */
static void add_step(struct late *late, const struct optimised *w, const struct update *update, double rate)
{
    double here = sqrt(dot(w->before, w->before, COUNT)), there = sqrt(dot(w->weights, w->weights, COUNT));
    double cosine = dot(w->before, w->weights, COUNT) / (here * there), u = sqrt(update->square);

    late->rotation += acos(cosine) / (STEPS - LATE);
    late->rms += here / sqrt(COUNT) / (STEPS - LATE);
    late->alignment -= update->product / (here * u) / (STEPS - LATE);
    late->by_chance += update->by_chance / (here * u) / (STEPS - LATE);
    late->full += rate * u / here / (STEPS - LATE);
}

/* Walks; `expected` receives the formulas' balance. */
static struct late walk(const struct optimiser_options *options, double rate, struct equilibrium *expected)
{
    struct optimised w;
    struct late late = {0};

    optimised_init(&w, options, 1, &square, 1);
    *expected = optimiser_equilibrium(&w.optimiser, &w.tensor[0], rate);
    for (int64_t number = 1; number <= STEPS; number++) {
        fill_gradient(w.gradient, white_noise(), number);
        memcpy(w.before, w.weights, w.bytes);
        struct update update =
            optimiser_update(&w.optimiser, w.weights, w.gradient, 1, number, rate, 0, COUNT);
        optimiser_step(&w.optimiser, w.weights, w.gradient, 1, number, rate);
        if (number > LATE)
            add_step(&late, &w, &update, rate);
    }
    optimised_release(&w);
    return late;
}

struct trial {
    const char *name;
    enum optimiser_kind kind;
    enum decay_rule rule;
    double rate, weight_decay, beta1, beta2, momentum;
    double hidden_rate; /* mup: times the rate of the tensor, which is a matrix of the layers */
};

/* sgd's decay acts 1 / (1 - momentum) times as fast. Those without a balance are behind the others. */
static const struct trial trials[] = {
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
    {"adamw without decay", OPTIMISER_ADAMW, DECAY_SCALED, 1e-2, 0, 0.9, 0.95, 0, 1},
    {"adam without decay", OPTIMISER_ADAM, DECAY_SCALED, 1e-2, 0, 0.9, 0.95, 0, 1},
    {"sgd without decay", OPTIMISER_SGD, DECAY_SCALED, 1e-2, 0, 0, 0, 0.9, 1},
    {"lion without decay", OPTIMISER_LION, DECAY_SCALED, 1e-2, 0, 0.9, 0.99, 0, 1},
    {"adafactor", OPTIMISER_ADAFACTOR, DECAY_SCALED, 1e-2, 0.1, 0, 0, 0, 1},
};
enum { TRIALS = sizeof(trials) / sizeof(*trials), BALANCED = TRIALS - 5 };

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

/* Without a balance, the alignment by chance is known nevertheless. */
TEST(equilibrium_is_that_of_white_noise)
{
    for (int i = 0; i < TRIALS; i++) {
        const struct trial *trial = &trials[i];
        const struct optimiser_options options = options_of(trial);
        struct equilibrium expected;
        struct late late = walk(&options, trial->rate, &expected);

        if (i < BALANCED)
            check_near(trial->name, "rotation", late.rotation, expected.rotation);
        else
            CHECK(isnan(expected.rotation));
        if (i < BALANCED && trial->kind != OPTIMISER_SGD)
            check_near(trial->name, "rms", late.rms, expected.rms);
        else
            CHECK(isnan(expected.rms));
        check_alignment(trial->name, &late, memory_of(trial));
    }
}

/* Weights that are rounded by chance hold past updates, on average. */
TEST(alignment_by_chance_survives_stochastic_rounding)
{
    struct optimiser_options options = options_of(&trials[BALANCED]);
    struct equilibrium expected;

    options.weights = WEIGHTS_BFLOAT16_STOCHASTIC;
    struct late late = walk(&options, trials[BALANCED].rate, &expected);
    check_alignment("adamw with stochastic rounding", &late, memory_of(&trials[BALANCED]));
}

TEST(equilibrium_is_unknown_without_a_formula)
{
    static const struct {
        struct optimiser_options options;
        bool by_chance, balance; /* of one step: is it known? */
    } cases[] = {{{.weight_decay = 0.1, .beta1 = 0.9}, true, true},
        {{.weight_decay = 0.1, .beta1 = 0.9, .norm_rule = NORM_FIXED}, true, false},
        {{.weight_decay = 0.1, .beta1 = 0.9, .decay_rule = DECAY_CAUTIOUS}, false, false},
        {{.weight_decay = 0, .beta1 = 0.9, .decay_rule = DECAY_CAUTIOUS}, true, false},
        {{.weight_decay = 0.1, .beta1 = 0.9, .kind = OPTIMISER_ADAM}, false, false},
        {{.weight_decay = 0.1, .beta1 = 0.9, .kind = OPTIMISER_ADAFACTOR}, true, false},
        {{.weight_decay = 0.1, .beta1 = 0.9, .kind = OPTIMISER_MUON}, false, false},
        {{.weight_decay = 0.1, .beta1 = 0.9, .weights = WEIGHTS_BFLOAT16_STOCHASTIC}, true, false},
        {{.weight_decay = 0.1, .beta1 = 0.9, .weights = WEIGHTS_BFLOAT16}, false, false},
        {{.weight_decay = 0.1, .beta1 = 0, .weights = WEIGHTS_BFLOAT16}, true,
            false}}; /* 0 without momentum */

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct optimiser_options options = cases[i].options;
        options.peak_rate = 0.2;
        options.beta2 = 0.99;
        options.epsilon = 1e-12;
        struct optimised w;
        optimised_init(&w, &options, 1, &square, 1);
        fill_gradient(w.gradient, white_noise(), 1);
        memcpy(w.weights, w.gradient, w.bytes);
        optimiser_begin(&w.optimiser, w.weights);
        struct update update = optimiser_update(&w.optimiser, w.weights, w.gradient, 1, 9, 0.1, 0, COUNT);
        struct equilibrium found = optimiser_equilibrium(&w.optimiser, &w.tensor[0], 0.1);
        CHECK(isfinite(update.by_chance) == cases[i].by_chance);
        CHECK(isfinite(found.rotation) == cases[i].balance);
        optimised_release(&w);
    }
}

/* With decays just below and from where on weights swing ever further. */
TEST(equilibrium_needs_a_decay_that_holds)
{
    static const struct {
        enum optimiser_kind kind;
        double momentum, most;
    } bounded[] = {{OPTIMISER_ADAMW, 0, 2}, {OPTIMISER_LION, 0, 2}, {OPTIMISER_NORMALIZED_SGD, 0, 2},
        {OPTIMISER_SGD, 0, 2}, {OPTIMISER_SGD, 0.5, 3}};
    struct optimised w;

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
            optimised_init(&w, &options, 1, &square, 1);
            struct equilibrium found = optimiser_equilibrium(&w.optimiser, &w.tensor[0], 1);
            CHECK(stands ? found.rotation > 0 && isfinite(found.rotation) : isnan(found.rotation));
            CHECK(stands && options.kind != OPTIMISER_SGD ? found.rms > 0 && isfinite(found.rms)
                                                          : isnan(found.rms));
            optimised_release(&w);
        }
    }
}

/* Of normalized_sgd, whose updates have a norm of 1: is the balance that of this rate and decay, eta lambda?
 */
static void check_balance(const struct optimised *w, const struct tensor *tensor, double rate, double decayed)
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
    struct optimised w;

    for (int rule = 0; rule < (int)(sizeof(lambda) / sizeof(*lambda)); rule++) {
        struct optimiser_options options = {.kind = OPTIMISER_NORMALIZED_SGD,
            .decay_rule = (enum decay_rule)rule,
            .weight_decay = 0.1,
            .peak_rate = 0.2};
        double decayed = 0.1 * lambda[rule];
        optimised_init(&w, &options, 1, &square, 1);
        check_balance(&w, &w.tensor[0], 0.1, decayed);
        optimised_release(&w);

        options.hidden_rate = 0.25;
        optimised_init(&w, &options, 1, &square, 1);
        check_balance(&w, &w.tensor[0], 0.025, rule == DECAY_INDEPENDENT ? decayed : decayed / 4);
        check_balance(&w, &bias, 0.1, decayed);
        check_balance(&w, &words, 0.1, decayed);
        optimised_release(&w);
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
