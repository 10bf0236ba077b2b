"""Rotation and size of tensors over their values in equilibrium."""

import numpy as np
from matplotlib.lines import Line2D

from .. import look
from . import runs
from .drawing import finished, run_panels

RATIOS = {  # measured over expected, and how it is drawn
    "rotation": ("rotation_equilibrium", {"marker": "o", "color": look.COLOURS[0], "label": "rotation in a step"}),
    "tensor_rms": ("rms_equilibrium", {"marker": "s", "color": look.COLOURS[1], "label": "root mean square"}),
}
LATE = 0.75  # of the measured steps, those from this share on are averaged
DODGE = 0.16
CLOSE = 0.1  # the band that is shaded


def late_steps(dataset, names):
    """Which steps are late, in each run: runs may differ in their number of steps, and end early."""
    measured = sum(dataset[name].notnull() for name in names) > 0
    last = dataset.step.where(measured).max([dim for dim in measured.dims if dim not in dataset.sweep.axes])
    return dataset.step >= LATE * last


def late_ratio(dataset, measured, expected, late):
    """The geometric mean of measured / expected over the late steps at which both are known."""
    ratio = dataset[measured] / dataset[expected]
    return np.exp(np.log(ratio.where(late & (ratio > 0))).mean("step"))


def by_tensor(dataset):
    """One panel for each run, a place for each kind of tensor, a mark for each layer."""
    pairs = {name: row for name, row in RATIOS.items() if runs.is_measured(dataset, name, "step", "layer", "tensor")
             and runs.is_measured(dataset, row[0])}
    if "rotation" not in pairs:
        return None
    late = late_steps(dataset, pairs)
    ratios = {name: late_ratio(dataset, name, expected, late) for name, (expected, _) in pairs.items()}
    if not any(np.isfinite(ratio).any() for ratio in ratios.values()):
        return None
    there = np.isfinite(ratios["rotation"])
    kinds = np.flatnonzero(there.any([dim for dim in there.dims if dim != "tensor"]).values)

    def draw(axes, run):
        for i, (name, ratio) in enumerate(ratios.items()):
            values = ratio.isel(run).transpose("tensor", "layer").values[kinds]
            places = np.arange(len(kinds)) + (i - (len(ratios) - 1) / 2) * DODGE
            axes.plot(places, values, linestyle="", markersize=3.5, markerfacecolor="none", **RATIOS[name][1])
        axes.axhspan(1 - CLOSE, 1 + CLOSE, color="0.9", zorder=0)
        look.reference_line(axes, 1)
        axes.set_yscale("log")
        axes.set_xticks(range(len(kinds)), dataset.tensor.values[kinds], rotation=90)
        look.grid(axes)

    with look.style():
        figure, panels, note = run_panels(dataset, "rotation_equilibrium", draw, "",
                                          "measured / equilibrium", height=2.4)
        ticks(panels)
        handles = [Line2D([], [], linestyle="", markersize=4, markerfacecolor="none", **RATIOS[name][1])
                   for name in ratios]
        notes = ["One mark per layer: geometric mean over the last quarter of the steps.",
                 f"Shaded: within {100 * CLOSE:.0f} %.", note]
        return finished("equilibrium", "Rotation in a step and root mean square of each kind of tensor, over what a "
                        "random walk predicts where weight decay balances the steps.", figure, dataset, handles, notes)


def ticks(panels):
    """Plain numbers on the logarithmic axis that the panels share."""
    values = look.finite([line.get_ydata() for axes in panels for line in axes.lines])
    low, high = values.min() / 1.15, values.max() * 1.15
    for axes in panels:
        axes.set_ylim(low, high)
        shown = [tick for tick in (0.01, 0.03, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 100) if low <= tick <= high]
        axes.set_yticks(shown, [look.number(tick) for tick in shown])
        axes.minorticks_off()
