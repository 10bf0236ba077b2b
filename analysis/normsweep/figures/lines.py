"""Curves over the steps: one per run, distinguished by colour, dashes and panels as far as possible."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.lines import Line2D

from .. import colours, look
from ..plane import is_linear
from . import runs
from .drawing import finished

FEW = 16  # at most so many lines have names
MOST = 120  # lines in a panel
MANY_BEYOND = 0.2  # share of a panel's numbers beyond its end from which on the panel is not cut
MOST_PANELS = 6  # combinations of values, if each has several panels
ZERO = "0.6"  # grey of a value without a place on a logarithmic bar


class Looks:
    """How the line of a run looks, and which panel it belongs to.

    Few runs have names: colours tell the longest axis, dashes the others. For many runs, colours tell the learning
    rate, or else the longest axis, and each combination of all other axes but the seed has a panel. Runs with the same
    look in a panel are repeats.
    """

    def __init__(self, dataset):
        self.dataset = dataset
        axes = [axis for axis in runs.axes_of(dataset) if axis != runs.REPEAT]
        ordered = sorted(axes, key=lambda axis: -dataset.sizes[axis])
        dashes = int(np.prod([dataset.sizes[axis] for axis in ordered[1:]], initial=1))
        self.named = not ordered or (dataset.sizes[ordered[0]] <= len(look.COLOURS) and dashes <= len(look.DASHES)
                                     and dashes * dataset.sizes[ordered[0]] <= FEW)
        if self.named:
            self.colour_axis, self.dash_axes, self.panel_axes = (ordered or [None])[0], ordered[1:], []
        else:
            words = sorted(runs.words_of(dataset), key=lambda axis: -dataset.sizes[axis])
            self.colour_axis, self.dash_axes = (runs.numbers_of(dataset) or words)[0], []
            self.panel_axes = runs.others_of(dataset, self.colour_axis)
        self.normaliser, self.styles = self.make_styles()

    def make_styles(self):
        """(normaliser of a colour bar or None, style of each value of the colour axis); a bar for many numbers."""
        axis = self.colour_axis
        if axis is None:
            return None, [colours.line(0)]
        values, scale = self.dataset[axis].values, colours.scale_of(axis)
        if axis in self.dataset.sweep.word_axes:
            return None, [colours.line_of(axis, str(value), i) for i, value in enumerate(values)]
        if len(values) <= len(look.COLOURS):
            ranks = np.argsort(np.argsort(values))
            return None, [{"color": scale(rank / max(len(values) - 1, 1)), "linestyle": look.DASHES[rank % 4]}
                          for rank in ranks]
        positive = values[values > 0]
        wide = len(positive) > 1 and values.min() >= 0 and positive.max() >= look.WIDE_RANGE * positive.min()
        shown = positive if wide else values
        normaliser = (LogNorm if wide else Normalize)(shown.min(), shown.max())
        return normaliser, [{"color": scale(float(normaliser(value))) if value in shown else ZERO, "linestyle": "-"}
                            for value in values]

    def of(self, run):
        """The line style of a run."""
        style = self.styles[run.get(self.colour_axis, 0)]
        dash = 0
        for axis in self.dash_axes:
            dash = dash * self.dataset.sizes[axis] + run[axis]
        dashes = {"linestyle": look.DASHES[dash % len(look.DASHES)]} if self.dash_axes else {}
        return {**style, **dashes, "linewidth": 1.2 if self.named else 0.8}

    def legend(self, drawn):
        """Handles of the named lines among the runs that are drawn, numbers ascending."""
        if self.colour_axis is None:
            return []
        values, is_words = self.dataset[self.colour_axis].values, self.colour_axis in self.dataset.sweep.word_axes
        order = range(len(values)) if is_words else np.argsort(values)
        if self.normaliser is not None:  # the colour bar has the other values
            order = [i for i in order if self.styles[i]["color"] == ZERO]
        return [Line2D([], [], label=runs.text(self.dataset, at), **self.of(at))
                for i in order for rest in runs.combinations(self.dataset, self.dash_axes)
                for at in [{self.colour_axis: int(i), **rest}] if any(at.items() <= run.items() for run in drawn)]

    def add_bar(self, figure, panels):
        """Adds the colour bar, if lines have no names."""
        if self.normaliser is None:
            return
        mappable = ScalarMappable(self.normaliser, colours.scale_of(self.colour_axis))
        bar = look.add_bar(figure, mappable, ax=panels)
        bar.set_label(look.label(self.dataset[self.colour_axis]))


def over_steps(dataset, name, variables, caption, prepare=None, labels=None, decorate=None, most=None, alike=(),
               alike_scale=False, within=None):
    """A drawing of variables over the steps; None if none was measured.

    prepare(values) turns one run's values [steps] into its line. decorate(axes, variable, run list) adds to a panel.
    labels: {variable: label of its axis}. most: cut a panel at this multiple of the median start value, if few values
    lie beyond. Where runs have no names, lines are medians over the seeds. All panels of one variable have the same y
    axis, and so have those of the variables in `alike`; alike_scale: if that of one is logarithmic, so are all.
    within: limits that no axis exceeds.
    """
    variables = [variable for variable in variables if has_steps(dataset, variable)]
    if not variables:
        return None
    with look.style():
        return draw(dataset, name, variables, caption, prepare or (lambda values: values), labels or {}, decorate,
                    most, alike, alike_scale, within)


def has_steps(dataset, variable, *dims):
    """True if the variable has these dimensions and was measured at two steps or more."""
    if not runs.is_measured(dataset, variable, "step", *dims):
        return False
    others = [dim for dim in dataset[variable].dims if dim != "step"]
    return int(np.isfinite(dataset[variable]).any(others).sum()) > 1


def draw(dataset, name, variables, caption, prepare, labels, decorate, most, alike, alike_scale, within):
    looks = Looks(dataset)
    masks = {variable: runs.measured(dataset, variable) for variable in variables}
    every = runs.combinations_with_runs(dataset, sum(masks.values()), looks.panel_axes)
    grid = arrange(len(variables), len(every))
    kept = runs.fullest(every, grid["words"])
    figure, panels = look.sheet(*grid["shape"], height=grid["height"], sharex=True,
                                sharey="col" if grid["table"] else len(variables) == 1)
    shown, counts, groups, notes = [], [], {}, []
    for place, (at, variable) in enumerate((at, variable) for at in kept for variable in variables):
        axes = panels.ravel()[place]
        drawn = draw_panel(axes, dataset, variable, masks[variable], at, looks, prepare)
        shown += drawn["runs"]
        counts.append((drawn["all"], len(drawn["runs"])))
        groups.setdefault(min(alike) if variable in alike else variable, []).append((axes, variable, drawn["runs"]))
        dress(axes, dataset, variable, labels, at, grid, place)
    used = len(kept) * len(variables)
    beyond = [frame(group, dataset, most) for group in groups.values()]
    if alike_scale:
        same_scale([axes for group in groups.values() for axes, _, _ in group])
    if within:
        notes.append(cut_at(panels.ravel()[:used], *within))
    for axes, variable, drawn in sum(groups.values(), []):
        if not axes.lines:
            say_empty(axes)
        elif decorate:
            decorate(axes, variable, drawn)
    look.clear_rest(panels, used)
    label_steps(panels, used, dataset)
    looks.add_bar(figure, panels.ravel()[:used].tolist())
    handles = looks.legend(shown) + (decorate.legend() if hasattr(decorate, "legend") else [])
    notes += [" ".join([*notes_on(dataset, masks, looks, shown, max(counts)),
                        runs.left_out(dataset, kept, [at for at, _ in every])]).strip(),
              f"Panels are cut at {most} times the median start value; {sum(beyond)} line"
              f"{' goes' if sum(beyond) == 1 else 's go'} beyond." if sum(beyond) else ""]
    return finished(name, caption, figure, dataset, handles, notes)


def frame(group, dataset, most):
    """Sets the scale that the panels of a group share, and their limits; cuts them if few values lie far beyond.
    Returns the number of lines cut."""
    panels = [axes for axes, _, _ in group]
    lines = [line.get_ydata() for axes in panels for line in axes.lines]
    if not len(look.finite(lines)):
        return 0
    end = end_of(lines, most) if most else np.inf
    beyond = sum(bool((line > end).any()) for line in lines)
    shown = [np.minimum(line, end) for line in lines]
    for axes in panels:
        look.scale_y(axes, shown, any(is_linear(dataset[variable]) for _, variable, _ in group))
    if beyond:
        low = look.finite(lines).min()
        for axes in panels:
            axes.set_ylim(low - 0.05 * (end - low) if axes.get_yscale() == "linear" else 0.9 * low, end)
    elif len(panels) > 1:
        share(panels)
    return beyond


def cut_at(panels, low, high):
    """Cuts panels at these limits. Returns a note on the lines that go beyond, or ""."""
    room = 0.02 * (high - low)
    beyond = 0
    for axes in panels:
        axes.set_ylim(max(low - room, axes.get_ylim()[0]), min(high + room, axes.get_ylim()[1]))
        beyond += sum(bool(((line.get_ydata() > high) | (line.get_ydata() < low)).any()) for line in axes.lines)
    return f"Panels are cut at {look.number(low)} and {look.number(high)}; {beyond} line" + (
        " goes" if beyond == 1 else "s go") + " beyond." if beyond else ""


def same_scale(panels):
    """A logarithmic scale for all panels if one has it and all numbers allow it."""
    if any(axes.get_yscale() == "log" for axes in panels) and all(
            (line.get_ydata() > 0).all() for axes in panels for line in axes.lines):
        for axes in panels:
            axes.set_yscale("log")


def share(panels):
    """The same y limits in all panels, around everything that they show."""
    limits = np.array([axes.get_ylim() for axes in panels if axes.lines])
    for axes in panels:
        axes.set_ylim(limits.min(), limits.max())


def end_of(lines, most):
    """`most` times the median start of the lines; infinite if many of their values lie beyond."""
    values = look.finite(lines)
    end = most * np.median([line[0] for line in lines]) if lines else np.inf
    return end if (values > end).mean() < MANY_BEYOND else np.inf


def say_empty(axes):
    axes.text(0.5, 0.5, "no run yet", transform=axes.transAxes, ha="center", va="center", color="0.35")


def arrange(variables, words):
    """The layout of panels for so many variables and combinations of words: a table with variables side by side and
    words below each other, or a crowd of panels if there is one variable or one combination."""
    if words == 1:
        rows, columns = look.crowd(variables)
        return {"shape": (rows, columns), "words": 1, "table": False, "height": 2.6 if variables == 1 else 1.7}
    if variables == 1:
        kept = min(words, 2 * MOST_PANELS)
        return {"shape": look.crowd(kept), "words": kept, "table": False, "height": 1.5}
    kept = min(words, MOST_PANELS)
    return {"shape": (kept, variables), "words": kept, "table": True, "height": 1.3}


def draw_panel(axes, dataset, variable, mask, at, looks, prepare):
    """Draws the lines of one panel. Returns {"runs": the runs drawn, "all": the number of runs that belong to it}."""
    values = dataset[variable].isel(at).transpose(*(axis for axis in dataset.sweep.axes if axis not in at), "step")
    everything = [{**at, **run} for run in runs.listed(mask.isel(at))]
    shown = everything if len(everything) <= MOST or not looks.named else runs.thinned(everything, MOST)
    step, numbers = dataset.step.values, values.values
    drawn = [(looks.of(run), prepare(numbers[tuple(i for axis, i in run.items() if axis not in at)]))
             for run in shown]
    for style, line in drawn if looks.named else merged(drawn):
        seen = np.isfinite(line)
        axes.plot(step[seen], line[seen], **style, marker="." if seen.sum() == 1 else "")
    return {"runs": shown, "all": len(everything)}


def notes_on(dataset, masks, looks, shown, fullest):
    """Notes on the number of runs, and on those without a line of their own. fullest: (runs, runs drawn) of the panel
    with the most."""
    mask = next(iter(masks.values()))
    count = len({tuple(run.values()) for run in shown})
    yield f"{runs.count_text(count, int(sum(masks.values()).astype(bool).sum()))}."
    if fullest[1] < fullest[0]:
        yield f"{fullest[1]} of {fullest[0]} runs of a panel have lines, evenly spaced."
    if runs.REPEAT in runs.axes_of(dataset):
        seeds = int(mask.sum(runs.REPEAT).max())
        yield "One line per run." if looks.named else f"Each line is the median over {seeds} seeds, or fewer."
    diverged = int((dataset.sweep.diverged & ~mask).sum())
    if diverged:
        yield f"{diverged} diverged {'run is' if diverged == 1 else 'runs are'} not shown."


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
        yield dict(style), line


def dress(axes, dataset, variable, labels, at, grid, place):
    """Titles and labels of one panel."""
    columns = grid["shape"][1]
    words = labels.get(variable) or look.label(dataset[variable], grid["height"] - 0.1 if at == {} else 0)
    title = runs.text(dataset, at)
    look.grid(axes)
    if grid["table"]:
        if place < columns:
            axes.set_title(look.column_title(words, columns))
        if place % columns == 0:
            axes.set_ylabel(look.side_title(title, grid["height"] - 0.3))
        return
    axes.set_title(look.title(title, columns))
    if at == {}:
        axes.set_ylabel(words)
    elif place == 0:
        look.name_rows(axes.figure, words, grid["shape"][0])


def label_steps(panels, used, dataset):
    """Labels the x axis of the lowest panel of each column."""
    look.name_axes(panels, used, look.label(dataset.step))
