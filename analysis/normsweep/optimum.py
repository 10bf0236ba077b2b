"""Where along an axis a variable is least, and of which product of weight decay and learning rate it is a function.

Both intervals are meant to cover the true value with a probability of 95 %: the middle 95 % of resamples of the
repeats, all of them for few repeats, whose deviations are widened as those of slope.py, since a bootstrap of few is too
narrow. In simulations with 2, 3, 5 and 8 repeats they do in 89 to 97 % of cases.
"""

from __future__ import annotations

import functools
import itertools
from typing import cast

import numpy as np
import xarray as xr

from .hints import Array
from .memory import loaded
from .names import REPEAT
from .plane import is_geometric, last, phase_axes
from .scaling import logarithm
from .slope import ALL_REPEATS, MIDDLE, widening

LOSS = "final_valid_loss"
DRAWS = 2000  # resamples of more repeats than ALL_REPEATS
LOW, HIGH, BESIDE, NONE, FEW = "low end", "high end", "beside", "no run", "too few runs"
KNOTS = (0.25, 0.5, 0.75)  # quantiles of x at which the third derivative of the curve may change
LEAST_B, MOST_B, STEP_B = -2.0, 4.0, 0.02


def optimum(dataset: xr.Dataset, variable: str = LOSS, over: str = "",
            repeats: str | None = REPEAT, where: xr.DataArray | None = None) -> xr.Dataset:
    """Where along an axis a variable is least, as a Dataset over the other axes, and over the variable's own dimensions
    but the step, of which the last measured one counts: the lowest point of the parabola through the best run and its
    neighbours, in the logarithm of the axis, of means over the repeats.

    `over` names the axis, of numbers, by default weight_decay, or timescale if that is the axis; its values that are
    not above 0 have no logarithm and are left out. `repeats` names the axis of repeats; None if there is none. Only
    runs that are done count, and of them those in the mask `where`, if it is given. Cells that the sweep skips are
    passed over.

    optimum     the place; NaN where the least value is at an end
    low, high   the ends of an interval that covers it with a probability of about 95 %, by resampling the repeats; the
                least of a resample that is at an end counts there. NaN for fewer than two repeats
    least       the value of the parabola there
    reason      "" or why there is no optimum: "low end" or "high end": the least value is the first or the last along
                the axis; "beside": a run beside it did not end well; "no run": none did

    >>> ds.sweep.optimum("norm_growth", over="learning_rate").optimum.dims
    ('weight_decay', 'norm_placement')

    Raises ValueError if the variable was not measured, or `over` is not an axis of numbers.
    """
    over = over or phase_axes(dataset)[1]
    values = counted(dataset, variable, where)
    if over not in dataset.sweep.axes or dataset[over].dtype.kind not in "iuf":
        raise ValueError(f"{over}: not an axis of numbers; the axes are {', '.join(dataset.sweep.axes) or 'none'}")
    taken = ~dataset.sweep.skipped.drop_vars(dataset.outcome.coords).assign_coords({over: values[over]})
    values, taken = (part.sel({over: part[over] > 0}).sortby(over).compute() for part in (values, taken))
    taken = taken.any([axis for axis in (repeats,) if axis in taken.dims])
    values, along = with_repeats(values, repeats)
    find = functools.partial(least_place, np.log(values[over].values.astype(float)))
    parts = xr.apply_ufunc(find, values, taken, input_core_dims=[[over, along], [over]], output_core_dims=[[]] * 5,
                           vectorize=True, output_dtypes=[float] * 4 + [object])
    found = xr.Dataset(dict(zip(("optimum", "low", "high", "least", "reason"), parts)))
    unit, known = dataset[variable].attrs.get("units", "1"), dataset[over].attrs.get("units", "1")
    for name, text in (("optimum", f"{over} of the least {variable}"), ("low", "lower end of the interval"),
                       ("high", "upper end of the interval"), ("least", f"least {variable}"),
                       ("reason", "why there is no optimum")):
        found[name].attrs = {"long_name": text, "units": unit if name == "least" else known}
    return found


def collapse(dataset: xr.Dataset, variable: str = LOSS, of: tuple[str, str] = ("weight_decay", "learning_rate"),
             repeats: str | None = REPEAT, where: xr.DataArray | None = None) -> xr.Dataset:
    """The exponent b for which a variable is a function of weight_decay × learning_rate^b alone, as a Dataset over the
    axes that neither depends on: least squares of a smooth curve, a cubic spline with three knots, in
    x = log weight_decay + b log learning_rate, for b from -2 to 4. b is 0 for a function of the decay alone, and 1 for
    one of the timescale 1 / (rate × decay × steps).

    `of` names the two coordinates, `repeats` the axis of repeats, `where` a mask of the runs that count: in wide planes
    rates alone may decide, so look at the part where the decay matters. A ratio such as norm_growth is taken in its
    logarithm. Cells that are not done in all repeats do not count, nor do those of a decay of 0.

    exponent   b; NaN where it is at an end of its range, or `reason` says "too few runs", which are 12 cells
    low, high  the ends of an interval that covers it with a probability of about 95 %, by resampling the repeats; NaN
               for fewer than two
    spread     standard deviation of the cells around the curve
    noise      that of the mean of a cell, from its repeats; the variable is such a function if spread is hardly more
    apart      spread at b = 0 and at b = 1, along `b`
    cells      number of cells
    reason     "", "low end", "high end" or "too few runs"

    >>> ds.sweep.collapse("norm_growth").exponent.dims
    ('norm_placement',)

    Raises ValueError if the variable was not measured, or one of `of` is not a coordinate of numbers along axes.
    """
    values = counted(dataset, variable, where)
    if is_geometric(dataset[variable]):
        values = cast(xr.DataArray, np.log(values.where(values > 0)))
    logs = [logarithm(dataset, name) for name in of]
    used = [axis for axis in dataset.sweep.axes if any(axis in log.dims for log in logs)]
    values, along = with_repeats(values, repeats)
    grid = values.isel({dim: 0 for dim in values.dims if dim not in used}, drop=True)
    x = np.stack([log.broadcast_like(grid).transpose(*used).values.ravel() for log in logs])
    values = values.stack(cell=used)
    find = functools.partial(collapsed_at, x)
    parts = xr.apply_ufunc(find, values.drop_vars([*used, "cell"], errors="ignore"), vectorize=True,
                           input_core_dims=[["cell", along]], output_core_dims=[[]] * 5 + [["b"], [], []],
                           output_dtypes=[float] * 7 + [object])
    names = ("exponent", "low", "high", "spread", "noise", "apart", "cells", "reason")
    found = xr.Dataset(dict(zip(names, parts))).assign_coords(b=[0, 1])
    return found.assign(cells=found.cells.astype(int))


def counted(dataset: xr.Dataset, variable: str, where: xr.DataArray | None) -> xr.DataArray:
    """The last values of a variable in the runs that count, NaN elsewhere."""
    if variable not in dataset.data_vars or dataset[variable].dtype.kind not in "iuf":
        raise ValueError(f"{variable}: not a variable of numbers that was measured in this sweep")
    data = loaded(dataset[[variable, "outcome"]], (variable, "outcome"))
    values = data[variable].astype(float)
    values = last(values.where(np.isfinite(values))) if "step" in values.dims else values
    values = values.where(np.isfinite(values) & (data.sweep.done if where is None else data.sweep.done & where))
    return values.drop_vars([name for name in values.coords if name not in values.dims])


def with_repeats(values: xr.DataArray, repeats: str | None) -> tuple[xr.DataArray, str]:
    """The values with an axis of repeats, of one if there is none, and its name."""
    if repeats is not None and repeats in values.dims:
        return values, repeats
    return values.expand_dims("once"), "once"


@functools.lru_cache(maxsize=None)
def resamples(count: int) -> Array:
    """[resamples, count]: how often each repeat is taken; all for few, else so many draws."""
    if count > ALL_REPEATS:
        return np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), DRAWS)
    drawn = np.array(list(itertools.product(range(count), repeat=count)))
    return np.asarray((drawn[:, :, np.newaxis] == np.arange(count)).sum(1))


def ends(estimate: float, resampled: Array, repeats: int) -> tuple[float, float]:
    """The interval around an estimate, from resamples of the repeats."""
    low, high = np.quantile(estimate + widening(repeats) * (resampled - estimate), MIDDLE)
    return min(float(low), estimate), max(float(high), estimate)


# ---- the least value ----

def least_place(x: Array, values: Array, taken: Array | slice = slice(None)) -> tuple[float, float, float, float, str]:
    """(place, low, high, value, reason) of values [n, repeats] at those of the logarithms x [n] that are taken; places
    are no logarithms. Repeats that have no value at any place are left out; a place that another repeat lacks has no
    value."""
    nothing = np.nan, np.nan, np.nan, np.nan
    x, values = x[taken], values[taken]
    values = values[:, np.isfinite(values).any(0)]
    if not values.size:
        return *nothing, NONE
    means = values.mean(1)
    place, value, reason = (part[0] for part in lowest(x, means[:, np.newaxis]))
    if reason:
        return *nothing, str(reason)
    repeats = values.shape[1]
    if repeats < 2:
        return float(np.exp(place)), np.nan, np.nan, float(value), ""
    resampled = lowest(x, values @ resamples(repeats).T / repeats)[0]
    low, high = ends(float(place), resampled[np.isfinite(resampled)], repeats)
    return float(np.exp(place)), float(np.exp(low)), float(np.exp(high)), float(value), ""


def lowest(x: Array, values: Array) -> tuple[Array, Array, Array]:
    """Place, value and reason of the least of values [n, curves]; beside an end, the place is that of the end."""
    column = np.arange(values.shape[1])
    best = np.where(np.isfinite(values), values, np.inf).argmin(0)
    middle = np.clip(best, 1, max(len(x) - 2, 1))
    place, value = x[best], values[best, column]
    reason = np.where(best == 0, LOW, np.where(best == len(x) - 1, HIGH, "")).astype(object)
    reason[~np.isfinite(values).any(0)] = NONE
    if len(x) < 3:
        return place, value, reason
    left, right = x[middle - 1] - x[middle], x[middle + 1] - x[middle]
    down, up = (values[middle + side, column] - values[middle, column] for side in (-1, 1))
    bend = (up / right - down / left) / (right - left)
    tilt = up / right - bend * right
    inside = (reason == "") & np.isfinite(bend)
    reason[(reason == "") & ~inside] = BESIDE
    with np.errstate(invalid="ignore", divide="ignore"):
        shift = np.where(bend > 0, -tilt / (2 * bend), 0)
    return np.where(inside, x[middle] + shift, place), np.where(inside, value - bend * shift ** 2, value), reason


# ---- collapse ----

def curve(x: Array) -> Array:
    """The basis [n, 7] of the smooth curve, orthonormal."""
    x = (x - x.min()) / (np.ptp(x) or 1)
    steps = [np.maximum(x - knot, 0) ** 3 for knot in np.quantile(x, KNOTS)]
    return np.asarray(np.linalg.qr(np.stack([np.ones_like(x), x, x ** 2, x ** 3, *steps], 1))[0])


def collapsed_at(x: Array, values: Array) -> tuple[float, float, float, float, float, Array, float, str]:
    """The variables of `collapse` for values [cells, repeats] at two logarithms x [2, cells]."""
    values = values[:, np.isfinite(values).any(0)]
    known = np.isfinite(values).all(1) & np.isfinite(x).all(0) & (values.shape[1] > 0)
    x, values, repeats = x[:, known], values[known], values.shape[1]
    cells, free = len(values), len(values) - 8
    if cells < 12 or min(np.ptp(x[1]), np.ptp(x[0])) == 0:
        return np.nan, np.nan, np.nan, np.nan, np.nan, np.full(2, np.nan), cells, FEW
    several = [np.ones((1, repeats)), resamples(repeats)] if repeats > 1 else [np.ones((1, repeats))]
    curves = values @ np.concatenate(several).T / repeats
    curves = curves - curves.mean(0)
    bs = np.arange(LEAST_B, MOST_B + STEP_B / 2, STEP_B)
    left = np.array([(curves ** 2).sum(0) - ((curve(x[0] + b * x[1]).T @ curves) ** 2).sum(0) for b in bs])
    left = np.maximum(left, 0)
    found, least, reason = lowest(bs, left)
    noise = np.sqrt(values.var(1, ddof=1).mean() / repeats) if repeats > 1 else np.nan
    spread = float(np.sqrt(max(least[0], 0) / free))
    at = np.interp([0, 1], bs, left[:, 0])
    apart = np.sqrt(at / (free + 1))
    if reason[0]:
        return np.nan, np.nan, np.nan, spread, noise, apart, cells, str(reason[0])
    low, high = ends(float(found[0]), found[1:], repeats) if repeats > 1 else (np.nan, np.nan)
    return float(found[0]), low, high, spread, float(noise), apart, cells, ""
