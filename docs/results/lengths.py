"""The boundary over the length of runs."""

import numpy as np

from study import of_range, whole

SWEEPS = {"whole": whole("lengths")}
FIGURE = "whole", "boundaries", {"title": ""}


def numbers(whole):
    each = whole.sweep.boundary().each
    first, last = whole.steps.values[[0, -1]]
    for rate in whole.learning_rate.values:
        at = each.sel(learning_rate=rate)
        for steps in whole.steps.values:
            yield of_range(f"boundary at rate {rate:.2g}, {steps} steps", at.sel(steps=steps).values)
        fall = at.sel(steps=first) / at.sel(steps=last)
        yield of_range(f"factor from {first} to {last} steps at rate {rate:.2g}", fall.values)
        yield of_range(f"exponent of the steps at rate {rate:.2g}", -np.log(fall.values) / np.log(last / first))
