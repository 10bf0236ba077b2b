"""Gradients beside weights where SGD and decay balance, at a constant rate and under a cosine, one seed.

That sqrt(2 decay / rate) holds for white noise is simulated, with the program's own SGD, by tests/model/optimisers.
"""

import numpy as np
import xarray as xr

from study import about, long, number, small

SWEEPS = {"small": small("corrected-decay", "learning_rate=[0.1, 0.3]",
                         "weight_decay={log: [3.75e-3, 3e-2], points: 4}"),
          "long": long("corrected-decay")}
TENSORS = "w1", "w2"


def numbers(small, long):
    yield from ratios(small, (12, 36))
    yield from ratios(long, (6, 12), ", four layers of 128")
    diverged = long.diverged_step.sel(learning_rate=0.3)
    yield of_runs("step of divergence at a rate of 0.3, four layers of 128", diverged.where(diverged >= 0))
    for times in 6, 12, 36, 400:
        yield about(f"slope within a run of ηλt = {times}, white noise", recursion(0.3, 0.03, round(times / 0.009)))


def ratios(sweep, lengths, where=""):
    """The numbers of the runs in balance; lengths: ηλt of the runs under a cosine whose slopes are given."""
    runs = sweep.sweep.with_axes("learning_rate", "weight_decay").sel(tensor=list(TENSORS))
    steps = int(runs.step[-1])
    runs = runs.isel(step=(runs.step > steps // 4) & (runs.step < steps))  # at the last step the rate is nearly 0
    times = steps * runs.learning_rate * runs.weight_decay
    for arm in runs.arm.values:
        fall = 1 + 0 * runs.step if arm == "constant" else cosine(runs.step, steps)
        each = (runs.rotation.sel(arm=arm) / (fall * runs.learning_rate)).where(times > 4)
        ratio = np.log(each).mean("layer")
        yield of_runs(f"validation loss, {arm}{where}", runs.final_valid_loss.sel(arm=arm).where(times > 4))
        for tensor in TENSORS:
            of_tensor = ratio.sel(tensor=tensor)
            late = of_tensor.isel(step=of_tensor.step >= steps // 2).mean("step")
            x = np.log(runs.weight_decay / runs.learning_rate).where(late.notnull())
            if arm != "cosine":
                yield of_runs(f"|g|/|θ| over that of balance, {arm}, {tensor}{where}", np.exp(late - x / 2) / 2 ** 0.5)
                squares = (each.sel(tensor=tensor) ** 2).isel(step=each.step >= steps // 2).mean(["layer", "step"])
                yield of_runs(f"root mean square over that of balance, {arm}, {tensor}{where}",
                              (squares / (2 * runs.weight_decay / runs.learning_rate)) ** 0.5)
                yield about(f"slope over decay / rate, {arm}, {tensor}{where}", slope(x, late), 0.1)
            if arm == "constant":
                yield of_runs(f"root mean square of all steps over that of balance, {tensor}{where}", of_all_steps(
                    runs.tensor_rms.sel(arm=arm, tensor=tensor).where(times > 4), steps))
            else:
                within = slope(-np.log(fall), of_tensor, "step")
                yield of_runs(f"slope within a run, {arm}, {tensor}{where}", within)
                for at in lengths if arm == "cosine" else ():
                    run = within.where(abs(np.log(times / at)) < 0.05).mean()
                    yield about(f"slope within a run of ηλt = {at}, mean, {arm}, {tensor}{where}", run, 0.2)


def of_all_steps(rms, steps):
    """By the change of norms over the second half, since gradients add η²|g|² to |θ|² and decay takes 2ηλ|θ|²."""
    half = np.log(rms.isel(step=rms.step >= steps // 2)) * 2
    taken = 2 * rms.learning_rate * rms.weight_decay * (half.step[-1] - half.step[0])
    return (1 + (half.isel(step=-1) - half.isel(step=0)) / taken).mean("layer") ** 0.5


def cosine(step, steps):
    """The rate of a step over that of the first."""
    return 0.01 + 0.99 * (1 + np.cos(np.pi * step / steps)) / 2


def slope(x, y, over=None):
    return xr.cov(x, y, over) / xr.cov(x, x, over)


def recursion(rate, decay, steps):
    """The slope within a run under a cosine, if gradients are orthogonal to the weights, of length 1 / |θ|."""
    square = (rate / (2 * decay)) ** 0.5
    x, y = np.empty(steps), np.empty(steps)
    for step in range(steps):
        eta = rate * cosine(step + 1, steps)
        x[step], y[step] = -np.log(eta), -np.log(square)
        square = (1 - eta * decay) ** 2 * square + eta ** 2 / square
    return np.polyfit(x[steps // 4:], y[steps // 4:], 1)[0]


def of_runs(name, values):
    values = values.values[np.isfinite(values.values)]
    return number(name, values.mean(), values.min(), values.max(), f"range of {len(values)} runs")
