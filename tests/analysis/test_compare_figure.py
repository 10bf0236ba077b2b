"""The figure of a comparison: what its marks, units, numbers of runs and scales say."""

import re

import numpy as np
import pytest
import xarray as xr
from compared import end, made, uneven
from drawn import DIVERGED, PENDING, legend, near, panels, words
from matplotlib.collections import QuadMesh
from normsweep import compare
from normsweep.drawings import look
from normsweep.drawings.comparison import (
    BOUNDARIES, FEWER, NOT_SURE, NOT_TESTED, SIGNIFICANT, SURE, VERDICTS, comparison)

pytestmark = pytest.mark.thorough("draws figures again and again")

SEVERAL = ["norm_growth", "final_train_loss", "seconds", "tokens_per_second", "attempts"]


def marks(axes, style):
    """[(x, y)] of the marks of a style in a panel."""
    found = [line for line in axes.lines if (line.get_marker(), line.get_markersize()) == (
        style["marker"], style["markersize"]) and line.get_linestyle() == "None"]
    return [tuple(place) for line in found for place in line.get_xydata()]


def bars(found):
    return [axes for axes in found.figure.axes if axes.get_label() == "<colorbar>"]


def measured(factor=1.0, **more):
    """A sweep with quantities that have units of their own."""
    found = made(**more)
    shape = found.outcome.shape
    for name, text, unit, value in (("seconds", "duration of the run", "s", 2.0), ("attempts", "attempts", "1", 1.0),
                                    ("tokens_per_second", "training speed", "s-1", 1e5)):
        values = factor * value * (1 + 0.01 * np.arange(np.prod(shape)).reshape(shape))
        found[name] = found.outcome.dims, values, {"long_name": text, "units": unit}
    return found


# ---- what is significant ----

@pytest.mark.parametrize("paired", [True, False])
def test_dots_are_cells_with_a_small_q(paired):
    one, two, _ = uneven(paired)
    found = compare(one, two)
    shown = panels(comparison(found))
    for axes, name in zip(shown, ("norm_growth", "final_valid_loss")):
        q, p = (found[f"{name}_{key}"] for key in "qp")
        assert 0 < int((q <= 0.05).sum()) < int((p <= 0.05).sum())
        assert len(marks(axes, SIGNIFICANT)) == int((q <= 0.05).sum())


@pytest.mark.parametrize("rates", [[1e-1, 1e-2, 1e-3], [1e-1, 3e-2, 1e-3]])
def test_dots_are_in_the_middle_of_their_cells(rates):
    """Also of cells of unequal widths, in which the value is not in the middle."""
    shown = panels(comparison(compare(made(rates=rates), made(rates=rates, boundary=2.0, loss=3.0, own=0.01))))
    mesh = next(artist for artist in shown[0].collections if isinstance(artist, QuadMesh))
    corners = np.asarray(mesh.get_coordinates())
    middles = (corners[:-1, :-1] + corners[1:, 1:]).reshape(-1, 2) / 2
    for axes in shown:
        assert near(sorted(marks(axes, SIGNIFICANT)), sorted(map(tuple, middles)))


def test_two_seeds_have_no_dots():
    one, two = made(seeds=[0, 1]), made(seeds=[0, 1], boundary=2.0, own=1e-6)
    found = compare(one, two)
    assert (found.norm_growth_q <= 0.05).all()
    for part in (slice(None), 0):
        shown = comparison(compare(one.isel(learning_rate=part), two.isel(learning_rate=part)))
        assert not any(marks(axes, SIGNIFICANT) for axes in panels(shown)) or part == 0
        assert not any("significant" in word for word in legend(shown))
        assert "Significance is not marked with fewer than 3 seeds." in shown.caption
    assert "not tested, or fewer than 3 seeds" in legend(shown) and "95 % intervals" in shown.caption


def test_three_seeds_without_a_cell_of_three_pairs_are_as_two():
    shown = comparison(compare(made(), end(made(boundary=2.0, own=1e-6), PENDING, seed=2)))
    assert "n = 2 pairs" in words(shown) and not marks(panels(shown)[0], SIGNIFICANT)
    assert "Significance is not marked with fewer than 3 seeds." in shown.caption


def test_a_cell_of_two_pairs_has_no_dot():
    one, two = made(), made(boundary=2.0, own=1e-6)
    two = end(two, PENDING, learning_rate=0.01, weight_decay=1.0, seed=2)
    found = compare(one, two)
    assert (found.norm_growth_q <= 0.05).all() and int(found.norm_growth_runs.min()) == 2
    assert len(marks(panels(comparison(found))[0], SIGNIFICANT)) == found.norm_growth_q.size - 1


def test_faces_of_single_cells():
    """Filled if q is small, white if not, another mark without a test or with fewer than three pairs."""
    one, two, _ = uneven()
    one, two = one.isel(learning_rate=1), two.isel(learning_rate=1)
    two.outcome[0, 1:] = PENDING  # another cell has two
    found = compare(one, two, ["norm_growth", "final_train_loss"])
    shown = comparison(found)
    expected = {SURE: 0, NOT_SURE: 0, NOT_TESTED: 0}
    for axes, name in zip(panels(shown), ("norm_growth", "final_train_loss")):
        drawn = [line for line in axes.lines if line.get_marker() in ("o", "D")]
        for line, q, runs in zip(drawn, found[f"{name}_q"].values, found[f"{name}_runs"].values):
            verdict = NOT_TESTED if runs < 3 else SURE if q <= 0.05 else NOT_SURE
            assert line.get_marker() == VERDICTS[verdict]["marker"] and np.isnan(q) == (runs == 1)
            assert (line.get_markerfacecolor() != "white") == (verdict == SURE)
            expected[verdict] += 1
    assert min(expected.values()) > 0
    assert legend(shown) == ["significant: q ≤ 0.05", "not significant", NOT_TESTED]
    assert "n = 1 to 3 pairs of runs in a cell." in words(shown)


def test_one_seed_is_not_tested():
    shown = comparison(compare(*(made(seeds=[0], boundary=boundary).isel(learning_rate=0) for boundary in (1.0, 2.0))))
    assert legend(shown) == [NOT_TESTED] and "95 %" not in words(shown)
    assert "n = 1 pair of runs in a cell." in words(shown)


# ---- numbers of runs ----

def test_cells_of_fewer_runs_are_told():
    b = end(made(boundary=2.0), PENDING, learning_rate=0.01, seed=0)
    b = end(b, DIVERGED, learning_rate=0.1, weight_decay=10.0, seed=[0, 1])
    b = end(b, PENDING, learning_rate=0.001, weight_decay=1.0)
    shown = comparison(compare(made(), b))
    for axes in panels(shown):
        assert len(marks(axes, FEWER)) == 5  # of the cell without any run, a hatch tells
        assert near(sorted(x for x, _ in marks(axes, FEWER)), [-1.7] * 4 + [-0.7])
    assert "fewer than 3 pairs" in legend(shown) and "n = 1 to 3 pairs of runs in a cell." in words(shown)
    whole = comparison(compare(made(), made(boundary=2.0)))
    assert "fewer" not in " ".join(legend(whole)) and "n = 3 pairs of runs in a cell." in words(whole)
    loose = comparison(compare(made(), b.assign_coords(seed=[3, 4, 5])))
    assert "fewer than 3 runs of a side" in legend(loose)
    assert "n = 1 to 3 runs per cell, on the side that has fewer." in words(loose)


# ---- units and scales ----

def test_units_are_those_of_the_dataset():
    shown = comparison(compare(measured(), measured(1.5), SEVERAL))
    titles = [" ".join(axes.get_title().split()) for axes in panels(shown)]
    assert titles == ["norm growth, B / A (–)", "final train loss, B − A (nats)", "duration of the run, B − A (s)",
                      "training speed, B − A (s-1)", "attempts, B − A (–)"]


@pytest.mark.parametrize("few", [slice(None), slice(0, 1)])
@pytest.mark.parametrize("count", [3, 4, 5])
@pytest.mark.parametrize("placements", [1, 3])
def test_many_variables_are_below_each_other(count, placements, few):
    """At most two beside each other, each with a bar of its own and all its ticks legible."""
    a, b = (measured(factor, loss=factor, boundary=factor).isel(learning_rate=few) for factor in (1.0, 1.5))
    if placements > 1:
        a, b = (xr.concat([part] * 3, xr.DataArray(np.array(["out", "pre", "post"], object), dims="norm_placement",
                                                   name="norm_placement")) for part in (a, b))
    found = compare(a, b, SEVERAL[:count])
    shown = comparison(found)
    figure, grid = shown.figure, panels(shown)
    is_map = a.sizes["learning_rate"] > 1
    assert len(grid) == (count * placements if is_map else count) and len(bars(shown)) == (count if is_map else 0)
    figure.draw_without_rendering()
    inches = [axes.get_window_extent().width / figure.dpi for axes in grid]
    assert min(inches) > 1.0 and figure.get_size_inches()[1] < 20
    assert len({round(axes.get_position().x0, 3) for axes in grid}) <= 2
    assert not bars(shown) or min(bar.get_window_extent().width / figure.dpi for bar in bars(shown)) > 0.05
    if is_map:
        lowest = {}
        for axes in grid:
            place = round(axes.get_position().x0, 3)
            lowest[place] = min(lowest.get(place, axes), axes, key=lambda one: one.get_position().y0)
        for axes in lowest.values():
            assert axes.get_xlabel() == "learning rate (–)"
            assert any(label.get_text() for label in axes.get_xticklabels() if label.get_visible())


def test_large_ratios_are_powers_of_ten():
    b = made(boundary=2.0)
    b["norm_growth"] = (b.norm_growth * xr.where(b.weight_decay < 1, 1e-12, 1)).transpose(
        *b.norm_growth.dims).assign_attrs(b.norm_growth.attrs)
    b = b.assign(final_valid_loss=(b.final_valid_loss * 1e5).assign_attrs(b.final_valid_loss.attrs))
    growth, loss = bars(comparison(compare(made(), b)))
    ticks = [label.get_text() for label in growth.get_yticklabels()]
    assert {"1", "1000", "0.001", "10⁶", "10⁻⁶"} <= set(ticks) and not any(re.search("e[+-]|-", tick) for tick in ticks)
    ticks = [label.get_text() for label in loss.get_yticklabels()]
    assert any("10⁵" in tick for tick in ticks) and not any(re.search("e[+-]|-", tick) for tick in ticks)


def test_bars_say_that_values_lie_beyond_them():
    """Of the changes, 2 % may lie beyond the colours."""
    rates = list(np.logspace(-1, -3, 10))
    a, b = made(rates=rates), made(rates=rates, boundary=1.2)
    for factor, end_of in ((100.0, "max"), (0.01, "min"), (1.0, "neither")):
        growth = b.norm_growth.copy(deep=True)
        growth[3, 2, :] *= factor
        shown = comparison(compare(a, b.assign(norm_growth=growth)))
        assert bars(shown)[0]._colorbar.extend == end_of


def test_boundaries_are_told_apart():
    shown = comparison(compare(made(), made(boundary=3.0)))
    styles = [{key: line.get_label() for key, style in BOUNDARIES.items() if line.get_marker() == style["marker"]
               and line.get_linestyle() == style.get("linestyle", "-")} for line in panels(shown)[0].lines]
    assert {key for style in styles for key in style} == {"a", "b"}
    assert look.WIDTH == shown.figure.get_size_inches()[0]
