"""What `compare` finds: the change of growth and of a loss over the plane, both boundaries, and where it is
significant; or, without a plane, the change of each cell with its interval."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, SymLogNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .. import look
from ..names import PHASE_AXES
from . import cells, runs
from .drawing import Drawing

LOSSES = ("final_valid_loss", "final_train_loss")
MOST_ROWS = 8  # of panels
MOST_LINES = 40  # of a panel without a plane
QUANTILE = 0.98  # of the changes within the range of colours
SIGNIFICANT = {"marker": "o", "markersize": 3.2, "color": "white", "markeredgecolor": "black", "markeredgewidth": 0.7,
               "linestyle": "none", "zorder": 3}
SOME = {"marker": "x", "markersize": 4, "color": "0.2", "markeredgewidth": 0.8, "linestyle": "none"}
BOUNDARIES = {
    "a": {"color": "black", "linewidth": 1.5, "marker": "o", "markersize": 3.5},
    "b": {"color": look.COLOURS[2], "linewidth": 1.5, "marker": "s", "markersize": 4.5, "linestyle": "--",
          "markerfacecolor": "none", "markeredgewidth": 1.2}}
EMPTY = {  # why a cell has no change: how it looks
    "diverged in both": cells.MARKS["diverged"],
    "diverged in A": {**cells.MARKS["diverged"], "hatch": "////"},
    "diverged in B": {**cells.MARKS["diverged"], "hatch": "\\\\\\\\"},
    "not compared": cells.MARKS["no value"],
}
RATIOS = (1e6, 1000, 100, 30, 10, 5, 3, 2, 1.5, 1.2, 1.1, 1.05, 1.02, 1.01, 1.005, 1.002, 1.001, 1.0001, 1.00001)
UNDER = {5: 0.2, 3: 0.33, 2: 0.5, 1.5: 0.67, 1.2: 0.83, 1.1: 0.91, 1.05: 0.95, 1.02: 0.98, 1.01: 0.99, 1.005: 0.995,
         1.002: 0.998, 1.001: 0.999, 1.0001: 0.9999, 1.00001: 0.99999}
CORNER = 0.2  # of a cell, from its border to a mark
APART = 0.09  # of a bar, between two of its ticks


def comparison(found):
    """The figure of a comparison; None if nothing has a change."""
    shown = [name for name in chosen(found) if bool(np.isfinite(changes(found, name)).any())]
    if not shown:
        return None
    plane = plane_of(found)
    with look.style():
        figure, handles, notes = planes(found, shown, plane) if len(plane) == 2 else forest(found, shown)
        notes = [note for note in notes if note]
        look.frame(figure, "", handles, notes)
        figure.suptitle("\n".join(line for side in "ab" for line in look.wrap(
            look.plain(f"{side.upper()}: {found.attrs[side]}"), look.WIDTH - 0.2, look.HEADING)))
    caption = f"What changes from {found.attrs['a']} (A) to {found.attrs['b']} (B)."
    return Drawing("comparison", " ".join([caption, *notes]), figure)


def chosen(found):
    """The growth and one loss; or what was asked for."""
    names = found.attrs["compared"].split()
    loss = next((name for name in LOSSES if name in names), None)
    return [name for name in names if name not in LOSSES or name == loss]


def changes(found, name):
    """The change of a variable, logarithms of ratios."""
    if f"{name}_ratio" in found:
        with np.errstate(divide="ignore"):
            return np.log(found[f"{name}_ratio"])
    return found[f"{name}_difference"]


def several(found):
    return [str(axis) for axis in found.done_a.dims if found.sizes[axis] > 1]


def plane_of(found):
    """The axes (x, y) of numbers with several values: learning rate and weight decay first."""
    numbers = [axis for axis in several(found) if found[axis].dtype.kind in "iuf"]
    return ([axis for axis in PHASE_AXES if axis in numbers]
            + sorted((axis for axis in numbers if axis not in PHASE_AXES), key=lambda axis: -found.sizes[axis]))[:2]


def sides(found, name):
    """"B / A" or "B - A" of a variable, and what it is of."""
    words, unit = look.parts(found[f"{name}_a"].attrs["long_name"].rpartition(":")[0])
    is_ratio = f"{name}_ratio" in found
    return look.with_unit(f"{words}, {'B / A' if is_ratio else 'B − A'}", "" if is_ratio else unit)


# ---- over a plane ----

def planes(found, shown, plane):
    """(figure, handles, notes): a column of panels for each variable, a row for each combination of other axes."""
    found = found.sortby(list(plane)).transpose(..., *plane[::-1])
    others = [axis for axis in several(found) if axis not in plane]
    combinations = list(runs.combinations(found, others))
    kept = runs.thinned_along(combinations, MOST_ROWS)
    figure, panels = look.sheet(len(kept), len(shown), height=2.3 if len(kept) == 1 else 1.7, sharex=True, sharey=True)
    legend = {}
    for column, name in enumerate(shown):
        values = changes(found, name)
        normaliser, extend = colours_of(values)
        for axes, at in zip(panels[:, column], kept):
            draw_plane(axes, found.isel(at), name, plane, normaliser, legend)
            axes.set_title(look.title(runs.text(found, at), len(shown)))
        bar = look.add_bar(figure, ScalarMappable(normaliser, look.DIVERGING), ax=list(panels[:, column]),
                           extend=extend)
        label_bar(bar, normaliser, f"{name}_ratio" in found)
        panels[0, column].set_title("\n".join(filter(None, [look.column_title(sides(found, name), len(shown)),
                                                          panels[0, column].get_title()])))
    cells.name_axes(panels, panels.size, found, plane)
    return figure, [legend[word] for word in sorted(legend, key=order_of)], [
        *notes_of(found, legend), runs.left_out(found, kept, combinations)]


def order_of(word):
    return [*EMPTY].index(word) if word in EMPTY else -1


def colours_of(values):
    """(normaliser, `extend` of the bar): the same to both sides of no change."""
    size = np.abs(look.finite([values]))
    limit = float(np.quantile(size, QUANTILE)) if len(size) else 0.0
    limit = max(limit, 1e-6)
    usual = float(np.median(size[size > 0])) if (size > 0).any() else limit
    normaliser = (Normalize(-limit, limit) if limit < look.WIDE_RANGE * usual
                  else SymLogNorm(usual, vmin=-limit, vmax=limit))
    return normaliser, look.bar_ends((values < -limit).any(), (values > limit).any())


def label_bar(bar, normaliser, ratio):
    """Ticks at the same places to both sides, none too near to another; ratios as numbers, though the colours are
    their logarithms."""
    sizes = np.log(RATIOS) if ratio else np.array([m * 10.0 ** d for d in range(6, -9, -1) for m in (5, 2, 1)])
    places = [0.5]
    ticks = {0.0: "1" if ratio else "0"}
    for size in sizes:
        place = float(normaliser(size)) if size <= normaliser.vmax else 1.0 + APART
        if place > 1 or min(abs(place - other) for other in places) < APART:
            continue
        places.append(place)
        over = np.exp(size)
        ticks[size], ticks[-size] = ((f"{over:.6g}", f"{UNDER.get(round(over, 6), 1 / over):.5g}") if ratio
                                     else (look.number(size), "−" + look.number(size)))
    bar.set_ticks(list(ticks), labels=list(ticks.values()))
    bar.ax.minorticks_off()


def draw_plane(axes, part, name, plane, normaliser, legend):
    x, y = (cells.scale(part[axis]) for axis in plane)
    values = changes(part, name).transpose(*plane[::-1])
    axes.pcolormesh(x.edges, y.edges, values, cmap=look.DIVERGING, norm=normaliser)
    if y.is_log and part[plane[1]].values[0] == 0:
        axes.axhline(y.edges[1], color="white", linewidth=1.5)
    cells.set_axis(axes.xaxis, x)
    cells.set_axis(axes.yaxis, y)
    mark_empty(axes, part, np.isnan(values.values), plane, legend)
    dots(axes, x, y, (part[f"{name}_q"] <= part.attrs["level"]).transpose(*plane[::-1]).values, SIGNIFICANT,
         f"significant: q ≤ {part.attrs['level']:g}", legend)
    some = ((part.diverged_a > 0) | (part.diverged_b > 0)).transpose(*plane[::-1]).values & ~np.isnan(values.values)
    dots(axes, x, y, some, SOME, "some diverged", legend, 1 - CORNER)
    if tuple(plane) == PHASE_AXES and x.is_log and y.is_log and "boundary_a" in part and set(
            part.boundary_a.dims) == {plane[0]}:
        draw_boundaries(axes, part, x, legend)


def mark_empty(axes, part, empty, plane, legend):
    """Hatches the cells without a change, by their reason."""
    x, y = (cells.scale(part[axis]) for axis in plane)
    lost = {side: ((part[f"diverged_{side}"] > 0) & (part[f"done_{side}"] == 0)).transpose(*plane[::-1]).values
            for side in "ab"}
    masks = {"diverged in both": lost["a"] & lost["b"], "diverged in A": lost["a"] & ~lost["b"],
             "diverged in B": lost["b"] & ~lost["a"], "not compared": ~lost["a"] & ~lost["b"]}
    for word, mask in masks.items():
        if (empty & mask).any():
            cells.hatch(axes, x, y, empty & mask, EMPTY[word])
            legend.setdefault(word, Patch(label=word, **EMPTY[word]))


def dots(axes, x, y, mask, style, label, legend, share=CORNER):
    """Marks at the lower end of cells, `share` of their width from the left: boundaries pass through their middles."""
    rows, columns = np.nonzero(mask)
    if len(rows):
        axes.plot(x.edges[columns] + share * np.diff(x.edges)[columns], y.edges[rows] + CORNER * np.diff(y.edges)[rows],
                  **style)
        legend.setdefault(label, Line2D([], [], label=label, **style))


def draw_boundaries(axes, part, x, legend):
    for side, style in BOUNDARIES.items():
        with np.errstate(divide="ignore"):
            middle = np.log10(part[f"boundary_{side}"].values)
        if np.isfinite(middle).any():
            axes.plot(x.centres, middle, **style)
            label = f"boundary of {side.upper()}"
            legend.setdefault(label, Line2D([], [], label=label, **style))


def notes_of(found, legend=()):
    """What is compared, and what the marks mean."""
    said = found.attrs
    notes = [said["notes"].replace("\n", " ")]
    if min(said["seeds_a"], said["seeds_b"]) > 1:
        test = "Student's test of pairs" if said["pairing"] == "paired" else "Welch's test"
        notes.append(f"Significance: {test} in each cell, over {said['seeds_a']} seeds"
                     + ("" if said["seeds_a"] == said["seeds_b"] else f" of A and {said['seeds_b']} of B")
                     + ", corrected for the number of cells (Benjamini-Hochberg).")
    if any(str(word).startswith("boundary") for word in legend):
        notes.append(f"Boundaries: {said['boundary']}, geometric mean over the seeds that count in both.")
    return notes


# ---- without a plane ----

def forest(found, shown):
    """(figure, handles, notes): the change of each cell with its interval."""
    axes_of = several(found)
    combinations = list(runs.combinations(found, axes_of))
    kept = runs.thinned_along(combinations, MOST_LINES)
    figure, panels = look.sheet(1, len(shown), height=0.6 + 0.2 * len(kept), sharey=True)
    for axes, name in zip(panels[0], shown):
        draw_lines(axes, found, name, kept)
        axes.set_title(look.column_title(sides(found, name), len(shown)))
    labels = [runs.text(found, at) or "the one cell" for at in kept]
    panels[0, 0].set_yticks(range(len(kept)), labels)
    panels[0, 0].set_ylim(len(kept) - 0.5, -0.5)
    level = f"{found.attrs['level']:g}"
    handles = [Line2D([], [], color=look.COLOURS[0], marker="o", markersize=4, label=f"significant: q ≤ {level}"),
               Line2D([], [], color=look.COLOURS[0], marker="o", markersize=4, markerfacecolor="white",
                      label="not significant")] if min(found.attrs["seeds_a"], found.attrs["seeds_b"]) > 1 else []
    lines = "Lines: 95 % intervals over seeds." if handles else ""
    return figure, handles, [*notes_of(found), lines, runs.left_out(found, kept, combinations)]


def draw_lines(axes, found, name, combinations):
    ratio = f"{name}_ratio" in found
    change = f"{name}_{'ratio' if ratio else 'difference'}"
    for place, at in enumerate(combinations):
        value, low, high, q = (found[key].isel(at).item() for key in
                               (change, f"{change}_low", f"{change}_high", f"{name}_q"))
        axes.plot([low, high], [place, place], color=look.COLOURS[0], linewidth=1.2)
        face = look.COLOURS[0] if q <= found.attrs["level"] or np.isnan(q) else "white"
        axes.plot([value], [place], marker="o", markersize=4, color=look.COLOURS[0], markerfacecolor=face)
    look.grid(axes, "x")
    axes.axvline(1 if ratio else 0, color="black", linewidth=0.8, linestyle=":")
    axes.locator_params(axis="x", nbins=5)
