"""Means of a few numbers and their differences, each with an interval and a probability; for 2 to 5 seeds.

Every function takes arrays whose last axis is the seeds, NaN where a seed is missing. Intervals and tests are Student's
for pairs and Welch's otherwise, which hold for normal numbers however few they are. The exact tests rearrange the seeds
and assume less, but with n pairs their probability cannot fall below 2^(1-n).
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from .hints import Array, Numbers

LEVEL = 0.05  # of tests; intervals cover with a probability of 1 - LEVEL
ARRANGEMENTS = 100_000  # up to so many, all rearrangements are taken; of more, so many draws
CLOSE = 1e-12  # relative difference below which the means of two arrangements are equal
TERMS = 100  # of the continued fraction, enough for 10,000 degrees of freedom
NORMAL, MOST = 1.959963984540054, 12.71  # Student's quantiles for infinitely many degrees of freedom, and above 1
HALVINGS = 50


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
    n = len(known)
    if n < 2:
        return math.nan
    if 2 ** n <= ARRANGEMENTS:
        signs = np.array(list(itertools.product((1, -1), repeat=n)))
        return share_as_large(signs @ known, known.sum(), drawn=False)
    signs = np.random.default_rng(0).choice((1, -1), (ARRANGEMENTS, n))
    return share_as_large(signs @ known, known.sum(), drawn=True)


def exchanges(a: Numbers, b: Numbers) -> float:
    """The same for two independent samples: over all ways to divide their n + m values anew. Never below 1 / number of
    ways, or 2 / number of ways for samples of one size. NaN unless both have two values."""
    one, two = (part[~np.isnan(part)] for part in (np.asarray(a, float), np.asarray(b, float)))
    n, m = len(one), len(two)
    if min(n, m) < 2:
        return math.nan
    values = np.concatenate([two, one]) - np.concatenate([one, two]).mean()
    if math.comb(n + m, m) <= ARRANGEMENTS:
        places = np.array(list(itertools.combinations(range(n + m), m)))
        return share_as_large(values[places].sum(1), values[:m].sum(), drawn=False)
    draws = np.random.default_rng(0).permuted(np.tile(values, (ARRANGEMENTS, 1)), axis=1)[:, :m]
    return share_as_large(draws.sum(1), values[:m].sum(), drawn=True)


def share_as_large(found: Array, observed: float, drawn: bool) -> float:
    """The share of the arrangements at least as far from 0. Drawn ones do not contain the observed one: it is added."""
    count = int((np.abs(found) >= abs(observed) * (1 - CLOSE)).sum())
    return (count + drawn) / (len(found) + drawn)


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
    """The probability that a variable of Student's distribution is outside (-t, t): the regularised incomplete beta
    function of freedom / (freedom + t^2) for freedom / 2 and 1 / 2."""
    t, freedom = np.broadcast_arrays(np.asarray(t, float), np.asarray(freedom, float))
    found = np.full(t.shape, np.nan)
    known = ~np.isnan(t) & np.isfinite(freedom)
    square = np.minimum(t[known], 1e150) ** 2
    found[known] = beta_share(freedom[known], square)
    return found


def student_quantile(freedom: Numbers) -> Array:
    """The t outside of which such a variable is with a probability of LEVEL; 1 degree of freedom or more."""
    freedom = np.asarray(freedom, float)
    known = np.isfinite(freedom)
    kinds, place = np.unique(freedom[known], return_inverse=True)
    low, high = np.full(kinds.shape, NORMAL), np.full(kinds.shape, MOST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        outside = student_outside(middle, kinds) > LEVEL
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    found = np.full(freedom.shape, np.nan)
    found[known] = ((low + high) / 2)[place]
    return found


def beta_share(freedom: Array, square: Array) -> Array:
    """The incomplete beta function for a = freedom / 2 and b = 1 / 2 at x = freedom / (freedom + square), over the
    complete one; its continued fraction (NIST's Digital Library of Mathematical Functions, 8.17.22) converges quickly
    for x below (a + 1) / (a + b + 2), and the complement is taken above."""
    a, b = freedom / 2, np.full(freedom.shape, 0.5)
    x, rest = freedom / (freedom + square), square / (freedom + square)
    logs = np.array([math.lgamma(one + 0.5) - math.lgamma(one) - math.lgamma(0.5) for one in a.ravel()])
    with np.errstate(divide="ignore"):
        front = np.exp(logs.reshape(a.shape) + a * np.log(x) + b * np.log(rest))
    direct = x < (a + 1) / (a + b + 2)
    first, second, at = np.where(direct, a, b), np.where(direct, b, a), np.where(direct, x, rest)
    part = front * fraction(first, second, at) / first
    return np.where(direct, part, 1 - part)


def fraction(a: Array, b: Array, x: Array) -> Array:
    """1 / (1 + d_1 / (1 + d_2 / (1 + ...))), evaluated from its end."""
    value = np.ones_like(x)
    for i in range(TERMS, 0, -1):
        m = i // 2
        if i % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        value = 1 + d / value
    return 1 / value
