"""The boundary under rules of today: where growth stops over the rate, and beside AdamW's of the same seed."""

import numpy as np
import xarray as xr

from study import count, long, number, small

SWEEPS = {"small": small("rules", "learning_rate={log: [1e-4, 1e-1], points: 4}", "seed=[0, 1]"),
          "long": long("rules")}
FIGURE = "small", "boundaries", {"title": "", "width": 4.5}


def numbers(small, long):
    yield from boundaries(small)
    yield from boundaries(long, ", width 64")
    found = long.sweep.boundary()
    has_one = found.each.notnull()
    sides = [long.sel(weight_decay=found[side].where(has_one, 1), method="nearest") for side in ("before", "after")]
    ended = xr.concat([side.last_step.where(has_one & (side.ended_early == 1)) for side in sides], "side")
    yield count("boundaries, width 64", has_one.sum())
    yield count("boundaries beside a run that ended early, width 64", ended.notnull().any("side").sum())
    yield count("first step at which one of these ended, width 64", ended.min())


def boundaries(sweep, where=""):
    found = sweep.sweep.boundary()
    for rule in sweep.rule.values:
        if sweep.learning_rate.size > 2:
            slope = found.slope.sel(rule=rule)
            yield number(f"slope, {rule}{where}", slope, slope - 0.1, slope + 0.1, "± 0.1")
        for rate in sweep.learning_rate.values:
            one, base = (found.each.sel(rule=word, learning_rate=rate) for word in (rule, "adamw"))
            yield over_seeds(f"boundary at rate {rate:g}, {rule}{where}", one)
            if rule != "adamw":
                yield over_seeds(f"boundary over adamw's at rate {rate:g}, {rule}{where}",
                                 one / base / (rate if rule == "independent" else 1))
    for rate in sweep.learning_rate.values:
        corrected, cosine = (found.each.sel(rule=word, learning_rate=rate) for word in ("corrected", "cosine"))
        yield over_seeds(f"boundary of corrected over that of cosine at rate {rate:g}{where}", corrected / cosine)


def over_seeds(name, values):
    """The geometric mean and the range over the seeds that have a boundary; NaN if none has."""
    seeds = int(np.isfinite(values).sum())
    return number(name, np.exp(np.log(values).mean()), values.min(), values.max(),
                  ("none of 2 seeds", "one of 2 seeds", "range of 2 seeds")[seeds])
