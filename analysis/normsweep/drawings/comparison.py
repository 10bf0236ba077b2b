"""What `compare` finds: the change of growth and of a loss over the plane, both boundaries, and where it is
significant; or, without a plane, the change of each cell with its interval."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, SymLogNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..plane import phase_axes
from . import cells, colours, look, runs, scales
from .colours import SOME
from .drawing import Drawing

LOSSES = ("final_valid_loss", "final_train_loss")
MOST_ROWS = 8  # of panels
MOST_LINES = 40  # of a panel without a plane
ABREAST = 2  # variables beside each other; of more, the panels of each are below those of the other
QUANTILE = 0.98  # of the changes within the range of colours
SIGNIFICANT = {"marker": "o", "markersize": 3.2, "color": "white", "markeredgecolor": "black", "markeredgewidth": 0.7,
               "linestyle": "none", "zorder": 3}
FEWER = {"marker": "v", "markersize": 3.2, "color": "0.2", "markerfacecolor": "none", "markeredgewidth": 0.7,
         "linestyle": "none", "zorder": 3}
LEAST = 3  # seeds from which on significance is marked
SURE, NOT_SURE, NOT_TESTED = "significant: q ≤ {level}", "not significant", f"not tested, or fewer than {LEAST} seeds"
VERDICTS = {  # on the change of one cell, without a plane
    SURE: {"marker": "o", "markersize": 4}, NOT_SURE: {"marker": "o", "markersize": 4, "markerfacecolor": "white"},
    NOT_TESTED: {"marker": "D", "markersize": 3.5, "markerfacecolor": "white", "linestyle": "none"}}
BOUNDARIES = {
    "a": {"color": "black", "linewidth": 1.5, "marker": "o", "markersize": 3.5},
    "b": {"color": colours.COLOURS[2], "linewidth": 1.5, "marker": "s", "markersize": 4.5, "linestyle": "--",
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
CORNER, MIDDLE = 0.2, 0.5  # of a cell, from its border to a mark
APART = 0.09  # of a bar, between two of its ticks


def comparison(found):
    """The figure of a comparison; None if nothing has a change."""
    shown = [name for name in chosen(found) if bool(np.isfinite(changes(found, name)).any())]
    if not shown:
        return None
    plane = plane_of(found)
    found = found.assign_attrs(most_runs=min(found.attrs["seeds_a"], found.attrs["seeds_b"]))
    with look.style():
        figure, handles, notes = planes(found, shown, plane) if len(plane) == 2 else forest(found, shown)
        notes = [note for note in notes if note]
        look.frame(figure, "", handles, notes)
        if look.now().options.title is None:
            figure.suptitle("\n".join(line for side in "ab" for line in look.wrap(
                look.plain(f"{side.upper()}: {found.attrs[side]}"), look.sheet_size()[0] - 0.2, look.now().heading)))
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
    first = phase_axes(found)
    return ([axis for axis in first if axis in numbers]
            + sorted((axis for axis in numbers if axis not in first), key=lambda axis: -found.sizes[axis]))[:2]


def sides(found, name):
    """"B / A" or "B - A" of a variable, and what it is of."""
    variable, is_ratio = found[f"{name}_a"], f"{name}_ratio" in found
    said = variable.attrs["long_name"].rpartition(":")[0]
    words, unit = look.name(variable.rename(name).assign_attrs(long_name=said))
    return look.with_unit(f"{words}, {'B / A' if is_ratio else 'B − A'}", "" if is_ratio else unit)


# ---- over a plane ----

def planes(found, shown, plane):
    """(figure, handles, notes): a column of panels for each variable, a row for each combination of other axes."""
    found = found.sortby(list(plane)).transpose(..., *plane[::-1])
    others = [axis for axis in several(found) if axis not in plane]
    combinations = list(runs.combinations(found, others))
    kept = runs.thinned_along(combinations, MOST_ROWS if len(shown) <= ABREAST else -(-2 * MOST_ROWS // len(shown)))
    figure, panels, used = arranged(len(kept), len(shown))
    legend = {}
    for name, mine in zip(shown, used):
        normaliser, extend = colours_of(changes(found, name))
        for axes, at in zip(mine, kept):
            draw_plane(axes, found.isel(at), name, plane, normaliser, legend)
            axes.set_title(look.title(runs.text(found, at), panels.shape[1]))
        colour = ScalarMappable(normaliser, colours.DIVERGING)
        bar = look.add_bar(figure, colour, len(mine) / len(panels), ax=list(mine),
                           extend=extend)
        label_bar(bar, normaliser, f"{name}_ratio" in found)
        mine[0].set_title("\n".join(filter(None, [look.column_title(sides(found, name), panels.shape[1]),
                                                  mine[0].get_title()])))
    cells.name_axes(panels, panels.size, found, plane)
    if len(used) > ABREAST and len(used) % ABREAST:  # nothing is below the last panel of the right column
        used[-2][-1].set_xlabel(panels[-1, 0].get_xlabel())
        used[-2][-1].tick_params(labelbottom=True)
    order = sorted(legend, key=lambda word: [*EMPTY].index(word) if word in EMPTY else -1)
    return figure, [legend[word] for word in order], [
        counted(found, shown), *notes_of(found, shown, legend), runs.left_out(found, kept, combinations)]


def arranged(rows, variables):
    """(figure, panels, [panels of each variable]): a column for each of few variables, whose panels are below each
    other; blocks of ABREAST columns for more."""
    columns = min(variables, ABREAST)
    blocks = -(-variables // columns)
    figure, panels = look.sheet(rows * blocks, columns, height=2.3 if rows == blocks == 1 else 1.7, sharex=True,
                                sharey=True)
    used = [panels[rows * (i // columns):rows * (i // columns + 1), i % columns] for i in range(variables)]
    for axes in panels[rows * (blocks - 1):, variables - columns * (blocks - 1):].ravel():
        axes.remove()
    return figure, panels, used


def counts_of(found, shown):
    """(least, most) runs, or pairs of runs, of the cells that have a change of any of these variables."""
    counts = np.concatenate([found[f"{name}_runs"].values[np.isfinite(changes(found, name).values)] for name in shown])
    return int(counts.min()), int(counts.max())


def counted(found, shown):
    """"n = 1 to 3 pairs of runs in a cell."."""
    least, most = counts_of(found, shown)
    number = f"{least} to {most}" if least < most else str(most)
    if found.attrs["pairing"] == "paired":
        return f"n = {number} pair{'' if most == 1 else 's'} of runs in a cell."
    return f"n = {number} run{'' if most == 1 else 's'} per cell, on the side that has fewer."


def colours_of(values):
    """(normaliser, `extend` of the bar): the same to both sides of no change."""
    size = np.abs(scales.finite([values]))
    limit = float(np.quantile(size, QUANTILE)) if len(size) else 0.0
    limit = max(limit, 1e-6)
    usual = float(np.median(size[size > 0])) if (size > 0).any() else limit
    normaliser = (Normalize(-limit, limit) if limit < scales.WIDE_RANGE * usual
                  else SymLogNorm(usual, vmin=-limit, vmax=limit))
    return normaliser, scales.bar_ends((values < -limit).any(), (values > limit).any())


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
        ticks[size], ticks[-size] = ratio_texts(size) if ratio else (scales.number(size), "−" + scales.number(size))
    bar.set_ticks(list(ticks), labels=list(ticks.values()))
    bar.ax.minorticks_off()


def ratio_texts(size):
    """The ticks of a ratio, whose logarithm is `size`, and of its inverse: 1.02 and 0.98, 10⁶ and 10⁻⁶."""
    over = np.exp(size)
    return tuple(f"{value:.5g}" if 1e-3 <= value <= 1e3 else scales.power(value)
                 for value in (float(f"{over:.6g}"), UNDER.get(round(over, 6), 1 / over)))


def draw_plane(axes, part, name, plane, normaliser, legend):
    x, y = (cells.scale(part[axis]) for axis in plane)
    values = changes(part, name).transpose(*plane[::-1])
    axes.pcolormesh(x.edges, y.edges, values, cmap=colours.DIVERGING, norm=normaliser)
    if y.is_log and part[plane[1]].values[0] == 0:
        axes.axhline(y.edges[1], color="white", linewidth=1.5)
    cells.set_axis(axes.xaxis, x)
    cells.set_axis(axes.yaxis, y)
    mark_empty(axes, part, np.isnan(values.values), plane, legend)
    dots(axes, x, y, is_sure(part, name).transpose(*plane[::-1]).values, SIGNIFICANT,
         SURE.format(level=f"{part.attrs['level']:g}"), legend, MIDDLE, MIDDLE)
    fewer = (part[f"{name}_runs"] < part.attrs["most_runs"]).transpose(*plane[::-1]).values & ~np.isnan(values.values)
    dots(axes, x, y, fewer, FEWER, fewer_text(part), legend, 1 - CORNER, 1 - CORNER)
    some = ((part.diverged_a > 0) | (part.diverged_b > 0)).transpose(*plane[::-1]).values & ~np.isnan(values.values)
    dots(axes, x, y, some, SOME, "some diverged", legend, 1 - CORNER)
    if tuple(plane) == phase_axes(part) and x.is_log and y.is_log and "boundary_a" in part and set(
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


def fewer_text(found):
    """The label of the mark of cells with fewer runs than there can be."""
    what = "pairs" if found.attrs["pairing"] == "paired" else "runs of a side"
    return f"fewer than {found.attrs['most_runs']} {what}"


def is_sure(found, name):
    """Mask of the cells whose change is significant, and has LEAST runs on either side."""
    return (found[f"{name}_q"] <= found.attrs["level"]) & (found[f"{name}_runs"] >= LEAST)


def dots(axes, x, y, mask, style, label, legend, share, height=CORNER):
    """Marks in cells, `share` of their width from the left and `height` of theirs from below."""
    rows, columns = np.nonzero(mask)
    if len(rows):
        axes.plot(x.edges[columns] + share * np.diff(x.edges)[columns],
                  y.edges[rows] + height * np.diff(y.edges)[rows], **style)
        legend.setdefault(label, Line2D([], [], label=label, **style))


def draw_boundaries(axes, part, x, legend):
    for side, style in BOUNDARIES.items():
        with np.errstate(divide="ignore"):
            middle = np.log10(part[f"boundary_{side}"].values)
        if np.isfinite(middle).any():
            axes.plot(x.centres, middle, **style)
            label = f"boundary of {side.upper()}"
            legend.setdefault(label, Line2D([], [], label=label, **style))


def notes_of(found, shown, legend=()):
    """What is compared, and what the marks mean."""
    said = found.attrs
    notes = [said["notes"].replace("\n", " ")]
    if counts_of(found, shown)[1] < LEAST:
        notes.append(f"Significance is not marked with fewer than {LEAST} seeds.")
    else:
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
    columns = min(len(shown), ABREAST)
    rows = -(-len(shown) // columns)
    kept = runs.thinned_along(combinations, MOST_LINES // rows)
    figure, panels = look.sheet(rows, columns, height=0.6 + 0.2 * len(kept), sharey=True)
    drawn = set()
    for axes, name in zip(panels.ravel(), shown):
        drawn |= draw_lines(axes, found, name, kept)
        axes.set_title(look.column_title(sides(found, name), columns))
    look.clear_rest(panels, len(shown))
    labels = [runs.text(found, at) or "the one cell" for at in kept]
    panels[0, 0].set_yticks(range(len(kept)), labels)
    panels[0, 0].set_ylim(len(kept) - 0.5, -0.5)
    level = f"{found.attrs['level']:g}"
    handles = [Line2D([], [], color=colours.COLOURS[0], **style, label=verdict.format(level=level))
               for verdict, style in VERDICTS.items() if verdict in drawn]
    lines = "Lines: 95 % intervals over seeds." if found.attrs["most_runs"] > 1 else ""
    return figure, handles, [counted(found, shown), *notes_of(found, shown), lines,
                             runs.left_out(found, kept, combinations)]


def draw_lines(axes, found, name, combinations):
    """Returns the verdicts that were drawn."""
    ratio, drawn = f"{name}_ratio" in found, set()
    change = f"{name}_{'ratio' if ratio else 'difference'}"
    for place, at in enumerate(combinations):
        value, low, high, q, count = (found[key].isel(at).item() for key in
                                      (change, f"{change}_low", f"{change}_high", f"{name}_q", f"{name}_runs"))
        if np.isnan(value):
            continue
        is_tested = count >= LEAST and np.isfinite(q)
        verdict = NOT_TESTED if not is_tested else SURE if is_sure(found.isel(at), name) else NOT_SURE
        axes.plot([low, high], [place, place], color=colours.COLOURS[0], linewidth=1.2)
        axes.plot([value], [place], color=colours.COLOURS[0], **VERDICTS[verdict])
        drawn.add(verdict)
    look.grid(axes, "x")
    axes.axvline(1 if ratio else 0, color="black", linewidth=0.8, linestyle=":")
    return drawn
