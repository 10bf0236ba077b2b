"""Rotation and size of tensors over their values in equilibrium."""

import numpy as np
from matplotlib.lines import Line2D

from . import colours, look, runs, scales
from .drawing import finished, run_panels

RATIOS = {  # measured over expected, and how it is drawn
    "rotation": ("rotation_equilibrium", {"marker": "o", "color": colours.COLOURS[0], "label": "rotation in a step"}),
    "tensor_rms": ("rms_equilibrium", {"marker": "s", "color": colours.COLOURS[1], "label": "root mean square"}),
}
LATE = 0.75  # of the measured steps, those from this share on are averaged
DODGE = 0.16
CLOSE = 0.1  # the band that is shaded
LEAST_TIMES = 3  # balance times after which what is left of the start is less than a twentieth
BALANCE = "1/(2 · rate · decay) steps"


def late_steps(dataset, names):
    """Which steps are late, in each run: runs may differ in their number of steps, and end early."""
    measured = sum(dataset[name].notnull() for name in names) > 0
    last = dataset.step.where(measured).max([dim for dim in measured.dims if dim not in dataset.sweep.axes])
    return dataset.step >= LATE * last


def late_ratio(dataset, measured, expected, late):
    """The geometric mean of measured / expected over the late steps at which both are known."""
    ratio = dataset[measured] / dataset[expected]
    return np.exp(np.log(ratio.where(late & (ratio > 0))).mean("step"))


def balance_times(dataset, run):
    """How many times 1 / (2 eta lambda) a run lasts: 2 lambda times its sum of learning rates; over 1 - momentum with
    sgd, whose momentum carries the decay, too. NaN where decay is of another kind."""
    if value_of(dataset, run, "decay_rule") != "scaled":
        return np.nan
    optimiser = value_of(dataset, run, "optimiser")
    if optimiser == "adam":  # adds the decay to the gradient, and scales both
        return np.nan
    rates = scales.finite([dataset.rate_sum.isel(run, missing_dims="ignore").values])
    decay = float(value_of(dataset, run, "weight_decay"))
    carried = 1 - float(value_of(dataset, run, "momentum")) if optimiser == "sgd" else 1
    return 2 * decay * rates.max() / carried if len(rates) else np.nan


def value_of(dataset, run, key):
    """The value of a key in a run: of an axis, of keys that change together, or the same in all runs."""
    if key not in dataset.coords:
        return dataset.attrs[key]
    return dataset[key].isel({axis: i for axis, i in run.items() if axis in dataset[key].dims}).item()


def times_note(times):
    """A note on how long the balance takes, beside how long these runs last."""
    known = scales.finite([times])
    if not len(known):
        return ""
    low, high = (scales.number(float(f"{value:.2g}")) for value in (known.min(), known.max()))
    lasts = f"{low} times as long" if low == high else f"{low} to {high} times as long"
    short = int((known < LEAST_TIMES).sum())
    few = f"; {short} of {len(known)} last less than {LEAST_TIMES} times, which is too short" if short else ""
    return f"The balance takes {BALANCE}; the runs last {lasts}{few}."


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

    times = []

    def draw(axes, run):
        times.append(balance_times(dataset, run))
        if times[-1] < LEAST_TIMES:
            text = f"too short: {times[-1]:.2g} balance times"
            room = look.panel_width(look.sheet_shape()[1]) if look.is_tight() else look.sheet_size()[0]
            axes.text(0.03, 0.03, "\n".join(look.wrap(text, room)), transform=axes.transAxes, zorder=4,
                      bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1})
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
        figure, panels, note = run_panels(dataset, "rotation_equilibrium", draw, "kind of tensor",
                                          look.with_unit("measured / equilibrium"), height=1.8,
                                          ticks=len(kinds))
        limit(panels)
        handles = [Line2D([], [], linestyle="", markersize=4, markerfacecolor="none", **RATIOS[name][1])
                   for name in ratios]
        notes = ["One mark per layer: geometric mean over the last quarter of the steps.",
                 f"Shaded: within {100 * CLOSE:.0f} %.", times_note(times), note]
        return finished("equilibrium", "Rotation in a step and root mean square of each kind of tensor, over what a "
                        "random walk predicts where weight decay balances the steps.", figure, dataset, handles, notes)


def limit(panels):
    """The limits that the panels share: all marks."""
    values = scales.finite([line.get_ydata() for axes in panels for line in axes.lines])
    for axes in panels:
        axes.set_ylim(values.min() / 1.15, values.max() * 1.15)
