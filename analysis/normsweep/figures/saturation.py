"""Saturation: how near a network's states are to those of its saturated one, by layer and over the steps."""

import numpy as np
from matplotlib.lines import Line2D

from .. import look
from . import runs
from .depth import over_layers
from .drawing import Drawing
from .lines import over_steps

KINDS = ("saturation", "hard_saturation")
LAST = {"color": look.COLOURS[0], "marker": "o", "markersize": 4, "linestyle": "-"}
FIRST = {**LAST, "markerfacecolor": "white", "linestyle": ":"}
HARD = {"color": look.COLOURS[1], "marker": "x", "markersize": 7, "linestyle": "none"}


def ends(values):
    """The first and the last step at which anything was measured, as positions."""
    others = [dim for dim in values.dims if dim != "step"]
    seen = np.flatnonzero(np.isfinite(values).any(others).values)
    return (seen[0], seen[-1]) if len(seen) else None


def by_layer(dataset):
    """After each block and at the end, before training (open) and after it (filled)."""
    kinds = [kind for kind in KINDS if runs.is_measured(dataset, kind, "step", "layer")]
    if not kinds:
        return None
    with look.style():
        chosen, note = runs.representatives(dataset, kinds[0])
        figure, panels = look.sheet(*look.crowd(len(chosen)), height=2.1 if len(chosen) > 1 else 3, sharex=True,
                                    sharey=True)
        layers = [str(layer) for layer in dataset.layer.values]
        for place, run in enumerate(chosen):
            axes = panels.ravel()[place]
            for kind in kinds:
                draw_kind(axes, dataset, kind, run)
            axes.set_title(look.title(runs.text(dataset, run)))
            shown = runs.thinned(range(len(layers) + 1), 8)
            axes.set_xticks(shown, [(*layers, "final")[i] for i in shown])
            look.grid(axes)
        look.name_axes(panels, len(chosen), "behind layer", "cosine with saturated states")
        look.clear_rest(panels, len(chosen))
        look.close(figure, dataset, legend(kinds), [note] if note else [])
        return Drawing("saturation", f"Saturation behind each layer and of what the output layer sees, at the first "
                       f"and the last step at which it was measured. {note}".strip(), figure)


def draw_kind(axes, dataset, kind, run):
    part = dataset.isel(run)
    places = ends(part[kind])
    if places is None:
        return
    for step, style in zip(places, (FIRST, LAST)):
        values = part[kind].isel(step=step).values
        final = part[f"{kind}_final"].isel(step=step).item() if f"{kind}_final" in part else np.nan
        axes.plot(np.arange(len(values) + 1), [*values, final], **(HARD if kind == "hard_saturation" else style))


def legend(kinds):
    handles = [Line2D([], [], label="first step", **FIRST), Line2D([], [], label="last step", **LAST)]
    hard = [Line2D([], [], label="the same by hard attention", **HARD)]
    return handles * ("saturation" in kinds) + hard * ("hard_saturation" in kinds)


def over_time(dataset):
    return over_layers(dataset, "saturation-by-layer", ["saturation"],
                       "The cosine between the states behind each layer and those of the saturated network.",
                       shared=True)


def final(dataset):
    return over_steps(dataset, "saturation-final", ["saturation_final", "hard_saturation_final"],
                      "The saturation of what the output layer sees.")
