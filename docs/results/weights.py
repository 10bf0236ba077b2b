"""Weights in bfloat16: where rounding to the nearest loses the steps, and what stochastic rounding does."""

import numpy as np

from study import about, number, of_range, small

PLAIN = small("weights", "weight_decay=0")
SWEEPS = {"plain": PLAIN,
          "plane": small("weights", "learning_rate={log: [1e-5, 1e-2], points: 4}",
                         "weight_decay={log: [1e-2, 100], points: 17}", "refine={axis: weight_decay}"),
          "decayed": [*PLAIN, "--set", "weight_decay=100", "--set", "weights=[float, bfloat16]", "--set", "seed=0"],
          "scales": [*PLAIN, "--set", "weights=bfloat16", "--set", "init_scale=[0.25, 1, 4]",
                     "--set", "learning_rate={log: [1e-5, 1e-2], points: 10}", "--set", "seed=[0, 1]"]}
FIGURE = "plane", "boundaries", {"title": ""}
MATRICES = ["q", "k", "v", "o", "w1", "w2"]
COUNT = 2 * (4 * 32 * 32 + 2 * 32 * 64)  # of the elements of matrices, two layers of width 32


def numbers(plain, plane, decayed, scales):
    growth = np.log(plain.norm_growth)
    for rate in plain.learning_rate.values:
        for weights in plain.weights.values:
            run = plain.sel(learning_rate=rate, weights=weights)
            yield of_range(f"growth at rate {rate:.2g}, {weights}", run.norm_growth.values)
            yield of_range(f"loss at rate {rate:.2g}, {weights}", run.final_valid_loss.values)
    left = growth.sel(weights="bfloat16") / growth.sel(weights="float")
    yield of_range("rate at which half of ln(growth) is lost", [half(one) for one in left.transpose("seed", ...)])
    sizes = plain.sel(weights="float").sel(learning_rate=4.6e-4, method="nearest").mean("seed")
    start, update = rms(sizes), sizes.update_norm.mean("step") / COUNT ** 0.5
    yield about("rms of θ₀ of the matrices", start)
    yield about("rms of the update at a rate of 4.6e-4", update)
    yield about("rate predicted for that half", start / update / 2 ** 9)
    low = growth.sel(weights="bfloat16").isel(learning_rate=plain.learning_rate < 3e-4).transpose("seed", ...)
    yield of_range("exponent of ln(growth) over the rate up to 2.2e-4, bfloat16",
                   [np.polyfit(np.log(one.learning_rate), np.log(one), 1)[0] for one in low])

    found = plane.sweep.boundary()
    for weights in plane.weights.values:
        line = found.sel(weights=weights)
        yield number(f"slope of the boundary, {weights}", line.slope, line.slope_low, line.slope_high, "95 % of seeds")
        for rate in plane.learning_rate.values:
            at = found.each.sel(weights=weights, learning_rate=rate)
            yield of_range(f"boundary at rate {rate:g}, {weights}", at.values)
            if weights != "float":
                yield of_range(f"boundary over float's at rate {rate:g}, {weights}",
                               (at / found.each.sel(weights="float", learning_rate=rate)).values)
            if weights == "bfloat16":
                yield of_range(f"ηλ at the boundary over 2⁻⁹ at rate {rate:g}", 2 ** 9 * rate * at.values)

    for rate in decayed.learning_rate.values[decayed.learning_rate < 5e-5]:
        for weights in decayed.weights.values:
            yield about(f"growth at decay 100, ηλ = {2 ** 9 * 100 * rate:.2g} · 2⁻⁹, {weights}",
                        decayed.norm_growth.sel(learning_rate=rate, weights=weights))

    left = scales.step_size.mean("step") / scales.update_norm.mean("step") / scales.learning_rate
    rates = {}
    for scale in scales.init_scale.values:
        yield of_range(f"rms of θ₀ of the matrices, init_scale {scale:g}",
                       rms(scales).sel(init_scale=scale).isel(learning_rate=0).values)
        rates[scale] = np.mean([half(one) for one in left.sel(init_scale=scale).transpose("seed", ...)])
        yield about(f"rate at which half of the step is left, init_scale {scale:g}", rates[scale], 0.2)
    for a, b, room in (0.25, 4, 0.1), (0.25, 1, 0.2), (1, 4, 0.2):
        exponent = np.log(rates[b] / rates[a]) / np.log(b / a)
        yield number(f"exponent of that rate over rms of θ₀, init_scale {a:g} to {b:g}", exponent, exponent - room,
                     exponent + room, f"± {room}")


def rms(runs):
    """Of the initial matrices."""
    return np.sqrt((runs.tensor_norm.isel(step=0).sel(tensor=MATRICES) ** 2).sum(["tensor", "layer"]) / COUNT)


def half(line):
    """The rate at which a share rises through 1/2, straight in its logarithm."""
    line = line.squeeze().sortby("learning_rate")
    i = int(np.flatnonzero((line.values[:-1] < 0.5) & (line.values[1:] >= 0.5))[-1])
    return np.exp(np.interp(0.5, line.values[i:i + 2], np.log(line.learning_rate.values[i:i + 2])))
