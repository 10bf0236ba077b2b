/*
 * The coordinate check of Yang et al. 2022 (appendix D.1): models of growing width take a few steps at one
 * learning rate; what the steps change of the residual stream at each depth, and of the logits, keeps its
 * size under mup, and grows with the width under the standard parametrization.
 */
#include "tests/model/lay_out.h"

#include "tests/model/network/model_case.h"
#include "worker/run/run.h"

enum { LAYERS = 2, WIDTHS = 5, NARROWEST = 16, STEPS = 5, SEEDS = 4, PLACES = LAYERS + 2, SEQUENCES = 6 };
enum { VOCABULARY = 19, CONTEXT = 9 };

static const int64_t lengths[SEQUENCES] = {9, 9, 9, 9, 9, 9};

/* A model that trains. */
struct subject {
    struct model_case k;
    struct optimiser optimiser;
    struct arena arena;
    scalar *gradient;
    int64_t rows, width;
};

static void begin(struct subject *s, const struct run *run, uint64_t seed)
{
    const struct architecture a = run_architecture(run, VOCABULARY);
    const struct optimiser_options options = run_optimiser(run);

    model_case_init(&s->k, &a, lengths, SEQUENCES, seed);
    LAY_OUT(&s->arena, optimiser_layout(&s->optimiser, &options, &s->k.model.layout, 1, false, &s->arena));
    optimiser_begin(&s->optimiser, s->k.weights);
    s->gradient = malloc((size_t)s->k.model.layout.size * sizeof(*s->gradient));
    s->rows = s->k.batch.rows;
    s->width = a.width;
}

static void end(struct subject *s)
{
    free(s->gradient);
    arena_release(&s->arena);
    model_case_release(&s->k);
}

/* The states at each depth, and the logits behind them. */
static void take_values(struct subject *s, scalar *values)
{
    int64_t size = s->rows * s->width;

    transformer_logits(&s->k.model, s->k.weights, &s->k.batch, values + (LAYERS + 1) * size);
    for (int64_t depth = 0; depth <= LAYERS; depth++)
        memcpy(
            values + depth * size, transformer_state(&s->k.model, 0, depth), (size_t)size * sizeof(*values));
}

/* The root mean square of a - b, b being NULL for 0. */
static double size_of(const scalar *a, const scalar *b, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++) {
        double x = (double)a[i] - (b ? (double)b[i] : 0);
        sum += x * x;
    }
    return sqrt(sum / (double)count);
}

static void put_sizes(const struct subject *s, const scalar *a, const scalar *b, double size[PLACES])
{
    int64_t state = s->rows * s->width;

    for (int place = 0; place < PLACES; place++)
        size[place] += size_of(a + place * state, b ? b + place * state : NULL,
                           place <= LAYERS ? state : s->rows * VOCABULARY) /
                       SEEDS;
}

/* Adds the sizes of a model's values at the start to `first`, and of what its steps change to `change`. */
static void try_model(const struct run *run, uint64_t seed, double first[PLACES], double change[PLACES])
{
    struct subject s;

    begin(&s, run, seed);
    size_t size = (size_t)(s.rows * ((LAYERS + 1) * s.width + VOCABULARY));
    scalar *before = malloc(size * sizeof(*before)), *after = malloc(size * sizeof(*after));
    take_values(&s, before);
    for (int64_t t = 1; t <= STEPS; t++) {
        transformer_gradient(&s.k.model, s.k.weights, &s.k.batch, s.gradient);
        optimiser_step(&s.optimiser, s.k.weights, s.gradient, 1, t, run->learning_rate);
    }
    take_values(&s, after);
    put_sizes(&s, before, NULL, first);
    put_sizes(&s, after, before, change);
    free(before);
    free(after);
    end(&s);
}

/* The slope of the logarithms of sizes [WIDTHS] over the logarithm of the width, each twice the one before.
 */
static double slope_of(double size[WIDTHS][PLACES], int place)
{
    double sum = 0, squares = 0;

    for (int i = 0; i < WIDTHS; i++) {
        double x = i - (WIDTHS - 1) / 2.;
        sum += x * log2(size[i][place]);
        squares += x * x;
    }
    return sum / squares;
}

struct slopes {
    double first[PLACES], change[PLACES];
};

static struct slopes slopes_of(struct run run, int64_t parametrization)
{
    double first[WIDTHS][PLACES] = {{0}}, change[WIDTHS][PLACES] = {{0}};
    struct slopes slopes;

    run.parametrization = parametrization;
    for (int i = 0; i < WIDTHS; i++) {
        run.width = NARROWEST << i;
        run.feedforward = 4 * run.width;
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            try_model(&run, 10 * seed, first[i], change[i]);
    }
    for (int place = 0; place < PLACES; place++) {
        slopes.first[place] = slope_of(first, place);
        slopes.change[place] = slope_of(change, place);
    }
    return slopes;
}

static struct run narrow_run(void)
{
    struct run run;

    run_init(&run);
    run.layers = LAYERS;
    run.context = CONTEXT;
    run.steps = STEPS;
    run.base_width = 32;
    run.init_deviation = 0.1;
    run.learning_rate = 0.01;
    return run;
}

static double largest(const double value[PLACES])
{
    double most = value[0];

    for (int place = 1; place < PLACES; place++)
        most = value[place] <= most ? most : value[place]; /* NaN stays */
    return most;
}

/*
 * Slopes of 0 are those of infinite width. Initial logits shrink as the root of the width, those of tied
 * weights a little less, where the token's own counts; finite widths still see this in later ones.
 */
static void check_coordinates(const struct run *run)
{
    const struct slopes mup = slopes_of(*run, PARAMETRIZATION_MUP);
    const struct slopes standard = slopes_of(*run, PARAMETRIZATION_STANDARD);

    for (int place = 0; place < PLACES; place++) {
        CHECK_CLOSE(mup.change[place], 0, 0.25);
        if (place <= LAYERS)
            CHECK_CLOSE(mup.first[place], 0, 0.1);
    }
    if (!run->tied)
        CHECK_CLOSE(mup.first[PLACES - 1], -0.5, 0.1);
    CHECK(largest(standard.change) > 0.4);
}

TEST(parametrization_inits)
{
    for (int64_t init = INIT_TORCH; init <= INIT_NORMAL; init++) {
        struct run run = narrow_run();
        run.init = init;
        check_coordinates(&run);
    }
}

TEST(parametrization_optimisers)
{
    struct run run = narrow_run();

    run.optimiser = OPTIMISER_ADAM;
    check_coordinates(&run);
    run.optimiser = OPTIMISER_LION;
    run.learning_rate = 0.003;
    check_coordinates(&run);
}

TEST(parametrization_networks)
{
    struct run run = narrow_run();

    run.norm_placement = NORM_POST;
    check_coordinates(&run);
    run.norm_placement = NORM_PRE;
    run.gated = run.qk_norm = true;
    run.positions = POSITIONS_ROTARY;
    run.activation = ACTIVATION_SILU;
    run.norm = RMSNORM;
    run.kv_heads = 2;
    check_coordinates(&run);
}

TEST(parametrization_tied)
{
    struct run run = narrow_run();

    run.tied = true;
    check_coordinates(&run);
}

/* At the base width mup changes scores alone. */
TEST(parametrization_at_the_base)
{
    for (int64_t init = INIT_TORCH; init <= INIT_NORMAL; init++) {
        struct run run = narrow_run();
        struct subject standard, mup;

        run.init = init;
        run.width = run.base_width;
        begin(&standard, &run, 3);
        run.parametrization = PARAMETRIZATION_MUP;
        begin(&mup, &run, 3);
        int64_t size = mup.k.model.layout.size;
        CHECK(memcmp(standard.k.weights, mup.k.weights, (size_t)size * sizeof(scalar)) == 0);
        CHECK(mup.k.model.architecture.output_scale == 1 && mup.optimiser.options.hidden_rate == 1);
        CHECK(standard.k.model.architecture.output_scale == 0 && standard.optimiser.options.hidden_rate == 1);
        CHECK(mup.k.model.architecture.score_scale == SCORE_DEPTH);
        end(&standard);
        end(&mup);
    }
}

/* The same share of all weights decays only if the rule does not follow the rate, which is slower for
 * matrices. */
TEST(parametrization_decay)
{
    struct run run = narrow_run();

    run.parametrization = PARAMETRIZATION_MUP;
    run.width = run.base_width;
    CHECK(run_decay(&run) == run.weight_decay);
    run.width *= 2;
    CHECK(run_decay(&run) == 0);
    run.decay_rule = DECAY_INDEPENDENT;
    CHECK_CLOSE(run_decay(&run), run.weight_decay / run.learning_rate, 1e-15);
}

/* What corrected decay takes is in proportion to the square of the rate: the norm's recursions, which know
 * the rates alone, can follow it at a constant rate only. */
TEST(corrected_decay_has_a_time_of_its_own)
{
    struct run run = narrow_run();

    run.decay_rule = DECAY_CORRECTED;
    CHECK(run_decay(&run) == run.weight_decay && run_even_decay(&run) == run.weight_decay);
    CHECK_CLOSE(run_decay_time(&run, run.learning_rate / 2), run.learning_rate / 4, 1e-15);
    run.schedule = SCHEDULE_COSINE;
    CHECK(run_decay(&run) == 0 && run_even_decay(&run) == run.weight_decay);
    run.decay_rule = DECAY_SCALED;
    CHECK(run_decay(&run) == run.weight_decay && run_decay_time(&run, 0.25) == 0.25);
}

TEST(uneven_decay_has_no_factor)
{
    const struct run plain = narrow_run();
    struct run run = plain;

    CHECK(run_even_decay_factor(&run) == 1);
    run.decay_on = DECAY_ON_HIDDEN;
    CHECK(run_even_decay_factor(&run) == 1);
    run.decay_on = DECAY_ON_MATRICES;
    CHECK(run_even_decay_factor(&run) == 0);
    run.decay_on = DECAY_ON_ATTENTION | DECAY_ON_FEEDFORWARD | DECAY_ON_GAINS | DECAY_ON_BIASES;
    CHECK(run_even_decay_factor(&run) == 1);
    run.decay_on &= ~DECAY_ON_GAINS;
    CHECK(run_even_decay_factor(&run) == 0);
    run = plain;
    run.decay_rule = DECAY_CAUTIOUS;
    CHECK(run_even_decay_factor(&run) == 0);
    run = plain;
    run.norm_rule = NORM_BRAKE;
    CHECK(run_even_decay_factor(&run) == 0);
    run = plain;
    run.weights = WEIGHTS_BFLOAT16_STOCHASTIC;
    CHECK(run_even_decay_factor(&run) == 1);
    run.weights = WEIGHTS_BFLOAT16;
    CHECK(run_even_decay_factor(&run) == 0);
    run = plain;
    run.optimiser = OPTIMISER_ADAM;
    CHECK(run_even_decay_factor(&run) == 0);
    run.optimiser = OPTIMISER_SGD;
    run.momentum = 0.75;
    CHECK(run_even_decay_factor(&run) == 4);
}
