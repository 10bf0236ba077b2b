"""Means of a few numbers and their differences, each with an interval and a probability; for 2 to 5 seeds.

Every function takes arrays whose last axis is the seeds, NaN where a seed is missing. Intervals and tests are Student's
for pairs and Welch's otherwise, which hold for normal numbers however few they are. The exact tests rearrange the seeds
and assume less, but with n pairs their probability cannot fall below 2^(1-n).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, stdtr

from .hints import Array, Numbers

LEVEL = 0.05  # of tests; intervals cover with a probability of 1 - LEVEL
ARRANGEMENTS = 100_000  # up to so many, all rearrangements are taken; of more, so many draws
CLOSE = 1e-12  # relative difference below which the means of two arrangements are equal
NORMAL = 1.959963984540054  # Student's quantile for infinitely many degrees of freedom


class Estimate(NamedTuple):
    """A mean or a difference of means; NaN where there is none. Each is an array without the axis of seeds."""

    value: Array
    low: Array
    high: Array
    p: Array  # the probability of a value as far from 0, if the true one is 0


def paired(a: Numbers, b: Numbers) -> Estimate:
    """b - a of pairs, [..., n] each: the mean over the pairs that have both."""
    return mean(np.asarray(b, float) - np.asarray(a, float))


def mean(values: Numbers) -> Estimate:
    """The mean of the values that are not NaN, with Student's interval; no interval for fewer than two."""
    values = np.asarray(values, float)
    count, middle, variance = moments(values)
    return estimate(middle, error(variance, count), np.where(count > 1, count - 1, np.nan))


def unpaired(a: Numbers, b: Numbers) -> Estimate:
    """mean(b) - mean(a) of independent samples [..., n] and [..., m], with Welch's interval, which allows for unequal
    variances; no interval unless both have two values. If one has two and the other more, there is one degree of
    freedom: Welch's would be wrong in 10 % of cases instead of 5 % where the two vary more than the others."""
    (count_a, mean_a, variance_a), (count_b, mean_b, variance_b) = moments(a), moments(b)
    share_a, share_b = error(variance_a, count_a) ** 2, error(variance_b, count_b) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = (share_a + share_b) ** 2 / (share_a ** 2 / (count_a - 1) + share_b ** 2 / (count_b - 1))
    least = np.minimum(count_a, count_b) - 1.0
    certain = share_a + share_b == 0
    freedom = np.where(certain | (least == 1) & (count_a != count_b), least, freedom)
    return estimate(mean_b - mean_a, np.sqrt(share_a + share_b), np.where(least > 0, freedom, np.nan))


def moments(values: Numbers) -> tuple[Array, Array, Array]:
    """(number, mean, variance with n - 1) of the values that are not NaN, along the last axis."""
    values = np.asarray(values, float)
    known = ~np.isnan(values)
    count = known.sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = np.where(known, values, 0).sum(-1) / np.where(count > 0, count, np.nan)
        squares = np.where(known, (values - middle[..., np.newaxis]) ** 2, 0).sum(-1)
        return count, middle, squares / np.where(count > 1, count - 1, np.nan)


def error(variance: Array, count: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(variance / count)


def estimate(value: Array, spread: Array, freedom: Array) -> Estimate:
    """The interval and the probability of a value with a standard error. Without a spread the value is certain."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where((value == 0) & (spread == 0), 0, np.abs(value) / spread)
    width = spread * student_quantile(freedom)
    known = np.isfinite(freedom)
    return Estimate(value, np.where(known, value - width, np.nan), np.where(known, value + width, np.nan),
                    student_outside(ratio, freedom))


# ---- exact tests ----

def sign_flips(differences: Numbers) -> float:
    """The probability, over all ways to swap the members of n pairs, that |mean difference| is as large as it is.
    Exact if swapping changes nothing but the names; never below 2^(1-n). NaN for fewer than two pairs."""
    known = np.asarray(differences, float)
    known = known[~np.isnan(known)]
    return as_large(known.mean(), (known,), "samples") if len(known) > 1 else math.nan


def exchanges(a: Numbers, b: Numbers) -> float:
    """The same for two independent samples: over all ways to divide their n + m values anew. Never below 1 / number of
    ways, or 2 / number of ways for samples of one size. NaN unless both have two values."""
    one, two = (part[~np.isnan(part)] for part in (np.asarray(a, float), np.asarray(b, float)))
    if min(len(one), len(two)) < 2:
        return math.nan
    return as_large(two.mean() - one.mean(), (one, two), "independent")


def as_large(observed: float, samples: tuple[Array, ...], kind: str) -> float:
    """The share of the rearrangements whose |difference of means| is at least |observed|, up to rounding."""
    from scipy.stats import permutation_test  # takes a second to import

    def is_as_large(*parts: Array, axis: int) -> Array:
        means = [part.mean(axis) for part in parts]
        return np.abs(means[-1] - (means[0] if len(means) > 1 else 0)) >= abs(observed) * (1 - CLOSE)
    found = permutation_test(samples, is_as_large, permutation_type=kind, vectorized=True, n_resamples=ARRANGEMENTS,
                             alternative="greater", random_state=0)
    return float(found.pvalue)


def least_of_flips(n: int) -> float:
    """The smallest probability that sign_flips can give."""
    return 2.0 ** (1 - n) if n > 1 else math.nan


def least_of_exchanges(n: int, m: int) -> float:
    """The smallest probability that exchanges can give: samples of one size have a mirror image."""
    return (2 if n == m else 1) / math.comb(n + m, m) if min(n, m) > 1 else math.nan


# ---- many tests ----

def discoveries(p: Numbers) -> Array:
    """Benjamini and Hochberg's q for each probability: of the cells with q <= 0.05, an expected share of at most 0.05
    does not differ. If none differs, one has such a q with a probability of at most 0.05. NaN where p is."""
    p = np.asarray(p, float)
    q, known = np.full(p.shape, np.nan), ~np.isnan(p)
    values = p[known]
    order = np.argsort(values)
    adjusted = values[order] * len(values) / np.arange(1, len(values) + 1)
    found = np.empty(len(values))
    found[order] = np.minimum(np.minimum.accumulate(adjusted[::-1])[::-1], 1)
    q[known] = found
    return q


# ---- Student's distribution, also for degrees of freedom that are not whole, as Welch's are ----

def student_outside(t: Numbers, freedom: Numbers) -> Array:
    """The probability that a variable of Student's distribution is outside (-t, t)."""
    return np.asarray(2 * stdtr(freedom, np.negative(t)))


def student_quantile(freedom: Numbers) -> Array:
    """The t outside of which such a variable is with a probability of LEVEL."""
    freedom = np.asarray(freedom, float)
    share = betaincinv(freedom / 2, 0.5, LEVEL)  # stdtrit has nine digits only
    return np.asarray(np.sqrt(freedom / share - freedom))
