"""What norms are made of: the share of each force in the change of |theta|^2; the rate at which directions change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np
import xarray as xr

from .hints import Array
from .memory import loaded
from .names import DONE, TIMESCALE
from .plane import phase_axes
from .predicted import key

SUM, OF_STEP, OF_TENSOR, SIZE = "force_sum", "forces", "tensor_forces", "tensor_norm"
FORCES = "decay", "injection", "chance", "pull"
CHANCE, PULL = FORCES[2:]
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
    others = [name for name in kept if name not in KEPT]
    if others:
        raise ValueError(f"{others[0]}: by is any of {', '.join(KEPT)}")
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

    From the group `forces`; where it knows nothing, as with adam and decay, and for the whole at a constant rate, from
    update_norm of the group `alignment`.

    Raises ValueError if the sweep measured neither.
    """
    name = OF_TENSOR if tensors else OF_STEP
    constant = dataset.attrs.get("schedule") == "constant" and str(dataset.attrs.get("warmup_steps")) == "0"
    found: list[xr.DataArray] = []
    if name in dataset:
        square = loaded(dataset[[name]], (name,))[name].sel(force="injection", drop=True)
        found.append(cast(xr.DataArray, np.sqrt(square)))
    if not tensors and constant and {"update_norm", "param_norm"} <= set(dataset.data_vars):
        found.append(dataset["update_norm"] * key(dataset, "learning_rate") / dataset["param_norm"])
    if not found:
        raise ValueError(f"{name} was not measured in this sweep: measure: {{metrics: [norms, forces]}}")
    rates = found[0].fillna(found[-1])
    rates.attrs = {"long_name": "effective learning rate", "units": "1"}
    return cast(xr.DataArray, rates.rename("effective_rate"))


def forces_at_boundary(dataset: xr.Dataset) -> xr.DataArray:
    """The forces that add to |theta|^2 as shares of what decay takes away, at the weight decay at which growth stops:
    injection, chance and pull, which sum to 1. Along the axes without weight_decay, or timescale, and `force`.

    The forces of the last run that grows and of the next one are interpolated linearly, to where their sum is 0. So the
    shares sum to 1 on any grid; how coarse it is, `before` and `after` of `ds.sweep.boundary()` say: the shares lie
    between those of runs that grow and that shrink. NaN where no two done runs are on both sides. Chance is NaN where
    it is not known of one of the two, and pull has both.

    Raises ValueError if the sweep did not measure the groups `norms` and `forces`, or has no axis weight_decay or
    timescale.
    """
    added, axis = forces(dataset), phase_axes(dataset)[1]
    if axis not in added.dims:
        raise ValueError(f"{axis} is not an axis of this sweep, so there is no boundary")
    done = (dataset.outcome == DONE).compute()
    added = added.where(done).sortby(axis, ascending=axis != TIMESCALE).sel(force=list(FORCES))
    found = xr.apply_ufunc(at_boundary, added[axis], added, vectorize=True, output_core_dims=[["force"]],
                           input_core_dims=[[axis], [axis, "force"]])
    found = (found / -found.sel(force="decay", drop=True)).sel(force=list(FORCES[1:]))
    found.attrs = {"long_name": "share of what decay takes away, at the boundary of growth", "units": "1"}
    return cast(xr.DataArray, found.rename("forces_at_boundary"))


def at_boundary(decay: Array, added: Array) -> Array:
    """The FORCES of one row of runs where they sum to 0. added [n, force]; decay [n] ascends, or is a timescale that
    descends."""
    known = np.isfinite(added[:, 0])
    decay, added = decay[known], added[known]
    change = np.nansum(added, 1)
    falls = np.flatnonzero((change[:-1] > 0) & (change[1:] <= 0))
    if not len(falls) or decay[falls[-1]] <= 0:  # a boundary beside 0 has no place on the axis
        return np.full(len(FORCES), np.nan)
    beside = slice(falls[-1], falls[-1] + 2)
    share = change[beside][0] / -np.diff(change[beside])
    two = added[beside]
    if np.isnan(two[:, 2]).any():
        two = np.stack([two[:, 0], two[:, 1], [np.nan] * 2, np.nansum(two[:, 2:], 1)], 1)
    return np.asarray((1 - share) * two[0] + share * two[1])
