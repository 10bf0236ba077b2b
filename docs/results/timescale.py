"""Is the best decay one timescale, and is the loss a function of it?"""

from study import about, number, whole

SWEEPS = {"whole": whole("timescale")}
FIGURE = "whole", "final_valid_loss", {"title": ""}


def numbers(whole):
    ds = whole.sweep.with_axes("learning_rate", "timescale")
    for name, variable in ("loss", "final_valid_loss"), ("growth", "norm_growth"):
        found = ds.sweep.collapse(variable, where=ds.timescale < 3)
        yield number(f"exponent of the rate, {name}", found.exponent, found.low, found.high, "95 % of seeds")
        yield about(f"deviation of cells from the curve, {name}", found.spread)
        yield about(f"noise of a cell, {name}", found.noise)
        for b in found.b.values:
            yield about(f"deviation of cells from a curve with exponent {b}, {name}", found.apart.sel(b=b))
    best = ds.sweep.optimum("final_valid_loss", over="timescale")
    for rate in ds.learning_rate.values:
        at = best.sel(learning_rate=rate)
        if at.optimum == at.optimum:
            yield number(f"best timescale at rate {rate:.2g}", at.optimum, at.low, at.high, "95 % of seeds")
            steps = whole.step[-1].item()
            yield number(f"best decay at rate {rate:.2g}", *(1 / (rate * steps * at[name])
                                                             for name in ("optimum", "high", "low")), "95 % of seeds")
