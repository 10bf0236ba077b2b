"""What `compare` finds as a table with one row per number, and as a text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from .words import MINUS, aligned, grouped, number, several, value_text

COLUMNS = ("a", "b", "change", "change_low", "change_high", "p", "q", "runs")
OF_MEANS = ("p_exact", "p_least", "cells")
OF_BOUNDARIES = ("change_least", "change_most")
OF_CELLS = ("phase_a", "phase_b", "phase_differs", "done_a", "done_b", "diverged_a", "diverged_b", "collapsed_a",
            "collapsed_b")
WIDTH = 100
CELLS = 5  # listed of each variable


def comparison_table(found: xr.Dataset) -> pd.DataFrame:
    """A DataFrame with a row for every number that `compare` compared.

    `quantity` is NAME, NAME_mean, NAME_median, boundary or boundary_slope; `kind` says whether `change` is the ratio
    b / a or the difference b - a; the axes follow, empty for what is not of one cell; then a, b, change, the ends of
    its interval, p, q and the number of runs; for means the exact p, the least that it can be, and the number of cells;
    for cells the phases, and the runs that are done, that diverged and that collapsed.
    """
    frames = []
    for name in names_of(found):
        kind = kind_of(found, name)
        frames.append(rows(found, name, kind, COLUMNS, OF_CELLS))
        frames.append(rows(found, f"{name}_mean", kind, (*COLUMNS, *OF_MEANS)))
        frames.append(rows(found, f"{name}_median", kind))
    if "boundary_ratio" in found:
        frames.append(rows(found, "boundary", "ratio", (*COLUMNS, *OF_BOUNDARIES)))
    if "boundary_slope_difference" in found:
        frames.append(rows(found, "boundary_slope", "difference"))
    order = ["quantity", "kind", *map(str, found.dims), *COLUMNS, *OF_MEANS, *OF_CELLS, *OF_BOUNDARIES]
    if not frames:
        return pd.DataFrame(columns=order)
    table = pd.concat(frames, ignore_index=True)
    return table[[name for name in order if name in table.columns]]


def names_of(found: xr.Dataset) -> list[str]:
    """The variables that were compared."""
    return str(found.attrs["compared"]).split()


def kind_of(found: xr.Dataset, name: str) -> str:
    return "ratio" if f"{name}_ratio" in found else "difference"


def rows(found: xr.Dataset, quantity: str, kind: str, keys: Iterable[str] = COLUMNS,
         more: Sequence[str] = ()) -> pd.DataFrame:
    """The rows of one quantity; `more` are variables of the cells."""
    there = {key: f"{quantity}_{key.replace('change', kind)}" for key in keys}
    part = found[[name for name in (*there.values(), *more) if name in found]]
    dims = list(part[there["change"]].dims)
    frame = part.to_dataframe(dim_order=dims).reset_index() if dims else pd.DataFrame(
        {name: [part[name].item()] for name in part.data_vars})
    frame = frame.rename(columns={name: column for column, name in there.items()})
    frame.insert(0, "kind", kind)
    frame.insert(0, "quantity", quantity)
    return frame


# ---- text ----

def comparison_text(found: xr.Dataset, cells: int = CELLS) -> str:
    """The text of a comparison, with the `cells` largest changes that are significant, of each variable."""
    parts = [heading(found), means(found), boundaries(found)]
    parts += [largest(found, name, cells) for name in names_of(found)] if cells else []
    return "\n\n".join(part for part in parts if part) + "\n"


def heading(found: xr.Dataset) -> str:
    said = found.attrs
    lines = [f"A  {said['a']}", f"B  {said['b']}"] if (said["a"], said["b"]) != ("A", "B") else []
    values = f"the values of {said['differ_in_values']}" if said["differ_in_values"] else ""
    if said["differ"]:
        text = [f"They differ in {said['differ']}{', and in ' if values else ''}{values}."]
    else:
        text = [f"All keys of the sweep file are the same{', but for ' if values else ''}{values}."]
    if said["differ_in_program"]:
        text.append(f"What wrote them differs in {said['differ_in_program']}.")
    text += [*said["notes"].split("\n"), phase_line(found)]
    if not said["without_collapsed"] and bool((found.collapsed_a + found.collapsed_b).any()):
        text.append("Collapsed runs are left out with --without-collapsed.")
    return "\n".join([*lines, *(textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
                                for line in text)])


def phase_line(found: xr.Dataset) -> str:
    ended = [int((found[f"done_{side}"] + found[f"diverged_{side}"]).sum()) for side in "ab"]
    diverged = [int(found[f"diverged_{side}"].sum()) for side in "ab"]
    differs = int(found.phase_differs.sum())
    of = ("pair", "s of runs", " of runs") if found.attrs["pairing"] == "paired" else ("cell", "s", "")
    where = f"Phases differ in {differs} {of[0]}{of[2] if differs == 1 else of[1]}"
    if not any(diverged):
        return f"{where}. No run diverged."
    return (f"{where}. Diverged: {diverged[0]} of {several(ended[0], 'run')} in A, {diverged[1]} of {ended[1]} in B; "
            "they have no growth and no loss, and means are over the cells where no run is missing.")


def means(found: xr.Dataset) -> str:
    """The table of means over cells."""
    if not names_of(found):
        return "No run has a finite value in both A and B."
    lines = [["mean over cells", "cells", "A", "B", "B/A or B-A", "95 % interval", "p", "exact p", "median",
              "cells, q <= 0.05"]]
    level = found.attrs["level"]
    for name in names_of(found):
        kind = kind_of(found, name)

        def of(key: str, name: str = name, kind: str = kind) -> Any:
            return found[f"{name}_mean_{key.replace('change', kind)}"].item()
        q = found[f"{name}_q"]
        tested = int(q.notnull().sum())
        lines.append([name, grouped(of("cells")), number(of("a")), number(of("b")), change(of("change"), kind),
                      interval(of("change_low"), of("change_high"), kind), probability(of("p")),
                      probability(of("p_exact") if of("p_least") <= level else np.nan),
                      change(found[f"{name}_median_{kind}"].item(), kind),
                      f"{int((q <= level).sum())} of {tested}" if tested else "not tested"])
    least = [found[f"{name}_mean_p_least"].item() for name in names_of(found)]
    text = aligned(lines) + "\nmedian: of B/A or B-A over the same cells."
    if any(one > level for one in least):
        paired, seeds = found.attrs["pairing"] == "paired", [int(found.attrs[f"seeds_{side}"]) for side in "ab"]
        few = several(seeds[0], "pair") if paired else f"{seeds[0]} and {several(seeds[1], 'seed')}"
        text += f" Exact p: with {few} it cannot be below {probability(np.nanmax(least))}, so it is not shown."
    return text


def boundaries(found: xr.Dataset) -> str:
    """The table of boundaries and the line on slopes."""
    if "boundary_ratio" not in found or not bool(found.boundary_ratio.notnull().any()):
        return ""
    axes = list(map(str, found.boundary_ratio.dims))
    lines = [[*axes, "A", "B", "B/A", "95 % interval", "p", "q", "seeds", "B/A between runs"]]
    table = rows(found, "boundary", "ratio", (*COLUMNS, *OF_BOUNDARIES))
    for _, row in table[table.change.notna()].iterrows():
        lines.append([*(value_text(row[axis]) for axis in axes), number(row.a), number(row.b),
                      change(row.change, "ratio"), interval(row.change_low, row.change_high, "ratio"),
                      probability(row.p), probability(row.q), str(int(row.runs)),
                      interval(row.change_least, row.change_most, "ratio")])
    lost = int(table.change.isna().sum())
    text = f"Boundary: {found.attrs['boundary']}\n{aligned(lines)}"
    text += f"\n{several(lost, 'line')} without a boundary in both is left out." if lost == 1 else (
        f"\n{lost} lines without a boundary in both are left out." if lost else "")
    over = "The interval is over seeds; " if min(found.attrs["seeds_a"], found.attrs["seeds_b"]) > 1 else ""
    text += "\n" + textwrap.fill(f"{over}\"between runs\" is what B/A can be if each boundary lies anywhere between "
                                 "the two runs beside it.", WIDTH)
    return text + slopes(found)


def slopes(found: xr.Dataset) -> str:
    """A line for each combination of the axes behind the learning rate."""
    if "boundary_slope_difference" not in found:
        return ""
    dims, text = found.boundary_slope_difference.dims, ""
    for at in np.ndindex(found.boundary_slope_difference.shape):
        part = found.isel(dict(zip(dims, at)))
        if not np.isfinite(part.boundary_slope_difference.item()):
            continue
        where = ", ".join(f"{axis} {value_text(part[axis].item())}" for axis in dims)
        sides = []
        for side in "ab":
            slope, low, high = (part[f"boundary_slope_{side}{end}"].item() for end in ("", "_low", "_high"))
            sides.append(f"{side.upper()} {number(slope, 3)}" + (
                f" ({number(low, 3)} to {number(high, 3)})" if low == low else ""))
        line = (f"Slope over learning_rate{where and ', ' + where}, at "
                f"{part.boundary_slope_places.item()} values: {', '.join(sides)}; B-A "
                f"{change(part.boundary_slope_difference.item(), 'difference')}" + between(
                    part.boundary_slope_difference_low.item(), part.boundary_slope_difference_high.item()))
        if np.isfinite(part.boundary_slope_p.item()):
            line += f", p {probability(part.boundary_slope_p.item())}"
        text += "\n" + textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return text and f"\n{text}"


def largest(found: xr.Dataset, name: str, cells: int) -> str:
    """The cells with the largest of the significant changes."""
    table = rows(found, name, kind_of(found, name))
    sure = table[table.q <= found.attrs["level"]]
    if not len(sure):
        return ""
    kind, axes = kind_of(found, name), list(map(str, found[f"{name}_q"].dims))
    size = np.abs(np.log(sure.change)) if kind == "ratio" else np.abs(sure.change)
    shown = sure.loc[size.sort_values(ascending=False, kind="stable").index[:cells]]
    lines = [[*axes, "A", "B", "B/A" if kind == "ratio" else "B-A", "95 % interval", "p", "q"]]
    lines += [[*(value_text(row[axis]) for axis in axes), number(row.a), number(row.b), change(row.change, kind),
               interval(row.change_low, row.change_high, kind), probability(row.p), probability(row.q)]
              for _, row in shown.iterrows()]
    which = f"the {len(shown)} largest of " if len(shown) < len(sure) else ""
    return f"{name}: {which}{several(len(sure), 'change')} with q <= {found.attrs['level']:g}\n{aligned(lines)}"


def change(value: float, kind: str) -> str:
    """A ratio, or a difference with its sign."""
    if value != value:
        return "–"
    if kind == "ratio":  # at least two digits of what differs from 1
        near = abs(value - 1)
        digits = 3 if near >= 0.1 or near == 0 else 2 - int(np.floor(np.log10(near))) - (value < 1)
        return number(value, min(12, digits))
    text = number(abs(value), 3)
    return (MINUS if value < 0 else "+") + text if text != "0" else text


def interval(low: float, high: float, kind: str) -> str:
    return f"{change(low, kind)} to {change(high, kind)}" if low == low and high == high else "–"


def between(low: float, high: float) -> str:
    return f" ({change(low, 'difference')} to {change(high, 'difference')})" if low == low and high == high else ""


def probability(p: float) -> str:
    if p != p:
        return "–"
    return "< 1e-6" if p < 1e-6 else number(p, 1 if p < 0.001 else 2)
