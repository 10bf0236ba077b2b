"""Cells that a sweep with `refine` left out because the runs around them tell on which side of the boundary they are:
the dataset has a phase for them."""

from matplotlib.patches import Patch

from .cells import flags, hatch, scale
from .colours import PHASES

SIDES = {word: {"facecolor": style["pale"], "edgecolor": "none"} for word, style in PHASES.items()}  # such a cell
TRAINED = {"facecolor": "none", "edgecolor": "0.25", "linewidth": 0.4}


def implied_sides(part, plane):
    """{word: mask over the plane, rows along y} for "growing" and "shrinking": the cells that the sweep left out for
    all repeats, with this phase. None if there are none."""
    codes = flags(part.phase) if "phase" in part else {}
    order = list(plane[::-1])
    repeats = [dim for dim in part.outcome.dims if dim not in plane]
    masks = {word: (part.sweep.skipped & (part.phase == codes[word])).all(repeats).transpose(*order).sortby(order)
             for word in SIDES if word in codes}
    return masks if any(mask.any() for mask in masks.values()) else None


def draw(axes, masks, values, plane):
    """Paints the cells, and outlines those that have a value. Returns handles for a legend."""
    x, y = (scale(values[axis]) for axis in plane)
    for word, mask in masks.items():
        hatch(axes, x, y, mask.values, SIDES[word])
    hatch(axes, x, y, values.notnull().values, TRAINED)
    return [Patch(facecolor=SIDES[word]["facecolor"], edgecolor="0.7", linewidth=0.5, label=f"{word}, not trained")
            for word, mask in masks.items() if mask.any()]
