"""Saturation: how close a network's states are to those of the saturated network, by layer and over the steps."""

import numpy as np
from matplotlib.lines import Line2D

from . import look, runs
from .colours import FIRST, HARD, LAST
from .depth import over_layers
from .drawing import finished, run_panels
from .lines import over_steps

KINDS = ("saturation", "hard_saturation")


def ends(values):
    """The indices of the first and the last step at which anything was measured; None if nothing was."""
    others = [dim for dim in values.dims if dim != "step"]
    seen = np.flatnonzero(np.isfinite(values).any(others).values)
    return (seen[0], seen[-1]) if len(seen) else None


def by_layer(dataset):
    """After each layer and at the output layer's input, at the first (open) and the last (filled) step."""
    kinds = [kind for kind in KINDS if runs.is_measured(dataset, kind, "step", "layer")]
    if not kinds:
        return None
    names = [*map(str, dataset.layer.values), "final"]
    shown = runs.thinned(range(len(names)), 8)

    def draw(axes, run):
        for kind in kinds:
            draw_kind(axes, dataset, kind, run)
        axes.set_xticks(shown, [names[i] for i in shown])
        look.grid(axes)

    with look.style():
        figure, _, note = run_panels(dataset, kinds[0], draw, look.with_unit("after layer"),
                                     look.with_unit("cosine with saturated states"))
        return finished("saturation", "Saturation after each layer and at the input of the output layer (final), at "
                        "the first and the last measured step.", figure, dataset, legend(kinds), [note])


def draw_kind(axes, dataset, kind, run):
    part = dataset.isel(run)
    places = ends(part[kind])
    if places is None:
        return
    for step, style in zip(places, (FIRST, LAST)):
        values = part[kind].isel(step=step).values
        final = float(part[f"{kind}_final"].isel(step=step)) if f"{kind}_final" in part else np.nan
        axes.plot(np.arange(len(values) + 1), [*values, final], **(HARD if kind == "hard_saturation" else style))


def legend(kinds):
    handles = [Line2D([], [], label="first step", **FIRST), Line2D([], [], label="last step", **LAST)]
    hard = [Line2D([], [], label="the same with hard attention", **HARD)]
    return handles * ("saturation" in kinds) + hard * ("hard_saturation" in kinds)


def over_time(dataset):
    return over_layers(dataset, "saturation-by-layer", ["saturation"],
                       "The cosine between the states after each layer and those of the saturated network.",
                       shared=True)


def final(dataset):
    return over_steps(dataset, "saturation-final", ["saturation_final", "hard_saturation_final"],
                      "The saturation of the input of the output layer.")
