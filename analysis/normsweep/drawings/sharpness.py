"""Critical sharpness over the steps, beside the rate of the steps, and beside the largest eigenvalue and its bound."""

import numpy as np
from matplotlib.lines import Line2D

from ..predicted import key
from ..schedule import KEYS, rates
from . import colours, look, runs, scales
from .drawing import finished, run_panels

VALUES = {  # name: style, and in words
    "critical_sharpness": ({"color": colours.COLOURS[0], "marker": "o", "markersize": 2.5}, "critical sharpness"),
    "hessian_preconditioned": ({"color": colours.COLOURS[1], "marker": "s", "markersize": 2.5},
                               "largest eigenvalue of P⁻¹H"),
}
LIMITS = {
    "critical_sharpness": ({"color": colours.COLOURS[0], "linestyle": "--", "linewidth": 0.9}, "2 / learning rate"),
    "hessian_preconditioned": ({"color": colours.COLOURS[1], "linestyle": ":", "linewidth": 1.1},
                               "bound at the edge of stability"),
}
MEANING = ("Critical sharpness is 2/c, where c is the rate at which a step along the update begins to raise the loss "
           "of its batch: above 2 / learning rate the step raised it.")
P = "P: what the optimiser divides gradients by; of adam and adamw (1 − β₁ᵗ)(√v̂ + ε), of sgd 1."

MOST_STEPS = 10**8  # whose rates are computed


def limit(dataset, run, name):
    """What a value is compared with, at each measured step: 2 / rate of the next step, or the eigenvalue's bound."""
    if name == "hessian_preconditioned":
        part = dataset.isel(run)
        return (part.hessian_preconditioned / part.hessian_stability).values
    keys = [key(dataset, word) for word in (*KEYS, "steps")]
    *keys, planned = [value.isel({axis: i for axis, i in run.items() if axis in value.dims}).item() for value in keys]
    planned = planned or float(dataset.last_step.isel(run))  # of epochs, the steps taken
    steps = dataset.step.values.astype(int)
    if not 0 < planned <= min(steps.max(), MOST_STEPS):
        return np.full(steps.size, np.nan)
    every = 2 / np.maximum(rates(int(planned), *keys), np.finfo(float).tiny)
    return np.where(steps < planned, every[np.minimum(steps, len(every) - 1)], np.nan)


def sharpness(dataset):
    """One panel for each of a few runs."""
    if not runs.is_measured(dataset, "critical_sharpness", "step"):
        return None
    names = [name for name in VALUES if runs.is_measured(dataset, name, "step")]

    def draw(axes, run):
        for name in names:
            drawn = [(dataset[name].isel(run).values, VALUES[name])]
            drawn += [(limit(dataset, run, name), LIMITS[name])] if look.shows("limits") else []
            for values, (style, _) in drawn:
                seen = np.isfinite(values)
                axes.plot(dataset.step.values[seen], values[seen], **style)
        scales.scale_y(axes, [line.get_ydata() for line in axes.lines])
        look.grid(axes)

    with look.style():
        figure, _, note = run_panels(dataset, "critical_sharpness", draw, look.label(dataset.step),
                                     look.with_unit("sharpness"), height=1.8)
        handles = [Line2D([], [], label=words, **style)
                   for name in names for style, words in (VALUES[name], LIMITS[name])[:1 + look.shows("limits")]]
        return finished("critical-sharpness", "Critical sharpness beside the largest eigenvalue, over the steps.",
                        figure, dataset, handles, [note, MEANING, P * ("hessian_preconditioned" in names)])
