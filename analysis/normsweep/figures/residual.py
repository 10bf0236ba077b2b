"""The residual stream: what it is after each block, and how it and gradients grow per block over the steps."""

import numpy as np
from matplotlib.lines import Line2D

from ..plane import is_linear
from . import look, runs
from .colours import FIRST, LAST
from .drawing import finished, run_panels
from .lines import over_steps
from .saturation import ends

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
        if log and places and look.finite([line.get_ydata() for line in axes.lines]).min() > 0:
            axes.set_yscale("log")
        else:
            look.scale_y(axes, [line.get_ydata() for line in axes.lines], is_linear(dataset[variable]))
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
