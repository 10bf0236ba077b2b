"""The boundary under rules of today: where growth stops over the rate, and beside AdamW's of the same seed."""

import numpy as np

from study import long, number, small

SWEEPS = {"small": small("rules", "learning_rate={log: [1e-4, 1e-1], points: 4}", "seed=[0, 1]"),
          "long": long("rules")}
FIGURE = "small", "boundaries", {"title": "", "width": 4.5}


def numbers(small, long):
    yield from boundaries(small)
    yield from boundaries(long, ", width 64")


def boundaries(sweep, where=""):
    found = sweep.sweep.boundary()
    for rule in sweep.rule.values:
        slope = found.slope.sel(rule=rule)
        yield number(f"slope, {rule}{where}", slope, slope - 0.1, slope + 0.1, "± 0.1")
        for rate in sweep.learning_rate.values:
            one, base = (found.each.sel(rule=word, learning_rate=rate) for word in (rule, "adamw"))
            yield over_seeds(f"boundary at rate {rate:g}, {rule}{where}", one)
            yield over_seeds(f"boundary over adamw's at rate {rate:g}, {rule}{where}",
                             one / base / (rate if rule == "independent" else 1))
    for rate in sweep.learning_rate.values:
        corrected, cosine = (found.each.sel(rule=word, learning_rate=rate) for word in ("corrected", "cosine"))
        yield over_seeds(f"boundary of corrected over that of cosine at rate {rate:g}{where}", corrected / cosine)


def over_seeds(name, values):
    """The geometric mean and the range over the seeds that have a boundary; NaN if none has."""
    seeds = int(np.isfinite(values).sum())
    return number(name, np.exp(np.log(values).mean()), values.min(), values.max(),
                  "range of 2 seeds" if seeds != 1 else "one of 2 seeds")
