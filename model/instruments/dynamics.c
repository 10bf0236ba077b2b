/*
 * Every recursion has one free parameter, and the norm that it predicts for a step grows with the parameter.
 * So each measured norm is met by one value of the parameter, and the least squares lie between the smallest
 * and the largest of these values: below them all predictions are too small, above them all are too large.
 * One pass over the steps bounds the values. Further passes try a grid of values at once and narrow it to the
 * neighbours of the best. That needs no derivative and no starting point, and it stays correct where norms
 * grow a hundredfold or vanish.
 */
#include "model/instruments/instruments.h"

#include <math.h>

/* Fits of fewer points are NaN. Each pass shrinks the grid 7.5 times; all together, to 1e-17. */
enum { FIT_POINTS = 4, GRID = 16, PASSES = 20 };

/* The relative width of the grid at which the search ends. */
static const double RESOLUTION = 1e-13;

/* Residuals below this share of the norm are rounding: of the weights, of their sums, of a million steps of a
 * recursion. Without this bound an exact fit would win by the logarithm of 0. */
static const double ROUNDING = 1e-9;

struct norm_series {
    const struct schedule *schedule;
    double decay;
    const int64_t *step;
    const double *norm;
    int64_t count;
};

/* ---- recursions ---- */

/* One step of the norm, or of its square, for each value of the parameter. kept = 1 - eta lambda */
typedef void recursion_step(double *state, const double *parameter, double rate, double kept);

/* The parameter is k - lambda here, so that the fit does not depend on the decay. */
static void aligned_step(double *norm, const double *parameter, double rate, double kept)
{
    (void)kept;
    for (int i = 0; i < GRID; i++)
        norm[i] *= 1 + parameter[i] * rate;
}

/* The parameter is k^2. */
static void misaligned_step(double *square, const double *parameter, double rate, double kept)
{
    for (int i = 0; i < GRID; i++)
        square[i] *= kept * kept + parameter[i] * (rate * rate);
}

static void adam_like_step(double *square, const double *parameter, double rate, double kept)
{
    for (int i = 0; i < GRID; i++)
        square[i] = kept * kept * square[i] + parameter[i] * (rate * rate);
}

struct recursion {
    recursion_step *step;
    bool squared; /* the state is the square of the norm */
};

static const struct recursion aligned = {aligned_step, false};
static const struct recursion misaligned = {misaligned_step, true};
static const struct recursion adam_like = {adam_like_step, true};

/* sum [GRID] = the sums of squared residuals for each value of the parameter [GRID]. norm [count], unless it
 * is NULL, = the norms under the first value. */
static void residuals(const struct norm_series *s, const struct recursion *recursion, const double *parameter,
    double *sum, double *norm)
{
    double state[GRID];

    for (int i = 0; i < GRID; i++) {
        state[i] = recursion->squared ? s->norm[0] * s->norm[0] : s->norm[0];
        sum[i] = 0;
    }
    if (norm)
        norm[0] = s->norm[0];
    for (int64_t point = 1; point < s->count; point++) {
        for (int64_t step = s->step[point - 1] + 1; step <= s->step[point]; step++) {
            double rate = schedule_rate(s->schedule, step);
            recursion->step(state, parameter, rate, 1 - rate * s->decay);
        }
        for (int i = 0; i < GRID; i++) {
            double rest = (recursion->squared ? sqrt(state[i]) : state[i]) - s->norm[point];
            sum[i] += rest * rest;
        }
        if (norm)
            norm[point] = recursion->squared ? sqrt(state[0]) : state[0];
    }
}

/* ---- where the parameter lies ---- */

struct bracket {
    double low, high;
};

static const struct bracket EMPTY = {INFINITY, -INFINITY};

static void bracket_widen(struct bracket *bracket, double value)
{
    bracket->low = fmin(bracket->low, value);
    bracket->high = fmax(bracket->high, value);
}

static struct bracket not_negative(struct bracket bracket)
{
    return (struct bracket){fmax(bracket.low, 0), fmax(bracket.high, 0)};
}

/*
 * Bounds of x in the equation sum of ln(1 + x w_s) = y, from the quotients y / sum of w_s. The logarithm is
 * concave, so it lies below its tangent x w_s and above its chord from 0 to the largest w. Both bounds are
 * exact for small x, and the chord for equal w.
 */
static struct bracket between_tangent_and_chord(struct bracket quotient, double largest)
{
    return (struct bracket){quotient.low, expm1(largest * quotient.high) / largest};
}

struct brackets {
    struct bracket aligned, misaligned, adam_like;
};

static void bracket_parameters(const struct norm_series *s, struct brackets *brackets)
{
    /* Sums over the steps so far, and the largest terms; with r = eta / (1 - eta lambda): */
    double rates = 0, largest_rate = 0; /* of eta */
    double squares = 0, largest_square = 0; /* of r^2 */
    double log_kept = 0, log_rate = 0; /* of ln |1 - eta lambda|, of ln eta */
    double decayed = s->norm[0] * s->norm[0], gained = 0; /* n^2 is decayed + a * gained if Adam-like */
    struct bracket along = EMPTY, across = EMPTY, at_most = EMPTY, added = EMPTY;

    for (int64_t point = 1; point < s->count; point++) {
        for (int64_t step = s->step[point - 1] + 1; step <= s->step[point]; step++) {
            double rate = schedule_rate(s->schedule, step), kept = 1 - rate * s->decay;
            double square = rate * rate / (kept * kept);
            rates += rate;
            largest_rate = fmax(largest_rate, rate);
            squares += square;
            largest_square = fmax(largest_square, square);
            log_kept += log(fabs(kept));
            log_rate += log(rate);
            decayed *= kept * kept;
            gained = kept * kept * gained + rate * rate;
        }
        double norm = s->norm[point], grown = log(norm / s->norm[0]);
        bracket_widen(&along, grown / rates);
        bracket_widen(&across, 2 * (grown - log_kept) / squares);
        bracket_widen(&at_most, exp(2 * (grown - log_rate) / (double)(s->step[point] - s->step[0])));
        bracket_widen(&added, (norm * norm - decayed) / gained);
    }
    brackets->aligned = between_tangent_and_chord(along, largest_rate);
    brackets->aligned.low = fmax(brackets->aligned.low, -1 / largest_rate); /* norms are not negative */
    brackets->misaligned = between_tangent_and_chord(across, largest_square);
    /* Each factor of n^2 is at least k^2 eta^2, even where eta lambda = 1, which decays everything. */
    brackets->misaligned.high = fmin(brackets->misaligned.high, at_most.high);
    if (!isfinite(squares))
        brackets->misaligned = (struct bracket){0, at_most.high};
    brackets->misaligned = not_negative(brackets->misaligned);
    brackets->adam_like = not_negative(added);
}

/* ---- fits ---- */

/* Returns the parameter with the least sum of squared residuals, and sets *least to that sum. */
static double minimise(
    const struct norm_series *s, const struct recursion *recursion, struct bracket bracket, double *least)
{
    double parameter[GRID], sum[GRID], found = NAN;

    *least = INFINITY;
    for (int pass = 0; pass < PASSES; pass++) {
        int best = 0;
        for (int i = 0; i < GRID; i++)
            parameter[i] = bracket.low + (bracket.high - bracket.low) * i / (GRID - 1);
        residuals(s, recursion, parameter, sum, NULL);
        for (int i = 1; i < GRID; i++)
            if (sum[i] < sum[best])
                best = i;
        if (sum[best] < *least) {
            *least = sum[best];
            found = parameter[best];
        }
        bracket.low = parameter[best > 0 ? best - 1 : 0];
        bracket.high = parameter[best < GRID - 1 ? best + 1 : GRID - 1];
        if (!(bracket.high - bracket.low > RESOLUTION * fmax(fabs(bracket.low), fabs(bracket.high))))
            break;
    }
    return found;
}

/* The sum of squares about the mean; exactly 0 for constant norms. */
static double spread(const struct norm_series *s)
{
    double mean = 0, sum = 0;

    for (int64_t i = 0; i < s->count; i++)
        mean += (s->norm[i] - s->norm[0]) / (double)s->count;
    for (int64_t i = 0; i < s->count; i++) {
        double rest = s->norm[i] - s->norm[0] - mean;
        sum += rest * rest;
    }
    return sum;
}

static void set_none(struct recursion_fit *fit, int64_t count)
{
    fit->parameter = fit->r2 = fit->aic = NAN;
    for (int64_t i = 0; fit->norm && i < count; i++)
        fit->norm[i] = NAN;
}

/* Leaves fit as it is where no value of the parameter has finite norms. */
static void fit_recursion(const struct norm_series *s, const struct recursion *recursion,
    struct bracket bracket, struct recursion_fit *fit)
{
    double points = (double)(s->count - 1), total = spread(s), least, rounding = ROUNDING * s->norm[0];
    double parameter = minimise(s, recursion, bracket, &least);

    if (!isfinite(least))
        return;
    fit->parameter = parameter;
    fit->r2 = total > 0 ? 1 - least / total : NAN;
    fit->aic =
        points * log(fmax(least / points, rounding * rounding)) + 2 * 2; /* its own, and the variance */
    if (fit->norm) {
        double same[GRID], sum[GRID];
        for (int i = 0; i < GRID; i++)
            same[i] = parameter;
        residuals(s, recursion, same, sum, fit->norm);
    }
}

/* The rule of Burnham and Anderson, "Model Selection and Multimodel Inference". */
static bool are_alike(const struct recursion_fit *a, const struct recursion_fit *b)
{
    return fabs(a->aic - b->aic) < 2;
}

static enum dynamics classify(const struct dynamics_fit *f)
{
    const struct recursion_fit *relative = f->aligned.aic < f->misaligned.aic ? &f->aligned : &f->misaligned;
    const struct recursion_fit *best = f->adam_like.aic < relative->aic ? &f->adam_like : relative;

    if (isnan(f->aligned.r2) || isnan(f->misaligned.r2) || !(best->r2 >= DYNAMICS_R2_LEAST) ||
        are_alike(relative, &f->adam_like))
        return DYNAMICS_NONE;
    if (best == &f->adam_like)
        return DYNAMICS_ADAM_LIKE;
    if (are_alike(&f->aligned, &f->misaligned))
        return DYNAMICS_RELATIVE;
    return relative == &f->aligned ? DYNAMICS_ALIGNED : DYNAMICS_MISALIGNED;
}

void dynamics_fit(const struct schedule *schedule, double decay, const int64_t *step, const double *norm,
    int64_t count, struct dynamics_fit *fit)
{
    const struct norm_series s = {schedule, decay, step, norm, count};
    struct brackets brackets;
    bool fits = count >= FIT_POINTS && norm[0] > 0;

    for (int64_t i = 0; fits && i < count; i++)
        fits = isfinite(norm[i]);
    set_none(&fit->aligned, count);
    set_none(&fit->misaligned, count);
    set_none(&fit->adam_like, count);
    fit->best = DYNAMICS_NONE;
    if (!fits)
        return;
    bracket_parameters(&s, &brackets);
    fit_recursion(&s, &aligned, brackets.aligned, &fit->aligned);
    fit->aligned.parameter += decay;
    fit_recursion(&s, &misaligned, brackets.misaligned, &fit->misaligned);
    fit->misaligned.parameter = sqrt(fit->misaligned.parameter);
    fit_recursion(&s, &adam_like, brackets.adam_like, &fit->adam_like);
    fit->best = classify(fit);
}
