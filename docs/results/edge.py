"""Training at the edge of stability: the largest eigenvalue, and the critical sharpness beside it."""

import numpy as np

from study import about, count, number, of_error, of_range, small

SWEEPS = {"small": small("edge-of-stability")}
FIGURE = "small", "hessian-edge", {"title": "", "width": 4.5}


def of_median(name, values):
    """The median over seeds, and their range."""
    values = np.asarray(values, dtype=float)
    return number(name, np.median(values), values.min(), values.max(), f"range of {len(values)} seeds")


def numbers(small):
    measured = small.isel(step=small.hessian_stability.notnull().any(["recipe", "seed"]).values)
    late = measured.isel(step=measured.step >= 1000)
    early = measured.isel(step=measured.step <= 100)
    yield count("runs", small.norm_growth.size)
    yield count("runs that get above 0.9", (measured.hessian_stability > 0.9).any("step").sum())
    yield about("2 over rate times edge, beta1 0.9", (1 - 0.9) / (1 + 0.9), 0)
    yield about("2 over rate times edge, momentum 0.9", 1 / (1 + 0.9), 0)
    yield about("edge times rate over 2, beta1 0.9", (1 + 0.9) / (1 - 0.9), 0)
    for recipe in small.recipe.values:
        all_steps, at_edge, start = (part.sel(recipe=recipe) for part in (measured, late, early))
        yield of_error(f"stability from step 1000 on, {recipe}", at_edge.hessian_stability.median("step"))
        yield of_range(f"least stability from step 1000 on, {recipe}", at_edge.hessian_stability.min("step").values)
        yield of_range(f"largest stability from step 1000 on, {recipe}", at_edge.hessian_stability.max("step").values)
        first = all_steps.step.where(all_steps.hessian_stability > 0.9).min("step").values
        if np.isfinite(first).all():
            yield of_range(f"first step above 0.9, {recipe}", first)
        largest = all_steps.hessian_largest
        yield of_range(f"largest eigenvalue over the run, {recipe}", largest.max("step").values)
        yield of_range(f"largest eigenvalue at the end, {recipe}", largest.isel(step=-1).values)
        of_mean = largest.mean("seed")
        yield of_range(f"fall of the largest eigenvalue from its peak, {recipe}", (largest.max("step") / largest.isel(
            step=-1)).values)
        yield about(f"fall of the mean of the largest eigenvalue, {recipe}",
                    of_mean.max("step") / of_mean.isel(step=-1), 0.5)
        loss = all_steps.train_loss
        rises = (loss.diff("step") > 0).mean("step")
        yield of_range(f"share of intervals in which the loss rises, {recipe}", rises.values)
        yield of_range(f"loss at the end, {recipe}", loss.isel(step=-1).values)
        for name, part, summary in (("up to step 100", start, of_error), ("from step 1000 on", at_edge, of_median)):
            ratio = (part.critical_sharpness / part.hessian_preconditioned).median("step")
            yield summary(f"critical sharpness over the eigenvalue, {name}, {recipe}", ratio)
        rate = float(small.learning_rate.sel(recipe=recipe)) if "recipe" in small.learning_rate.dims else np.nan
        yield of_median(f"rate times critical sharpness over 2, from step 1000 on, {recipe}",
                        (rate * at_edge.critical_sharpness / 2).median("step"))
