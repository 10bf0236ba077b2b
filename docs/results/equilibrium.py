"""Rotation and size of weights in equilibrium, over those of the balance of decay and steps.

That the formulas hold for gradients of white noise is simulated, with 16384 weights, by tests/model/optimisers.
"""

import numpy as np

from study import about, number, of_error, small

SWEEPS = {"small": small("equilibrium", "seed=[0, 1, 2]")}
FIGURE = "small", "equilibrium", {"title": ""}, {"recipe": ["adamw"]}
TENSORS = {"q and k": ["q", "k"], "v": ["v"], "o": ["o"], "w1": ["w1"], "w2": ["w2"], "ln1": ["ln1"],
           "ln2": ["ln2"], "q_norm and k_norm": ["q_norm", "k_norm"]}
MATRICES = TENSORS["q and k"] + ["v", "o", "w1", "w2"]


def numbers(small):
    last = small.isel(step=small.step > 0.75 * small.step[-1].item())
    second = small.isel(step=small.step > 0.5 * small.step[-1].item())
    turn = np.exp(np.log(last.rotation / last.rotation_equilibrium).mean("step"))
    size = np.exp(np.log(last.tensor_rms / last.rms_equilibrium).mean("step"))
    for placement in small.norm_placement.values:
        for recipe in small.recipe.values:
            at = dict(norm_placement=placement, recipe=recipe)
            for what, ratio in ("turn", turn), ("size", size):
                for name, tensors in TENSORS.items():
                    values = ratio.sel(**at, tensor=tensors).values.ravel()
                    values = values[np.isfinite(values)]
                    if len(values):
                        yield number(f"{what} of {name}, {placement}, {recipe}", values.mean(), values.min(),
                                     values.max(), "range of layers and seeds")
            cosine, chance = (second[name].sel(at).mean("step") for name in ("update_alignment",
                                                                             "update_alignment_null"))
            yield of_error(f"update_alignment, {placement}, {recipe}", cosine)
            yield of_error(f"update_alignment by chance, {placement}, {recipe}", chance)
            yield of_error(f"update_alignment above chance, {placement}, {recipe}", cosine - chance)
    step = (turn * size).sel(recipe=["adamw", "lion"], tensor=MATRICES).values
    step = step[np.isfinite(step)]
    yield number("turn times size of matrices, adamw and lion", step.mean(), step.min(), step.max(), "range of all")
    yield about("what decay alone leaves of a weight after 2500 steps", np.exp(-3e-4 * 2500))
