"""Boundaries of two sweeps that can be compared, because they lie between runs that both have.

A boundary is interpolated between two runs, and where it comes to lie depends on which two. If one of two sweeps has a
run less, or another grid, their boundaries differ even where the sweeps are one and the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from .boundary import crossings, rule
from .hints import Array
from .names import DONE, OUTCOMES, REPEAT
from .plane import equal
from .shared_grid import SharedGrid

SKIPPED = OUTCOMES.index("skipped")


class Boundaries(NamedTuple):
    """The boundaries of both sides, as `crossings` gives them, [axes..., seeds], and what they rest on."""

    sides: list[xr.Dataset]
    reduced: list[Array]  # [axes..., seeds] of each side: of the runs that both have, not of all its runs
    tested: Array  # [axes...]: false where they are those of each side's own runs, between which the other has runs


class Runs(NamedTuple):
    """The runs of one side, along the axis of the boundary: [axes..., seeds, places]."""

    places: Array  # [places]
    done: Array
    known: Array  # done, or skipped, because `refine` did not need it


def comparable_boundaries(shared: SharedGrid, along: str, axes: Sequence[str]) -> Boundaries:
    """The boundaries along an axis: those of all runs of each side where the other side knows the runs beside them, and
    has none between these two; else those of the runs that both have; else, where these have none, those of all runs,
    which are not to be tested.

    It is decided for each pair of runs, or for all seeds of both sides together.
    """
    runs = [runs_of(dataset, along, axes) for dataset in shared]
    own = [crossings(dataset).transpose(*axes, REPEAT) for dataset in shared]
    has = [~np.isnan(side.each.values) for side in own]
    alike = [knows(other, side, shared.is_paired) | ~one for side, other, one in zip(own, runs[::-1], has)]
    alike = in_common(alike, shared.is_paired)
    if all(part.all() for part in alike):
        return Boundaries(own, [~part for part in alike], np.full(has[0].shape[:-1], True))
    masks = common(runs, shared.is_paired)
    less = [crossings(only(dataset, along, axes, mask)).transpose(*axes, REPEAT)
            for dataset, mask in zip(shared, masks)]
    usable = [np.where(one, part, ~np.isnan(side.each.values)) for one, part, side in zip(alike, has, less)]
    tested = (usable[0] & usable[1]).any(-1) if shared.is_paired else usable[0].any(-1) & usable[1].any(-1)
    reduced = [~part & tested[..., np.newaxis] for part in alike]
    # With labels, as of `each`: xarray 2022.9 does not align arrays without.
    sides = [side.where(side.each.copy(data=~part), other) for side, other, part in zip(own, less, reduced)]
    return Boundaries(sides, [part & ~np.isnan(side.each.values) for part, side in zip(reduced, sides)], tested)


def runs_of(dataset: xr.Dataset, along: str, axes: Sequence[str]) -> Runs:
    variable = rule(dataset).variable
    skipped = (dataset.outcome == SKIPPED) & ~dataset.collapsed  # those are left out, not unneeded
    done, skipped = (mask.transpose(*axes, REPEAT, along).values for mask in (
        (dataset.outcome == DONE) & dataset[variable].notnull(), skipped))
    return Runs(dataset[along].values, done, done | skipped)


def knows(runs: Runs, side: xr.Dataset, is_paired: bool) -> Array:
    """[axes..., seeds] of a side with boundaries: do these runs of the other side have both places beside the boundary,
    and none between them? If runs are not paired, all of them, and none of any seed."""
    done, known = runs.done, runs.known
    if not is_paired:
        done, known = np.asarray(done.any(-2, keepdims=True)), np.asarray(known.all(-2, keepdims=True))
    ends = np.sort([side.before.values, side.after.values], 0)[..., np.newaxis]  # along timescale, before is larger
    beside = [same(runs.places, end) for end in ends]
    between = (runs.places > ends[0]) & (runs.places < ends[1]) & ~beside[0] & ~beside[1]
    has = [(known & end).any(-1) for end in beside]
    return np.asarray(has[0] & has[1] & ~(done & between).any(-1))


def same(places: Array, ends: Array) -> Array:
    """[..., places]: which place is each of the ends [..., 1]?"""
    found = [equal(places, end) for end in ends.ravel()]
    return np.reshape(found, (*ends.shape[:-1], len(places)))


def in_common(masks: list[Array], is_paired: bool) -> list[Array]:
    """Masks [..., seeds] of two sides that agree: in each pair, or, if runs are not paired, in all seeds of both."""
    if is_paired:
        both = masks[0] & masks[1]
        return [both, both]
    both = np.asarray(masks[0].all(-1) & masks[1].all(-1))
    return [np.broadcast_to(both[..., np.newaxis], mask.shape) for mask in masks]


def common(runs: list[Runs], is_paired: bool) -> list[Array]:
    """Masks [axes..., seeds, places] of the runs of each side that the other has, too; in all seeds if not paired."""
    a, b = runs
    mine, its = np.argwhere([equal(b.places, place) for place in a.places]).T
    done = [np.asarray(side.done if is_paired else side.done.all(-2, keepdims=True)) for side in runs]
    both = done[0][..., mine] & done[1][..., its]
    masks = [np.zeros(side.done.shape, bool) for side in runs]
    for mask, places in zip(masks, (mine, its)):
        mask[..., places] = both
    return masks


def only(dataset: xr.Dataset, along: str, axes: Sequence[str], mask: Array) -> xr.Dataset:
    """The dataset with the boundary's variable only in the runs of a mask."""
    variable = rule(dataset).variable
    there = xr.DataArray(mask, dims=(*axes, REPEAT, along))
    return dataset.assign({variable: dataset[variable].where(there)})
