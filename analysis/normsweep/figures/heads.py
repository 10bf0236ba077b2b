"""To how many positions the heads of the saturated network attend."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .. import look
from . import runs
from .drawing import Drawing
from .saturation import ends

FIRST = {"facecolor": "white", "edgecolor": look.COLOURS[0], "linewidth": 0.9, "hatch": "////"}
LAST = {"facecolor": look.COLOURS[0], "edgecolor": look.COLOURS[0], "linewidth": 0.9}
DOTS = {False: {"marker": "o", "markersize": 4, "linestyle": "none", "color": look.COLOURS[0],
                "markerfacecolor": "none"},
        True: {"marker": "o", "markersize": 4, "linestyle": "none", "color": look.COLOURS[1]}}
BY_HEAD = ("positions_attended", "fraction_attended", "share_above_one")


def bins(positions):
    """The words of the bins: 1, 2, 3-4, 5-8."""
    tops = [int(top) for top in positions.values]
    return [str(top) if low == top else f"{low}–{top}" for low, top in zip([1] + [t + 1 for t in tops[:-1]], tops)]


def histogram(dataset):
    """How many heads attend to so many positions, before and after training."""
    if not runs.is_measured(dataset, "heads_histogram", "step", "positions"):
        return None
    with look.style():
        chosen, note = runs.representatives(dataset, "heads_histogram")
        figure, panels = look.sheet(*look.crowd(len(chosen)), height=2.1 if len(chosen) > 1 else 3, sharex=True,
                                    sharey=True)
        words = bins(dataset.positions)
        for place, run in enumerate(chosen):
            axes = panels.ravel()[place]
            values = dataset.heads_histogram.isel(run)
            for step, shift, style in zip(ends(values), (-0.21, 0.21), (FIRST, LAST)):
                axes.bar(np.arange(len(words)) + shift, values.isel(step=step).values, 0.38, **style)
            axes.set_xticks(range(len(words)), words, rotation=40, ha="right", rotation_mode="anchor")
            axes.set_title(look.title(runs.text(dataset, run)))
        look.name_axes(panels, len(chosen), "positions attended", "heads")
        look.clear_rest(panels, len(chosen))
        look.close(figure, dataset, [Patch(label="first step", **FIRST), Patch(label="last step", **LAST)],
                   [note] if note else [])
        return Drawing("heads", f"The number of heads, of all layers, that attend to so many positions in the "
                       f"saturated network. {note}".strip(), figure)


def by_layer(dataset):
    """Every head of every layer, before and after training."""
    variables = [name for name in BY_HEAD if runs.is_measured(dataset, name, "step", "layer", "head")]
    if not variables:
        return None
    with look.style():
        chosen, note = runs.representatives(dataset, variables[0])
        figure, panels = look.sheet(len(chosen), len(variables), height=1.6 if len(chosen) > 1 else 2.6, sharex=True,
                                    sharey="col")
        for row, run in zip(panels, chosen):
            for axes, variable in zip(row, variables):
                draw_heads(axes, dataset[variable].isel(run))
                axes.set_xticks(runs.thinned(range(dataset.sizes["layer"]), 8))
                look.grid(axes, "y")
            row[0].set_ylabel(look.title(runs.text(dataset, run)))
        for axes, variable in zip(panels[0], variables):
            axes.set_title(look.label(dataset[variable], 30))
            if variable == "positions_attended":
                axes.set_ylim(0.9, max(2.2, axes.get_ylim()[1]))
                axes.set_yscale("log", base=2)
                axes.yaxis.set_major_formatter(lambda value, _: look.number(value))
            else:
                axes.set_ylim(-0.04, max(1.04, axes.get_ylim()[1]))
        for axes in panels[-1]:
            axes.set_xlabel("layer")
        handles = [Line2D([], [], label=f"a head at the {'last' if is_last else 'first'} step", **style)
                   for is_last, style in DOTS.items()]
        look.close(figure, dataset, handles, [note] if note else [])
        return Drawing("heads-by-layer", f"What each head of the saturated network attends to, by layer. "
                       f"{note}".strip(), figure)


def draw_heads(axes, values):
    """A dot a head, first steps left of the layer and last ones right of it."""
    values = values.transpose("step", "layer", "head")
    layers, heads = values.shape[1:]
    spread = np.linspace(0.06, 0.34, heads) if heads > 1 else np.array([0.2])
    for step, is_last in zip(ends(values), (False, True)):
        x = np.arange(layers)[:, np.newaxis] + (spread if is_last else -spread)
        axes.plot(x.ravel(), values[step].values.ravel(), **DOTS[is_last])


def tokens(dataset):
    """The distribution over the tokens, a row for each head, after training."""
    if not runs.is_measured(dataset, "attended_histogram", "step", "layer", "head", "positions"):
        return None
    with look.style():
        chosen, note = runs.representatives(dataset, "attended_histogram")
        rows, columns = look.crowd(len(chosen))
        heads = dataset.sizes["layer"] * dataset.sizes["head"]
        figure, panels = look.sheet(rows, columns, height=min(1.2 + 0.06 * heads, 4), sharex=True, sharey=True)
        words = bins(dataset.positions)
        for place, run in enumerate(chosen):
            axes = panels.ravel()[place]
            values = dataset.attended_histogram.isel(run).transpose("step", "layer", "head", "positions")
            axes.pcolormesh(np.arange(len(words) + 1) - 0.5, np.arange(heads + 1) - 0.5,
                            values[ends(values)[1]].values.reshape(heads, -1), cmap=look.ORDERED, vmin=0, vmax=1)
            axes.set_title(look.title(runs.text(dataset, run)))
            axes.set_xticks(range(len(words)), words, rotation=40, ha="right", rotation_mode="anchor")
            starts = np.arange(dataset.sizes["layer"]) * dataset.sizes["head"]
            for start in starts[1:]:
                axes.axhline(start - 0.5, color="white", linewidth=1)
            shown = runs.thinned(range(len(starts)), 8)
            axes.set_yticks(starts[shown] + (dataset.sizes["head"] - 1) / 2, [f"layer {i}" for i in shown])
            axes.tick_params(left=False)
        look.name_axes(panels, len(chosen), "positions attended")
        look.clear_rest(panels, len(chosen))
        bar = figure.colorbar(ScalarMappable(Normalize(0, 1), look.ORDERED), ax=panels.ravel()[:len(chosen)].tolist(),
                              aspect=30, pad=0.02)
        bar.set_label("share of tokens")
        look.close(figure, dataset, (), [note] if note else [])
        return Drawing("heads-by-token", f"The share of tokens at which a head (a row) of the saturated network "
                       f"attends to so many positions, at the last step. {note}".strip(), figure)
