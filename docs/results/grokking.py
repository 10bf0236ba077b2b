"""Grokking of sums modulo 59 over weight decay, in float and in double, and what rounding does without decay; and of
sums modulo 113 in a network twice as wide."""

import numpy as np

from study import about, in_double, long, number, small, up_to

GRID = small("grokking", "weight_decay=[0, 0.1, 0.2, 0.3, 0.5, 1, 2]", "seed=[0, 1]")
UNDECAYED = small("grokking", "weight_decay=0", "learning_rate=5e-3", "steps=30000")
SWEEPS = {"single": GRID,
          "double": in_double([*GRID, "--set", "weight_decay=[0.3, 0.5, 1]", "--set", "steps=10000"]),
          "undecayed": [*UNDECAYED, "--set", "epsilon=[1e-8, 1e-30]"],
          "undecayed_double": in_double([*UNDECAYED, "--set", "epsilon=[1e-8, 1e-30]"]),
          "long": long("grokking")}
FIGURE = "single", "accuracy", {"title": ""}
KNOWN = 0.05  # the training loss below which trained sums count as known


def numbers(single, double, undecayed, undecayed_double, long):
    times = {}
    for name, runs in ("float", single), ("double", double), ("modulo 113", long):
        known = runs.step.where(runs.train_loss < KNOWN).min("step")
        times[name] = at = runs.step.where(runs.accuracy >= 0.99).min("step")
        for decay in runs.weight_decay.values:
            for seed in runs.seed.values:
                cell = dict(weight_decay=decay, seed=seed)
                where = f"{name}, decay {decay:g}, seed {seed}"
                yield about(f"step at which the trained sums are known, {where}", known.sel(cell), 0.3)
                yield about(f"step at which the others are known, {where}", at.sel(cell), 0.3)
                yield about(f"the one over the other, {where}", at.sel(cell) / known.sel(cell), 0.5)
    for name, where in ("float", ""), ("modulo 113", ", modulo 113"):
        middle = times[name].sel(weight_decay=[0.3, 0.5, 1]).transpose("weight_decay", "seed")
        slopes = np.polyfit(np.log(middle.weight_decay), np.log(middle), 1)[0]
        yield number(f"exponent of the time over the decay from 0.3 to 1{where}", slopes.mean(), slopes.min() - 0.1,
                     slopes.max() + 0.1, "range of 2 seeds, ± 0.1")
    ratio = np.log(times["double"] / times["float"]).values.ravel()
    ratio = ratio[np.isfinite(ratio)]
    yield number("time in double over that in float", np.exp(ratio.mean()), np.exp(ratio.min()), np.exp(ratio.max()),
                 f"range of {ratio.size} pairs")
    for name, runs in ("float", undecayed), ("double", undecayed_double):
        for epsilon in runs.epsilon.values:
            run, where = runs.sel(epsilon=epsilon).squeeze(), f"{name}, epsilon {epsilon:g}"
            late = run.isel(step=run.step > 5000)
            yield about(f"accuracy at the end, {where}", run.accuracy[-1])
            yield about(f"largest accuracy, {where}", run.accuracy.max())
            yield about(f"median loss after step 5000, {where}", late.train_loss.median(), 0.9)
            yield up_to(f"steps of 300 with a loss of 0, {where}", (run.train_loss == 0).sum(), 3)
            yield about(f"smallest grad_norm, {where}", run.grad_norm.min(), 0.9)
            yield up_to(f"share of spikes after step 5000, {where}", (late.train_loss > 1e-3).mean(), 3)
            yield about(f"growth, {where}", run.norm_growth, 0.3)
