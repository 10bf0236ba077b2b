"""What norms are made of: the share of each force in the change of |theta|^2; the rate at which directions change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np
import xarray as xr

from .boundary import crossings
from .hints import Array
from .memory import loaded
from .predicted import key

SUM, OF_STEP, OF_TENSOR, SIZE = "force_sum", "forces", "tensor_forces", "tensor_norm"
CHANCE, PULL = "chance", "pull"
KEPT = ("step", "stack", "layer", "tensor")


def forces(dataset: xr.Dataset, by: Iterable[str] | str = ()) -> xr.DataArray:
    """What decay, injection, chance and pull have added to |theta|^2 since step 0, over |theta_0|^2.

    A DataArray along the axes and `force`. The four sum to norm_growth^2 - 1, but for rounding. They count every step
    of a run up to its last measured one, and all tensors of the layers.

    `by` names dimensions to keep: "tensor", "layer" and "stack" for the part of each, "step" for what has come together
    up to each measured step; the parts of tensors and layers are over the same |theta_0|^2, so that they sum to the
    whole.

    decay      what weight decay takes away
    injection  the squares of the steps: what steps across theta add
    chance     what momentum adds if gradients are white noise, as theta holds past steps; NaN if it is not known of
               some tensor that is summed (see `normsweep help forces`), and pull has both then
    pull       what the gradients' own direction along theta adds, or takes away

    >>> shares = ds.sweep.forces()                                  # doctest: +SKIP
    >>> shares.sel(force="chance") / -shares.sel(force="decay")     # doctest: +SKIP

    Raises ValueError if the sweep did not measure the groups `norms` and `forces`, or for another word in `by`.
    """
    kept = (by,) if isinstance(by, str) else tuple(by)
    unknown = [name for name in kept if name not in KEPT]
    if unknown:
        raise ValueError(f"{unknown[0]}: by is any of {', '.join(KEPT)}")
    missing = [name for name in (SUM, SIZE) if name not in dataset]
    if missing:
        raise ValueError(f"{missing[0]} was not measured in this sweep: measure: {{metrics: [norms, forces]}}")
    part = loaded(dataset[[SUM, SIZE]], (SUM, SIZE))
    parts = [dim for dim in ("stack", "layer", "tensor") if dim in part[SUM].dims]
    start = (part[SIZE] ** 2).isel(step=0, drop=True).sum(parts)
    counted = part.isel(step=slice(1, None))  # nothing has been added at step 0
    added, there = counted[SUM], counted[SIZE].notnull()
    unknown = (there & added.isnull()).any("step")  # forces that some step of a tensor does not have
    summed = [dim for dim in parts if dim not in kept]
    is_blind = unknown.sel(force=CHANCE, drop=True) & ~unknown.sel(force="decay", drop=True)
    is_lost = unknown.sel(force="decay", drop=True).any(summed)
    total = added.fillna(0).sum(summed)
    if "step" in kept:
        steps = xr.concat([xr.zeros_like(total.isel(step=0)).assign_coords(step=part["step"][0]), total], "step")
        measured = part[SIZE].notnull().any(summed)
        total = steps.cumsum("step").assign_coords(step=part["step"]).where(measured)
    else:
        total = total.sum("step").where(there.any([*summed, "step"]))
    total = total.where(~is_lost)
    blind = is_blind.any(summed)
    total = total + xr.where(blind & (total["force"] == PULL), total.sel(force=CHANCE, drop=True), 0)
    total = total.where(~(blind & (total["force"] == CHANCE)))
    found = (total / start).transpose(*[dim for dim in part[SUM].dims if dim in total.dims])
    found.attrs = {"long_name": "force on the square of the parameter norm, over its start", "units": "1"}
    return cast(xr.DataArray, found.rename("forces"))


def effective_rate(dataset: xr.Dataset, tensors: bool = False) -> xr.DataArray:
    """The effective learning rate, learning_rate |u_t| / |theta_t|, at each measured step: by how much the direction of
    theta turns in a step across it, in radians, if it is small. u_t is the optimiser's step without decay, over the
    learning rate. With `tensors`, that of each kind of tensor of each layer.

    Raises ValueError if the sweep did not measure the group `forces`, unless it has update_norm, the whole is asked for
    and the rate is constant.
    """
    name = OF_TENSOR if tensors else OF_STEP
    constant = dataset.attrs.get("schedule") == "constant" and str(dataset.attrs.get("warmup_steps")) == "0"
    if name in dataset:
        found = np.sqrt(loaded(dataset[[name]], (name,))[name].sel(force="injection", drop=True))
    elif not tensors and constant and {"update_norm", "param_norm"} <= set(dataset.data_vars):
        found = dataset["update_norm"] * key(dataset, "learning_rate") / dataset["param_norm"]
    else:
        raise ValueError(f"{name} was not measured in this sweep: measure: {{metrics: [norms, forces]}}")
    found.attrs = {"long_name": "effective learning rate", "units": "1"}
    return cast(xr.DataArray, found.rename("effective_rate"))


def forces_at_boundary(dataset: xr.Dataset) -> xr.DataArray:
    """The forces that add to |theta|^2 as shares of what decay takes away, at the weight decay at which growth stops:
    injection, chance and pull, which sum to 1 there. Along the axes without weight_decay, and `force`.

    Linear in the logarithm of weight decay between the two runs beside the boundary (`ds.sweep.boundary()`), so that
    the sum differs from 1 by the error of that. NaN where there is no boundary. Chance is NaN where it is not known,
    and pull has both.

    Raises ValueError if the sweep did not measure the groups `norms` and `forces`, or has no axis weight_decay.
    """
    shares = forces(dataset)
    places = crossings(dataset).each
    shares = shares / -shares.sel(force="decay", drop=True)

    def at(decay: Array, value: Array, place: float) -> float:
        known = (decay > 0) & np.isfinite(value)
        order = np.argsort(decay[known])
        if not np.isfinite(place) or known.sum() < 2:
            return np.nan
        return float(np.interp(np.log(place), np.log(decay[known][order]), value[known][order]))

    found = xr.apply_ufunc(at, dataset["weight_decay"], shares, places, vectorize=True,
                           input_core_dims=[["weight_decay"], ["weight_decay"], []])
    found = found.sel(force=["injection", CHANCE, PULL]).transpose(..., "force")
    found.attrs = {"long_name": "share of what decay takes away, at the boundary of growth", "units": "1"}
    return cast(xr.DataArray, found.rename("forces_at_boundary"))
