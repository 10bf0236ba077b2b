"""The slope of a boundary over an axis, both in logarithms, with an interval that covers the true slope with a
probability of about 95 %. It is that of driver/boundary/slope.c, which says where the interval comes from, draw by
draw."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from .hints import Array, Numbers

ALL_SEEDS = 5  # up to so many, all resamples are taken
DRAWS = 10_000
NORMAL = 1.959963984540054  # 97.5 % of a normal variable are below
TAIL = 0.025
NOTHING = (np.nan, np.nan, np.nan)
PURPOSE = 11  # RANDOM_INTERVAL of model/core/random.h
FOR_BRACKETS, FOR_SEEDS = 0, 1


def slope_fit(x: Numbers, y: Numbers, low: Numbers, high: Numbers) -> tuple[float, float, float]:
    """(slope, low, high): least squares through the means of y over seeds, and the ends of the interval.

    x [n] and y, low, high [n, seeds] are logarithms: the axis, the boundaries, and the runs beside them; y is NaN where
    there is no boundary. The slope is NaN with boundaries at fewer than two places. The ends are NaN with one seed at
    two places.
    """
    points = np.asarray(x, float)
    each, lows, highs = (np.asarray(part, float).reshape(len(points), -1) for part in (y, low, high))
    known = np.isfinite(each)
    places, seeds = known.any(1), np.flatnonzero(known.any(0))
    if places.sum() < 2:
        return NOTHING
    mean, first, last = (average(part, known)[places] for part in (each, lows, highs))
    at = points[places] - points[places].mean()
    slope = float(at @ mean / (at @ at))
    if (known.sum(0) >= 2).sum() >= 2:
        widening = student(len(seeds) - 1) / NORMAL * math.sqrt(len(seeds) / (len(seeds) - 1))
        deviations = widening * (resampled_slopes(points, each[:, seeds]) - slope)
    elif len(at) > 2:
        squares = np.sum((mean - mean.mean() - slope * at) ** 2)
        error = math.sqrt(squares / (len(at) - 2) / (at @ at))
        deviations = student(len(at) - 2) / NORMAL * error * normal(DRAWS)
    else:
        return slope, np.nan, np.nan
    drawn = first + uniform(len(deviations), len(points))[:, places] * (last - first)
    slopes = drawn @ at / (at @ at) + deviations
    ends = np.quantile(slopes[~np.isnan(slopes)], [TAIL, 1 - TAIL])
    return slope, min(float(ends[0]), slope), max(float(ends[1]), slope)


def average(values: Array, known: Array, times: Array | int = 1) -> Array:
    """Mean over seeds at each place, each seed so many times; NaN where no seed counts."""
    weights = known * times
    total = weights.sum(-1)
    return np.divide((np.where(known, values, 0) * weights).sum(-1), total, out=np.full(total.shape, np.nan),
                     where=total > 0)


def resampled_slopes(x: Array, y: Array) -> Array:
    """Slopes of DRAWS or a few more resamples of the seeds of y [places, seeds]; NaN with fewer than two places."""
    count = y.shape[1]
    if count <= ALL_SEEDS:
        picks = np.array(list(itertools.product(range(count), repeat=count)))
    else:
        picks = below(DRAWS, count)
    times = (picks[:, :, np.newaxis] == np.arange(count)).sum(1)
    means = average(y, np.isfinite(y), times[:, np.newaxis, :])  # [draws, places]
    known = np.isfinite(means)
    several = known.sum(1) > 1
    points = np.where(several, known.sum(1), 1)[:, np.newaxis]
    at = np.where(known, x - np.where(known, x, 0).sum(1, keepdims=True) / points, 0)
    slopes = (at * np.where(known, means, 0)).sum(1) / np.where(several, (at ** 2).sum(1), 1)
    return np.tile(np.where(several, slopes, np.nan), -(-DRAWS // len(picks)))


# ---- random numbers: model/core/random.c, for seed 0 ----

@functools.lru_cache(maxsize=8)
def philox(draws: int, what: int, count: int) -> list[Array]:
    """Four arrays of 32 random bits each, [draws, count]."""
    draw, which = np.meshgrid(np.arange(draws, dtype=np.uint64), np.arange(count, dtype=np.uint64), indexing="ij")
    index = draw << np.uint64(33) | np.uint64(what << 32) | which
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    word = [index & low, index >> half, np.full_like(index, PURPOSE), np.zeros_like(index)]
    for step in range(10):
        keys = [np.uint64(step * key % 2 ** 32) for key in (0x9E3779B9, 0xBB67AE85)]
        first, second = np.uint64(0xD2511F53) * word[0], np.uint64(0xCD9E8D57) * word[2]
        word = [second >> half ^ word[1] ^ keys[0], second & low, first >> half ^ word[3] ^ keys[1], first & low]
    return word


def unit(high: Array, low: Array) -> Array:
    return ((high << np.uint64(32) | low) >> np.uint64(11)).astype(float) * 2.0 ** -53


def uniform(draws: int, count: int) -> Array:
    return unit(*philox(draws, FOR_BRACKETS, count)[:2])


def normal(draws: int) -> Array:
    word = [part[:, 0] for part in philox(draws, FOR_SEEDS, 1)]
    return np.sqrt(-2 * np.log1p(-unit(*word[:2]))) * np.cos(2 * math.pi * unit(*word[2:]))


def below(draws: int, count: int) -> Array:
    """Integers below `count`, [draws, count]."""
    high, low = philox(draws, FOR_SEEDS, count)[:2]
    bound, half = np.uint64(count), np.uint64(32)
    return ((high * bound + (low * bound >> half)) >> half).astype(int)


# ---- Student's distribution ----

def student(freedom: int) -> float:
    """The number that a variable of Student's distribution stays below with a probability of 97.5 %."""
    low, high = NORMAL, 13.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if student_within(middle, freedom) < 1 - 2 * TAIL else (low, middle)
    return (low + high) / 2


def student_within(t: float, freedom: int) -> float:
    """The probability that such a variable is within [-t, t]: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for i in range(3 if odd else 2, freedom + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (i - 1) / i
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
