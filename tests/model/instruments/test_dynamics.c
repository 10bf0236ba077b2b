/* Fits of the recursions of the norm, against series that follow one of them. */
#include "tests/test.h"

#include "model/core/random.h"
#include "model/instruments/instruments.h"

enum { STEPS = 2000, EVERY = 20, POINTS = STEPS / EVERY + 1 };

enum { SCHEDULES = 5, FIRST_VARYING = 1 };
static const struct schedule schedules[SCHEDULES] = {
    {SCHEDULE_CONSTANT, 3e-3, 0, 0, STEPS, 0, 0},
    {SCHEDULE_LINEAR, 3e-3, 100, 0, STEPS, 0.1, 0},
    {SCHEDULE_INVERSE_SQRT, 3e-2, 10, 0, STEPS, 0, 0},
    {SCHEDULE_CONSTANT, 3e-3, 0, 700, STEPS, 0, 0},
    {SCHEDULE_INVERSE_SQRT, 1, 1, 50, STEPS, 0, 0},
};

static const double START = 7;

struct weight_norms {
    int64_t step[POINTS];
    double norm[POINTS];
};

/* The definitions, word for word. */
static double next_norm(enum dynamics dynamics, double n, double eta, double lambda, double parameter)
{
    double kept = 1 - eta * lambda;

    switch (dynamics) {
    case DYNAMICS_ALIGNED:
        return (1 - eta * lambda + parameter * eta) * n;
    case DYNAMICS_MISALIGNED:
        return sqrt((kept * kept + parameter * parameter * eta * eta) * n * n);
    default:
        return sqrt(kept * kept * n * n + parameter * eta * eta);
    }
}

static void follow(struct weight_norms *norms, enum dynamics dynamics, const struct schedule *schedule,
    double lambda, double parameter, double start)
{
    double n = start;

    for (int64_t s = 0; s <= STEPS; s++) {
        if (s > 0)
            n = next_norm(dynamics, n, schedule_rate(schedule, s), lambda, parameter);
        if (s % EVERY == 0) {
            norms->step[s / EVERY] = s;
            norms->norm[s / EVERY] = n;
        }
    }
}

static void disturb(struct weight_norms *norms, double relative)
{
    for (int i = 1; i < POINTS; i++)
        norms->norm[i] *= 1 + relative * random_normal(5, RANDOM_TEST, (uint64_t)i);
}

static struct dynamics_fit fit(
    const struct weight_norms *norms, const struct schedule *schedule, double lambda)
{
    struct dynamics_fit fit = {0};

    dynamics_fit(schedule, lambda, norms->step, norms->norm, POINTS, &fit);
    return fit;
}

static const struct recursion_fit *of(const struct dynamics_fit *fit, enum dynamics dynamics)
{
    if (dynamics == DYNAMICS_ALIGNED)
        return &fit->aligned;
    return dynamics == DYNAMICS_MISALIGNED ? &fit->misaligned : &fit->adam_like;
}

/* A parameter under which the sum of eta^p of the schedule makes the norm `growth` times as large
 * without decay, about. */
static double parameter_for(enum dynamics dynamics, const struct schedule *schedule, double growth)
{
    double rate = 0, square = 0;

    for (int64_t s = 1; s <= STEPS; s++) {
        rate += schedule_rate(schedule, s);
        square += schedule_rate(schedule, s) * schedule_rate(schedule, s);
    }
    if (dynamics == DYNAMICS_ALIGNED)
        return log(growth) / rate;
    if (dynamics == DYNAMICS_MISALIGNED)
        return sqrt(2 * log(growth) / square);
    return START * START * (growth * growth - 1) / square;
}

static enum dynamics expected(enum dynamics dynamics, int schedule)
{
    return dynamics != DYNAMICS_ADAM_LIKE && schedule < FIRST_VARYING ? DYNAMICS_RELATIVE : dynamics;
}

static const enum dynamics all[] = {DYNAMICS_ALIGNED, DYNAMICS_MISALIGNED, DYNAMICS_ADAM_LIKE};
static const double decays[] = {0, 0.03, 1};

static void check_recovery(enum dynamics dynamics, int schedule, double lambda, double growth)
{
    const struct schedule *s = &schedules[schedule];
    double parameter = parameter_for(dynamics, s, growth);
    struct weight_norms norms;

    follow(&norms, dynamics, s, lambda, parameter, START);
    const struct dynamics_fit f = fit(&norms, s, lambda);
    const struct recursion_fit *right = of(&f, dynamics);
    CHECK_CLOSE(right->parameter / parameter, 1, 1e-6);
    CHECK_CLOSE(right->r2, 1, 1e-9);
    if (f.best != expected(dynamics, schedule))
        test_fail(__FILE__, __LINE__, "class %d under schedule %d, decay %g, growth %g: found %d",
            (int)dynamics, schedule, lambda, growth, (int)f.best);
}

TEST(dynamics_recovers_what_a_series_follows)
{
    for (int d = 0; d < 3; d++)
        for (int schedule = 0; schedule < SCHEDULES; schedule++)
            for (int l = 0; l < 3; l++) {
                check_recovery(all[d], schedule, decays[l], 1.3);
                check_recovery(all[d], schedule, decays[l], 100);
            }
}

/* The norms of a fit are those of the recursion, followed here by itself, with the parameter of the fit. */
TEST(dynamics_follow_their_fit)
{
    struct weight_norms norms, alone;
    double curve[3][POINTS];

    for (int d = 0; d < 3; d++)
        for (int schedule = 0; schedule < SCHEDULES; schedule++) {
            const struct schedule *s = &schedules[schedule];
            struct dynamics_fit f = {
                .aligned.norm = curve[0], .misaligned.norm = curve[1], .adam_like.norm = curve[2]};
            follow(&norms, all[d], s, 0.03, parameter_for(all[d], s, 4), START);
            disturb(&norms, 0.003);
            dynamics_fit(s, 0.03, norms.step, norms.norm, POINTS, &f);
            for (int e = 0; e < 3; e++) {
                follow(&alone, all[e], s, 0.03, of(&f, all[e])->parameter, norms.norm[0]);
                for (int i = 0; i < POINTS; i++)
                    CHECK_CLOSE(of(&f, all[e])->norm[i] / alone.norm[i], 1, 1e-11);
            }
        }
}

/* Only aligned updates shrink a norm faster than decay does, here to nothing. */
TEST(dynamics_of_updates_against_theta)
{
    struct weight_norms norms;

    for (int schedule = 0; schedule < SCHEDULES; schedule++) {
        double k = parameter_for(DYNAMICS_ALIGNED, &schedules[schedule], 1e-12);
        follow(&norms, DYNAMICS_ALIGNED, &schedules[schedule], 0.01, k, START);
        struct dynamics_fit f = fit(&norms, &schedules[schedule], 0.01);
        CHECK_CLOSE(f.aligned.parameter / k, 1, 1e-6);
        CHECK(f.best == DYNAMICS_ALIGNED && f.misaligned.parameter == 0 && f.adam_like.parameter == 0);
    }
}

TEST(dynamics_are_told_apart_in_noise)
{
    struct weight_norms norms;

    for (int d = 0; d < 3; d++)
        for (int schedule = 0; schedule < SCHEDULES; schedule++) {
            const struct schedule *s = &schedules[schedule];
            double parameter = parameter_for(all[d], s, 4);
            follow(&norms, all[d], s, 0.03, parameter, START);
            disturb(&norms, 0.003);
            struct dynamics_fit f = fit(&norms, s, 0.03);
            CHECK_CLOSE(of(&f, all[d])->parameter / parameter, 1, 0.01);
            if (f.best != expected(all[d], schedule))
                test_fail(__FILE__, __LINE__, "class %d under schedule %d: found %d, aic %g %g %g",
                    (int)all[d], schedule, (int)f.best, f.aligned.aic, f.misaligned.aic, f.adam_like.aic);
        }
}

/* ---- that it is the least ---- */

static double sum_of_squares(const struct weight_norms *norms, enum dynamics dynamics,
    const struct schedule *schedule, double lambda, double parameter)
{
    struct weight_norms model;
    double sum = 0;

    follow(&model, dynamics, schedule, lambda, parameter, norms->norm[0]);
    for (int i = 0; i < POINTS; i++)
        sum += (model.norm[i] - norms->norm[i]) * (model.norm[i] - norms->norm[i]);
    return sum;
}

/* No other value does better, near or far; R^2 and aic are those of its residuals. */
static void check_least(const struct weight_norms *norms, enum dynamics dynamics, const struct schedule *s,
    double lambda, const struct recursion_fit *fit)
{
    double least = sum_of_squares(norms, dynamics, s, lambda, fit->parameter), mean = 0, total = 0;

    for (int i = 0; i < 180; i++) {
        double far = 1e-6 * pow(1.1, i);
        double scale = fmax(fabs(fit->parameter), 1e-3), up = fit->parameter + far * scale;
        double down = fit->parameter - far * scale;
        CHECK(sum_of_squares(norms, dynamics, s, lambda, up) >= least * (1 - 1e-9));
        if (dynamics == DYNAMICS_ALIGNED ? (down - lambda) * s->learning_rate > -1 : down >= 0)
            CHECK(sum_of_squares(norms, dynamics, s, lambda, down) >= least * (1 - 1e-9));
    }
    for (int i = 0; i < POINTS; i++)
        mean += norms->norm[i] / POINTS;
    for (int i = 0; i < POINTS; i++)
        total += (norms->norm[i] - mean) * (norms->norm[i] - mean);
    CHECK_CLOSE(fit->r2, 1 - least / total, 1e-9 * fmax(1, least / total));
    CHECK_CLOSE(fit->aic, (POINTS - 1) * log(least / (POINTS - 1)) + 4, 1e-6);
}

TEST(dynamics_fits_are_least_squares)
{
    struct weight_norms norms;

    for (int d = 0; d < 3; d++)
        for (int schedule = 0; schedule < SCHEDULES; schedule++) {
            const struct schedule *s = &schedules[schedule];
            follow(&norms, all[d], s, 0.03, parameter_for(all[d], s, 4), START);
            disturb(&norms, 0.1);
            struct dynamics_fit f = fit(&norms, s, 0.03);
            for (int other = 0; other < 3; other++)
                check_least(&norms, all[other], s, 0.03, of(&f, all[other]));
        }
}

/* ---- closed forms for eta = 1/sqrt(t) without decay ---- */

static const struct schedule inverse_root = {SCHEDULE_INVERSE_SQRT, 1, 1, 0, STEPS, 0, 0};

static struct dynamics_fit fit_closed_form(double (*norm)(double t))
{
    struct weight_norms norms;

    for (int i = 0; i < POINTS; i++) {
        norms.step[i] = i * EVERY;
        norms.norm[i] = norm((double)norms.step[i]);
    }
    return fit(&norms, &inverse_root, 0);
}

/* The leading order of the product of 1 + k / sqrt(s): k is off by what the next orders leave. */
static double exponential_of_root(double t)
{
    return 3 * exp(2 * 0.002 * sqrt(t));
}

/* n^2 = prod (1 + k^2 / s) = Gamma(t + 1 + k^2) / (Gamma(t + 1) Gamma(1 + k^2)) ~ t^(k^2), k^2 = 0.6 */
static double power(double t)
{
    return 3 * exp((lgamma(t + 1.6) - lgamma(t + 1) - lgamma(1.6)) / 2);
}

/* The same with k = 1. */
static double root(double t)
{
    return 3 * sqrt(t + 1);
}

/* n^2 = n_0^2 + a (1 + 1/2 + ... + 1/t), a = 5 */
static double logarithmic(double t)
{
    double sum = 0;

    for (int s = 1; s <= (int)t; s++)
        sum += 1.0 / s;
    return sqrt(9 + 5 * sum);
}

TEST(dynamics_closed_forms)
{
    struct dynamics_fit f = fit_closed_form(exponential_of_root);
    CHECK(f.best == DYNAMICS_ALIGNED);
    CHECK_CLOSE(f.aligned.parameter, 0.002, 0.002 * 0.03);
    f = fit_closed_form(power);
    CHECK(f.best == DYNAMICS_MISALIGNED);
    CHECK_CLOSE(f.misaligned.parameter, sqrt(0.6), 1e-9);
    f = fit_closed_form(root);
    CHECK(f.best == DYNAMICS_MISALIGNED);
    CHECK_CLOSE(f.misaligned.parameter, 1, 1e-9);
    f = fit_closed_form(logarithmic);
    CHECK(f.best == DYNAMICS_ADAM_LIKE);
    CHECK_CLOSE(f.adam_like.parameter, 5, 1e-8);
}

/* A norm that falls once and then stays is no recursion's, though one that shrinks it fits better than those
 * that cannot. */
TEST(dynamics_of_what_nothing_fits)
{
    struct weight_norms norms;

    follow(&norms, DYNAMICS_ALIGNED, &schedules[0], 0, 0, START);
    for (int i = 1; i < POINTS; i++)
        norms.norm[i] *= 0.9;
    const struct dynamics_fit f = fit(&norms, &schedules[0], 0);
    CHECK(f.aligned.parameter < 0 && f.aligned.r2 < 0.5 && f.aligned.aic < f.adam_like.aic - 2);
    CHECK(f.best == DYNAMICS_NONE);
}

/* So little growth that noise hides by which recursion: both fit it well, and alike. */
TEST(dynamics_of_what_two_fit_alike)
{
    struct weight_norms norms;

    follow(&norms, DYNAMICS_ADAM_LIKE, &schedules[0], 0,
        parameter_for(DYNAMICS_ADAM_LIKE, &schedules[0], 1.01), START);
    disturb(&norms, 1e-3);
    const struct dynamics_fit f = fit(&norms, &schedules[0], 0);
    CHECK(f.adam_like.r2 > 0.8 && fabs(f.adam_like.aic - f.aligned.aic) < 2);
    CHECK(f.adam_like.aic != f.aligned.aic);
    CHECK(f.best == DYNAMICS_NONE);
}

/* ---- what cannot be fitted ---- */

static bool is_nan(const struct recursion_fit *fit)
{
    return isnan(fit->parameter) && isnan(fit->r2) && isnan(fit->aic);
}

static void check_nan(const double *norm, int64_t count)
{
    const int64_t step[] = {0, 10, 20, 30, 40};
    double curve[5] = {0};
    struct dynamics_fit f = {.misaligned.norm = curve};

    dynamics_fit(&schedules[0], 0.01, step, norm, count, &f);
    for (int64_t i = 0; i < count; i++)
        CHECK(isnan(curve[i]));
    CHECK(f.best == DYNAMICS_NONE);
    CHECK(is_nan(&f.aligned) && is_nan(&f.misaligned) && is_nan(&f.adam_like));
}

TEST(dynamics_of_norms_that_cannot_be_fitted)
{
    check_nan((const double[]){1, 2, 3}, 3);
    check_nan((const double[]){1, 2, NAN, 4, 5}, 5);
    check_nan((const double[]){1, 2, 3, INFINITY, 5}, 5);
    check_nan((const double[]){0, 2, 3, 4, 5}, 5);
    check_nan(NULL, 0);
}

TEST(dynamics_of_a_constant_norm)
{
    struct weight_norms norms;

    follow(&norms, DYNAMICS_ALIGNED, &schedules[1], 0, 0, 0.1);
    struct dynamics_fit f = fit(&norms, &schedules[1], 0);
    CHECK(f.best == DYNAMICS_NONE && isnan(f.aligned.r2) && isnan(f.misaligned.r2) && isnan(f.adam_like.r2));
    CHECK(f.aligned.parameter == 0 && f.misaligned.parameter == 0 && f.adam_like.parameter == 0);
    f = fit(&norms, &schedules[1], 0.5); /* k makes up for the decay, and no more */
    CHECK_CLOSE(f.aligned.parameter, 0.5, 1e-12);
    CHECK(f.best == DYNAMICS_NONE);
}

TEST(dynamics_of_a_norm_that_vanishes)
{
    const int64_t step[] = {0, 10, 20, 30, 40};
    const double norm[] = {2, 1e-5, 0, 0, 0};
    struct dynamics_fit f = {0};

    dynamics_fit(&schedules[0], 0.01, step, norm, 5, &f);
    CHECK_CLOSE(pow(1 + (f.aligned.parameter - 0.01) * 3e-3, 10), 5e-6, 1e-9);
    CHECK(f.best == DYNAMICS_ALIGNED && f.misaligned.parameter == 0 && f.adam_like.parameter == 0);
}

/* Decay alone: every recursion says so. */
TEST(dynamics_of_decay_alone)
{
    struct weight_norms norms;

    follow(&norms, DYNAMICS_ALIGNED, &schedules[1], 0.5, 0, 2);
    struct dynamics_fit f = fit(&norms, &schedules[1], 0.5);
    CHECK(f.best == DYNAMICS_NONE);
    CHECK_CLOSE(f.aligned.parameter, 0, 1e-12);
    CHECK_CLOSE(f.misaligned.parameter, 0, 1e-6);
    CHECK_CLOSE(f.adam_like.parameter, 0, 1e-9);
}

/* Steps that decay everything to 0 exactly, and steps that do more than that. */
TEST(dynamics_of_decay_beyond_everything)
{
    const struct schedule fast = {SCHEDULE_LINEAR, 0.5, 100, 0, STEPS, 0.1, 0};
    struct weight_norms norms;

    for (int i = 0; i < 3; i++) {
        double lambda = 2 + 0.5 * i;
        follow(&norms, DYNAMICS_MISALIGNED, &fast, lambda, 1.9, 2);
        struct dynamics_fit f = fit(&norms, &fast, lambda);
        CHECK_CLOSE(f.misaligned.parameter, 1.9, 1e-6);
        follow(&norms, DYNAMICS_ADAM_LIKE, &fast, lambda, 3, 2);
        f = fit(&norms, &fast, lambda);
        CHECK_CLOSE(f.adam_like.parameter, 3, 1e-6);
        CHECK(f.best == DYNAMICS_ADAM_LIKE);
    }
}
