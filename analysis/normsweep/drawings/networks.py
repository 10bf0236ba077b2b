"""Figures of networks of others, several in one figure: those that the paper shows of pretrained networks."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..networks import stacks
from . import colours, look
from .colours import HARD
from .drawing import Drawing
from .heads import bins, set_bins

HATCHES = ("", "////", "....", "xxxx", "----")
FRACTIONS = np.linspace(0, 1, 11)


def looks(count):
    """A colour and a dash for each line."""
    return [colours.line(i) for i in range(count)]


def fills(count):
    """A colour and a hatch for each kind of bar."""
    return [{"facecolor": colours.COLOURS[i % len(colours.COLOURS)], "edgecolor": "white", "linewidth": 0.4,
             "hatch": HATCHES[i % len(HATCHES)]}
            for i in range(count)]


def saturation(networks):
    """The cosine with the saturated states after each layer, and of the output; figure 2 of the paper."""
    drawn = [stack for stack in stacks(networks) if stack.measured("saturation") is not None]
    if not drawn:
        return None
    with look.style():
        figure, panels = look.sheet(1, 1, height=2.4)
        axes = panels[0, 0]
        styles = looks(len(drawn))
        for stack, style in zip(drawn, styles):
            draw_saturation(axes, stack, style)
        axes.set_ylim(axes.get_ylim()[0] if axes.dataLim.y0 < 0 else 0, 1.03)
        axes.set_xlim(-0.5, axes.dataLim.x1 + 0.4)  # no tick behind the last layer
        axes.set_xlabel(look.with_unit("layer"))
        axes.set_ylabel(look.with_unit("cosine with saturated states"))
        axes.xaxis.get_major_locator().set_params(integer=True)
        look.grid(axes)
        grey = {"color": "0.3"}
        handles = [Line2D([], [], label=look.plain(stack.label), marker=".", **style)
                   for stack, style in zip(drawn, styles)]
        handles += [Line2D([], [], label="output of the stack", marker="o", linestyle="none", **grey),
                    Line2D([], [], label="with hard attention", **{**HARD, **grey})]
        return finish("saturation", "Saturation of each network after each layer, and of its output.", figure, handles,
                      len(drawn))


def draw_saturation(axes, stack, style):
    """A line over the layers; the output, dotted, half a place behind the last layer."""
    values = stack.measured("saturation")
    layers = np.arange(len(values))
    axes.plot(layers, values, marker=".", **style)
    final, hard = stack.measured("saturation_final"), stack.measured("hard_saturation")
    if final is not None:
        axes.plot([layers[-1], layers[-1] + 0.5], [values[-1], final], color=style["color"], linestyle=":")
        axes.plot([layers[-1] + 0.5], [final], marker="o", markersize=5, linestyle="none", color=style["color"])
    if hard is not None:
        axes.plot(np.arange(len(hard)), hard, **{**HARD, "color": style["color"]})


def heads(networks):
    """The share of heads by what they attend to in the saturated network; figure 3 of the paper."""
    drawn = [stack for stack in stacks(networks) if stack.measured("positions_attended") is not None]
    if not drawn:
        return None
    with look.style():
        figure, panels = look.sheet(1, 2, height=2.2, sharey=True)
        styles = fills(len(drawn))
        tops = longest(drawn)
        for place, (stack, style) in enumerate(zip(drawn, styles)):
            draw_bars(panels[0, 0], by_positions(stack, tops), place, len(drawn), style)
            fractions = np.minimum(heads_of(stack, "fraction_attended"), 1)
            draw_bars(panels[0, 1], np.histogram(fractions, FRACTIONS)[0] / len(fractions), place, len(drawn), style)
        set_bins(panels[0, 0], bins(tops))
        set_bins(panels[0, 1], [f"{low:.1f}–{high:.1f}" for low, high in zip(FRACTIONS, FRACTIONS[1:])])
        panels[0, 0].set_xlabel(look.with_unit("positions attended\n(mean of a head, rounded)"))
        panels[0, 1].set_xlabel(look.with_unit("fraction attended\n(mean of a head)"))
        panels[0, 0].set_ylabel(look.with_unit("share of the heads"))
        for axes in panels[0]:
            axes.set_ylim(0, None)
            look.grid(axes, "y")
        handles = [Patch(label=look.plain(stack.label), **style) for stack, style in zip(drawn, styles)]
        return finish("heads", "The heads of each network, over all layers, by the mean number of positions that they "
                      "attend to in the saturated network, and by its share of the visible ones.", figure, handles,
                      len(drawn))


def longest(drawn):
    """The bins of the network with the most."""
    return max((stack.dataset.attended for stack in drawn), key=len)


def by_positions(stack, tops):
    """Shares of the heads by their rounded mean: a few ties do not move a head that attends to one position."""
    means = heads_of(stack, "positions_attended")
    places = np.searchsorted(tops.values, np.maximum(np.round(means), 1))
    return np.bincount(places, minlength=len(tops)) / len(means)


def draw_bars(axes, shares, place, count, style):
    """The bars of one of `count` stacks, beside those of the others."""
    width = 0.84 / count
    axes.bar(np.arange(len(shares)) + (place + 0.5) * width - 0.42, shares, width, **style)


def heads_of(stack, name):
    """The finite values of all heads."""
    values = stack.measured(name).ravel()
    return values[np.isfinite(values)]


def finish(name, caption, figure, handles, count):
    note = f"n = {count} {'network or stack' if count == 1 else 'networks or stacks'}."
    look.frame(figure, "", handles, [note])
    return Drawing(name, f"{caption} {note}", figure)


FIGURES = {"saturation": saturation, "heads": heads}
