/*
 * The slope is that of a straight line through the means over seeds, by least squares. Its interval is the
 * middle 95 % of draws, each the sum of the slope and of two deviations that do not depend on each other:
 *
 * Seeds. The slope of a resample: as many seeds as there are, drawn with replacement, each with its
 * boundaries at all places, because a seed may shift them all. Up to ALL_SEEDS, all n^n resamples are taken
 * equally often. A bootstrap of few seeds is too narrow: three values lie on one side of their mean's
 * expectation in one case of four. So the deviation is multiplied by sqrt(n / (n - 1)) and by the ratio of
 * Student's quantile to the normal one, as in the interval of a mean of n values. With one seed, its place is
 * taken by a normal deviation with the standard error that the residuals of the line give, and Student's
 * factor for them. Residuals also hold what is not straight about the boundary. Two places have no residuals,
 * so there is no interval.
 *
 * Brackets. Each boundary lies between two runs, and nothing is assumed about where: it is drawn uniformly,
 * in the logarithm. Seeds of one place share the draw, because runs on the same grid miss the boundary by
 * the same amount; if it were drawn for each, many seeds would seem to make up for a coarse grid.
 *
 * In simulations with normal noise the interval covers the true slope in 93 to 96 % of cases where seeds
 * decide its width, and in up to 99 % where brackets do, because interpolation is better than a uniform draw.
 * Without both factors it would be 50 % for two seeds and 75 % for three. With several seeds the interval is
 * that of the straight line fitted over these places; what is not straight about the boundary is not in it.
 *
 * Draws are numbered by the places of values and seeds along their axes. In another order an interval has
 * other draws, and ends within the noise of DRAWS of them.
 *
 * The draws may all lie beside the interpolated slope if that uses the far ends of brackets; the interval is
 * then extended to it.
 */
#include "driver/boundary/slope.h"

#include "model/core/random.h"

#include <math.h>
#include <stdlib.h>

enum { ALL_SEEDS = 5, DRAWS = 10000, HALVINGS = 100 };

#define NORMAL 1.959963984540054 /* 97.5 % of a normal variable are below */
#define TAIL 0.025
#define PI 3.14159265358979323846

/* ---- Student's distribution ---- */

/* The probability that a variable of Student's distribution is within [-t, t]: Abramowitz and Stegun,
 * 26.7.3 and 26.7.4. */
static double student_within(double t, int64_t freedom)
{
    double angle = atan(t / sqrt((double)freedom)), square = cos(angle) * cos(angle), sum = 0;
    bool odd = freedom % 2;
    double term = odd ? cos(angle) : 1;

    for (int64_t i = odd ? 3 : 2; i <= freedom; i += 2) {
        sum += term;
        term *= square * (double)(i - 1) / (double)i;
    }
    return odd ? 2 / PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double slope_student(int64_t freedom)
{
    double low = NORMAL, high = 13;

    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (student_within(middle, freedom) < 1 - 2 * TAIL)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* ---- lines ---- */

/* A line by least squares through the points whose y is not NaN. */
struct fitted_line {
    int64_t points;
    double x, y; /* their means */
    double spread; /* sum of squares of x about its mean */
    double slope; /* NaN with fewer than two points */
};

static struct fitted_line line_fit(int64_t count, const double *x, const double *y)
{
    struct fitted_line line = {0};
    double product = 0;

    for (int64_t i = 0; i < count; i++)
        if (!isnan(y[i])) {
            line.points++;
            line.x += x[i];
            line.y += y[i];
        }
    line.x /= (double)line.points;
    line.y /= (double)line.points;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(y[i])) {
            line.spread += (x[i] - line.x) * (x[i] - line.x);
            product += (x[i] - line.x) * (y[i] - line.y);
        }
    line.slope = line.points < 2 ? NAN : product / line.spread;
    return line;
}

/* The standard error of the slope from the residuals, of which `freedom` are free. */
static double line_error(
    const struct fitted_line *line, int64_t count, const double *x, const double *y, int64_t freedom)
{
    double squares = 0;

    for (int64_t i = 0; i < count; i++)
        if (!isnan(y[i])) {
            double residual = y[i] - line->y - line->slope * (x[i] - line->x);
            squares += residual * residual;
        }
    return sqrt(squares / (double)freedom / line->spread);
}

/* ---- draws ---- */

struct draws {
    const struct slope_data *data;
    double *mean, *low, *high; /* [places] over all seeds; NaN: no boundary */
    double *drawn; /* [places] */
    int64_t *seed, seeds; /* [seeds] those with a boundary */
    int64_t *times; /* [data->seeds] how often a resample has a seed */
    double *resampled; /* [resamples] slopes of all resamples of a few seeds */
    int64_t resamples;
    double *slope; /* [count] */
    int64_t count;
};

/* Means over seeds at each place; `times` NULL: each seed once. */
static void average(const struct slope_data *data, const double *value, const int64_t *times, double *mean)
{
    for (int64_t i = 0; i < data->places; i++) {
        double sum = 0, weight = 0;
        for (int64_t j = 0; j < data->seeds; j++)
            if (!isnan(data->y[i * data->seeds + j]) && (!times || times[j] > 0)) {
                double some = times ? (double)times[j] : 1;
                sum += some * value[i * data->seeds + j];
                weight += some;
            }
        mean[i] = weight > 0 ? sum / weight : NAN;
    }
}

static double resample_slope(struct draws *d)
{
    average(d->data, d->data->y, d->times, d->drawn);
    return line_fit(d->data->places, d->data->x, d->drawn).slope;
}

static void count_none(struct draws *d)
{
    for (int64_t j = 0; j < d->data->seeds; j++)
        d->times[j] = 0;
}

/* A resample by its number, whose digits in base n are the places of its seeds. */
static double slope_of_number(struct draws *d, int64_t number)
{
    count_none(d);
    for (int64_t i = 0; i < d->seeds; i++, number /= d->seeds)
        d->times[d->seed[number % d->seeds]]++;
    return resample_slope(d);
}

/* Random numbers of a draw: those for brackets, then those for seeds. */
enum { FOR_BRACKETS, FOR_SEEDS };

static uint64_t index_of(int64_t draw, int what, int64_t which)
{
    return (uint64_t)draw << 33 | (uint64_t)what << 32 | (uint64_t)which;
}

/* A random resample, of many seeds. */
static double slope_of_draw(struct draws *d, int64_t draw)
{
    count_none(d);
    for (int64_t i = 0; i < d->seeds; i++)
        d->times[d->seed[random_below(
            0, RANDOM_INTERVAL, index_of(draw, FOR_SEEDS, i), (uint64_t)d->seeds)]]++;
    return resample_slope(d);
}

/* The slope if each boundary is drawn within its bracket. */
static double slope_in_brackets(struct draws *d, int64_t draw)
{
    for (int64_t i = 0; i < d->data->places; i++) {
        double share = random_uniform(0, RANDOM_INTERVAL, index_of(draw, FOR_BRACKETS, i));
        d->drawn[i] = d->low[i] + share * (d->high[i] - d->low[i]);
    }
    return line_fit(d->data->places, d->data->x, d->drawn).slope;
}

bool slope_has_spread(const int64_t *known, int64_t seeds)
{
    int64_t telling = 0;

    for (int64_t j = 0; j < seeds; j++)
        telling += known[j] >= 2;
    return telling >= 2;
}

/* Finds the seeds that can be resampled. False: the spread between them is unknown. */
static bool find_seeds(struct draws *d)
{
    const struct slope_data *data = d->data;
    int64_t *known = d->times; /* which has no other use yet */

    count_none(d);
    for (int64_t j = 0; j < data->seeds; j++) {
        for (int64_t i = 0; i < data->places; i++)
            known[j] += !isnan(data->y[i * data->seeds + j]);
        if (known[j] > 0)
            d->seed[d->seeds++] = j;
    }
    return slope_has_spread(known, data->seeds);
}

static void resample_all(struct draws *d)
{
    if (d->seeds > ALL_SEEDS)
        return;
    d->resamples = 1;
    for (int64_t i = 0; i < d->seeds; i++)
        d->resamples *= d->seeds;
    for (int64_t i = 0; i < d->resamples; i++)
        d->resampled[i] = slope_of_number(d, i);
}

static void draw_with_seeds(struct draws *d, double slope)
{
    double n = (double)d->seeds;
    double widening = slope_student(d->seeds - 1) / NORMAL * sqrt(n / (n - 1));

    resample_all(d);
    int64_t each = d->resamples ? (DRAWS + d->resamples - 1) / d->resamples : DRAWS;
    for (int64_t i = 0; i < each * (d->resamples ? d->resamples : 1); i++) {
        double seeds = d->resamples ? d->resampled[i % d->resamples] : slope_of_draw(d, i);
        if (!isnan(seeds))
            d->slope[d->count++] = slope_in_brackets(d, i) + widening * (seeds - slope);
    }
}

/* No draws at all if the line has no residuals. */
static void draw_with_residuals(struct draws *d)
{
    const struct slope_data *data = d->data;
    const struct fitted_line line = line_fit(data->places, data->x, d->mean);
    int64_t freedom = line.points - 2;

    if (freedom < 1)
        return;
    double error =
        line_error(&line, data->places, data->x, d->mean, freedom) * slope_student(freedom) / NORMAL;
    for (int64_t i = 0; i < DRAWS; i++)
        d->slope[d->count++] =
            slope_in_brackets(d, i) + error * random_normal(0, RANDOM_INTERVAL, index_of(i, FOR_SEEDS, 0));
}

static int compare_slopes(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;

    return (first > second) - (first < second);
}

/* A quantile of sorted draws, between the two nearest. */
static double quantile(const struct draws *d, double share)
{
    double place = share * (double)(d->count - 1);
    int64_t below = (int64_t)place, above = below + 1 < d->count ? below + 1 : below;

    return d->slope[below] + (place - (double)below) * (d->slope[above] - d->slope[below]);
}

static void find_interval(struct draws *d, struct slope *slope)
{
    if (find_seeds(d))
        draw_with_seeds(d, slope->slope);
    else
        draw_with_residuals(d);
    if (d->count == 0)
        return;
    qsort(d->slope, (size_t)d->count, sizeof(*d->slope), compare_slopes);
    slope->low = fmin(quantile(d, TAIL), slope->slope);
    slope->high = fmax(quantile(d, 1 - TAIL), slope->slope);
}

static void draws_release(struct draws *d)
{
    free(d->mean);
    free(d->seed);
    free(d->slope);
}

/* Places for all numbers. -1: no memory. */
static int draws_init(struct draws *d, const struct slope_data *data)
{
    const int64_t most = 3125; /* ALL_SEEDS to its own power */
    size_t places = (size_t)data->places;

    *d = (struct draws){.data = data};
    d->mean = malloc(4 * places * sizeof(*d->mean));
    d->seed = malloc(2 * (size_t)data->seeds * sizeof(*d->seed));
    d->slope = malloc((size_t)(DRAWS + 2 * most) * sizeof(*d->slope));
    if (!d->mean || !d->seed || !d->slope)
        return -1;
    d->low = d->mean + places;
    d->high = d->low + places;
    d->drawn = d->high + places;
    d->times = d->seed + data->seeds;
    d->resampled = d->slope + DRAWS + most;
    return 0;
}

int slope_fit(const struct slope_data *data, struct slope *slope)
{
    struct draws draws;
    int result = draws_init(&draws, data);

    *slope = (struct slope){NAN, NAN, NAN};
    if (result == 0) {
        average(data, data->y, NULL, draws.mean);
        average(data, data->low, NULL, draws.low);
        average(data, data->high, NULL, draws.high);
        slope->slope = line_fit(data->places, data->x, draws.mean).slope;
        if (!isnan(slope->slope))
            find_interval(&draws, slope);
    }
    draws_release(&draws);
    return result;
}
