"""Products in bfloat16 beside float's."""

from normsweep import compare
from study import about, about_count, compared, count, of_p, small, up_to

SWEEPS = {"small": small("precision")}
FIGURE = "small", "boundaries", {"title": ""}


def numbers(small):
    a, b = (small.sel(precision=word) for word in ("float", "bfloat16"))
    found = compare(a, b)
    yield count("pairs of runs", a.phase.size)
    for variable in "norm_growth", "final_valid_loss":
        yield from compared("bfloat16 beside float", found, variable)
    yield count("cells", found.norm_growth_mean_cells)
    for name, runs in ("float", a), ("bfloat16", b):
        yield about(f"slope of the boundary, {name}", runs.sweep.boundary().slope, 0.2)
        yield about_count(f"collapsed runs, {name}", runs.sweep.collapsed.sum())
    for rate in found.learning_rate.values:
        at = found.sel(learning_rate=rate)
        yield of_p(f"p of the boundary at rate {rate:g}", at.boundary_p)
        for name, change in (("norm", b.norm_growth / a.norm_growth - 1),
                             ("loss", b.final_valid_loss - a.final_valid_loss)):
            yield up_to(f"largest change of a {name} at rate {rate:g}", abs(change).sel(learning_rate=rate).max(), 4)
