#include "model/instruments/tridiagonal.h"

#include <float.h>
#include <math.h>

/* No eigenvalue needs more than a few rounds. */
enum { ROUNDS_MOST = 60 };

/* Is element i beside the diagonal as good as 0? */
static int is_split(const double *diagonal, const double *beside, int64_t i)
{
    return fabs(beside[i]) <= DBL_EPSILON * (fabs(diagonal[i]) + fabs(diagonal[i + 1]));
}

/*
 * One implicit QL step on rows first .. last, shifted by the eigenvalue of the leading 2 x 2 block that is
 * closer to diagonal[first]. `vector` holds the first components of the eigenvectors.
 */
static void ql_step(double *diagonal, double *beside, double *vector, int64_t first, int64_t last)
{
    double g = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first]);
    double sine = 1, cosine = 1, moved = 0;

    g = diagonal[last] - diagonal[first] + beside[first] / (g + copysign(hypot(g, 1), g));
    for (int64_t i = last - 1; i >= first; i--) {
        double f = sine * beside[i], b = cosine * beside[i], r = hypot(f, g);
        beside[i + 1] = r;
        if (r == 0) { /* splits here */
            diagonal[i + 1] -= moved;
            beside[last] = 0;
            return;
        }
        sine = f / r;
        cosine = g / r;
        g = diagonal[i + 1] - moved;
        r = (diagonal[i] - g) * sine + 2 * cosine * b;
        moved = sine * r;
        diagonal[i + 1] = g + moved;
        g = cosine * r - b;
        double above = vector[i + 1];
        vector[i + 1] = sine * vector[i] + cosine * above;
        vector[i] = cosine * vector[i] - sine * above;
    }
    diagonal[first] -= moved;
    beside[first] = g;
    beside[last] = 0;
}

static int all_finite(const double *diagonal, const double *beside, int64_t count)
{
    int finite = 1;

    for (int64_t i = 0; i < count; i++)
        finite = finite && isfinite(diagonal[i]) && isfinite(beside[i]);
    return finite;
}

/* 0, or -1: something is not finite, or an eigenvalue did not settle. */
static int diagonalise(double *diagonal, double *beside, double *vector, int64_t count)
{
    if (!all_finite(diagonal, beside, count))
        return -1;
    for (int64_t first = 0; first < count; first++)
        for (int round = 0;; round++) {
            int64_t last = first;
            while (last < count - 1 && !is_split(diagonal, beside, last))
                last++;
            if (last == first)
                break;
            if (round == ROUNDS_MOST)
                return -1;
            ql_step(diagonal, beside, vector, first, last);
        }
    return 0;
}

static void sort_pairs(double *value, double *with, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        for (int64_t j = i; j > 0 && value[j] < value[j - 1]; j--) {
            double v = value[j], w = with[j];
            value[j] = value[j - 1];
            with[j] = with[j - 1];
            value[j - 1] = v;
            with[j - 1] = w;
        }
}

void tridiagonal_solve(double *diagonal, double *beside, double *weight, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        weight[i] = i == 0;
    beside[count - 1] = 0;
    if (diagonalise(diagonal, beside, weight, count) != 0) {
        for (int64_t i = 0; i < count; i++)
            diagonal[i] = weight[i] = NAN;
        return;
    }
    for (int64_t i = 0; i < count; i++)
        weight[i] *= weight[i];
    sort_pairs(diagonal, weight, count);
}
