"""The boundary over the length of runs, with the norm before each sub-layer, after the sum, and on the output."""

import numpy as np

from study import lines, of_range, whole

SWEEPS = {"whole": whole("lengths"), "post": whole("lengths", "norm_placement=post"),
          "out": whole("lengths", "norm_placement=out")}
NAMES = {"whole": "pre", "post": "post", "out": "out"}
DRAWN = 0.01, 0.001  # rates


def numbers(**sweeps):
    for key, name in NAMES.items():
        each = sweeps[key].sweep.boundary().each
        lengths = sweeps[key].steps.values
        first, last = lengths[[0, -1]]
        for rate in each.learning_rate.values:
            at = each.sel(learning_rate=rate)
            for steps in lengths:
                yield of_range(f"boundary at rate {rate:.2g}, {steps} steps, {name}", at.sel(steps=steps).values)
            fall = at.sel(steps=first) / at.sel(steps=last)
            yield of_range(f"factor from {first} to {last} steps at rate {rate:.2g}, {name}", fall.values)
            yield of_range(f"exponent of the steps at rate {rate:.2g}, {name}",
                           -np.log(fall.values) / np.log(last / first))


def figure(rows):
    def at(rate, name):
        keys = [key for key in rows if key.startswith(f"boundary at rate {rate:g}, ") and key.endswith(f", {name}")]
        return {int(key.split(", ")[1].split()[0]): key for key in keys}

    series = {f"{name}, rate {rate:g}": at(rate, name) for rate in DRAWN for name in NAMES.values()}
    return lines(rows, series, "steps (–)", "weight decay at which\ngrowth stops (–)", "xy")
