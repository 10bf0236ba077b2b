"""A boundary in words: rows over the learning rate and sentences on slopes, for a terminal and for a report; and as a
table with one row per line of runs."""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from .account import combinations
from .boundary import RATE, REJECTS, Rule
from .words import aligned, fixed, number

WIDTH = 100
SIDES = {  # why there is no boundary: of growth, of another
    "crosses": ("", ""), "above": ("all grow", "all above"), "below": ("all shrink", "none above"),
    "zero": ("between 0 and {}, the smallest positive decay that was run", "between 0 and {}"),
    "rising": ("shrinking below, growing above", ""), "mixed": ("differs between seeds",) * 2,
    "unknown": ("no run is done",) * 2}
REJECTED = dict(zip(REJECTS, ("neither prediction", "orthogonal updates", "aligned updates",
                              "orthogonal updates and aligned updates")))


class Line(NamedTuple):
    """The boundary over the learning rate, for one combination of the other axes."""

    words: str  # the combination
    # learning rate, boundary, the values of the runs on either side (NaN of several seeds), spread as a factor, low,
    # high, the number of seeds that have a boundary, why there is none
    rows: list[list[Any]]
    slope: float
    error: float
    points: int
    low: float
    high: float
    repeats: int  # that tell how much slopes differ
    rejects: str  # a key of REJECTED, or another word


def lines_of(found: xr.Dataset, of: Rule) -> list[Line]:
    """A Line for each combination of the axes of a boundary, as `boundary` gives it, except the learning rate."""
    if RATE not in found.dims:
        found = found.drop_vars(RATE, errors="ignore").expand_dims({RATE: [np.nan]})
    parts = ((words, found.isel(at)) for words, at in combinations(
        found, [str(dim) for dim in found.boundary.dims if dim != RATE]))
    none: Any = ""
    return [Line(words, sorted(rows_of(part, of)), *(
        part[name].values.flat[0] if name in part else none for name in (
            "slope", "slope_error", "slope_points", "slope_low", "slope_high", "slope_repeats", "rejects")))
        for words, part in parts]


def rows_of(part: xr.Dataset, of: Rule) -> list[list[Any]]:
    rows = []
    for i, rate in enumerate(part[RATE].values):
        at = part.isel({RATE: i})
        why = SIDES[at.side.item()][not of.stops].format(number(float(at.after.max())))
        beside = [at.before.item(), at.after.item()] if at.before.size == 1 else [np.nan] * 2
        rows.append([float(rate), at.boundary.item(), *beside, 10 ** at.spread.item(), at.low.item(), at.high.item(),
                     at.repeats.item(), why])
    return rows


def columns_of(line: Line, of: Rule) -> tuple[list[str], list[list[Any]]]:
    """(names, rows) of the columns of a line that are not empty."""
    rate, beside, repeated = (any(row[i] == row[i] for row in line.rows) for i in (0, 2, 4))
    kept = [rate, True, *[beside] * 2, *[repeated] * 4, any(row[8] for row in line.rows)]
    names = ["learning rate", f"boundary {of.along.replace('_', ' ')}", "run before", "run after", "spread", "lowest",
             "highest", "seeds", ""]
    names, *rows = ([one for one, keep in zip(row, kept) if keep] for row in (names, *line.rows))
    return names, rows


def slope_sentence(line: Line) -> str:
    """"Slope 1.02 ± 0.03 (standard error of the fit), from 7 learning rates. Its 95 % interval is 0.91 to 1.12; it
    rejects aligned updates."; "" without a slope."""
    if line.points < 2:
        return ""
    error = f" ± {fixed(line.error)} (standard error of the fit)" if line.error == line.error else ""
    text = f"Slope {fixed(line.slope)}{error}, from {line.points} learning rates."
    if line.repeats < 2:
        return f"{text} {'One seed: the' if line.repeats else 'The'} spread between seeds is unknown."
    text += f" Its 95 % interval is {fixed(line.low)} to {fixed(line.high)}"
    return f"{text}; it rejects {REJECTED[line.rejects]}." if line.rejects in REJECTED else f"{text}."


def steps_slopes(found: xr.Dataset) -> list[tuple[str, float, float, float]]:
    """(words, slope over steps, the ends of its interval) for each combination of the other axes; [] if there is
    none."""
    if "steps_slope" not in found:
        return []
    names = ("steps_slope", "steps_slope_low", "steps_slope_high")
    rows = [(words, *(found[name].isel(at).item() for name in names))
            for words, at in combinations(found, [str(dim) for dim in found.steps_slope.dims])]
    return [row for row in rows if np.isfinite(row[1])]


def boundary_text(found: xr.Dataset, of: Rule) -> str:
    """A boundary for a terminal."""
    parts = [f"{of}"]
    for line in lines_of(found, of):
        names, rows = columns_of(line, of)
        table = [names, *([one if isinstance(one, str) else number(one) for one in row] for row in rows)]
        parts.append("\n".join(filter(None, [line.words, aligned(table), textwrap.fill(slope_sentence(line), WIDTH)])))
    slopes = [f"{words and f'{words}: '}{fixed(slope)}" + (
        f", 95 % interval {fixed(low)} to {fixed(high)}" if low == low else "")
        for words, slope, low, high in steps_slopes(found)]
    return "\n\n".join([*parts, *(["\n".join(["Slope over steps", *slopes])] if slopes else [])]) + "\n"


def boundary_table(found: xr.Dataset) -> pd.DataFrame:
    """A DataFrame with a row for each line of runs along the boundary's axis; what several lines have in common, such
    as their slope, is in the rows of all."""
    dims = list(found.each.dims)
    if not dims:
        return pd.DataFrame({name: [variable.values.item()] for name, variable in found.variables.items()})
    return found.to_dataframe(dim_order=dims).reset_index()
