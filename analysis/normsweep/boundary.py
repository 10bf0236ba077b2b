"""The boundary between growing and shrinking: the weight decay at which norm_growth is 1, and its dependence on the
learning rate. If steps are orthogonal to the parameters, the boundary is proportional to the learning rate (log-log
slope 1); if steps point along the parameters, it is constant (slope 0)."""

from __future__ import annotations

from typing import cast

import numpy as np
import xarray as xr

from .hints import Array
from .names import DONE, REPEAT

CROSSES, GROWING, SHRINKING, BELOW, RISING, UNKNOWN = SIDES = (
    "crosses", "growing", "shrinking", "below", "rising", "unknown")
MIXED = "mixed"
LARGEST = 700.0  # |log growth| is clipped to this, so that a norm of 0 or infinity has a side, too


def phase_boundary(dataset: xr.Dataset, over: str | None = REPEAT) -> xr.Dataset:
    """The boundary for every learning rate and every value of the other axes, as a Dataset.

    Each row of runs along weight_decay has one boundary: log norm_growth is interpolated linearly in log weight_decay
    between neighbouring runs, and crosses 0 between a run that grows and the next that does not. If there are several
    such places, the boundary is the one at the largest weight decay, above which no run grows. Only runs that are done
    count: diverged, failed and pending runs are left out, and the runs beside them become neighbours. If nothing
    crosses, the boundary is NaN and the side says why:

    growing, shrinking  all runs do (a norm_growth of exactly 1 is not growth)
    below               growing at a weight decay of 0, which has no logarithm, and shrinking from the next value on
    rising              shrinking, then growing: a decay above 2 / learning_rate makes the weights overshoot zero
    unknown             no run is done

    `over` names the axis of repeats; None if there is none. Variables, each over learning_rate and the other axes:

    boundary            geometric mean over the repeats that have one
    spread              their standard deviation (n - 1) in log10; NaN for fewer than two
    low, high           the smallest and the largest of them
    repeats             their number. Repeats without a boundary do not count in boundary and spread.
    side                "crosses" if any repeat has a boundary; else the side that all have in common, or "mixed"
    each, each_side     boundary and side of each repeat, along `over` too
    slope, slope_error  slope of log boundary over log learning_rate, by least squares over the learning rates with a
                        boundary (NaN for fewer than two), and its standard error (NaN for fewer than three)
    level               log10 of the fitted boundary at a learning rate of 1
    slope_points        number of learning rates in the fit

    >>> found = ds.sweep.phase_boundary().sel(norm_placement="pre")
    >>> found.boundary.round(6).values
    array([0.1 , 0.01,  nan])
    >>> list(found.side.values), found.repeats.values.tolist(), float(found.slope.round(6))
    (['crosses', 'crosses', 'shrinking'], [2, 2, 0], 1.0)

    Raises ValueError if the dataset has no norm_growth, if weight_decay is not an axis, or if `over` is not one of the
    other axes; "seed" is allowed without such an axis, for sweeps without repeats.
    """
    each, side = each_boundary(dataset)
    along = repeats_along(each, over)
    found = xr.Dataset({
        **over_repeats(each, along),
        "side": xr.apply_ufunc(common_side, side, input_core_dims=[along], vectorize=True, output_dtypes=[object]),
        "each": each,
        "each_side": side,
    })
    found = found.assign(slopes(found.boundary))
    describe(found, over if along else None)
    return found


def each_boundary(dataset: xr.Dataset) -> tuple[xr.DataArray, xr.DataArray]:
    """(boundary, side) of every row of runs along weight_decay."""
    if "norm_growth" not in dataset or "weight_decay" not in dataset.norm_growth.dims:
        raise ValueError("weight_decay is not an axis of this sweep, so there is no boundary")
    growth = dataset.norm_growth.where(dataset.outcome == DONE).compute().sortby("weight_decay")
    return xr.apply_ufunc(crossing, growth.weight_decay, growth, input_core_dims=[["weight_decay"]] * 2,
                          output_core_dims=[[], []], vectorize=True, output_dtypes=[float, object])


def crossing(decay: Array, growth: Array) -> tuple[float, str]:
    """(boundary, side) of one row of runs; decay [n] ascends, growth [n]."""
    boundary, low, _ = bracket(decay, growth)
    if not np.isnan(low):
        return boundary, BELOW if low == 0 else CROSSES
    grows = growth[~np.isnan(growth)] > 1
    if not len(grows):
        return np.nan, UNKNOWN
    return np.nan, GROWING if grows.all() else RISING if grows.any() else SHRINKING


def bracket(place: Array, value: Array, at: float = 1.0, ratio: bool = True, log_axis: bool = True,
            falls: bool = True) -> tuple[float, float, float]:
    """(boundary, place of the run before it, of the run after it) of the last place at which a variable crosses `at`
    on a row of runs; NaN if there is none. place [n] ascends, value [n] is NaN for runs that do not count.

    It is interpolated in the logarithm of the variable if that is a ratio, and in that of the axis with `log_axis`,
    which has no boundary beside a place of 0. `falls`: only from a run above `at` to one that is not; otherwise also
    the other way round. driver/boundary/line.c has the same.
    """
    known = ~np.isnan(value)
    place, value = place[known], value[known]
    with np.errstate(divide="ignore"):
        height = np.clip(np.log(value / at), -LARGEST, LARGEST) if ratio else value - at
    above = height > 0
    crosses = np.flatnonzero((above[:-1] & ~above[1:]) if falls else (above[:-1] != above[1:]))
    if not len(crosses):
        return np.nan, np.nan, np.nan
    i = crosses[-1]
    low, high = place[i:i + 2]
    share = height[i] / (height[i] - height[i + 1])
    if not log_axis:
        return (1 - share) * low + share * high, low, high
    return np.exp((1 - share) * np.log(low) + share * np.log(high)) if low > 0 else np.nan, low, high


def repeats_along(each: xr.DataArray, over: str | None) -> list[str]:
    """The axes of repeats, one or none; ValueError if `over` is not an axis."""
    if over not in (*each.dims, REPEAT, None):
        raise ValueError(f"{over}: not an axis of repeats; the axes are {', '.join(map(str, each.dims)) or 'none'}")
    return [over] if over is not None and over in each.dims else []


def over_repeats(each: xr.DataArray, along: list[str]) -> dict[str, xr.DataArray]:
    """Geometric mean, standard deviation in log10, range and number of the boundaries along some axes, by name."""
    logs = cast(xr.DataArray, np.log10(each))
    return {"boundary": 10 ** logs.mean(along), "spread": deviation(logs, along), "low": each.min(along),
            "high": each.max(along), "repeats": each.notnull().astype(int).sum(along)}


def deviation(values: xr.DataArray, along: list[str]) -> xr.DataArray:
    """Standard deviation (n - 1) of the values that are not NaN; NaN for fewer than two."""
    squares = (values - values.mean(along)) ** 2
    others = values.notnull().astype(int).sum(along) - 1
    return cast(xr.DataArray, np.sqrt(squares.sum(along) / others.where(others > 0)))


def common_side(sides: Array) -> str:
    found = set(np.ravel(sides)) - {UNKNOWN}
    if CROSSES in found:
        return CROSSES
    return MIXED if len(found) > 1 else found.pop() if found else UNKNOWN


def slopes(boundary: xr.DataArray) -> dict[str, xr.DataArray]:
    """The straight line through the boundary over the learning rate, in log10, as {name: variable}."""
    names = ("slope", "slope_error", "level", "slope_points")
    if "learning_rate" not in boundary.dims:
        nothing = xr.full_like(boundary, np.nan)
        return dict(zip(names, (nothing, nothing, nothing, xr.zeros_like(boundary, dtype=int))))
    fits = xr.apply_ufunc(straight_line, np.log10(boundary.learning_rate), np.log10(boundary),
                          input_core_dims=[["learning_rate"]] * 2, output_core_dims=[[]] * 4, vectorize=True,
                          output_dtypes=[float, float, float, int])
    return dict(zip(names, fits))


def straight_line(x: Array, y: Array) -> tuple[float, float, float, int]:
    """(slope, its standard error, intercept, points) by least squares over the points where y is not NaN."""
    x, y = x[~np.isnan(y)], y[~np.isnan(y)]
    if len(x) < 2:
        return np.nan, np.nan, np.nan, len(x)
    spread = np.sum((x - x.mean()) ** 2)
    slope = np.sum((x - x.mean()) * (y - y.mean())) / spread
    level = y.mean() - slope * x.mean()
    error = np.sqrt(np.sum((y - level - slope * x) ** 2) / (len(x) - 2) / spread) if len(x) > 2 else np.nan
    return slope, error, level, len(x)


def describe(found: xr.Dataset, over: str | None) -> None:
    """Sets long names and units, for labels and tables."""
    of = f", over {over}" if over else ""
    names = {
        "boundary": f"weight decay at which growth stops{of and ', geometric mean' + of}",
        "spread": f"standard deviation of log10 of the boundary{of}",
        "low": f"smallest boundary{of}",
        "high": f"largest boundary{of}",
        "repeats": f"boundaries found{of}",
        "side": "why there is no boundary",
        "each": "weight decay at which growth stops",
        "each_side": "why there is no boundary",
        "slope": "log-log slope of the boundary over the learning rate",
        "slope_error": "standard error of the slope",
        "level": "log10 of the fitted boundary at a learning rate of 1",
        "slope_points": "learning rates in the fit",
    }
    for name, text in names.items():
        found[name].attrs = {"long_name": text, "units": "1"}
