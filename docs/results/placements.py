"""Whose norms grow: pre, post and out, LayerNorm and RMSNorm."""

import itertools

from normsweep import compare
from study import about, compared, of_spread, small

SWEEPS = {"words": small("placements"),
          "bytes": small("placements", "corpus=bytes", "measure={every: 50, metrics: [norms, alignment]}",
                         "validate={every: end, tokens: 4096}")}
FIGURE = "bytes", "norms", {"title": ""}


def numbers(words, bytes):
    for placement, norm in itertools.product(words.norm_placement.values, words.norm.values):
        runs = words.sel(norm_placement=placement, norm=norm)
        for decay in words.weight_decay.values:
            yield of_spread(f"growth, {placement}, {norm}, decay {decay:g}", runs.norm_growth.sel(weight_decay=decay))
        for name, values in (("alignment", runs.update_alignment.mean("step")),
                             ("growth per block", runs.residual_growth.isel(step=-1)), ("loss", runs.final_valid_loss)):
            yield about(f"{name}, {placement}, {norm}", values.mean(), 0.02)
    for b, a in ("pre", "post"), ("out", "post"), ("out", "pre"):
        found = compare(*(bytes.sel(norm_placement=word) for word in (a, b)))
        for variable in "norm_growth", "final_valid_loss":
            yield from compared(f"{b} beside {a}", found, variable)
    found = compare(*(bytes.sel(norm=word) for word in ("layernorm", "rmsnorm")))
    for variable in "norm_growth", "final_valid_loss":
        yield from compared("rmsnorm beside layernorm", found, variable)
