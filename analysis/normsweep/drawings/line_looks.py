"""How the lines of runs look: which axis their colours tell, which their dashes."""

import numpy as np
from matplotlib.lines import Line2D

from . import colours, look, runs

FEW, FEW_NARROW = 6, 4  # lines of a panel with colours of their own, if these are of numbers or of all combinations
WORDS = 12  # the same of words, of which none should be left out: where colours repeat, dashes differ
MOST_GREY = 40  # lines of other values
OTHERS = {"color": "0.8", "linewidth": 0.5, "linestyle": "-", "zorder": 1.5}


class Looks:
    """How the line of a run looks, and along which axes there are panels.

    If there are few combinations of values, colours tell the longest axis and dashes the others. If there are many,
    colours tell one axis, and each combination of the others has a panel. Of many values a few have colours, evenly
    spaced, and the others are grey. Runs that differ in the seed alone are one line. mask: which runs are measured.
    is_narrow: are there three panels beside each other, or more?
    """

    def __init__(self, dataset, mask, is_narrow=False):
        self.dataset, self.is_narrow = dataset, is_narrow
        axes = [axis for axis in runs.axes_of(dataset) if axis != runs.REPEAT]
        ordered = sorted(axes, key=lambda axis: -dataset.sizes[axis])
        if int(np.prod([dataset.sizes[axis] for axis in axes], initial=1)) <= FEW:
            self.colour_axis, self.dash_axes, self.panel_axes = (ordered or [None])[0], ordered[1:], []
        else:
            self.colour_axis, self.dash_axes = colour_axis(dataset, ordered), []
            self.panel_axes = runs.others_of(dataset, self.colour_axis)
        self.there = self.order(mask)
        self.coloured = runs.thinned(self.there, self.most())
        self.grey = runs.thinned([i for i in self.there if i not in self.coloured], MOST_GREY * look.shows("grey"))

    def order(self, mask):
        """The indices of the values of the colour axis that have runs: numbers ascending, words as they stand."""
        if self.colour_axis is None:
            return []
        others = [dim for dim in mask.dims if dim != self.colour_axis]
        there = np.flatnonzero(mask.astype(bool).any(others).values)
        values = self.dataset[self.colour_axis].values
        return sorted(map(int, there), key=lambda i: values[i]) if not self.is_of_words() else list(map(int, there))

    def is_of_words(self):
        return self.colour_axis in self.dataset.sweep.word_axes

    def most(self):
        return WORDS if self.is_of_words() else FEW_NARROW if self.is_narrow and self.panel_axes else FEW

    def key(self, run):
        """What tells a run from those that are other lines: places along the axes of colour and dashes."""
        return tuple(run[axis] for axis in [self.colour_axis, *self.dash_axes] if axis is not None)

    def is_shown(self, run):
        return self.colour_axis is None or run[self.colour_axis] in self.coloured or run[self.colour_axis] in self.grey

    def of(self, run):
        """The line style of a run."""
        if self.colour_axis is None:
            return {**colours.line(0), "linewidth": 1.2}
        if run[self.colour_axis] not in self.coloured:
            return OTHERS
        return {**self.of_value(run[self.colour_axis]), **({"linestyle": self.dash(run)} if self.dash_axes else {}),
                "linewidth": 1.2 if self.is_wide() else 1.0}

    def is_wide(self):
        return not self.panel_axes

    def of_value(self, i):
        """The colour of a value, and its dashes where they tell nothing else."""
        values = self.dataset[self.colour_axis].values
        if self.is_of_words():
            return colours.line_of(self.colour_axis, str(values[i]), i)
        rank = int((values < values[i]).sum())
        return {"color": colours.scale_of(self.colour_axis)(rank / max(len(values) - 1, 1)),
                "linestyle": colours.DASHES[self.coloured.index(i) % len(colours.DASHES)]}

    def dash(self, run):
        place = 0
        for axis in self.dash_axes:
            place = place * self.dataset.sizes[axis] + run[axis]
        return colours.DASHES[place % len(colours.DASHES)]

    def legend(self, drawn):
        """Keys of the lines of the runs that are drawn: of the colours, and of the dashes."""
        if self.colour_axis is None:
            return []
        places = {run[self.colour_axis] for run in drawn}
        handles = [Line2D([], [], label=runs.value_alone(self.dataset, self.colour_axis, i), **{
            **self.of_value(i), **({"linestyle": "-"} if self.dash_axes else {}), "linewidth": 1.2})
            for i in self.coloured if i in places]
        if places & set(self.grey):
            handles.append(Line2D([], [], label="others", **{**OTHERS, "color": "0.65", "linewidth": 0.8}))
        keys = [look.Keys(runs.axis_label(self.dataset, [self.colour_axis]), handles)]
        combinations = self.dashed(drawn)
        if len(combinations) > 1:
            keys.append(look.Keys(runs.axis_label(self.dataset, self.dash_axes), [
                Line2D([], [], color="0.2", linewidth=1.2, linestyle=self.dash(at), label=", ".join(
                    runs.value_alone(self.dataset, axis, i) for axis, i in at.items())) for at in combinations]))
        return keys

    def dashed(self, drawn):
        """The combinations of values that dashes tell among the runs that are drawn."""
        return [at for at in runs.combinations(self.dataset, self.dash_axes)
                if self.dash_axes and any(at.items() <= run.items() for run in drawn)]

    def common_note(self, drawn):
        """A note on what all lines have in common, if dashes could tell it."""
        there = self.dashed(drawn)
        return runs.titles(self.dataset, there * 2)[1] if len(there) == 1 else ""

    def grey_note(self, drawn):
        """A note on the values without a colour; "" if there are none."""
        count = len({run[self.colour_axis] for run in drawn if run[self.colour_axis] in self.grey}) if self.grey else 0
        if not count:
            return ""
        grey = "Grey, without bands" if runs.REPEAT in runs.axes_of(self.dataset) else "Grey"
        if self.is_of_words() and count <= runs.NAMED:
            return f"{grey}: {', '.join(look.plain(self.dataset[self.colour_axis].values[i]) for i in self.grey)}."
        missing = len(self.there) - len(self.coloured) - len(self.grey)
        more = f" ({missing} more are left out)" if missing else ""
        return f"{grey}: {count} other {runs.plural(self.colour_axis, count)}{more}."


def colour_axis(dataset, ordered):
    """The axis that colours tell if there are many runs: the first one of numbers with three values or more, else the
    longest."""
    numbers = [axis for axis in runs.numbers_of(dataset) if dataset.sizes[axis] > 2]
    return (numbers or ordered)[0]
