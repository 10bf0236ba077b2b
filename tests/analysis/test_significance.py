"""Intervals and tests for 2 to 5 seeds: against closed forms, against scipy's tests, and how often they are wrong in
simulations, which docs/comparing.md quotes. Draws have fixed seeds; bounds are four standard errors wide."""

import math

import numpy as np
import pytest
from drawn import near
from normsweep import significance
from scipy import stats

DRAWS = 20_000
WIDTH = 4 * math.sqrt(0.05 * 0.95 / DRAWS)  # of a share of 5 %
QUANTILE = 0.95 * math.sqrt(2 / (1 - 0.95 ** 2))  # Student's, for two degrees of freedom


def test_student_against_closed_forms():
    t = np.array([0, 1e-3, 0.5, 1, 3, 50, 1e4, 1e8])
    assert near(significance.student_outside(t, 1), 1 - 2 / math.pi * np.arctan(t))
    assert near(significance.student_outside(t[t > 0], 1) / (2 / math.pi * np.arctan(1 / t[t > 0])), 1)
    assert near(significance.student_outside(t[:6], 2), 1 - t[:6] / np.sqrt(2 + t[:6] ** 2), rtol=1e-11)
    assert near(significance.student_outside(t[:5], 4), 1 - t[:5] * (6 + t[:5] ** 2) / (4 + t[:5] ** 2) ** 1.5)
    assert np.isnan(significance.student_outside([np.nan, 1], [1, np.nan])).all()
    assert significance.student_outside(np.inf, 3) < 1e-200
    known = [math.tan(math.pi * 0.475), QUANTILE, 3.182446305284263, 2.228138851964939, 1.959966]
    assert near(significance.student_quantile([1, 2, 3, 10, 1000000]), known, rtol=1e-6)


@pytest.mark.parametrize("n, m", [(2, 2), (3, 4), (5, 3), (5, 5)])
def test_probabilities_are_those_of_scipy(n, m):
    """An interval leaves 0 out where the probability is below 5 %."""
    rng, least = np.random.default_rng(1), min(n, m)
    a, b = rng.normal(size=(200, n)), rng.normal(size=(200, m)) * 2 + 1
    found, pairs = significance.unpaired(a, b), significance.paired(a[:, :least], b[:, :least])
    assert near(found.p, stats.ttest_ind(b, a, axis=1, equal_var=False).pvalue, rtol=1e-11)
    assert near(pairs.p, stats.ttest_rel(b[:, :least], a[:, :least], axis=1).pvalue, rtol=1e-11)
    for one in found, pairs:
        assert 0 < np.mean(one.p < 0.05) < 1 and (((one.low > 0) | (one.high < 0)) == (one.p < 0.05)).all()


@pytest.mark.parametrize("n", [2, 3, 5])
def test_pairs_are_right_in_95_of_100_cases(n):
    rng = np.random.default_rng(n)
    found = significance.paired(rng.normal(size=(DRAWS, n)), rng.normal(size=(DRAWS, n)) + 3)
    covered = np.mean((found.low <= 3) & (3 <= found.high))
    assert abs(covered - 0.95) < WIDTH
    null = significance.paired(*rng.normal(size=(2, DRAWS, n)))
    assert abs(np.mean(null.p <= 0.05) - 0.05) < WIDTH


@pytest.mark.parametrize("n, m, spread, most", [
    (2, 2, 1, 0.05), (3, 3, 1, 0.05), (5, 5, 1, 0.05), (2, 2, 3, 0.05), (2, 5, 1, 0.05), (5, 2, 3, 0.05),
    (3, 3, 3, 0.055), (3, 5, 3, 0.055), (5, 3, 3, 0.07)])
def test_welch_is_wrong_in_at_most_so_many(n, m, spread, most):
    rng = np.random.default_rng(10 * n + m)
    null = significance.unpaired(rng.normal(size=(DRAWS, n)), spread * rng.normal(size=(DRAWS, m)))
    assert 0 < np.mean(null.p <= 0.05) < most + WIDTH
    assert np.mean((null.low <= 0) & (0 <= null.high)) > 1 - most - WIDTH


@pytest.mark.thorough("simulates thousands of sweeps")
@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("shared", [0, 0.9])
def test_corrected_tests_of_many_cells_find_nothing_where_nothing_is(n, shared):
    """48 cells, which are independent, or whose seeds shift all of them together."""
    rng, tries = np.random.default_rng(n), 1000
    a, b = (math.sqrt(shared) * rng.normal(size=(tries, 1, n)) + math.sqrt(1 - shared) * rng.normal(size=(tries, 48, n))
            for _ in "ab")
    bound = 0.05 + 4 * math.sqrt(0.05 * 0.95 / tries)
    for test in significance.paired, significance.unpaired:
        p = test(a, b).p
        assert np.mean([(significance.discoveries(row) <= 0.05).any() for row in p]) < bound
        assert np.mean([(row <= 0.05).any() for row in p]) > 2 * bound  # uncorrected, they do


def test_pairs_by_hand():
    found = significance.paired([0.0, 1.0, 5.0], [1.0, 3.0, 8.0])  # differences 1, 2, 3
    assert near([found.value, found.high - found.value], [2, QUANTILE / math.sqrt(3)])
    assert near(found.p, 1 - 2 * math.sqrt(3) / math.sqrt(2 + 12))
    missing = significance.paired([0.0, 1.0, np.nan, 5.0, 9.0], [1.0, 3.0, 7.0, 8.0, np.nan])
    assert [*missing] == [*found]


def test_welch_by_hand():
    found = significance.unpaired([0.0, 2.0], [4.0, 6.0])  # equal spreads: two degrees of freedom
    assert near([found.value, found.high - found.value], [4, QUANTILE * math.sqrt(2)])
    two = significance.unpaired([0.0, 2.0], [4.0, 6.0, 5.0, 3.0])  # two seeds beside more: one degree
    assert near(two.p, 1 - 2 / math.pi * math.atan(3.5 / math.sqrt(1 + 5 / 12)))


def test_too_few_say_nothing():
    for found in (significance.paired([1.0], [2.0]), significance.paired([1.0, np.nan], [2.0, 3.0]),
                  significance.unpaired([1.0], [2.0, 3.0, 4.0])):
        assert np.isfinite(found.value) and np.isnan([found.low, found.high, found.p]).all()
    assert np.isnan([*significance.paired([np.nan], [1.0])]).all()
    assert math.isnan(significance.sign_flips([1.0])) and math.isnan(significance.exchanges([1.0], [2.0, 3.0]))


def test_no_spread_is_certain():
    same = significance.paired([1.0, 2.0], [1.0, 2.0])
    assert [same.value, same.low, same.high, same.p] == [0, 0, 0, 1]
    shifted = significance.paired([1.0, 2.0], [2.0, 3.0])
    assert [shifted.value, shifted.low, shifted.high] == [1, 1, 1] and shifted.p < 1e-12
    assert significance.unpaired([1.0, 1.0], [1.0, 1.0]).p == 1


def test_discoveries_by_hand():
    assert near(significance.discoveries([0.04, 0.01, np.nan, 0.5, 0.02]), [0.16 / 3, 0.04, np.nan, 0.5, 0.04])
    assert significance.discoveries([]).size == 0 and np.isnan(significance.discoveries([np.nan])).all()
    assert near(significance.discoveries([[0.9, 0.8]]), [[0.9, 0.9]])


def test_exact_tests_count_all_arrangements():
    assert significance.sign_flips([1.0, 2.0, 3.0]) == 0.25 == significance.least_of_flips(3)
    assert significance.sign_flips([1.0, -2.0, 4.0]) == 6 / 8  # of sums 7, 5, 3 and 1, each twice
    assert significance.sign_flips([0.0, 0.0]) == 1
    assert significance.exchanges([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]) == 0.1 == significance.least_of_exchanges(3, 3)
    assert significance.exchanges([1.0, 2.0], [4.0, 5.0, 6.0]) == 0.1 == significance.least_of_exchanges(2, 3)
    many = np.linspace(0.5, 1.5, 20)
    assert significance.sign_flips(many) < 1e-4 and significance.exchanges(many, many + 5) < 1e-4
    assert significance.sign_flips(many - 1) > 0.9 and significance.exchanges(many, many) > 0.9
