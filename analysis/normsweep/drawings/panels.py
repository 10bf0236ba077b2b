"""The layout of the panels of a figure, and the ranges that they share."""

from dataclasses import dataclass

import numpy as np

from . import look, runs

MOST_PANELS = 6  # combinations of values, if each has several panels
FEW_COLUMNS = 3  # values of an axis that stand beside each other
LINES = {"panels": 6, "rows": 4}  # of combinations of numbers, in figures of lines
MANY_WORDS = 12  # panels that words may have, of which none should be left out
OWN_RANGES = "Ranges differ; a panel without tick labels has the range of the panel on its left."
LEAST = 0.5  # of a range that panels share, a panel fills at least so much of it


def arrange(variables, words):
    """The layout of maps for so many variables and combinations of words: a table with variables side by side and
    words below each other, or a crowd of panels if there is one variable or one combination."""
    if words == 1:
        rows, columns = look.crowd(variables)
        return {"shape": (rows, columns), "words": 1, "table": False, "height": 2.6 if variables == 1 else 1.7}
    if variables == 1:
        kept = min(words, look.most_panels(2 * MOST_PANELS))
        return {"shape": look.crowd(kept), "words": kept, "table": False, "height": 1.5}
    kept = min(words, look.most_rows(MOST_PANELS, variables))
    return {"shape": (kept, variables), "words": kept, "table": True, "height": 1.7 if kept < 3 else 1.4}


@dataclass(frozen=True)
class Plan:
    """The panels of a figure of lines, in the order of its rows: places has (combination, variable) of each.

    heads: a title above each column; sides: one beside each row; titles: one above each panel; each may be (). kept,
    every: the combinations that are shown, and all. note: what all of those shown have in common.
    """

    shape: tuple
    height: float
    places: list
    kept: list
    every: list
    heads: tuple = ()
    sides: tuple = ()
    titles: tuple = ()
    note: str = ""


def plan(dataset, variables, labels, mask, axes):
    """The panels of variables over the steps: one for each combination of values along `axes`, as far as there is room.
    labels: the words of each variable. mask: number of measurements of each run."""
    every = runs.combinations_with_runs(dataset, mask, axes)
    combinations = [at for at, _ in every]
    if len(every) == 1:
        shape = look.crowd(len(variables))
        return Plan(shape, 2.6 if len(variables) == 1 else 1.7, [(combinations[0], name) for name in variables],
                    combinations, combinations, titles=tuple(labels))
    if len(variables) > 1:
        kept = runs.fullest(every, look.most_rows(most("rows", every, dataset), len(variables)))
        texts, note = runs.titles(dataset, kept)
        return Plan((len(kept), len(variables)), 1.3, [(at, name) for at in kept for name in variables], kept,
                    combinations, heads=tuple(labels), sides=tuple(texts), note=note)
    beside = column_axis(dataset, axes, combinations)
    if beside:
        return plane(dataset, variables[0], mask, axes, beside, combinations)
    kept = runs.fullest(every, look.most_panels(most("panels", every, dataset)))
    texts, note = runs.titles(dataset, kept)
    return Plan(look.crowd(len(kept)), 1.5, [(at, variables[0]) for at in kept], kept, combinations,
                titles=tuple(texts), note=note)


def most(what, every, dataset):
    """At most so many combinations: more if that shows each combination of words."""
    words = runs.words_of(dataset)
    kinds = {tuple(i for axis, i in at.items() if axis in words) for at, _ in every}
    return max(LINES[what], min(len(kinds), MOST_PANELS if what == "rows" else MANY_WORDS))


def column_axis(dataset, axes, combinations):
    """Of two axes, the one whose values stand beside each other, while those of the other one stand below each other:
    words first; None unless one is short."""
    if len(axes) != 2:
        return None
    counts = {axis: len({at[axis] for at in combinations}) for axis in axes}
    short = [axis for axis in axes if 1 < counts[axis] <= FEW_COLUMNS]
    if min(counts.values()) < 2 or not short:
        return None
    words = runs.words_of(dataset)
    return min(short, key=lambda axis: (axis not in words, counts[axis]))


def plane(dataset, variable, mask, axes, beside, combinations):
    """One variable over two axes of panels."""
    below, = (axis for axis in axes if axis != beside)
    columns = sorted({at[beside] for at in combinations})
    rows = [at[below] for at in runs.fullest(runs.combinations_with_runs(dataset, mask, [below]), look.most_rows(max(
        LINES["rows"], MOST_PANELS * (below in runs.words_of(dataset))), len(columns)))]
    kept = [{beside: column, below: row} for row in rows for column in columns]
    shown = [at for at in kept if at in [{axis: one[axis] for axis in (beside, below)} for one in combinations]]
    every = [{axis: at[axis] for axis in (beside, below)} for at in combinations]
    return Plan((len(rows), len(columns)), 1.3, [(at, variable) for at in kept], shown, every,
                heads=tuple(runs.text(dataset, {beside: column}) for column in columns),
                sides=tuple(runs.text(dataset, {below: row}) for row in rows))


# ---- ranges ----

def share(rows):
    """Gives all panels one range of y, around everything that they show; or the panels of each row, where one range
    would leave a panel too little of it. Returns whether all have one."""
    drawn = [[axes for axes in row if axes.lines] for row in rows]
    every = [axes for row in drawn for axes in row]
    if not every:
        return True
    sizes = [np.ptp(places_of(axes)) for axes in every]
    whole = np.ptp([places_of(axes) for axes in every])
    is_one = bool(min(sizes) >= LEAST * whole)
    for group in [every] if is_one else filter(None, drawn):
        limits = np.array([axes.get_ylim() for axes in group])
        for axes in group:
            axes.set_ylim(limits.min(), limits.max())
    return is_one


def places_of(axes):
    """The limits of y on the scale of the axis."""
    return axes.yaxis.get_transform().transform(np.array(axes.get_ylim()))


def same_scale(panels):
    """A logarithmic scale for all panels if one has it and all numbers allow it."""
    if any(axes.get_yscale() == "log" for axes in panels) and all(
            (line.get_ydata() > 0).all() for axes in panels for line in axes.lines):
        for axes in panels:
            axes.set_yscale("log")


def label_once(panels):
    """Leaves out the labels of ticks of a panel whose left neighbour has the same range. panels: those of a group."""
    places = {look.place_of(axes): axes for axes in panels}
    for (row, column), axes in places.items():
        other = places.get((row, column - 1))
        if other is not None and other.get_ylim() == axes.get_ylim():
            axes.tick_params(labelleft=False)
