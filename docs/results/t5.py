"""Norms of T5's encoder and decoder, under its own recipe and under AdamW."""

import numpy as np

from study import of_range, of_spread, small

SWEEPS = {"small": small("figure1-t5", "seed={range: [0, 2]}")}


def numbers(small):
    root, log = np.sqrt(small.step.values), np.log(small.step.values[1:])
    for recipe in small.recipe.values:
        yield of_spread(f"exponent p of both stacks, {recipe}", small.growth_exponent.sel(recipe=recipe))
        for stack in small["stack"].values:
            name = f"{stack}, {recipe}"
            norm = small.stack_norm.sel(recipe=recipe, stack=stack).transpose("seed", "step").values
            gained = norm[:, 1:] ** 2 - norm[:, :1] ** 2
            yield of_spread(f"growth, {name}", norm[:, -1] / norm[:, 0])
            yield of_spread(f"exponent p, {name}", [np.polyfit(log, np.log(one), 1)[0] / 2 for one in gained])
            yield of_spread(f"R² of √t, {name}", [np.corrcoef(root, one)[0, 1] ** 2 for one in norm])
    encoder = small.sel(recipe="T5", stack="encoder")
    norm, cosine = encoder.stack_norm, encoder.stack_direction_cosine.dropna("step")
    yield of_spread("growth of T5's encoder in 100 steps", norm.sel(step=100) / norm.sel(step=0))
    yield of_spread("growth of T5's encoder from step 100 on", norm.isel(step=-1) / norm.sel(step=100))
    for name, at in ("first", 0), ("last", -1):
        yield of_range(f"{name} cosine of steps 20 apart, T5's encoder", cosine.isel(step=at).values)
