"""Lines over the steps: one per run, distinguished by colour, dashes and panels as far as possible."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.lines import Line2D

from .. import look
from ..plane import is_linear
from . import runs
from .drawing import finished

FEW = 16  # at most so many lines have names
MOST = 120  # lines in a panel
MANY_BEYOND = 0.2  # share of a panel's numbers beyond its end from which on the panel is not cut
MOST_PANELS = 6  # combinations of words, if each has several panels
ZERO = "0.6"  # grey of a value without a place on a logarithmic bar


class Looks:
    """How the line of a run looks, and which panel it belongs to.

    Few runs have names: colours tell the longest axis, dashes the others. For many runs, panels are combinations of
    words, and colours tell the learning rate, or else the longest axis of numbers. medians: runs with the same colour
    become one line, so panels are combinations of all other axes but the seed.
    """

    def __init__(self, dataset, medians=False):
        self.dataset = dataset
        axes = [axis for axis in runs.axes_of(dataset) if axis != runs.REPEAT]
        ordered = sorted(axes, key=lambda axis: -dataset.sizes[axis])
        dashes = int(np.prod([dataset.sizes[axis] for axis in ordered[1:]], initial=1))
        self.named = not ordered or (dataset.sizes[ordered[0]] <= len(look.COLOURS) and dashes <= len(look.DASHES)
                                     and dashes * dataset.sizes[ordered[0]] <= FEW)
        if self.named:
            self.colour_axis, self.dash_axes, self.words = (ordered or [None])[0], ordered[1:], []
        else:
            numbers, words = runs.numbers_of(dataset), runs.words_of(dataset)
            if not numbers:  # then the longest axis of words
                numbers = sorted(words, key=lambda axis: -dataset.sizes[axis])[:1]
            self.colour_axis, self.dash_axes = numbers[0], []
            self.words = runs.others_of(dataset, self.colour_axis) if medians else [
                axis for axis in words if axis != self.colour_axis]
        self.normaliser, self.colours = self.make_colours()

    def make_colours(self):
        """(normaliser of a colour bar or None, colour of each value of the colour axis); a bar for many values."""
        if self.colour_axis is None:
            return None, [look.COLOURS[0]]
        values = self.dataset[self.colour_axis].values
        if self.colour_axis in self.dataset.sweep.word_axes:
            return None, [look.COLOURS[i % len(look.COLOURS)] for i in range(len(values))]
        if len(values) <= len(look.COLOURS):
            return None, [look.ORDERED(rank / max(len(values) - 1, 1)) for rank in np.argsort(np.argsort(values))]
        positive = values[values > 0]
        wide = len(positive) > 1 and values.min() >= 0 and positive.max() >= look.WIDE_RANGE * positive.min()
        shown = positive if wide else values
        normaliser = (LogNorm if wide else Normalize)(shown.min(), shown.max())
        return normaliser, [look.ORDERED(float(normaliser(value))) if value in shown else ZERO for value in values]

    def of(self, run):
        """The line style of a run."""
        colour = run.get(self.colour_axis, 0)
        dash = 0
        for axis in self.dash_axes:
            dash = dash * self.dataset.sizes[axis] + run[axis]
        if self.named and not self.dash_axes:
            dash = colour
        return {"color": self.colours[colour], "linestyle": look.DASHES[dash % len(look.DASHES)] if self.named else "-",
                "linewidth": 1.2 if self.named else 0.7}

    def legend(self, drawn):
        """Handles of the named lines among the runs that are drawn, numbers ascending."""
        if self.colour_axis is None:
            return []
        values, is_words = self.dataset[self.colour_axis].values, self.colour_axis in self.dataset.sweep.word_axes
        order = range(len(values)) if is_words else np.argsort(values)
        if self.normaliser is not None:  # the colour bar has the other values
            order = [i for i in order if self.colours[i] == ZERO]
        axes = self.dash_axes if self.named else []
        return [Line2D([], [], label=runs.text(self.dataset, at), **self.of(at))
                for i in order for rest in runs.combinations(self.dataset, axes)
                for at in [{self.colour_axis: int(i), **rest}] if any(at.items() <= run.items() for run in drawn)]

    def add_bar(self, figure, panels):
        """Adds the colour bar, if lines have no names."""
        if self.normaliser is None:
            return
        bar = figure.colorbar(ScalarMappable(self.normaliser, look.ORDERED), ax=panels, aspect=30, pad=0.02)
        look.plain_bar(bar)
        bar.set_label(look.label(self.dataset[self.colour_axis]))


def over_steps(dataset, name, variables, caption, prepare=None, labels=None, decorate=None, medians=False, most=None):
    """A drawing of variables over the steps; None if none was measured.

    prepare(values) turns one run's values [steps] into its line. decorate(axes, variable, run list) adds to a panel.
    labels: {variable: label of its axis}. medians: if lines have no names, draw one line per colour, the median over
    its seeds, because single lines would hide each other. most: cut a panel at this multiple of the median start value,
    if few values lie beyond.
    """
    variables = [variable for variable in variables if has_steps(dataset, variable)]
    if not variables:
        return None
    with look.style():
        return draw(dataset, name, variables, caption, prepare or (lambda values: values), labels or {}, decorate,
                    medians, most)


def has_steps(dataset, variable, *dims):
    """True if the variable has these dimensions and was measured at two steps or more."""
    if not runs.is_measured(dataset, variable, "step", *dims):
        return False
    others = [dim for dim in dataset[variable].dims if dim != "step"]
    return int(np.isfinite(dataset[variable]).any(others).sum()) > 1


def draw(dataset, name, variables, caption, prepare, labels, decorate, medians, most):
    looks, notes, cuts = Looks(dataset, medians), [], []
    words = list(runs.combinations(dataset, looks.words))
    grid = arrange(len(variables), len(words))
    figure, panels = look.sheet(*grid["shape"], height=grid["height"], sharex=True)
    kept = runs.thinned(words, grid["words"])
    notes.append(cut(kept, words, looks.words))
    used, shown, beyond = 0, [], 0
    for k, at in enumerate(kept):
        for j, variable in enumerate(variables):
            axes = panels.ravel()[used]
            drawn = draw_panel(axes, dataset, variable, at, looks, prepare, medians and not looks.named)
            shown += drawn["runs"]
            beyond += frame(axes, is_linear(dataset[variable]), most)
            if not axes.lines:
                say_empty(axes)
            elif decorate:
                decorate(axes, variable, drawn["runs"])
            cuts.append((drawn["cut"], len(drawn["runs"])))
            dress(axes, dataset, variable, labels, at, grid, k, j)
            used += 1
    look.clear_rest(panels, used)
    label_steps(panels, used, dataset)
    notes.append(notes_on(dataset, variables, looks, medians, max(cuts)))
    if beyond:
        notes.append(f"Panels are cut at {most} times the median start value; "
                     f"{beyond} line{' goes' if beyond == 1 else 's go'} beyond.")
    looks.add_bar(figure, panels.ravel()[:used].tolist())
    handles = looks.legend(shown) + (decorate.legend() if hasattr(decorate, "legend") else [])
    return finished(name, caption, figure, dataset, handles, notes)


def cut(kept, everything, axes):
    """A note that some combinations of values along these axes are left out; "" if none is."""
    if len(kept) == len(everything):
        return ""
    kind = runs.plurals(axes) if len(axes) == 1 else f"combinations of {runs.names_text(axes)}"
    return f"{len(kept)} of {len(everything)} {kind} are shown."


def frame(axes, linear, most):
    """Sets the y scale of a panel, and cuts it if few values lie far beyond. Returns the number of lines cut."""
    lines = [line.get_ydata() for line in axes.lines]
    end = end_of(lines, most) if most else np.inf
    beyond = sum(bool((line > end).any()) for line in lines)
    look.scale_y(axes, [np.minimum(line, end) for line in lines], linear)
    if beyond:
        low = look.finite(lines).min()
        axes.set_ylim(low - 0.05 * (end - low) if axes.get_yscale() == "linear" else 0.9 * low, end)
    return beyond


def end_of(lines, most):
    """`most` times the median start of the lines; infinite if many of their values lie beyond."""
    values = look.finite(lines)
    end = most * np.median([line[0] for line in lines]) if lines else np.inf
    return end if (values > end).mean() < MANY_BEYOND else np.inf


def say_empty(axes):
    axes.text(0.5, 0.5, "no run yet", transform=axes.transAxes, ha="center", va="center", color="0.35")
    axes.set_yticks([])


def arrange(variables, words):
    """The layout of panels for so many variables and combinations of words: a table with variables side by side and
    words below each other, or a crowd of panels if there is one variable or one combination."""
    if words == 1:
        rows, columns = look.crowd(variables)
        return {"shape": (rows, columns), "words": 1, "table": False, "height": 3.4 if variables == 1 else 2.3}
    if variables == 1:
        kept = min(words, 2 * MOST_PANELS)
        return {"shape": look.crowd(kept), "words": kept, "table": False, "height": 2.1}
    kept = min(words, MOST_PANELS)
    return {"shape": (kept, variables), "words": kept, "table": True, "height": 1.7}


def draw_panel(axes, dataset, variable, at, looks, prepare, medians):
    """Draws the lines of one panel. Returns {"runs": the runs drawn, "cut": the number of all runs if some are left
    out, else 0}."""
    values = dataset[variable].transpose(*dataset.sweep.axes, "step")
    mask = runs.measured(dataset, variable)
    inside = mask.copy()
    for axis, index in at.items():
        inside = inside & (inside[axis] == inside[axis][index])
    everything = runs.listed(inside)
    shown = everything if len(everything) <= MOST or medians else runs.listed(runs.once(inside))
    shown = shown if medians else runs.thinned(shown, MOST)
    step, numbers = dataset.step.values, values.values
    drawn = [(looks.of(run), prepare(numbers[tuple(run.values())])) for run in shown]
    for style, line in merged(drawn) if medians else drawn:
        seen = np.isfinite(line)
        axes.plot(step[seen], line[seen], **style, marker="." if seen.sum() == 1 else "")
    return {"runs": shown, "cut": len(everything) if len(shown) < len(everything) else 0}


def notes_on(dataset, variables, looks, medians, cut):
    """A note on runs without a line of their own. cut: (runs, lines) of the fullest panel."""
    notes = []
    if medians and not looks.named:
        notes += [f"Each line is the median over {runs.plurals([runs.REPEAT])}."] * (
            runs.REPEAT in runs.axes_of(dataset))
    if cut[0]:
        notes.append(f"{cut[1]} of {cut[0]} runs{' per panel' if looks.words else ''} are shown, evenly spaced.")
    if not (medians and not looks.named) and dataset.outcome.size > 1:
        notes.append("One line per run.")
    diverged = int((dataset.sweep.diverged & ~runs.measured(dataset, variables[0])).sum())
    if diverged:
        notes.append(f"{diverged} diverged {'run is' if diverged == 1 else 'runs are'} not shown.")
    return " ".join(notes)


def merged(lines):
    """Yields (style, median line) for each set of lines with the same style."""
    groups = {}
    for style, line in lines:
        groups.setdefault(tuple(style.items()), []).append(np.where(np.isfinite(line), line, np.nan))
    for style, group in groups.items():
        table = np.stack(group)
        seen = np.isfinite(table).any(axis=0)
        line = np.full(table.shape[1], np.nan)
        line[seen] = np.nanmedian(table[:, seen], axis=0)
        yield {**dict(style), "linewidth": 1.1}, line


def dress(axes, dataset, variable, labels, at, grid, row, column):
    """Titles and labels of one panel."""
    words = labels.get(variable) or look.label(dataset[variable], 34)
    title = runs.text(dataset, at)
    look.grid(axes)
    if grid["table"]:
        if row == 0:
            axes.set_title(look.column_title(words, grid["shape"][1]))
        if column == 0:
            axes.set_ylabel(look.side_title(title))
        return
    axes.set_title(look.title(title))
    if at == {} or row % grid["shape"][1] == 0:
        axes.set_ylabel(words)


def label_steps(panels, used, dataset):
    """Labels the x axis of the lowest panel of each column."""
    look.name_axes(panels, used, look.label(dataset.step))
