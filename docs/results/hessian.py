"""The ends of the Hessian's spectrum before and after training, for each place of the norm."""

from study import of_error, small

SWEEPS = {"small": small("hessian-init")}
FIGURE = "small", "hessian", {"title": "", "width": 6.5}


def numbers(small):
    last = small.step[-1].item()
    for step in 0, last:
        at = small.sel(step=step)
        for placement in small.norm_placement.values:
            runs, name = at.sel(norm_placement=placement), f"{placement}, step {step}"
            for end in "largest", "smallest":
                yield of_error(f"{end} eigenvalue, {name}", runs[f"hessian_{end}"])
            yield of_error(f"trace, {name}", runs.hessian_trace)
            yield of_error(f"error of the density over the width, {name}",
                           runs.hessian_bound / (runs.hessian_largest - runs.hessian_smallest))
            yield of_error(f"training loss, {name}", runs.train_loss)
    start = small.sel(step=0)
    for a, b in ("post", "pre"), ("out", "post"):
        yield of_error(f"largest eigenvalue of {a} over {b}, step 0",
                       start.hessian_largest.sel(norm_placement=a) / start.hessian_largest.sel(norm_placement=b))
    for placement in small.norm_placement.values:
        ends = small.hessian_smallest.sel(norm_placement=placement)
        yield of_error(f"smallest eigenvalue, step 0 over step {last}, {placement}",
                       ends.sel(step=0) / ends.sel(step=last))
