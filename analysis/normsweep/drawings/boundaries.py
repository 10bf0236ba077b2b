"""The boundaries between growing and shrinking norms of all kinds of runs of a sweep, in one panel."""

import numpy as np
from matplotlib.lines import Line2D

from ..boundary import crossings, rule
from ..plane import phase_axes
from . import cells, look, runs
from .drawing import finished

FEW = 16  # lines
ERROR = {"linestyle": "none", "capsize": 2, "linewidth": 0.8}
GAP = "A line has a gap at learning rates where all runs grow, or all shrink, so that there is no boundary."


def lines_of(dataset):
    """[(combination of the other axes, its logs)] of the combinations that have a boundary."""
    others = runs.others_of(dataset, *phase_axes(dataset))
    if not runs.is_measured(dataset, "norm_growth") or not rule(dataset).stops or not others:
        return []
    if tuple(cells.plane_of(dataset)) != phase_axes(dataset):
        return []
    found = ((at, logs_of(dataset, at)) for at in runs.combinations(dataset, others))
    return [(at, logs) for at, logs in found if np.isfinite(logs).any()]


def has_lines(dataset):
    return len(lines_of(dataset)) > 1


def boundaries(dataset):
    """The weight decay, or its timescale, at which growth stops over the learning rate: a line for each combination of
    the other axes, the geometric mean over seeds. None for a single combination, whose boundary is in the phase
    diagram."""
    lines = lines_of(dataset)
    if len(lines) < 2:
        return None
    others = runs.others_of(dataset, *phase_axes(dataset))
    logs, combinations = {tuple(at.values()): each for at, each in lines}, [at for at, _ in lines]
    shown = runs.thinned_along(combinations, FEW)
    with look.style():
        figure, panels = look.sheet(1, 1, height=2.7)
        axes = panels[0, 0]
        for i, at in enumerate(shown):
            draw_line(axes, logs[tuple(at.values())], style_of(dataset, at, i))
        axes.set_xscale("log")
        axes.set_yscale("log")
        look.grid(axes)
        look.name_axes(panels, 1, look.label(dataset.learning_rate),
                       look.with_unit(f"{runs.decay_name(dataset)} at which growth stops"))
        handles = [Line2D([], [], label=runs.text(dataset, at), **style_of(dataset, at, i))
                   for i, at in enumerate(shown)]
        repeated = dataset.sizes.get(runs.REPEAT, 1) > 1
        bars = "; bars are the range over them" * look.shows("range")
        notes = [runs.counted(dataset, "norm_growth"), runs.timescale_note(dataset),
                 f"Norms grow {'above' if runs.timescale_note(dataset) else 'below'} a line.",
                 GAP if any(has_gap(logs[tuple(at.values())]) for at in shown) else "",
                 f"Geometric means over seeds{bars}." if repeated else "",
                 runs.left_out(dataset, shown, combinations)]
        return finished("boundaries", f"The boundary between growing and shrinking norms by {runs.names_text(others)}.",
                        figure, dataset, handles, notes)


def logs_of(dataset, at):
    """log(boundary) of one combination: [learning_rate] ascending, with a dimension of seeds if there is one."""
    part = runs.part(dataset[["norm_growth", "outcome"]], at)
    return np.log(crossings(part).each.sortby("learning_rate"))


def has_gap(logs):
    """Is there a learning rate without a boundary in any seed?"""
    return bool(logs.isnull().all([dim for dim in logs.dims if dim != "learning_rate"]).any())


def draw_line(axes, logs, style):
    others = [dim for dim in logs.dims if dim != "learning_rate"]
    rates, middle = logs.learning_rate.values, np.exp(logs.mean(others).values)
    axes.plot(rates, middle, **style)
    if look.shows("range") and others and int(logs.notnull().sum(others).max()) > 1:
        ends = [np.exp(logs.min(others).values), np.exp(logs.max(others).values)]
        axes.errorbar(rates, middle, [middle - ends[0], ends[1] - middle], color=style["color"], **ERROR)


def style_of(dataset, at, i):
    """Of line i of at most FEW: each differs from all others in colour or in dashes, and neighbours in both."""
    return {**cells.curve_look(dataset, at, i), "markersize": 3.5}
