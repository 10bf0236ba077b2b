"""The published, multiplicative mask beside the causal one."""

import numpy as np

from normsweep import compare
from study import about, compared, count, of_pairs, small

SWEEPS = {"words": small("masks"),
          "bytes": small("masks", "corpus=bytes", "width=32", "feedforward=64", "seed={range: [0, 2]}",
                         "weight_decay={log: [10, 1e-2], points: 7, plus: [0]}", "validate={every: end, tokens: 4096}")}
MASKS = "causal", "multiplicative"
FIGURE = "bytes", "boundaries", {"title": ""}


def numbers(words, bytes):
    yield count("cells of words", words.sizes["learning_rate"] * words.sizes["weight_decay"])
    a, b = (words.phase.sel(attention_mask=mask) for mask in MASKS)
    yield count("cells of words in other phases", (a != b).sum())
    for mask in MASKS:
        one = words.sel(attention_mask=mask)
        each = one.sweep.boundary().each
        for rate in words.learning_rate.values:
            if np.isfinite(decay := each.sel(learning_rate=rate).item()):
                yield about(f"boundary at rate {rate:g} of words, {mask}", decay)
        yield about(f"least loss of words, {mask}", one.final_valid_loss.min())
    found = compare(*(bytes.sel(attention_mask=mask) for mask in MASKS))
    yield count("pairs of runs", bytes.norm_growth.size // 2)
    yield count("steps of bytes", bytes.step[-1])
    decays = np.sort(bytes.weight_decay.values)
    yield about("factor between neighbouring decays", decays[-1] / decays[-2], 0)
    for variable in "norm_growth", "final_valid_loss":
        yield from compared("multiplicative beside causal", found, variable)
    yield of_pairs("slope of the boundary, difference", found, "boundary_slope_difference")
    for mask, side in zip(MASKS, "ab"):
        yield about(f"slope of the boundary, {mask}", found[f"boundary_slope_{side}"], 0.5)
        for rate in found.learning_rate.values:
            yield about(f"boundary at rate {rate:g}, {mask}", found[f"boundary_{side}"].sel(learning_rate=rate),
                        0.1 if rate < 0.05 else 1)  # where runs are unstable
