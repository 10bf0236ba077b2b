"""The boundary of a sweep as the program itself finds it when the sweep has ended: the same variables, at any time."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import xarray as xr

from .boundary import bracket
from .names import BOUNDARY, DONE, REPEAT
from .predicted import predicted_boundary
from .slope import slope_fit

GROWTH, DECAY = "norm_growth", "weight_decay"
PREDICTIONS = {  # flag of boundary_rejects: the slope that it rejects, of which updates
    1: (1, "orthogonal updates"), 2: (0, "aligned updates")}


def boundary(dataset: xr.Dataset) -> xr.Dataset:
    """The variables that the program writes into a dataset when its sweep has ended, from the runs that are done so
    far, as a Dataset. It is what `refine` looks for along one axis, otherwise the weight decay at which norm_growth is
    1.

    boundary            value of the axis at which the variable crosses, for all values of the other axes, seeds too:
                        interpolated between neighbouring runs, at the last crossing between runs that were trained;
                        norm_growth along weight_decay crosses only where it falls
    boundary_low, boundary_high         values of the axis at these two runs
    predicted_boundary  predicted from the norms of the run of the smallest weight decay; NaN along any other axis
    boundary_slope      slope of log boundary over log learning_rate; boundary: the geometric mean over seeds. Only if
                        learning_rate is an axis with several values.
    boundary_slope_low, boundary_slope_high     an interval that covers the slope with a probability of about 95 %.
                        With one seed it comes from the residuals of the line: how much seeds differ is not in it, and
                        it may be far too narrow; do not call that a rejection.
    boundary_rejects    1 if the interval excludes a slope of 1 (updates orthogonal to the parameters), plus 2 if it
                        excludes 0 (updates along them); NaN without an interval
    boundary_steps_slope, boundary_steps_slope_low, boundary_steps_slope_high   the same over steps

    >>> found = ds.sel(norm_placement="pre").sweep.boundary()
    >>> found.boundary.sel(learning_rate=0.01).values.round(6)
    array([0.007071, 0.014142])
    >>> float(found.boundary_slope.round(6)), float(found.boundary_rejects)
    (1.0, 2.0)

    Raises ValueError if the sweep has no such axis, or the dataset lacks the variable.
    """
    along, variable, at = rule(dataset)
    of_growth = (variable, along) == (GROWTH, DECAY) and at > 0
    found = crossings(dataset)
    found["predicted_boundary"] = xr.full_like(found.boundary, np.nan)
    if of_growth and {"param_norm", "step"} <= set(dataset.variables):
        found["predicted_boundary"] = predicted_boundary(dataset, runs=1, at=at).each
    if REPEAT != along:
        found = found.assign(slopes(found, "learning_rate", "boundary_slope"))
        found = found.assign(slopes(found, "steps", "boundary_steps_slope"))
    if of_growth and at == 1 and "boundary_slope" in found:
        found["boundary_rejects"] = rejected(found.boundary_slope_low, found.boundary_slope_high)
    order = [axis for axis in dataset.sweep.axes if axis in found.dims]
    return describe(found.transpose(*order), dataset)


def crossings(dataset: xr.Dataset) -> xr.Dataset:
    """boundary, boundary_low and boundary_high of `boundary`, without the rest of it."""
    along, variable, at = rule(dataset)
    if variable not in dataset or along not in dataset[variable].dims:
        raise ValueError(f"{variable} is not measured along {along}, so there is no boundary")
    values = dataset[variable].where(dataset.outcome == DONE).compute().sortby(along)
    options: dict[str, Any] = {"at": at, "ratio": variable == GROWTH and at > 0,
                               "falls": (variable, along) == (GROWTH, DECAY) and at > 0,
                               "log_axis": along == DECAY or bool(values[along].min() > 0)}
    return xr.Dataset(dict(zip(("boundary", "boundary_low", "boundary_high"), xr.apply_ufunc(
        lambda place, value: bracket(place, value, **options), values[along], values,
        input_core_dims=[[along]] * 2, output_core_dims=[[]] * 3, vectorize=True, output_dtypes=[float] * 3))))


def rule(dataset: xr.Dataset) -> tuple[str, str, float]:
    """(axis, variable, value that it crosses) of the sweep's boundary."""
    said = dataset["boundary"].attrs if "boundary" in dataset else {}
    return str(said.get("along", DECAY)), str(said.get("variable", GROWTH)), float(said.get("at", 1))


def is_of_growth(dataset: xr.Dataset) -> bool:
    """Is the sweep's boundary the weight decay at which norm_growth is 1, as that of phase_boundary?"""
    return rule(dataset) == (DECAY, GROWTH, 1)


def crossing(dataset: xr.Dataset) -> str:
    """What the sweep's boundary is, in words: "final_train_loss at 2.9 along weight_decay"."""
    along, variable, at = rule(dataset)
    return f"{variable} at {at:g} along {along}"


def slopes(found: xr.Dataset, along: str, name: str) -> dict[str, xr.DataArray]:
    """{name: variable} of a slope and its interval over an axis; {} if that does not have several values."""
    if found.sizes.get(along, 1) < 2 or found[along].dtype.kind not in "iuf":
        return {}
    with np.errstate(divide="ignore", invalid="ignore"):
        y, low, high = (cast(xr.DataArray, np.log(found[part])).transpose(..., along)
                        for part in ("boundary", "boundary_low", "boundary_high"))
    y = y.where(np.isfinite(low) & np.isfinite(high))
    parts = [part if REPEAT in part.dims else part.expand_dims(REPEAT) for part in (y, low, high)]
    fits = xr.apply_ufunc(slope_fit, np.log(found[along].astype(float)), *parts,
                          input_core_dims=[[along], *[[along, REPEAT]] * 3], output_core_dims=[[]] * 3,
                          vectorize=True, output_dtypes=[float] * 3)
    return dict(zip((name, f"{name}_low", f"{name}_high"), fits))


def seeds_of_slope(part: xr.Dataset, along: str) -> int:
    """How many seeds the slope of one row of boundaries rests on: those with a boundary at two places or more. With
    one, its interval comes from the residuals of the line, and the spread between seeds is unknown."""
    return int((part.boundary.notnull().sum(along) > 1).sum())


def rejected(low: xr.DataArray, high: xr.DataArray) -> xr.DataArray:
    flags = xr.zeros_like(low)
    for flag, (slope, _) in PREDICTIONS.items():
        flags = flags + flag * ((slope < low) | (slope > high)).astype(float)
    return flags.where(low.notnull())


def describe(found: xr.Dataset, dataset: xr.Dataset) -> xr.Dataset:
    """Takes long names and units from the dataset, if it has these variables."""
    for name in map(str, found.data_vars):
        said = dataset[name].attrs if name in dataset else {}
        found[name].attrs = {"long_name": name.replace("_", " "), "units": "1"} | {
            key: said[key] for key in ("long_name", "units", "comment") if key in said}
    assert set(found.data_vars) <= set(BOUNDARY)
    return found
