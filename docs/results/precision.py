"""Products in bfloat16 beside float's."""

from normsweep import compare
from study import about, about_count, compared, count, number, of_p, small

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
        change = abs(b.norm_growth / a.norm_growth - 1).sel(learning_rate=rate)
        for name, largest in ("norm", change), ("loss", abs(b.final_valid_loss - a.final_valid_loss).sel(
                learning_rate=rate)):
            most = largest.max()
            yield number(f"largest change of a {name} at rate {rate:g}", most, 0, 4 * most, "up to 4 times as much")
