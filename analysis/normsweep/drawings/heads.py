"""The number of positions that the heads of the saturated network attend to."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..plane import is_linear
from . import colours, look, runs, scales
from .drawing import finished, run_panels
from .states import ends

FIRST = {"facecolor": "white", "edgecolor": colours.LAST["color"], "linewidth": 0.9, "hatch": "////"}
LAST = {"facecolor": colours.LAST["color"], "edgecolor": colours.LAST["color"], "linewidth": 0.9}
DOTS = {is_last: {**(colours.LAST if is_last else colours.FIRST), "markersize": 3.5, "linestyle": "none"}
        for is_last in (False, True)}
AROUND = 0.5  # inches that the titles of columns and the labels below take from all rows together
BY_HEAD = ("positions_attended", "fraction_attended", "share_above_one")


def bins(positions):
    """The labels of the bins: 1, 2, 3–4, 5–8."""
    tops = [int(top) for top in positions.values]
    return [str(top) if low == top else f"{low}–{top}" for low, top in zip([1] + [t + 1 for t in tops[:-1]], tops)]


def histogram(dataset):
    """The number of heads by positions attended, at the first and the last measured step."""
    if not runs.is_measured(dataset, "heads_histogram", "step", "attended"):
        return None
    words = bins(dataset.attended)

    def draw(axes, run):
        values = dataset.heads_histogram.isel(run)
        for step, shift, style in zip(ends(values), (-0.21, 0.21), (FIRST, LAST)):
            axes.bar(np.arange(len(words)) + shift, values.isel(step=step).values, 0.38, **style)
        set_bins(axes, words)

    with look.style():
        figure, _, note = run_panels(dataset, "heads_histogram", draw, look.with_unit("positions attended"),
                                     look.with_unit("heads"))
        handles = [Patch(label="first step", **FIRST), Patch(label="last step", **LAST)]
        return finished("heads", "The number of heads, over all layers, by the number of positions that they attend "
                        "to in the saturated network.", figure, dataset, handles, [note])


def set_bins(axes, words):
    axes.set_xticks(range(len(words)), words, rotation=40, ha="right", rotation_mode="anchor")


def by_layer(dataset):
    return of_layers(dataset, "heads-by-layer", BY_HEAD,
                     "The attention of each head of the saturated network, by layer.")


def of_layers(dataset, name, variables, caption, logarithmic=frozenset({"positions_attended"}), lines=None, notes=()):
    """Every head of every layer, at the first and the last measured step. lines: {variable: (y, words)}."""
    variables = [name for name in variables if runs.is_measured(dataset, name, "step", "layer", "head")]
    if not variables:
        return None
    with look.style():
        chosen, note = runs.representatives(dataset, variables[0], look.most_rows(6, len(variables)))
        figure, panels = look.sheet(len(chosen), len(variables), height=1.3 if len(chosen) > 1 else 2.1, sharex=True,
                                    sharey="col")
        titles, common = runs.titles(dataset, chosen)
        sides = look.side_titles(titles, 1.3 - look.em(AROUND) / len(titles))
        for row, run, title in zip(panels, chosen, sides):
            for axes, variable in zip(row, variables):
                draw_heads(axes, dataset[variable].isel(run))
                if variable in (lines or {}):
                    look.reference_line(axes, lines[variable][0])
                axes.set_xticks(runs.thinned(range(dataset.sizes["layer"]), 4))
                look.grid(axes, "y")
            row[0].set_ylabel(title)
        for axes, column, variable in zip(panels[0], panels.T, variables):
            axes.set_title(look.column_title(look.label(dataset[variable]), len(variables)))
            drawn = scales.finite([line.get_ydata() for one in column for line in one.lines])
            if variable in logarithmic and (drawn > 0).any():
                axes.set_yscale("log")
                drawn = np.log(drawn[drawn > 0])
                room = 0.08 * max(np.ptp(drawn), 1)
                axes.set_ylim(np.exp(drawn.min() - room), np.exp(max(drawn.max() + room, drawn.min() + 0.8)))
            elif is_linear(dataset[variable]):
                axes.set_ylim(-0.04, max(1.04, axes.get_ylim()[1]))
        for axes in panels[-1]:
            axes.set_xlabel(look.label(dataset.layer))
        handles = [Line2D([], [], label=f"a head at the {'last' if is_last else 'first'} step", **style)
                   for is_last, style in DOTS.items()]
        handles += [Line2D([], [], label=words, **look.REFERENCE) for variable, (_, words) in (lines or {}).items()
                    if variable in variables]
        count = dataset.sizes["head"]
        order = f"From left to right within a layer: heads 0 to {count - 1}." if count > 1 else ""
        return finished(name, caption, figure, dataset, handles, [note, common, order, *notes])


def draw_heads(axes, values):
    """One dot for each head: the first step to the left of the layer, the last step to the right."""
    values = values.transpose("step", "layer", "head")
    layers, heads = values.shape[1:]
    spread = np.linspace(0.06, 0.34, heads) if heads > 1 else np.array([0.2])
    for step, is_last in zip(ends(values), (False, True)):
        x = np.arange(layers)[:, np.newaxis] + (spread if is_last else -spread)
        axes.plot(x.ravel(), values[step].values.ravel(), **DOTS[is_last])


def tokens(dataset):
    """The distribution over the tokens, one row for each head, at the last measured step."""
    if not runs.is_measured(dataset, "attended_histogram", "step", "layer", "head", "attended"):
        return None
    words, in_layer = bins(dataset.attended), dataset.sizes["head"]
    starts = np.arange(dataset.sizes["layer"]) * in_layer
    shown = runs.thinned(range(len(starts)), 8)
    rows = len(starts) * in_layer

    def draw(axes, run):
        values = dataset.attended_histogram.isel(run).transpose("step", "layer", "head", "attended")
        axes.pcolormesh(np.arange(len(words) + 1) - 0.5, np.arange(rows + 1) - 0.5,
                        values[ends(values)[1]].values.reshape(rows, -1), cmap=colours.ORDERED, vmin=0, vmax=1)
        for start in starts[1:]:
            axes.axhline(start - 0.5, color="white", linewidth=1)
        set_bins(axes, words)
        axes.set_yticks(starts[shown] + (in_layer - 1) / 2, [f"layer {i}" for i in shown])
        axes.tick_params(left=False)

    with look.style():
        height = min(1.2 + 0.05 * rows, 3)
        figure, panels, note = run_panels(dataset, "attended_histogram", draw, look.with_unit("positions attended"),
                                          height=height, single=height)
        bar = look.add_bar(figure, ScalarMappable(Normalize(0, 1), colours.ORDERED), ax=panels)
        look.name_bar(bar, look.with_unit("share of tokens"))
        return finished("heads-by-token", "The share of tokens for which a head (row) of the saturated network attends "
                        "to a number of positions (column), at the last measured step.", figure, dataset, (), [note])
