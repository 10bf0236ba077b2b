"""Gradients of untrained networks over depth: along the layers of one network, and of its last layer over the number of
layers. Xiong and others, "On Layer Normalization in the Transformer Architecture" (ICML 2020), predict both."""

from __future__ import annotations

from typing import cast

import numpy as np
import xarray as xr

from .memory import loaded
from .names import REPEAT
from .slope import deviation, straight_line

NORM, SLOPE, THEORY = "mean_gradient_norm", "gradient_depth_slope", "gradient_depth_slope_theory"
PLACE = "norm_placement"
LAST = {"post": 0.0, "pre": -0.5}  # slopes of the last layer's gradient over the number of layers, in theory


def gradient_slopes(dataset: xr.Dataset, tensor: str = "w2", over: str | None = REPEAT) -> xr.Dataset:
    """How the gradients of untrained networks depend on depth, as a Dataset over the other axes.

    `over` names the axis of repeats; None if there is none. `tensor` is one of ds.tensor. All values are of step 0,
    however the run ended. Without an axis `layers`, `last` and what follows from it are missing.

    depth               slope of ln mean_gradient_norm over layer, per layer from the input on: the mean over repeats
                        (gradient_depth_slope; NaN with fewer than 4 layers); along `layers`, too
    depth_error         its standard error over the repeats; NaN for fewer than two
    depth_theory        what the theory says of w2 in its setting: ln(3/2)/2 for post, 0 for pre, else NaN
    last                mean_gradient_norm of the last layer: the geometric mean over repeats, along `layers`
    last_error          standard error of ln last over the repeats, likewise
    each                slope of ln last over ln layers of each repeat, along `over`
    slope, slope_error  their mean and its standard error over the repeats; that of the line if there is only one;
                        NaN with a single number of layers
    theory              what the theory says: 0 for post, -1/2 for pre, else NaN

    Raises ValueError if the dataset has no mean_gradient_norm or no such tensor.
    """
    if NORM not in dataset:
        raise ValueError(f"{NORM} was not measured in this sweep")
    kinds = np.flatnonzero(dataset.tensor.values == tensor)
    if not len(kinds):
        raise ValueError(f"{tensor}: not a tensor; they are {', '.join(map(str, dataset.tensor.values))}")
    fresh = dataset[[NORM, SLOPE, THEORY]].isel(step=0, tensor=int(kinds[0])).drop_vars(["step", "tensor"])
    fresh = loaded(fresh, (NORM, SLOPE, THEORY))
    along = [over] if over is not None and over in fresh[SLOPE].dims else []
    found = {"depth": fresh[SLOPE].mean(along), "depth_error": error_of_mean(fresh[SLOPE], along),
             "depth_theory": fresh[THEORY].mean(along)}
    if "layers" in fresh[SLOPE].dims:
        found |= over_depth(fresh, along)
    return xr.Dataset(found)


def over_depth(fresh: xr.Dataset, along: list[str]) -> dict[str, xr.DataArray]:
    """The variables that tell the depths of networks apart; with one depth there is no slope."""
    layer = xr.DataArray(np.arange(fresh.sizes["layer"]), dims="layer")
    ends = fresh[NORM].isel(layer=xr.where(fresh[NORM].notnull(), layer, 0).max("layer"))
    ends = ends.drop_vars("layer", errors="ignore")
    logs = cast(xr.DataArray, np.log(ends.where((ends > 0) & np.isfinite(ends))))
    each, line_error = xr.apply_ufunc(
        lambda x, y: straight_line(x, y)[:2], np.log(fresh["layers"].astype(float)), logs,
        input_core_dims=[["layers"]] * 2, output_core_dims=[[], []], vectorize=True, output_dtypes=[float, float])
    depth = fresh[THEORY].mean(["layers", *along])
    error = error_of_mean(each, along)
    return {"last": np.exp(logs.mean(along)), "last_error": error_of_mean(logs, along), "each": each,
            "slope": each.mean(along), "slope_error": error.fillna(line_error.mean(along)),
            "theory": theory_of_last(fresh).where(depth.notnull())}


def theory_of_last(fresh: xr.Dataset) -> xr.DataArray:
    """What the theory says of the last layer, by the place of the norm: an axis, or the same in all runs."""
    place = fresh[PLACE] if PLACE in fresh.coords else xr.DataArray(fresh.attrs.get(PLACE, ""))
    return xr.apply_ufunc(lambda word: LAST.get(str(word), np.nan), place, vectorize=True, output_dtypes=[float])


def error_of_mean(values: xr.DataArray, along: list[str]) -> xr.DataArray:
    """Standard error of the mean of the values that are not NaN; NaN for fewer than two."""
    return deviation(values, along) / np.sqrt(values.notnull().sum(along))
