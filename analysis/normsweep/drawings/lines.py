"""Curves over the steps: one per run, or the median over its seeds, distinguished by colour, dashes and panels as far
as possible."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ..plane import is_linear
from . import look, runs, scales
from .drawing import finished
from .line_looks import OTHERS, Looks
from .panels import OWN_RANGES, label_once, plan, same_scale, share

MANY_BEYOND = 0.2  # share of a panel's numbers beyond its end from which on the panel is not cut
BAND = {"alpha": 0.15, "linewidth": 0}  # around a line, the range over its seeds


@dataclass(frozen=True)
class Style:
    """What a figure of lines may have of its own.

    prepare(values) turns one run's values [steps] into its line. decorate(axes, variable, run list) adds to a panel; it
    may have methods legend() and notes(), for handles and sentences on what it has added.
    labels: {variable: its label}. whole: the label of the y axis of all variables, if they have one; then `labels` are
    titles. most: cut a panel at this multiple of the median start value, if few values lie beyond. alike: variables
    whose panels share their range, as those of one variable do. alike_scale: if that of one is logarithmic, so are all.
    within: limits that no axis exceeds. notes: sentences on what the words mean.
    """

    prepare: object = None
    decorate: object = None
    labels: dict = field(default_factory=dict)
    whole: str = ""
    most: float = 0
    alike: tuple = ()
    alike_scale: bool = False
    within: tuple = ()
    notes: tuple = ()

    def label(self, dataset, variable):
        return self.labels.get(variable) or look.label(dataset[variable])

    def alone(self, dataset, variable):
        """The label of the y axis where the variable is the only one."""
        return ": ".join([self.label(dataset, variable), *([self.whole] if self.whole else [])])


@dataclass(frozen=True)
class Panel:
    axes: object
    variable: str
    runs: list  # that are drawn


def over_steps(dataset, name, variables, caption, **options):
    """A drawing of variables over the steps; None if none was measured. options: of Style."""
    variables = [variable for variable in variables if has_steps(dataset, variable)]
    if not variables:
        return None
    with look.style():
        return draw(dataset, name, variables, caption, Style(**options))


def has_steps(dataset, variable, *dims):
    """True if the variable has these dimensions and was measured at two steps or more."""
    if not runs.is_measured(dataset, variable, "step", *dims):
        return False
    others = [dim for dim in dataset[variable].dims if dim != "step"]
    return int(np.isfinite(dataset[variable]).any(others).sum()) > 1


def draw(dataset, name, variables, caption, style):
    masks = {variable: runs.measured(dataset, variable) for variable in variables}
    mask = sum(masks.values())
    looks = Looks(dataset, mask, is_narrow=len(variables) > 2)
    layout = plan(dataset, variables, [style.label(dataset, variable) for variable in variables], mask,
                  looks.panel_axes)
    figure, panels = look.sheet(*layout.shape, height=layout.height, sharex=True)
    shown = []
    for axes, (at, variable) in zip(panels.ravel(), layout.places):
        drawn = draw_panel(axes, dataset, variable, masks[variable], at, looks, style.prepare or (lambda line: line))
        shown.append(Panel(axes, variable, drawn))
    notes = frame(dataset, shown, style)
    for panel in shown:
        if not panel.axes.lines:
            panel.axes.text(0.5, 0.5, "no run yet", transform=panel.axes.transAxes, ha="center", va="center",
                            color="0.35")
        elif style.decorate:
            style.decorate(panel.axes, panel.variable, panel.runs)
    look.clear_rest(panels, len(shown))
    dress(panels, layout, dataset, style, variables)
    drawn = [run for panel in shown for run in panel.runs]
    handles = looks.legend(drawn) + (style.decorate.legend() if hasattr(style.decorate, "legend") else [])
    notes += style.decorate.notes() if hasattr(style.decorate, "notes") else []
    notes = [*notes_on(dataset, masks, looks, drawn), layout.note, looks.common_note(drawn),
             runs.left_out(dataset, layout.kept, layout.every), *notes, *style.notes]
    return finished(name, caption, figure, dataset, handles, notes)


# ---- lines ----

def draw_panel(axes, dataset, variable, mask, at, looks, prepare):
    """Draws the lines of one panel. Returns the runs that are in them."""
    order = [axis for axis in dataset.sweep.axes if axis not in at]
    numbers, step = dataset[variable].isel(at).transpose(*order, "step").values, dataset.step.values
    shown = [run for run in ({**at, **run} for run in runs.listed(mask.isel(at))) if looks.is_shown(run)]
    groups = {}
    for run in shown:
        groups.setdefault(looks.key(run), []).append((run, prepare(numbers[tuple(run[axis] for axis in order)])))
    for group in groups.values():
        draw_group(axes, step, looks.of(group[0][0]), [line for _, line in group])
    return shown


def draw_group(axes, step, style, lines):
    """The median of lines that differ in the seed alone, and the range over them."""
    table = np.stack([np.where(np.isfinite(line), line, np.nan) for line in lines])
    seen = np.isfinite(table).any(axis=0)
    if not seen.any():
        return
    table = table[:, seen]
    axes.plot(step[seen], np.nanmedian(table, axis=0), **style, marker="." if seen.sum() == 1 else "")
    if len(lines) > 1 and style is not OTHERS and look.shows("bands"):
        axes.fill_between(step[seen], np.nanmin(table, axis=0), np.nanmax(table, axis=0), color=style["color"], **BAND)


def seeds_note(seeds):
    """What draw_group draws. seeds: how many each line has."""
    most = max(seeds, default=1)
    some = f"{most}" if min(seeds) == most else f"up to {most}"
    bands = "; bands are the range over them" * look.shows("bands")
    return f"Lines are medians over {some} seeds{bands}." if most > 1 else ""


# ---- scales ----

def frame(dataset, panels, style):
    """Sets the scales and ranges of all panels. Returns notes on what they leave out, and which they share."""
    groups = {}
    for panel in panels:
        groups.setdefault(min(style.alike) if panel.variable in style.alike else panel.variable, []).append(panel)
    every, beyond, is_one = [panel.axes for panel in panels], 0, True
    for group in groups.values():
        scale_group(dataset, group, style.most)
    if style.alike_scale:
        same_scale(every)
    for group in groups.values():
        lost, shared = frame_group(group, style.most)
        beyond, is_one = beyond + lost, is_one and shared
    notes = [f"Panels are cut at {style.most} times the median start value; {lines_text(beyond)} beyond."] if beyond \
        else [] if is_one else [OWN_RANGES]
    if style.within:
        notes.append(cut_at(every, *style.within))
    for group in groups.values():
        label_once([panel.axes for panel in group if panel.axes.lines])
    return notes


def lines_of(group):
    """The values of all lines of a group of panels."""
    return [line.get_ydata() for panel in group for line in panel.axes.lines]


def scale_group(dataset, group, most):
    """Sets the scale that the panels of a group share."""
    lines = lines_of(group)
    end = end_of(lines, most) if most else np.inf
    if not len(scales.finite(lines)):
        return
    for panel in group:
        scales.scale_y(panel.axes, [np.minimum(line, end) for line in lines],
                     any(is_linear(dataset[panel.variable]) for panel in group))


def frame_group(group, most):
    """Sets the limits of the panels of a group; cuts them if few values lie far beyond. Returns (the number of lines
    cut, whether all panels have the same range)."""
    panels, lines = [panel.axes for panel in group], lines_of(group)
    if not len(scales.finite(lines)):
        return 0, True
    end = end_of(lines, most) if most else np.inf
    beyond = sum(bool((line > end).any()) for line in lines)
    if beyond:
        low = scales.finite(lines).min()
        for axes in panels:
            axes.set_ylim(low - 0.05 * (end - low) if axes.get_yscale() == "linear" else 0.9 * low, end)
        return beyond, True
    rows = {}
    for axes in panels:
        rows.setdefault(look.place_of(axes)[0], []).append(axes)
    return 0, share(list(rows.values()))


def cut_at(panels, low, high):
    """Cuts panels at these limits. Returns a note on the lines that go beyond, or ""."""
    room = 0.02 * (high - low)
    beyond = 0
    for axes in panels:
        axes.set_ylim(max(low - room, axes.get_ylim()[0]), min(high + room, axes.get_ylim()[1]))
        beyond += sum(bool(((line.get_ydata() > high) | (line.get_ydata() < low)).any()) for line in axes.lines)
    return f"Panels are cut at {scales.number(low)} and {scales.number(high)}; {lines_text(beyond)} beyond." if beyond \
        else ""


def lines_text(count):
    return f"{count} line goes" if count == 1 else f"{count} lines go"


def end_of(lines, most):
    """`most` times the median start of the lines; infinite if many of their values lie beyond."""
    values = scales.finite(lines)
    end = most * np.median([line[0] for line in lines]) if lines else np.inf
    return end if (values > end).mean() < MANY_BEYOND else np.inf


# ---- words ----

def dress(panels, layout, dataset, style, variables):
    """Titles and labels of the panels."""
    columns = layout.shape[1]
    several = len(layout.places) > 1 and len({variable for _, variable in layout.places}) > 1
    sides = look.side_titles(layout.sides, layout.height)
    for place, (at, variable) in enumerate(layout.places):
        axes = panels.ravel()[place]
        look.grid(axes)
        if layout.heads and place < columns:
            axes.set_title(look.column_title(layout.heads[place], columns))
        if sides and place % columns == 0:
            axes.set_ylabel(sides[place // columns])
        if layout.titles and (at or style.whole and several):
            axes.set_title(look.title(layout.titles[place], columns))
        elif layout.titles and several:
            axes.set_ylabel("\n".join(look.wrap(layout.titles[place], look.panel_height(layout.height))))
    words = style.whole if several else style.alone(dataset, variables[0])
    if words:
        look.name_rows(panels[0, 0].figure, words, None if layout.sides else panels[0, 0])
    look.name_axes(panels, len(layout.places), look.label(dataset.step))


def notes_on(dataset, masks, looks, drawn):
    """Notes on the number of runs, and on those without a line of their own."""
    mask = next(iter(masks.values()))
    shown = {tuple(run.items()) for run in drawn}
    notes = [f"{runs.count_text(len(shown), int(sum(masks.values()).astype(bool).sum()))}."]
    if runs.REPEAT in runs.axes_of(dataset):
        seeds = Counter(tuple(place for place in run if place[0] != runs.REPEAT) for run in shown)
        notes.append(seeds_note(seeds.values()))
    notes.append(looks.grey_note(drawn))
    for word in ("diverged", "failed"):
        lost = int((getattr(dataset.sweep, word) & ~mask).sum())
        notes.append(f"{lost} {word} {'run is' if lost == 1 else 'runs are'} not shown." if lost else "")
    return notes
