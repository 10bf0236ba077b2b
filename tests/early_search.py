"""Runs that end early against the same runs with all their steps: searches for phases that differ, on sweeps of tiny
networks that are drawn where `stop_when: phase` errs most easily.

    early_search.py [-n SWEEPS] [-s SEED]    prints each run whose phase differs, with its sweep file, and the totals;
                                             exit status 1 if there is one
"""
import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import netCDF4
import numpy as np

PROGRAM = pathlib.Path(os.environ.get("NORMSWEEP_BUILD", "build")).resolve() / "normsweep"
NEVER, PHASE = 0, 1  # along stop_when, which is the last axis
# A rate at which each optimiser learns.
RATES = {"adamw": 3e-3, "adam": 3e-3, "lion": 3e-4, "normalized_sgd": 0.03, "adafactor": 0.03, "muon": 3e-3}


def maybe(draw, share, **keys):
    return keys if draw.random() < share else {}


def draw_network(draw):
    """Starts that are plateaus: matrices near 0, queries and keys of 0; and starts that are huge."""
    sums = {"corpus": "modular", "vocabulary": 12, "train_share": 0.6, "context": 3, "batch": 30}
    words = {"vocabulary": 17, "corpus_tokens": 4000, "context": 8, "batch": draw.choice([2, 4])}
    corpus = sums if draw.random() < 0.8 else words | {"corpus": draw.choice(["markov", "dyck"])}
    return corpus | {
        "layers": draw.choice([1, 2, 2]), "width": 16, "heads": 2, "feedforward": 32,
        "norm_placement": draw.choice(["pre", "pre", "pre", "post", "out"]),
        "norm": draw.choice(["layernorm", "rmsnorm"]),
        "bias": draw.random() < 0.4, "gated": draw.random() < 0.1, "qk_norm": draw.random() < 0.1,
        "init_scale": draw.choice([1e-3, 0.01, 0.01, 0.03, 0.03, 0.03, 0.1, 0.1, 1, 30]),
        **maybe(draw, 0.2, init="normal", init_deviation=0.002), **maybe(draw, 0.15, zero_query_key=True),
        **maybe(draw, 0.1, precision="bfloat16"), **maybe(draw, 0.1, residual_scale=draw.choice([0.01, 10.0]))}


def draw_schedule(draw, steps):
    schedule = draw.choice(["constant", "constant", "wsd", "cosine", "linear", "inverse_sqrt"])
    end = maybe(draw, 0.3, schedule_end=draw.choice([0, 0.5, 1])) if schedule in ("wsd", "cosine", "linear") else {}
    start = {"schedule_start": draw.choice([1, 10, steps // 4])} if schedule == "inverse_sqrt" else {}
    return {"schedule": schedule, **end, **start,
            **maybe(draw, 0.4, warmup_steps=int(steps * draw.choice([0.05, 0.2, 0.4])))}


def draw_optimiser(draw):
    """Keys, and the factor by which momentum multiplies a decay. With a large epsilon adamw is sgd."""
    optimiser = draw.choice(["sgd"] * 4 + ["adamw"] * 3 + [*RATES])
    if optimiser == "sgd":
        momentum = draw.choice([0, 0.9, 0.9, 0.98])
        return {"optimiser": optimiser, "momentum": momentum, "gradient_clip": draw.choice([0.03, 0.3, 1, 1, 3]),
                "learning_rate": 0.5 * (1 - momentum) * 10 ** draw.uniform(-0.5, 0.3)}, 1 / (1 - momentum)
    keys, rate = {"optimiser": optimiser}, RATES[optimiser] * 10 ** draw.uniform(-1, 1)
    if optimiser in ("adamw", "adam", "muon"):
        keys |= maybe(draw, 0.3, beta2=draw.choice([0.95, 0.99])) | maybe(draw, 0.2, gradient_clip=0.01)
        if draw.random() < 0.7:
            keys["epsilon"] = 10 ** draw.uniform(-7, 0)
            rate = min(max(rate, 0.5 * keys["epsilon"] * 10 ** draw.uniform(-0.5, 0.3)), 0.3)
    return keys | {"learning_rate": rate}, 1


def draw_sweep(draw):
    """Decays near those that balance growth; more decay shrinks from the start."""
    steps = draw.choice([400, 1000, 1500])
    optimiser, repeats = draw_optimiser(draw)
    share = 10 ** draw.uniform(-1.5, -0.5) / (steps * optimiser["learning_rate"] * repeats)  # lost in all steps
    decay = 0 if optimiser["optimiser"] == "adam" else [share * factor for factor in (0.4, 1, 2.5)]
    return draw_network(draw) | optimiser | draw_schedule(draw, steps) | {
        "steps": steps, "weight_decay": decay, "seed": [draw.randrange(1000), 1000 + draw.randrange(1000)],
        "stop_when": ["never", "phase"], "measure": {"every": steps // draw.choice([20, 40]), "metrics": ["norms"]},
        "validate": {"every": "end", "tokens": 64}}


def compare(folder, sweep):
    """Trains a sweep: the runs, how many end early, the share of steps that this saves, and the phases that differ."""
    (folder / "sweep.yaml").write_text(json.dumps(sweep))
    subprocess.run([PROGRAM, "run", "sweep.yaml", "-j", "0", "--fresh"], cwd=folder, check=True, capture_output=True)
    with netCDF4.Dataset(folder / "sweep.nc") as file:
        file.set_auto_mask(False)
        phase, step, growth = (np.moveaxis(file[name][:], file["phase"].dimensions.index("stop_when"), -1)
                               for name in ("phase", "last_step", "norm_growth"))
    early = step[..., PHASE] < step[..., NEVER]
    different = [(tuple(cell), int(step[*cell, PHASE]), *growth[*cell, [PHASE, NEVER]])
                 for cell in np.argwhere(phase[..., NEVER] != phase[..., PHASE])]
    return early.size, int(early.sum()), float(np.sum(1 - step[..., PHASE] / step[..., NEVER])), different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=30, metavar="SWEEPS")
    parser.add_argument("-s", type=int, default=1, metavar="SEED")
    options = parser.parse_args()
    totals, found = collections.defaultdict(lambda: np.zeros(3)), 0
    with tempfile.TemporaryDirectory() as name:
        for number in range(options.n):
            sweep = draw_sweep(random.Random(f"{options.s} {number}"))
            *counts, different = compare(pathlib.Path(name), sweep)
            totals[sweep["optimiser"]] += counts
            found += len(different)
            for cell, step, ended, whole in different:
                print(f"sweep {number}, run {cell}: ended at step {step} with {ended:.6g}, grows to {whole:.6g}:\n"
                      f"    {json.dumps(sweep)}", flush=True)
    for optimiser, (count, early, saved) in totals.items():
        print(f"{optimiser}: {count:.0f} runs, {early:.0f} ended early, {saved / count:.0%} of the steps saved")
    print(f"{found} of {sum(counts[0] for counts in totals.values()):.0f} runs have another phase")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
