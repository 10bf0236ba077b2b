"""Rotation and size of weights in equilibrium, over those of the balance of decay and steps.

That the formulas hold for gradients of white noise is simulated, with 16384 weights, by tests/model/optimisers.
"""

import numpy as np

from study import about, count, long, number, of_error, small

SWEEPS = {"small": small("equilibrium", "seed=[0, 1, 2]"), "long": long("equilibrium")}
FIGURE = "small", "equilibrium", {"title": ""}, {"recipe": ["adamw"]}
TENSORS = {"q and k": ["q", "k"], "v": ["v"], "o": ["o"], "w1": ["w1"], "w2": ["w2"], "ln1": ["ln1"],
           "ln2": ["ln2"], "q_norm and k_norm": ["q_norm", "k_norm"]}
MATRICES = TENSORS["q and k"] + ["v", "o", "w1", "w2"]


def numbers(small, long):
    yield from ratios(small)
    yield from ratios(long, ", four layers of 128")
    yield count("step in which a run with sgd diverges, four layers of 128", long.diverged_step.sel(recipe="sgd").max())
    yield about("what decay alone leaves of a weight after 2500 steps", np.exp(-3e-4 * 2500))
    yield about("length of AdamW's steps if every 100th gradient is 100 times as large, over that of white noise",
                adamw_steps(lambda step: 1 if step % 100 else 100) / adamw_steps(lambda step: 1))


def ratios(sweep, where=""):
    last = sweep.isel(step=sweep.step > 0.75 * sweep.step[-1].item())
    second = sweep.isel(step=sweep.step > 0.5 * sweep.step[-1].item())
    turn = np.exp(np.log(last.rotation / last.rotation_equilibrium).mean("step"))
    size = np.exp(np.log(last.tensor_rms / last.rms_equilibrium).mean("step"))
    for placement in sweep.norm_placement.values:
        for recipe in sweep.recipe.values:
            at = dict(norm_placement=placement, recipe=recipe)
            for what, ratio in ("turn", turn), ("size", size):
                for name, tensors in TENSORS.items():
                    values = ratio.sel(**at, tensor=tensors).values.ravel()
                    values = values[np.isfinite(values)]
                    if len(values):
                        yield number(f"{what} of {name}, {placement}, {recipe}{where}", values.mean(), values.min(),
                                     values.max(), "range of layers and seeds")
            cosine, chance = (second[name].sel(at).mean("step") for name in ("update_alignment",
                                                                             "update_alignment_null"))
            yield of_error(f"update_alignment, {placement}, {recipe}{where}", cosine)
            yield of_error(f"update_alignment by chance, {placement}, {recipe}{where}", chance)
            yield of_error(f"update_alignment above chance, {placement}, {recipe}{where}", cosine - chance)
    for placement in sweep.norm_placement.values:
        for recipe in "adamw", "lion":
            step = (turn * size).sel(norm_placement=placement, recipe=recipe, tensor=MATRICES).values
            step = step[np.isfinite(step)]
            yield number(f"turn times size of matrices, {placement}, {recipe}{where}", step.mean(), step.min(),
                         step.max(), "range of layers and seeds")


def adamw_steps(scale, beta1=0.9, beta2=0.95, steps=2000):
    """The root mean square of AdamW's steps over its rate, for gradients of white noise times scale(step)."""
    draws, squares = np.random.default_rng(0), []
    first = second = np.zeros(4096)
    for step in range(steps):
        gradient = scale(step) * draws.standard_normal(first.size)
        first = beta1 * first + (1 - beta1) * gradient
        second = beta2 * second + (1 - beta2) * gradient ** 2
        squares.append(np.mean(first ** 2 / second))
    return np.mean(squares[steps // 4:]) ** 0.5
