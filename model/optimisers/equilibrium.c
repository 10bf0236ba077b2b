/*
 * Rotation and RMS of a tensor in the equilibrium of weight decay and noise, from how long an update is
 * remembered: closed forms and one series, each simulated by a test.
 */
#include "model/optimisers/optimisers.h"

#include <math.h>

/* 1 + q + .. + q^(count - 1) */
static double geometric(double q, double count)
{
    return (1 - pow(q, count)) / (1 - q);
}

double memory_of_mean(double beta, double decayed, double steps)
{
    return beta * geometric(beta * (1 - decayed), steps);
}

/* Terms of the series of asin; they fall at least as fast as k^(-3/2) / k, and usually as r^(2k). */
enum { TERMS = 1000 };

/* asin(r b^(j-1)) is a series of odd powers, and each of them summed over j is geometric. */
double memory_of_sign(double beta1, double beta2, double decayed, double steps)
{
    /* The mixture c = beta1 m + (1 - beta1) g holds the last gradient with weight 1 - beta1 and the j-th
     * before it with beta1 (1 - beta2) beta2^(j-1). Its correlation over j steps is r beta2^(j-1). */
    double rest1 = 1 - beta1, rest2 = 1 - beta2;
    double variance = rest1 * rest1 + beta1 * beta1 * rest2 / (1 + beta2);
    double r = beta1 * rest2 * (rest1 + beta1 * beta2 / (1 + beta2)) / variance, sum = 0;
    double term = r, ratio = beta2; /* coefficient times r^n, and beta2^n, for n = 2 k + 1 */

    for (int k = 0; k < TERMS; k++) {
        double n = 2 * k + 1, more = term * geometric(ratio * (1 - decayed), steps);
        sum += more;
        if (!(fabs(more) > 1e-15 * fabs(sum)))
            break;
        term *= r * r * n * n / ((n + 1) * (n + 2));
        ratio *= beta2 * beta2;
    }
    return M_2_PI * sum;
}

struct equilibrium equilibrium_of_walk(double memory, double decayed, double update, double rate)
{
    double turn = sqrt((2 - decayed) * decayed / (1 + 2 * (1 - decayed) * memory));

    if (!(decayed > 0 && decayed < 2))
        return equilibrium_unknown();
    return (struct equilibrium){.rotation = turn, .rms = rate * update / turn};
}

struct equilibrium equilibrium_unknown(void)
{
    return (struct equilibrium){NAN, NAN};
}
