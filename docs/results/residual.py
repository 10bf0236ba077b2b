"""Does the residual stream grow exponentially through depth, before and after training?"""

import numpy as np

from study import about, number, small

SWEEPS = {"small": small("residual-depth")}
FIGURE = "small", "residual", {"title": ""}


def numbers(small):
    deep = small.sel(layers=12)
    for placement in small.norm_placement.values:
        for when, at in ("untrained", 0), ("trained", -1):
            runs, name = deep.sel(norm_placement=placement).isel(step=at), f"{placement}, {when}"
            growth, error = runs.residual_growth.mean("seed"), runs.residual_growth_error.mean("seed")
            yield number(f"growth per block, {name}", growth, growth - error, growth + error,
                         "standard error of the fit")
            apart = np.ptp(runs.residual_growth.values)
            yield number(f"difference of two seeds, {name}", apart, 0, 2 * apart, "up to twice as much")
            norm = runs.residual_norm.mean("seed").dropna("depth")
            if placement == "post":
                inside = norm.values[1:-1]
                yield number(f"norm after a block but the last, {name}", inside.mean(), inside.min(), inside.max(),
                             "range over blocks")
                yield about(f"norm after the last block, {name}", norm[-1])
                continue
            for what, values in ("ln norm", np.log(norm)), ("norm²", norm ** 2):
                r2 = np.corrcoef(norm.depth, values)[0, 1] ** 2
                yield number(f"R² of {what} over depth, {name}", r2, r2 - 0.02, min(1, r2 + 0.02), "± 0.02")
