"""The boundary of datasets whose boundary is known, the interval of its slope, and what analysis/table prints of it."""


import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import script, tiny, train_sweep
from drawn import near
from made_up import ROOT, made_up
from normsweep import open_sweep
from normsweep.boundary import crossing, rule
from normsweep.significance import student_quantile
from normsweep.slope import NORMAL, interval


@pytest.fixture
def ds():
    return made_up()


def row(decays, growths, **options):
    """A dataset of one row of runs."""
    outcome = options.get("outcome", [2] * len(decays))
    return xr.Dataset({"outcome": ("weight_decay", outcome), "norm_growth": ("weight_decay", growths)},
                      {"weight_decay": decays})


def with_steps(ds):
    """The same runs twice, along an axis steps."""
    of_runs = [name for name in ds.data_vars if "seed" in ds[name].dims]
    return ds.drop_vars(of_runs).assign(ds[of_runs].expand_dims(steps=[10, 20]))


def test_boundary_is_the_known_one(ds):
    ds = ds.sel(learning_rate=[1e-1, 1e-2])
    found = ds.sweep.boundary()
    known = xr.where(ds.norm_placement == "pre", ds.learning_rate, 0.3)
    for variable, factor in (("boundary", 1), ("low", 1 / ROOT), ("high", ROOT)):
        near(found[variable].transpose(*known.dims), known * factor)
    near(found.each.transpose(*known.dims, "seed"), known * xr.where(ds.seed == 0, 1 / ROOT, ROOT))
    near(found.spread, np.log10(ROOT) * ROOT)  # of two values x apart: x / sqrt(2)
    assert (found.side == "crosses").all() and (found.repeats == 2).all() and (found.each_side == "crosses").all()
    np.testing.assert_allclose(found.slope, [1, 0], atol=1e-12)
    np.testing.assert_allclose(found.level, [0, np.log10(0.3)], atol=1e-12)
    assert (found.slope_points == 2).all() and found.slope_error.isnull().all()


def test_boundary_does_not_depend_on_the_order(ds):
    turned = ds.isel(weight_decay=[3, 0, 4, 2, 1], learning_rate=[1, 2, 0], seed=[1, 0]).sweep.boundary()
    known = ds.sweep.boundary()
    for name in known.variables:
        if known[name].dtype.kind == "f":
            near(turned[name].reindex_like(known[name]).transpose(*known[name].dims), known[name])


def test_seeds_without_a_boundary_are_counted(ds):
    found = ds.sweep.boundary()
    lost = found.sel(learning_rate=1e-4)
    assert list(lost.side.values) == ["below", "crosses"] and list(lost.repeats.values) == [0, 1]
    assert near(lost.boundary, [np.nan, 0.3 / ROOT]) and lost.spread.isnull().all()
    assert list(lost.each_side.sel(norm_placement="post").values) == ["crosses", "unknown"]


def test_one_seed_and_no_seed(ds):
    for part in (ds.sel(seed=1), ds.sel(seed=[1])):
        found = part.sweep.boundary()
        assert near(found.boundary.sel(norm_placement="pre", learning_rate=1e-2), 1e-2 * ROOT)
        assert found.spread.isnull().all() and found.low.equals(found.high)
        assert set(found.repeats.values.ravel()) == {0, 1}
    each = ds.sweep.boundary(over=None)
    assert "seed" in each.boundary.dims and near(each.boundary, each.each)
    across = ds.sel(learning_rate=1e-1).sweep.boundary(over="norm_placement")
    assert near(across.boundary, 0.03 ** 0.5 * np.array([1 / ROOT, ROOT]))


SIDES = {
    "above": ([0.1, 1], [3, 2], None),
    "below": ([0.1, 1], [1, 0.5], None),  # exactly 1 is no growth
    "zero": ([0, 0.1, 1], [2, 0.5, 0.2], None),
    "rising": ([0.1, 1, 10], [0.5, 0.2, 3], None),
    "unknown": ([0.1, 1], [2, 0.5], [3, 0]),
}


@pytest.mark.parametrize("side", SIDES)
def test_why_there_is_none(side):
    decays, growths, outcome = SIDES[side]
    found = row(decays, growths, **({"outcome": outcome} if outcome else {})).sweep.boundary()
    assert found.side == side and found.boundary.isnull() and found.repeats == 0


def test_the_last_of_several_crossings():
    assert near(row([1, 10, 100, 1000], [2, 0.5, 4, 1 / 4]).sweep.boundary().boundary, 10 ** 2.5)
    assert near(row([1, 10, 100, 1000], [2, 0.5, 0.2, 4]).sweep.boundary().boundary, 10 ** 0.5)


def test_unequal_growth_is_interpolated():
    assert near(row([1, 10], [8, 0.5]).sweep.boundary().boundary, 10 ** 0.75)
    assert near(row([1, 10], [8, 1]).sweep.boundary().boundary, 10)
    assert near(row([0, 1, 10], [9, 2, 0.5]).sweep.boundary().boundary, 10 ** 0.5)


def test_a_run_that_is_not_done_is_passed_over():
    for outcome in (0, 1, 3, 4, 5):
        found = row([1, 10, 100], [4, 7, 0.25], outcome=[2, outcome, 2]).sweep.boundary()
        assert near(found.boundary, 10), outcome


def test_a_norm_of_nothing_has_a_side():
    found = row([1, 10, 100], [np.inf, 2, 0]).sweep.boundary()
    assert 10 < found.boundary < 10.1


def test_slope_against_least_squares(ds):
    rates = np.array([1e-4, 1e-3, 1e-2, 1e-1])
    decays = np.array([0.01, 0.1, 1, 10])
    boundary = np.array([0.02, 0.5, 0.7, 3.0])
    growth = (decays[:, np.newaxis] / boundary) ** -0.3
    data = xr.Dataset({"outcome": (("weight_decay", "learning_rate"), np.full(growth.shape, 2)),
                       "norm_growth": (("weight_decay", "learning_rate"), growth)},
                      {"weight_decay": decays, "learning_rate": rates})
    found = data.sweep.boundary()
    (slope, level), covariance = np.polyfit(np.log10(rates), np.log10(boundary), 1, cov="unscaled")
    residuals = np.log10(boundary) - level - slope * np.log10(rates)
    error = (residuals @ residuals / 2 * covariance[0, 0]) ** 0.5
    near([found.slope, found.level, found.slope_error], [slope, level, error])
    assert found.slope_points == 4


def test_no_boundary_without_its_axis(ds):
    for part in (ds.sel(weight_decay=0.1), ds.drop_vars("norm_growth")):
        with pytest.raises(ValueError, match="norm_growth is not measured along weight_decay, so there is no boundary"):
            part.sweep.boundary()
    alone = ds.sel(learning_rate=1e-2, norm_placement="pre").sweep.boundary()
    assert near(alone.boundary, 1e-2) and alone.slope.isnull() and alone.slope.ndim == 0


def test_no_boundary_over_what_is_no_axis(ds):
    for over in ("nope", "weight_decay"):
        axes = "the axes are learning_rate, norm_placement, seed"
        with pytest.raises(ValueError, match=f"{over}: not an axis.*; {axes}$"):
            ds.sweep.boundary(over=over)
    part = ds.sel(seed=0, learning_rate=1e-2, norm_placement="pre")
    with pytest.raises(ValueError, match="the axes are none$"):
        part.sweep.boundary(over="layers")
    assert near(part.sweep.boundary(over="seed").boundary, 1e-2 / ROOT)


def test_every_part_of_a_result_is_described(ds):
    ds = with_steps(ds.assign_coords(weight_decay=ds.weight_decay.assign_attrs(units="s")))
    found = ds.sweep.boundary()
    assert all(found[name].attrs["long_name"] for name in found.data_vars)
    assert {name for name in found.data_vars if found[name].attrs["units"] == "s"} == {
        "boundary", "low", "high", "each", "before", "after", "predicted"}
    assert found.steps.attrs == ds.steps.attrs and found.rejects.dims == ("steps", "norm_placement")


# ---- one line of runs ----


def test_a_line_that_crosses_twice_has_its_boundary_at_the_last_fall():
    place, growth = 10.0 ** np.arange(-1, 4), np.array([2, 0.5, 2, 0.5, 2])
    assert crossing(place, growth)[1] == 10 and crossing(place, growth, falls=False)[1] == 100


def test_a_line_of_another_variable_is_straight_in_it():
    straight = {"at": 0, "ratio": False, "falls": False, "log_axis": False}
    assert near(crossing(np.array([0, 0.5, 1]), np.array([-3, -1, 3]), **straight)[0], 0.625)
    assert near(crossing(np.array([0, 0.5, 1]), np.array([5, -1, -3]), **straight)[0], 0.5 * 5 / 6)
    assert near(crossing(np.array([1, 10, 100]), np.array([-3, -1, 3]), **{**straight, "log_axis": True})[0],
                10 ** 1.25)


# ---- what the sweep looked for ----

@pytest.mark.parametrize("text, expected", [
    ("", "norm_growth at 1 along weight_decay"),
    ("{axis: weight_decay, variable: norm_growth, at: 0.9}", "norm_growth at 0.9 along weight_decay"),
    ("{axis: learning_rate, variable: final_train_loss, at: -2e-05}", "final_train_loss at -2e-05 along learning_rate"),
    ("{axes: [seed], variable: final_train_loss, at: 3, coarse: 8}", "final_train_loss at 3 along seed"),
    ("{axis: seed, variable: final_train_loss, at: 3, at_once: 2, seeds: {variable: norm_growth, width: 0.1, least: 3, "
     "most: 9}}", "final_train_loss at 3 along seed"),
    ("{seeds: {variable: final_train_loss, width: 0.1, least: 3, most: 9}}", "norm_growth at 1 along weight_decay"),
    ("{axes: [seed, width], variable: final_train_loss, at: 3, coarse: 8}", "norm_growth at 1 along weight_decay"),
])
def test_the_rule_is_that_of_refine(text, expected):
    assert str(rule(xr.Dataset(attrs={"refine": text}))) == expected


BRIEF = tiny() + """\
measure: {every: 10}
steps: 20
learning_rate: {log: [1e-1, 1e-3], points: 3}
weight_decay: {log: [1e-2, 30], points: 12}
seed: [0, 1]
"""


@pytest.mark.parametrize("refine, along, variable", [
    ("{axis: weight_decay, at: 0.9}", "weight_decay", "norm_growth"),
    ("{axis: learning_rate, variable: final_train_loss, at: 3.4}", "learning_rate", "final_train_loss"),
])
def test_a_refined_sweep_has_the_boundary_of_its_whole_grid(tmp_path, refine, along, variable):
    whole, lines = (open_sweep(train_sweep(tmp_path, BRIEF + more, name=name)).load()
                    for name, more in (("whole", ""), ("lines", f"refine: {refine}\n")))
    assert rule(lines)[:2] == (along, variable) and "refine" not in whole.attrs and lines.sweep.skipped.any()
    found, expected = lines.sweep.boundary(), whole.assign_attrs(refine=lines.attrs["refine"]).sweep.boundary()
    assert found.each.notnull().any() and along not in found.dims
    for name in ("each", "before", "after", "boundary", "slope_low"):
        np.testing.assert_array_equal(found[name], expected[name])
    assert ("predicted" in found) == (variable == "norm_growth") and "rejects" not in found


# ---- slopes ----

def test_an_interval_needs_two_repeats_at_two_places():
    nothing = np.full(5, np.nan)
    one = np.array([[2, np.nan, 4, np.nan, 5.5]]).T
    apart = np.array([[2, *nothing[:4]], [np.nan, 3, *nothing[:3]]]).T
    for y in one, apart, np.c_[one, nothing]:
        assert np.isnan(interval(np.arange(5), y, y - 0.1, y + 0.1)).all()
    two = np.array([[2, np.nan, 4, np.nan, np.nan], [2.1, np.nan, 4.2, np.nan, np.nan]]).T
    low, high = interval(np.arange(5), two, two, two)
    assert low < 1.025 < high


@pytest.mark.parametrize("repeats", [2, 3, 6])
def test_nothing_but_the_slope_is_left_of_a_power_law_with_exact_brackets(repeats):
    y = np.tile(3 - 0.7 * np.arange(5)[:, np.newaxis], repeats)
    assert near(interval(np.arange(5), y, y, y), [-0.7] * 2)


def test_two_repeats_have_the_interval_of_four_resamples():
    """Of slopes 1 and 2: resamples have 1, 1.5 twice, 2, and are widened about 1.5 by Student's factor of one degree of
    freedom, over the normal one, times sqrt(2)."""
    half = 0.5 * student_quantile(1) / NORMAL * ROOT
    y = np.c_[np.arange(5), 2 * np.arange(5) + 7]
    assert near(interval(np.arange(5), y, y, y), [1.5 - half, 1.5 + half])


def test_many_repeats_have_the_interval_of_random_resamples():
    """Of 6, of which half have another slope: its number is binomial. Of 6 draws at a probability of 1/2: at most 0 in
    1.6 %, at most 1 in 10.9 %."""
    third = student_quantile(5) / NORMAL * (6 / 5) ** 0.5 / 3
    y = np.outer(np.arange(5), [0, 0, 0, 1, 1, 1])
    assert near(interval(np.arange(5), y, y, y), [0.5 - third, 0.5 + third])


@pytest.mark.parametrize("repeats", [2, 4, 6])
def test_repeats_that_agree_leave_the_brackets(repeats):
    """A slope from two places, with draws that are uniform and the same for all repeats, is distributed like a
    triangle."""
    y, end = np.full((5, repeats), np.nan), 0.3 / 4 * (1 - (2 * 0.025) ** 0.5)
    y[[0, 4]] = 0
    assert near(interval(np.arange(5), y, y - 0.15, y + 0.15), [-end, end], rtol=0.03)


def test_the_slope_is_within_its_interval():
    """Even if interpolation always uses the same adverse ends."""
    y = np.zeros((5, 2))
    low = np.repeat([[0.0], [0], [-1], [-1], [-1]], 2, axis=1)
    ends = interval(np.arange(5), y, low, low + 1)
    assert ends[0] < -0.2 and ends[1] == 0
    ends = interval(np.arange(5), y, -1 - low, -low)
    assert ends[0] == 0 and ends[1] > 0.2


@pytest.mark.parametrize("repeats", [2, 3, 6])
def test_the_interval_covers_the_true_slope(repeats):
    """In boundaries with normal noise on a fine grid. A standard error of the share is 1.5 %."""
    random, covered, cases = np.random.default_rng(7), 0, 200
    for _ in range(cases):
        y = 0.4 * np.arange(5)[:, np.newaxis] + 0.1 * random.normal(size=(5, repeats))
        low, high = interval(np.arange(5), y, y - 0.005, y + 0.005)
        covered += low <= 0.4 <= high
    assert abs(covered / cases - 0.95) < 0.04


def test_slopes_over_rates_and_steps():
    """The boundary is rate^0.6 / steps, times 2, 2.2, 2.4 for the seeds."""
    axes = {"steps": [10, 20, 40], "learning_rate": 10.0 ** np.arange(-4, 0), "seed": [0, 1, 2],
            "weight_decay": 10.0 ** np.arange(-6, 2, 0.25)}
    steps, rate, seed, decay = np.meshgrid(*axes.values(), indexing="ij")
    growth = (decay / ((2 + 0.2 * seed) * rate ** 0.6 / steps)) ** -0.5
    made = xr.Dataset({"outcome": (list(axes), np.full(growth.shape, 2)), "norm_growth": (list(axes), growth)}, axes)
    found = made.sweep.boundary()
    assert near(found.boundary, np.cbrt(2 * 2.2 * 2.4) * rate[:, :, 0, 0] ** 0.6 / steps[:, :, 0, 0])
    assert near(found.slope, [0.6] * 3) and near(found.steps_slope, [-1] * 4) and (found.rejects == "both").all()
    assert ((0.5 < found.slope_low) & (found.slope_low < 0.6)).all()
    assert ((0.6 < found.slope_high) & (found.slope_high < 0.7)).all()
    assert (found.steps_slope_low < -1).all() and (found.steps_slope_high > -1).all()
    assert made.isel(seed=[0]).sweep.boundary().rejects.values.tolist() == ["unknown"] * 3


# ---- analysis/table --boundary ----

def test_a_boundary_is_printed(tmp_path, ds):
    ds.to_netcdf(tmp_path / "a.nc")
    said = script("table", "--boundary", "a.nc", cwd=tmp_path).stdout
    first, pre, post = said.split("\n\n")
    assert first == "norm_growth at 1 along weight_decay"
    found = ds.sweep.boundary().sel(norm_placement="pre")
    assert pre.splitlines() == [
        "norm placement pre",
        "learning rate  boundary weight decay  spread    lowest  highest  seeds",
        "0.0001                             –       –         –        –      0  all shrink",
        "0.01                            0.01   1.633  0.007071  0.01414      2",
        "0.1                              0.1   1.633   0.07071   0.1414      2",
        f"Slope 1.00, from 2 learning rates. Its 95 % interval is {found.slope_low:.2f} to {found.slope_high:.2f}; it "
        "rejects aligned updates."]
    assert "it rejects orthogonal" in post.replace("\n", " ") and "Slope 0.05 ± 0.02 (standard" in post
    ds.isel(seed=0, norm_placement=0, learning_rate=0).to_netcdf(tmp_path / "one.nc")
    said = script("table", "--boundary", "one.nc", cwd=tmp_path).stdout
    assert said == ("norm_growth at 1 along weight_decay\n\nboundary weight decay  run before  run after\n"
                    "0.07071                      0.01        0.1\n")
    ds.isel(weight_decay=0).to_netcdf(tmp_path / "none.nc")
    assert script("table", "--boundary", "none.nc", cwd=tmp_path, status=1).stderr == (
        "table: none.nc: norm_growth is not measured along weight_decay, so there is no boundary\n")


def test_a_boundary_is_written(tmp_path, ds):
    ds = with_steps(ds)
    ds.to_netcdf(tmp_path / "a.nc")
    found = ds.sweep.boundary()
    for name in "b.nc", "b.csv":
        assert script("table", "--boundary", "a.nc", "-o", name, cwd=tmp_path).stdout == f"{name}\n"
    with xr.open_dataset(tmp_path / "b.nc") as written:
        xr.testing.assert_identical(written.load(), found)
    frame = pd.read_csv(tmp_path / "b.csv")
    assert set(found.variables) == set(frame.columns) and len(frame) == found.each.size
    for name in "each", "boundary", "slope_low", "steps_slope":
        assert near(frame[name], found[name].broadcast_like(found.each).transpose(*found.each.dims).values.ravel())
    said = script("table", "--boundary", "a.nc", cwd=tmp_path).stdout
    assert "Slope over steps\nlearning rate 0.1, norm placement pre: 0.00, 95 % interval " in said
    done = script("table", "--boundary", "a.nc", "-o", "b.txt", cwd=tmp_path, status=1)
    assert done.stderr == "table: b.txt: the name must end in .csv, .parquet or .nc\n"
