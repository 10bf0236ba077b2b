"""Cells that a sweep with `refine` left out because the runs around them tell on which side of the boundary they are."""

import re

import numpy as np
import xarray as xr
from matplotlib.patches import Patch

from .. import look
from ..names import DONE, OUTCOMES
from .cells import hatch, scale

NEEDLESS = re.compile(r"not needed: .*\bnorm_growth( crosses| does not cross)? 1( |$)")  # the program's reason
SIDES = {  # how such a cell looks
    1: {"facecolor": look.DIVERGING(0.57), "edgecolor": "none", "label": "growing, not trained"},
    -1: {"facecolor": look.DIVERGING(0.43), "edgecolor": "none", "label": "shrinking, not trained"},
}
TRAINED = {"facecolor": "none", "edgecolor": "0.25", "linewidth": 0.4}
OTHER = 0  # the side of a run that diverged


def implied_sides(part, plane):
    """The side of each cell over the plane, rows along y: 1 growing, -1 shrinking; NaN where a run is done or the runs
    around it do not tell. None if the sweep left no cell out for that reason."""
    if "reason" not in part:
        return None
    reasons = part.reason.astype(str)
    needless = part.sweep.skipped & xr.apply_ufunc(lambda text: NEEDLESS.match(text) is not None, reasons,
                                                   vectorize=True, output_dtypes=[bool])
    if not needless.any():
        return None
    order = list(plane[::-1])
    growth, outcome = part.norm_growth, part.outcome
    side = xr.where(outcome == DONE, xr.where(growth > 1, 1.0, -1.0).where(growth.notnull()), np.nan)
    side = side.where(outcome != OUTCOMES.index("diverged"), OTHER).sortby(order)
    needless = needless.sortby(order)
    for axis in order:
        told = xr.apply_ufunc(between, side, needless, input_core_dims=[[axis]] * 2, output_core_dims=[[axis]],
                              vectorize=True, output_dtypes=[float])
        side = side.fillna(told)
    repeats = [dim for dim in side.dims if dim not in plane]
    cells = side.where(needless)
    agreed = cells.max(repeats).where(cells.max(repeats) == cells.min(repeats))
    done = (outcome == DONE).sortby(order).any(repeats)
    return agreed.where(~done & (agreed != OTHER)).transpose(*order)


def between(side, asked):
    """The sides [n] of the places asked for, where the next known ones before and after agree; at an end of the row
    the only one counts. NaN elsewhere."""
    found, known = np.full(len(side), np.nan), np.flatnonzero(~np.isnan(side))
    for i in np.flatnonzero(asked & np.isnan(side)):
        place = np.searchsorted(known, i)
        near = side[known[max(place - 1, 0):place + 1]]
        if len(near) and near[0] == near[-1] != OTHER:
            found[i] = near[0]
    return found


def draw(axes, sides, values, plane):
    """Paints the cells, and outlines those that have a value. Returns handles for a legend."""
    x, y = (scale(values[axis]) for axis in plane)
    found = []
    for side, style in SIDES.items():
        mask = (sides == side).values
        if mask.any():
            hatch(axes, x, y, mask, {name: value for name, value in style.items() if name != "label"})
            found.append(Patch(**{**style, "edgecolor": "0.7", "linewidth": 0.5}))
    hatch(axes, x, y, values.notnull().values, TRAINED)
    return found
