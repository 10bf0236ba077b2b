"""Joint exponents: a straight line through the logarithm of a variable, over the logarithms of several axes at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import xarray as xr

from .hints import Array
from .memory import loaded
from .names import PHASE_AXES, REPEAT
from .plane import last
from .significance import student_quantile

DEAD = "dead"
NAMES = ("exponent", "error", "low", "high", "level", "spread", "r_squared", "runs")


def scaling(dataset: xr.Dataset, variable: str = "top_singular", over: Sequence[str] = PHASE_AXES,
            repeats: str | None = REPEAT, where: xr.DataArray | None = None, dead: bool = False) -> xr.Dataset:
    """How a variable scales with several axes at once: the exponents of `variable ~ product of axis^exponent`, by least
    squares in logarithms over all runs that are done, as a Dataset over the axes that are not in `over`, and over the
    variable's own dimensions, such as layer and tensor. Along steps, the last measured value of each run counts.

    `over` names axes, keys that change together along an axis, or other coordinates along axes, such as one of
    assign_coords. `repeats` names the axis of repeats, each of which has a level of its own; None if there is none.
    `where` is a mask of the runs that count, over axes. Of a variable of tensors, those that are dead (ds.dead, of the
    group spectra) are left out, unless `dead` is true; so are values that are not above 0, and runs where a coordinate
    is not, such as a weight_decay of 0.

    exponent   along `over`: the exponents
    error      their standard errors
    low, high  the ends of intervals that cover the true exponents with a probability of 95 % each (Student's)
    level      along `repeats`, if there is such an axis: logarithm of the variable where all coordinates are 1
    spread     standard deviation of the runs around the line, in the natural logarithm: 0.1 is about 10 %
    r_squared  share of the variance within repeats that the line explains
    runs       number of values

    The intervals take what is left of the line as noise that is independent from run to run. So they do not say how
    straight the line is: compare `spread` with that of seeds alone, or fit parts of the plane (`where`). All are NaN
    where there are too few runs to tell the coordinates apart.

    Nor do they know of runs that have not come into balance, whose exponents are those of their start: intervals are
    tight around exponents near 0. Decay forgets the start after 1 / (2 learning_rate weight_decay) steps; three times
    as many leave a twentieth of it:

    >>> steady = 2 * ds.learning_rate * ds.weight_decay * 1000 >= 3  # of 1000 steps
    >>> ds.sweep.scaling("norm_growth", over=["weight_decay"], where=steady).sizes["over"]
    1

    >>> ds.sweep.scaling("norm_growth", over=["learning_rate"]).exponent.dims
    ('over', 'weight_decay', 'norm_placement')

    Raises ValueError if the variable was not measured, or for a name in `over` that is not a coordinate of numbers
    along the axes, or changes along `repeats` alone.
    """
    if variable not in dataset.data_vars or dataset[variable].dtype.kind not in "iuf":
        raise ValueError(f"{variable}: not a variable of numbers that was measured in this sweep")
    if isinstance(over, str) or not over:
        raise ValueError("over takes a list of axes, such as ['learning_rate', 'weight_decay']")
    axes = dataset.sweep.axes
    data = loaded(dataset, (variable, DEAD, "outcome"))
    logs = [logarithm(data, name) for name in over]
    lost = [name for name, log in zip(over, logs) if log.dims == (repeats,)]
    if lost:
        raise ValueError(f"{lost[0]}: each value of {repeats} has a level of its own, so nothing scales with it; "
                         "repeats=None or another axis of repeats changes that")
    used = [axis for axis in axes if axis == repeats or any(axis in log.dims for log in logs)]
    values = data[variable].astype(float)
    alive = data[DEAD] != 1 if DEAD in data and "tensor" in values.dims and not dead else None
    if "step" in values.dims:
        there = np.isfinite(values)
        alive = None if alive is None else last(data[DEAD].where(there)) != 1
        values = last(values.where(there))
    counted = data.sweep.done if where is None else data.sweep.done & where
    values = values.where(counted if alive is None else counted & alive)
    y = positive_log(values)
    missing = [axis for axis in used if axis not in y.dims]
    y = y.expand_dims({axis: data[axis].values for axis in missing}) if missing else y
    grid = y.isel({dim: 0 for dim in y.dims if dim not in used}, drop=True)
    design = [log.broadcast_like(grid).transpose(*used).values.ravel() for log in logs]
    repeat = np.broadcast_to(repeat_numbers(grid, used, repeats), grid.transpose(*used).shape).ravel()
    others = [dim for dim in y.dims if dim not in used]
    shape = [y.sizes[dim] for dim in others]
    rows = y.transpose(*others, *used).values.reshape([int(np.prod(shape)), -1])
    fits = [fitted(np.stack(design, 1), repeat, row) for row in rows]
    coords = {name: coordinate for name, coordinate in y.coords.items() if set(coordinate.dims) <= {*others}}
    several = {"over": list(over)}
    found = xr.Dataset(coords={**coords, **several})
    for i, name in enumerate(NAMES):
        part = np.array([fit[i] for fit in fits])
        own = ["over"] if i < 4 else [str(repeats)] if name == "level" and repeats in used else []
        part = part.reshape([*shape, *part.shape[1:]]) if own else part.reshape(shape)
        found[name] = ([*others, *own], part)
    if repeats in used:
        found = found.assign_coords({str(repeats): data[str(repeats)]})
    return found.transpose("over", ...)


def logarithm(dataset: xr.Dataset, name: str) -> xr.DataArray:
    """The natural logarithm of a coordinate along axes; NaN where it is not above 0."""
    if name not in dataset.coords or dataset[name].dtype.kind not in "iuf" or not dataset[name].ndim or not set(
            dataset[name].dims) <= {*dataset.sweep.axes}:
        raise ValueError(f"{name}: not a coordinate of numbers along the axes, which are "
                         f"{', '.join(dataset.sweep.axes) or 'none'}")
    return positive_log(dataset[name].astype(float))


def positive_log(values: xr.DataArray) -> xr.DataArray:
    return cast(xr.DataArray, np.log(values.where(np.isfinite(values) & (values > 0))))


def repeat_numbers(grid: xr.DataArray, used: list[str], repeats: str | None) -> Array:
    """The number of each run's repeat, in the shape of the axes that are used."""
    if repeats not in used:
        return np.zeros((), int)
    shape = [grid.sizes[axis] if axis == repeats else 1 for axis in used]
    return np.arange(grid.sizes[repeats]).reshape(shape)


def fitted(x: Array, repeat: Array, y: Array) -> tuple[Array, Array, Array, Array, Array, float, float, int]:
    """NAMES of one fit of y [n] to x [n, coordinates], both logarithms, with a level for each repeat [n]."""
    count, nothing = repeat.max() + 1, np.full(x.shape[1], np.nan)
    known = np.isfinite(y) & np.isfinite(x).all(1)
    levels, runs = np.full(count, np.nan), int(known.sum())
    x, y, repeat = x[known], y[known], repeat[known]
    times = np.bincount(repeat, minlength=count)[:, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.stack([np.bincount(repeat, column, count) for column in (*x.T, y)], 1) / times
    inside = x - means[repeat, :-1], y - means[repeat, -1]
    scale = np.sqrt((inside[0] ** 2).sum(0))
    free = runs - int((times > 0).sum()) - x.shape[1]
    rounding = 1e-9 * np.abs(x).max(0, initial=0)  # of means: where all runs have one value, nothing else is left
    if free < 0 or not (scale > rounding).all() or np.linalg.matrix_rank(inside[0] / scale, 1e-9) < x.shape[1]:
        return nothing, nothing, nothing, nothing, levels, np.nan, np.nan, runs
    exponent = np.linalg.lstsq(inside[0] / scale, inside[1], rcond=None)[0] / scale
    left = ((inside[1] - inside[0] @ exponent) ** 2).sum()
    square = left / free if free else np.nan
    inverse = np.linalg.inv((inside[0] / scale).T @ (inside[0] / scale)).diagonal() / scale ** 2
    error = np.sqrt(square * inverse)
    width = error * student_quantile(free) if free else nothing
    total = (inside[1] ** 2).sum()
    return (exponent, error, exponent - width, exponent + width, means[:, -1] - means[:, :-1] @ exponent,
            float(np.sqrt(square)), float(1 - left / total) if total > 0 else np.nan, runs)
