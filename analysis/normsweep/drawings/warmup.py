"""The final loss over the number of warm-up steps: who trains without a warm-up."""

import numpy as np
from matplotlib.lines import Line2D

from ..collapse import collapsed
from . import colours, look, runs, scales
from .colours import LEVEL
from .drawing import finished

STEPS, PLACE = "warmup_steps", "norm_placement"
PANELS = 6
DODGE = 0.16  # from one line's dots to the next one's, in steps of the axis
HEAD = 0.13  # room above the losses for the diverged runs, as a share of their range
COLLAPSE, DIVERGED = "collapsed: always predicts the same word", "diverged"
MARKS = {
    COLLAPSE: {"marker": "o", "markerfacecolor": "none", "markersize": 8},
    DIVERGED: {"marker": "x", "markersize": 6, "markeredgewidth": 1.4},
}


def has_axis(dataset):
    return STEPS in runs.axes_of(dataset)


def warmup(dataset):
    """One panel for each combination of the other axes, one line for each place of the norm, one dot for each run."""
    names = [name for name in ("final_valid_loss", "final_train_loss") if runs.is_measured(dataset, name)]
    if not names or not has_axis(dataset):
        return None
    with look.style():
        dataset = dataset.sortby(STEPS)
        combinations = list(runs.combinations(dataset, runs.others_of(dataset, STEPS, PLACE)))
        shown = runs.thinned_along(combinations, look.most_panels(PANELS, 2))
        places = list(runs.combinations(dataset, [axis for axis in (PLACE,) if axis in runs.axes_of(dataset)]))
        shape = look.crowd(len(shown), 2)
        figure, panels = look.sheet(*shape, height=1.8, sharex=True, sharey=True)
        seen = set()
        for axes, at in zip(panels.ravel(), shown):
            for i, place in enumerate(places):
                seen |= draw_line(axes, dataset.isel(at | place), names[0], line_look(dataset, place, i),
                                  (i - (len(places) - 1) / 2) * DODGE)
            dress(axes, dataset, look.title(runs.text(dataset, at), shape[1]))
        make_room(panels[0, 0], [dataset[names[0]].where(dataset.sweep.done), levels(dataset)])
        look.name_axes(panels, len(shown), look.label(dataset[STEPS]), look.label(dataset[names[0]], 1.6))
        look.clear_rest(panels, len(shown))
        handles = legend(dataset, places, seen)
        notes = [runs.counted(dataset, names[0]), runs.left_out(dataset, shown, combinations),
                 "Each dot is a run; lines connect the means over seeds of the runs that are done."
                 if runs.REPEAT in runs.axes_of(dataset) else "",
                 "Beside a cross: the number of runs that diverged." if "diverged" in seen else ""]
        return finished("warmup", "The final loss over the steps over which the learning rate rises to its peak.",
                        figure, dataset, handles, notes)


def line_look(dataset, at, i):
    style = colours.marked(colours.place(PLACE, str(dataset[PLACE].values[at[PLACE]]), i) if at else 0, 3)
    return {**style, "linestyle": "-"}


def draw_line(axes, part, name, style, shift):
    """Draws one line and its dots; returns the words of MARKS that occur."""
    repeats = [dim for dim in part.outcome.dims if dim != STEPS]
    x, colour = np.arange(part.sizes[STEPS]) + shift, style["color"]

    def table(values):
        return values.transpose(STEPS, *repeats).values.reshape(len(x), -1)

    losses = table(part[name].where(part.sweep.done))
    places, counts = np.broadcast_to(x[:, None], losses.shape), np.isfinite(losses).sum(axis=1)
    axes.plot(x, np.where(counts > 0, np.nansum(losses, axis=1) / np.maximum(counts, 1), np.nan), color=colour)
    axes.plot(places.ravel(), losses.ravel(), **{**style, "linestyle": ""})
    ringed, crossed = table(collapsed(part)), table(part.sweep.diverged).sum(axis=1)
    if ringed.any():
        axes.plot(places[ringed], losses[ringed], linestyle="", color=colour, **MARKS[COLLAPSE])
    for place, count in zip(x[crossed > 0], crossed[crossed > 0]):
        cross(axes, place, count, colour)
    return {word for word, found in ((COLLAPSE, ringed.any()), (DIVERGED, crossed.any())) if found}


def cross(axes, place, count, colour):
    """Marks, above all losses, how many runs diverged."""
    axes.plot([place], [0.95], transform=axes.get_xaxis_transform(), linestyle="", color=colour, **MARKS[DIVERGED])
    axes.annotate(f"{count}", (place, 0.95), (5, 0), xycoords=axes.get_xaxis_transform(), color=colour,
                  textcoords="offset points", va="center")


def make_room(axes, losses):
    """Sets the limits of the shared axis: all losses, and room above them."""
    values = scales.finite(losses)
    if not len(values):
        return
    scales.scale_y(axes, [values])
    shape = np.log if axes.get_yscale() == "log" else np.asarray
    low, high = shape(values.min()), shape(values.max())
    size = (high - low) or 1
    ends = np.array([low - 0.05 * size, high + HEAD * size])
    axes.set_ylim(np.exp(ends) if axes.get_yscale() == "log" else ends)


def levels(dataset):
    return sorted(set(scales.finite([dataset.unigram_loss.values]).round(9))) if "unigram_loss" in dataset else []


def dress(axes, dataset, title):
    axes.set_title(title)
    axes.set_xticks(range(dataset.sizes[STEPS]), [scales.number(value) for value in dataset[STEPS].values])
    axes.set_xlim(-0.5, dataset.sizes[STEPS] - 0.5)
    for level in levels(dataset)[:3 * look.shows("unigram")]:
        axes.axhline(level, **LEVEL)
    look.grid(axes)


def legend(dataset, places, seen):
    handles = [Line2D([], [], label=runs.text(dataset, at), **line_look(dataset, at, i))
               for i, at in enumerate(places) if at]
    handles += [Line2D([], [], label="unigram level", **LEVEL)] * (look.shows("unigram") and bool(levels(dataset)))
    return handles + [Line2D([], [], label=word, color="0.3", linestyle="", **style)
                      for word, style in MARKS.items() if word in seen]
