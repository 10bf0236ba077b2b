"""Double precision beside float: the causal half of the sweep of masks."""

from normsweep import compare
from study import compared, count, in_double, of_p, small, up_to

CAUSAL = small("masks", "corpus=bytes", "width=32", "feedforward=64", "attention_mask=causal", "seed={range: [0, 2]}",
               "weight_decay={log: [10, 1e-2], points: 7, plus: [0]}", "validate={every: end, tokens: 4096}",
               "epochs=null", "steps=235")
SWEEPS = {"single": CAUSAL, "double": in_double(CAUSAL)}


def numbers(single, double):
    found = compare(single, double)
    yield count("pairs of runs", single.phase.size)
    for variable in "norm_growth", "final_valid_loss":
        yield from compared("double beside float", found, variable)
    yield count("cells", found.norm_growth_mean_cells)
    for rate in found.learning_rate.values:
        yield of_p(f"p of the boundary at rate {rate:g}", found.boundary_p.sel(learning_rate=rate))
        for name, change in (("norm", double.norm_growth / single.norm_growth - 1),
                             ("loss", double.final_valid_loss - single.final_valid_loss)):
            yield up_to(f"largest change of a {name} at rate {rate:g}", abs(change).sel(learning_rate=rate).max(), 4)
