"""The states between blocks: the residual stream, how it and gradients grow per block, and saturation: how close the
states are to those of the saturated network."""

import numpy as np
from matplotlib.lines import Line2D

from ..plane import is_linear
from . import look, runs, scales
from .colours import FIRST, HARD, LAST
from .depth import over_layers
from .drawing import finished, run_panels
from .lines import over_steps

GROWTH = {"residual_growth": "stream", "gradient_growth": "gradient", "angle_exponent": "angles of tokens",
          "gradient_exponent": "random gradient"}


def norms(dataset):
    return by_depth(dataset, "residual", "residual_norm", "The norm of the residual stream after each block: a "
                    "straight line on the logarithmic scale is exponential growth.",
                    look.with_unit("norm of the stream"), log=True)


def cosines(dataset):
    return by_depth(dataset, "residual-cosine", "residual_cosine", "The cosine of the residual stream before and after "
                    "each block.", look.with_unit("cosine before and after"))


def by_depth(dataset, name, variable, caption, words, log=False):
    """A variable over the depth, at the first (open) and the last (filled) step, one panel for each of a few runs."""
    if not runs.is_measured(dataset, variable, "step", "depth"):
        return None

    def draw(axes, run):
        values = dataset[variable].isel(run)
        places = ends(values)
        for step, style in zip(places or (), (FIRST, LAST)):
            line = values.isel(step=step).values
            seen = np.isfinite(line)
            axes.plot(dataset.depth.values[seen], line[seen], **style)
        if log and places and scales.finite([line.get_ydata() for line in axes.lines]).min() > 0:
            axes.set_yscale("log")
        else:
            scales.scale_y(axes, [line.get_ydata() for line in axes.lines], is_linear(dataset[variable]))
        look.grid(axes)

    with look.style():
        figure, _, note = run_panels(dataset, variable, draw, "depth (blocks)", words)
        return finished(name, f"{caption} At the first and the last measured step.", figure, dataset, first_and_last(),
                        [note])


def first_and_last():
    return [Line2D([], [], label="first step", **FIRST), Line2D([], [], label="last step", **LAST)]


def growth(dataset):
    return over_steps(dataset, "residual-growth", list(GROWTH), "What grows per block: the residual stream; the "
                      "gradient, towards the input; the angles between tokens that hardly differ; the squared gradient "
                      "of a random direction. All are 0 where nothing grows or shrinks.", labels=GROWTH,
                      whole=look.with_unit("logarithm of the growth per block"),
                      decorate=lambda axes, variable, drawn: look.reference_line(axes, 0))


# ---- saturation ----

KINDS = ("saturation", "hard_saturation")


def ends(values):
    """The indices of the first and the last step at which anything was measured; None if nothing was."""
    others = [dim for dim in values.dims if dim != "step"]
    seen = np.flatnonzero(np.isfinite(values).any(others).values)
    return (seen[0], seen[-1]) if len(seen) else None


def saturation(dataset):
    """After each layer and at the output layer's input, at the first (open) and the last (filled) step."""
    kinds = [kind for kind in KINDS if runs.is_measured(dataset, kind, "step", "layer")
             and (kind == "saturation" or look.shows("hard"))]
    if not kinds:
        return None
    names = [*map(str, dataset.layer.values), "final"]
    shown = runs.thinned(range(len(names)), 8)

    def draw(axes, run):
        for kind in kinds:
            draw_saturation(axes, dataset, kind, run)
        axes.set_xticks(shown, [names[i] for i in shown])
        look.grid(axes)

    with look.style():
        figure, _, note = run_panels(dataset, kinds[0], draw, look.with_unit("after layer"),
                                     look.with_unit("cosine with saturated states"))
        return finished("saturation", "Saturation after each layer and at the input of the output layer (final), at "
                        "the first and the last measured step.", figure, dataset, legend(kinds), [note])


def draw_saturation(axes, dataset, kind, run):
    part = dataset.isel(run)
    places = ends(part[kind])
    if places is None:
        return
    for step, style in zip(places, (FIRST, LAST)):
        values = part[kind].isel(step=step).values
        final = float(part[f"{kind}_final"].isel(step=step)) if f"{kind}_final" in part else np.nan
        axes.plot(np.arange(len(values) + 1), [*values, final], **(HARD if kind == "hard_saturation" else style))


def legend(kinds):
    hard = [Line2D([], [], label="the same with hard attention", **HARD)]
    return first_and_last() * ("saturation" in kinds) + hard * ("hard_saturation" in kinds)


def saturation_over_time(dataset):
    return over_layers(dataset, "saturation-by-layer", ["saturation"],
                       "The cosine between the states after each layer and those of the saturated network.",
                       shared=True)


def saturation_final(dataset):
    return over_steps(dataset, "saturation-final", ["saturation_final", "hard_saturation_final"],
                      "The saturation of the input of the output layer.")
