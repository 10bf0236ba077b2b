"""The boundary of a sweep: where a variable crosses a value along an axis. It is what `refine` looks for along one
axis, otherwise the weight decay, or its timescale, at which norm_growth falls through 1. If updates are orthogonal to
the parameters, that decay is proportional to the learning rate (log-log slope 1); if they point along the parameters,
it is constant."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple, cast

import numpy as np
import xarray as xr

from .hints import Array
from .names import DERIVED, DONE, REPEAT, TIMESCALE
from .plane import phase_axes
from .predicted import predicted_boundary
from .slope import interval, over_repeats, repeats_along, straight_line

CROSSES, ABOVE, BELOW, ZERO, RISING, UNKNOWN = SIDES = ("crosses", "above", "below", "zero", "rising", "unknown")
MIXED = "mixed"
RATE = "learning_rate"
REJECTS = ("neither", "orthogonal", "aligned", "both")  # by two bits: is each slope outside of the interval?
ALIGNED, ORTHOGONAL = 0, 1  # dynamics: the slope of a weight_decay that the learning rate multiplies
LARGEST = 700.0  # |log growth| is clipped to this, so that a norm of 0 or infinity has a side, too
REFINE = re.compile(r"\{ax(?:is|es): \[?(\w+)\]?, variable: (\w+), at: ([^,}]+)")  # not of two axes


class Rule(NamedTuple):
    """What crosses which value along which axis."""

    along: str
    variable: str
    at: float

    @property
    def is_of_growth(self) -> bool:
        """Does the norm of the parameters fall through a multiple of its start, as weight decay rises?"""
        return (self.along in (DERIVED, TIMESCALE), self.variable) == (True, "norm_growth") and self.at > 0

    @property
    def stops(self) -> bool:
        """Is it where growth stops?"""
        return self.is_of_growth and self.at == 1

    def __str__(self) -> str:
        return f"{self.variable} at {self.at:g} along {self.along}"


GROWTH = Rule(DERIVED, "norm_growth", 1.0)


def rule(dataset: xr.Dataset) -> Rule:
    """The rule of the sweep's boundary."""
    said = REFINE.match(str(dataset.attrs.get("refine", "")))
    return Rule(said[1], said[2], float(said[3])) if said else GROWTH._replace(along=phase_axes(dataset)[1])


def boundary(dataset: xr.Dataset, over: str | None = REPEAT) -> xr.Dataset:
    """The boundary for every value of the other axes, as a Dataset, from the runs that are done so far.

    Each row of runs along the boundary's axis has one. It is interpolated between neighbouring runs on both sides of
    the value: norm_growth in its logarithm, other variables linearly, and in the logarithm of the axis if that is
    positive. norm_growth along weight_decay crosses only where it falls, or along timescale, which is taken from its
    largest value on, others also where they rise; of several such places the last one counts. Only runs that are done
    count: diverged, failed, pending and skipped runs are left out, and the runs beside them become neighbours. If
    nothing crosses, the boundary is NaN and the side says why:

    above, below  all runs are above the value, or none is: of norm_growth, all grow or all shrink
    zero          it lies between a value of 0, which has no logarithm, and the next
    rising        norm_growth only rises through the value: a decay above 2 / learning_rate makes weights overshoot zero
    unknown       no run is done

    `over` names the axis of repeats; None if there is none. Variables, over the other axes:

    boundary            geometric mean over the repeats that have one
    spread              their standard deviation (n - 1) in log10; NaN for fewer than two
    low, high           the smallest and the largest of them
    repeats             their number. Repeats without a boundary do not count in boundary and spread.
    side                "crosses" if any repeat has a boundary; else the side that all have in common, or "mixed"
    each, each_side     boundary and side of each repeat, along `over` too
    before, after       values of the axis at the two runs beside each
    predicted           each, predicted from the norms of the run of the smallest weight decay, as predicted_boundary
                        with runs=1 does; only of norm_growth along weight_decay or timescale, if param_norm was
                        measured

    Over the same axes without learning_rate:

    slope, slope_error  slope of log boundary over log learning_rate, by least squares over the learning rates with a
                        boundary (NaN for fewer than two), and its standard error (NaN for fewer than three)
    level               log10 of the fitted boundary at a learning rate of 1
    slope_points        number of learning rates in the fit
    slope_low, slope_high   an interval that covers the slope with a probability of about 95 %, by resampling the
                        repeats, with each boundary anywhere between its two runs; NaN unless slope_repeats is 2 or more
    slope_repeats       repeats with boundaries at two learning rates or more
    rejects             what the interval excludes: "orthogonal" a slope of 1 (updates orthogonal to the parameters),
                        "aligned" a slope of 0 (updates along them), "both", "neither"; "unknown" without an interval;
                        only of norm_growth at 1 along weight_decay, whose slopes with decay_rule independent are 2 and
                        1, or timescale, whose slopes are -2 and -1
    steps_slope, steps_slope_low, steps_slope_high   the same over steps, if that is an axis of several values

    >>> found = ds.sweep.boundary().sel(norm_placement="pre")
    >>> found.boundary.round(6).values
    array([0.1 , 0.01,  nan])
    >>> list(found.side.values), found.repeats.values.tolist(), float(found.slope.round(6)), found.rejects.item()
    (['crosses', 'crosses', 'below'], [2, 2, 0], 1.0, 'aligned')
    >>> found.each.sel(learning_rate=0.01).values.round(6)
    array([0.007071, 0.014142])

    Raises ValueError if the sweep has no such axis, if the dataset lacks the variable, or if `over` is not one of the
    other axes; "seed" is allowed without such an axis, for sweeps without repeats.
    """
    of = rule(dataset)
    if over == RATE:
        raise ValueError(f"{over}: slopes are over it, so it is no axis of repeats")
    lines = crossings(dataset)
    along = repeats_along(lines.each, over)
    found = xr.Dataset({
        **over_repeats(lines.each, along),
        "side": xr.apply_ufunc(common_side, lines.each_side, input_core_dims=[along], vectorize=True,
                               output_dtypes=[object])})
    found = found.assign(lines.data_vars)
    if of.is_of_growth and {"param_norm", "step"} <= set(dataset.variables):
        found["predicted"] = predicted_boundary(dataset, runs=1, over=None, at=of.at).each
    fitted = lines[["each", "before", "after"]].where(lines.before > 0)  # 0 has no logarithm
    found = found.assign(slope_over(fitted, RATE, along))
    if of.stops:
        found["rejects"] = xr.apply_ufunc(rejected, found.slope_low, found.slope_high, *(
            slope_if(dynamics, dataset, of.along) for dynamics in (ORTHOGONAL, ALIGNED)), vectorize=True,
            output_dtypes=[object])
    if found.sizes.get("steps", 1) > 1:
        over_steps = slope_over(fitted, "steps", along)
        found = found.assign({f"steps_{name}": over_steps[name] for name in ("slope", "slope_low", "slope_high")})
    describe(found, of, over if along else None, dataset[of.along].attrs.get("units", "1"))
    for axis in found.dims:
        found[axis].attrs = dataset[axis].attrs
    return found.transpose(*(axis for axis in dataset.sweep.axes if axis in found.dims))


def crossings(dataset: xr.Dataset) -> xr.Dataset:
    """each, before, after and each_side of `boundary`, without the rest of it."""
    of = rule(dataset)
    if of.variable not in dataset or of.along not in dataset[of.variable].dims:
        raise ValueError(f"{of.variable} is not measured along {of.along}, so there is no boundary")
    values = dataset[of.variable].where(dataset.outcome == DONE).compute()
    values = values.sortby(of.along, ascending=of.along != TIMESCALE)  # in the order of decays
    cross = functools.partial(
        crossing, at=of.at, ratio=of.variable == GROWTH.variable and of.at > 0, falls=of.is_of_growth,
        log_axis=of.along in (DERIVED, TIMESCALE) or bool(values[of.along].min() > 0))
    return xr.Dataset(dict(zip(("each", "before", "after", "each_side"), xr.apply_ufunc(
        cross, values[of.along], values, input_core_dims=[[of.along]] * 2, output_core_dims=[[]] * 4, vectorize=True,
        output_dtypes=[float, float, float, object]))))


def crossing(place: Array, value: Array, at: float = 1.0, ratio: bool = True, falls: bool = True,
             log_axis: bool = True) -> tuple[float, float, float, str]:
    """(boundary, place of the run before it, of the run after it, side) of one row of runs. place [n] ascends, and
    value [n] is NaN for runs that do not count.

    `ratio`: it is interpolated in the logarithm of the variable; `log_axis`: in that of the axis, which has no boundary
    beside a place of 0; `falls`: only from a run above `at` to one that is not, else also the other way round.
    """
    known = ~np.isnan(value)
    place, value = place[known], value[known]
    with np.errstate(divide="ignore"):
        height = np.clip(np.log(value / at), -LARGEST, LARGEST) if ratio else value - at
    above = height > 0
    crosses = np.flatnonzero((above[:-1] & ~above[1:]) if falls else (above[:-1] != above[1:]))
    if not len(crosses):
        side = UNKNOWN if not len(above) else ABOVE if above.all() else RISING if above.any() else BELOW
        return np.nan, np.nan, np.nan, side
    i = crosses[-1]
    low, high = place[i:i + 2]
    share = height[i] / (height[i] - height[i + 1])
    if not log_axis:
        return (1 - share) * low + share * high, low, high, CROSSES
    if low <= 0:
        return np.nan, low, high, ZERO
    return np.exp((1 - share) * np.log(low) + share * np.log(high)), low, high, CROSSES


def common_side(sides: Array) -> str:
    found = set(np.ravel(sides)) - {UNKNOWN}
    if CROSSES in found:
        return CROSSES
    return MIXED if len(found) > 1 else found.pop() if found else UNKNOWN


# ---- slopes ----

def slope_over(fitted: xr.Dataset, axis: str, along: list[str]) -> dict[str, xr.DataArray]:
    """The straight line through the boundaries over an axis, by name; without such an axis, that through a point."""
    if axis not in fitted.dims:
        fitted = fitted.drop_vars(axis, errors="ignore").expand_dims({axis: [np.nan]})
    middle = over_repeats(fitted.each, along)["boundary"]
    found = dict(zip(("slope", "slope_error", "level", "slope_points"), xr.apply_ufunc(
        straight_line, np.log10(fitted[axis]), np.log10(middle), input_core_dims=[[axis]] * 2,
        output_core_dims=[[]] * 4, vectorize=True, output_dtypes=[float, float, float, int])))
    found |= ends_over(fitted, axis, along)
    return {**found, "slope_repeats": (fitted.each.notnull().sum(axis) > 1).sum(along)}


def ends_over(fitted: xr.Dataset, axis: str, along: list[str]) -> dict[str, xr.DataArray]:
    """The ends of the interval of the slope over an axis, by name."""
    fitted = fitted.sortby([axis, *along])  # the same draws in any order
    parts = [cast(xr.DataArray, np.log(fitted[name])) for name in ("each", "before", "after")]
    if not along:
        along, parts = ["once"], [part.expand_dims("once") for part in parts]
    return dict(zip(("slope_low", "slope_high"), xr.apply_ufunc(
        interval, np.log(fitted[axis].astype(float)), *parts, vectorize=True, output_dtypes=[float] * 2,
        input_core_dims=[[axis], *[[axis, *along]] * 3], output_core_dims=[[]] * 2)))


def slope_if(dynamics: int, dataset: xr.Dataset, along: str) -> xr.DataArray:
    """The slope of the boundary along an axis if updates are ORTHOGONAL to the parameters, or ALIGNED with them, for
    each decay_rule: decay takes the share rate × weight_decay in a step, with independent weight_decay itself, and
    1 / (timescale × steps) with all."""
    said = dataset.coords.get("decay_rule", xr.DataArray(dataset.attrs.get("decay_rule", "")))
    independent = (said == "independent").astype(int)
    return 0 * independent - 1 - dynamics if along == TIMESCALE else dynamics + independent


def rejected(low: float, high: float, orthogonal: int, aligned: int) -> str:
    return UNKNOWN if np.isnan(low) else REJECTS[(not low <= orthogonal <= high) + 2 * (not low <= aligned <= high)]


def describe(found: xr.Dataset, of: Rule, over: str | None, units: str) -> None:
    """Sets long names and units, for labels and tables."""
    mean = f", over {over}" if over else ""
    where = f"{of.along} at which {of.variable} is {of.at:g}"
    where = f"{of.along.replace('_', ' ')} at which growth stops" if of.stops else where
    names = {
        "boundary": f"{where}{mean and ', geometric mean' + mean}",
        "spread": f"standard deviation of log10 of the boundary{mean}",
        "low": f"smallest boundary{mean}",
        "high": f"largest boundary{mean}",
        "repeats": f"boundaries found{mean}",
        "side": "why there is no boundary",
        "each": where,
        "each_side": "why there is no boundary",
        "before": f"{of.along} of the run before the boundary",
        "after": f"{of.along} of the run after the boundary",
        "predicted": f"{where}, predicted from one run",
        "slope": "log-log slope of the boundary over the learning rate",
        "slope_error": "standard error of the slope",
        "level": "log10 of the fitted boundary at a learning rate of 1",
        "slope_points": "learning rates in the fit",
        "slope_low": "lower end of the interval of the slope",
        "slope_high": "upper end of the interval of the slope",
        "slope_repeats": "repeats with boundaries at two learning rates or more",
        "rejects": "dynamics whose slope the interval excludes",
        "steps_slope": "log-log slope of the boundary over steps",
        "steps_slope_low": "lower end of the interval of steps_slope",
        "steps_slope_high": "upper end of the interval of steps_slope",
    }
    of_axis = {"boundary", "low", "high", "each", "before", "after", "predicted"}
    for name in map(str, found.data_vars):
        found[name].attrs = {"long_name": names[name], "units": units if name in of_axis else "1"}
