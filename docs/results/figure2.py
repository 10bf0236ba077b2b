"""Do networks approach their saturated networks while they train?"""

import numpy as np

from study import number, small

SWEEPS = {"small": small("figure2-saturation")}
FIGURE = "small", "saturation-final", {"title": ""}
ROOM = 0.05  # of a cosine with one seed


def numbers(small):
    for placement in small.norm_placement.values:
        for decay in small.weight_decay.values:
            run, name = small.sel(norm_placement=placement, weight_decay=decay), f"{placement}, decay {decay:g}"
            cosine = run.saturation_final
            for step in 0, 40, 80, 920:
                value = cosine.sel(step=step)
                yield number(f"cosine at step {step}, {name}", value, value - ROOM, value + ROOM, f"± {ROOM}")
            peak = cosine.idxmax("step")
            yield number(f"step of the largest cosine, {name}", peak, peak - 40, peak + 40, "one measurement")
            growth = run.norm_growth - 1
            yield number(f"growth, {name}", growth, growth - 0.01, growth + 0.01, "± 0.01")
    difference = np.abs(small.hard_saturation_final - small.saturation_final).max()
    yield number("largest difference with hard attention", difference, 0, 1e-3, "at most 0.001")
