"""Do Lyapunov exponents vanish where norms stop growing, and is the loss lowest there?"""

import numpy as np
from scipy.stats import spearmanr

from study import about, count, number, small

SWEEPS = {"small": small("lyapunov-phase")}
FIGURE = "small", "lyapunov-plane", {"title": ""}
EXPONENTS = {"largest exponent": "lyapunov", "largest exponent of the directions": "lyapunov_angular"}


def numbers(small):
    runs = small.sortby("weight_decay")
    boundary = runs.sweep.boundary().boundary
    yield count("runs of an arrangement", boundary.learning_rate.size * runs.weight_decay.size)
    yield count("those of a decay below 10", boundary.learning_rate.size * (runs.weight_decay.size - 1))
    for placement in small.norm_placement.values:
        plane = runs.sel(norm_placement=placement)
        loss = plane.final_valid_loss
        best = np.argsort(loss.values, axis=None)[:5]
        for name, variable in EXPONENTS.items():
            values = plane[variable].max("exponent")
            yield about(f"{name} before training, {placement}", values.isel(step=0).mean())
            last = values.isel(step=-1).transpose(*loss.dims)
            there = np.array([np.interp(np.log(boundary.sel(norm_placement=placement, learning_rate=rate)),
                                        np.log(last.weight_decay), last.sel(learning_rate=rate))
                              for rate in last.learning_rate])
            there = there[np.isfinite(there)]
            yield number(f"{name} on the boundary, {placement}", there.mean(), there.mean() - there.std(ddof=1),
                         there.mean() + there.std(ddof=1), f"standard deviation over {len(there)} rates")
            there = last.values.ravel()[best]
            yield number(f"{name} of the runs of lowest loss, {placement}", there.mean(), there.min(), there.max(),
                         "range of 5 runs")
            chaotic = (np.abs(last) > 0.05).sum("learning_rate").values
            for words, found in ("10", chaotic[-1]), ("less than 10", chaotic[:-1].sum()):
                yield number(f"runs whose {name} is not within 0.05 of 0, decay {words}, {placement}", found, found - 4,
                             found + 4, "± 4 runs")
            for words, cells in ("", slice(None)), (", decay less than 10", slice(-1)):
                part = dict(weight_decay=cells)
                rank = spearmanr(loss.isel(part), last.isel(part), axis=None)[0]
                yield number(f"rank correlation of loss and {name}{words}, {placement}", rank, rank - 0.25,
                             rank + 0.25, "± 0.25")
