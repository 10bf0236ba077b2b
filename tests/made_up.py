"""A dataset whose every value is known in closed form, for tests of what reads datasets."""

import numpy as np
import xarray as xr
from conftest import FORMAT

LEARNING_RATES = np.array([1e-1, 1e-2, 1e-4])
WEIGHT_DECAYS = np.array([10, 1, 0.1, 0.01, 0.001])
SEEDS = np.array([0, 1])
STEPS = np.array([0, 10, 20])
ROOT = 2 ** 0.5
SESSIONS = {"version": ("0.1.0", "0.1.0"), "commit": ("abc", "abd"), "compiler": ("cc 1", "cc 1"),
            "blas": ("OpenBLAS", "OpenBLAS"), "blas_kernel": ("Zen", "Zen"), "vector_level": ("avx2", "avx512"),
            "mpi": ("Open MPI", "Open MPI"), "host": ("node7", "node8"),
            "start": ("2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z")}


def flags(words):
    """The attributes of a variable whose values 0, 1, .. mean these words."""
    return {"flag_values": np.arange(len(words.split()), dtype=np.int8), "flag_meanings": words}


OUTCOME = flags("pending running done diverged failed skipped")
PHASE = flags("none growing shrinking diverged")
DYNAMICS = flags("none aligned misaligned relative adam_like")
# Keys of a sweep that are the same in all runs; every dataset has them.
SETTINGS = {
    "optimiser": "adamw", "momentum": 0.0, "beta1": 0.9, "beta2": 0.999, "gradient_clip": 0.0, "schedule": "constant",
    "schedule_start": 0, "schedule_end": 0.1, "schedule_decay": 0.2, "warmup_steps": 0, "decay_on": "all",
    "decay_rule": "scaled", "norm_rule": "free", "parametrization": "standard", "base_width": 0, "width": 8,
    "stop_when": "never", "weights": "float"}


def times(outcome, later, axes):
    """Workers 1 and 2 take turns: one run of 2 s begins each second. The second session begins at 100 s; each has two
    workers and ends with its last run."""
    turn = np.zeros(outcome.shape)
    for session in (False, True):
        these = (outcome > 0) & (later == session)
        turn[these] = np.arange(these.sum())
    begin = np.where(outcome > 0, np.where(later, 100, 0) + turn, np.nan)
    ends = [np.nanmax(np.where(later == session, begin + 2, np.nan), initial=100 * session) for session in (0, 1)]
    return {
        "worker": (list(axes), np.where(outcome > 0, 1 + turn % 2, np.nan), {"long_name": "worker"},
                   {"dtype": "int64", "_FillValue": -1}),
        "begin": (list(axes), begin, {"long_name": "begin of the run", "units": "s"}),
        "end": (list(axes), begin + 2, {"long_name": "end of the run", "units": "s"}),
        "session_begin": ("sessions", np.array([0, 100, np.nan]), {"units": "s"}),
        "session_end": ("sessions", np.array([*ends, np.nan]), {"units": "s"}),
        "session_workers": ("sessions", np.array([2, 2, np.nan]), {"units": "1"})}


def made_up(**changes):
    """norm_growth = (weight_decay / b)^-1/2 with its boundary b = learning_rate with pre, 0.3 with post, over sqrt(2)
    for seed 0 and times sqrt(2) for seed 1. Two runs have diverged, five are pending. param_norm grows with a straight
    line to it from 1. `changes` replaces variables, given as values over the axes.
    """
    axes = {"learning_rate": LEARNING_RATES, "weight_decay": WEIGHT_DECAYS,
            "norm_placement": np.array(["pre", "post"], dtype=object), "seed": SEEDS}
    rate, decay, place, seed = np.meshgrid(*axes.values(), indexing="ij")
    growth = (decay / (np.where(place == "pre", rate, 0.3) * np.where(seed == 0, 1 / ROOT, ROOT))) ** -0.5
    outcome = np.full(growth.shape, 2, np.int8)
    outcome[0, 0, 0, :] = 3
    outcome[2, :, 1, 1] = 0
    values = {"outcome": outcome, "norm_growth": np.where(outcome == 2, growth, np.nan)} | changes
    growth, outcome = values["norm_growth"], values["outcome"]
    phase = np.where(outcome == 3, 3, np.where(outcome != 2, 0, np.where(growth > 1, 1, 2))).astype(np.int8)
    norms = 1 + (growth[..., np.newaxis] - 1) * STEPS / STEPS[-1]
    begun = outcome[..., np.newaxis] > 0
    variables = {
        "outcome": (list(axes), outcome, {"long_name": "state of the run", "units": "1", **OUTCOME}),
        "phase": (list(axes), phase, {"long_name": "phase of the parameter norm", "units": "1", **PHASE}),
        "last_step": (list(axes), np.where(outcome == 2, 20.0, np.where(outcome == 3, 7.0, np.nan)),
                      {"long_name": "steps taken", "units": "1"}, {"dtype": "int64", "_FillValue": -1}),
        "seconds": (list(axes), np.where(outcome == 2, 1 / 3 + seed, np.nan),
                    {"long_name": "duration of the run", "units": "s"}),
        "tokens_per_second": (list(axes), np.where(outcome == 2, 1e4, np.nan),
                              {"long_name": "training speed", "units": "s-1"}),
        "attempts": (list(axes), (outcome > 0).astype(np.int64), {"long_name": "times the run was started"}),
        "deaths": (list(axes), np.zeros(growth.shape, np.int64), {"long_name": "deaths of its workers"}),
        "session": (list(axes), np.where(outcome > 0, 1.0 * (decay > 1), np.nan), {"long_name": "session of the run"},
                    {"dtype": "int64", "_FillValue": -1}),
        "diverged_step": (list(axes), np.where(outcome == 3, 7.0, np.nan), {"long_name": "step of divergence"},
                          {"dtype": "int64", "_FillValue": -1}),
        "norm_growth": (list(axes), growth, {"long_name": "norm growth", "units": "1", "nature": "ratio"}),
        "rate_sum": ([*axes, "step"], rate[..., np.newaxis] * STEPS, {"long_name": "sum of learning rates"}),
        "param_norm": ([*axes, "step"], np.where(begun, norms, np.nan), {"long_name": "parameter norm", "units": "1"}),
        "host": (list(axes), np.where(outcome > 0, "node7", "").astype(object), {"long_name": "host"}),
        "reason": (list(axes), values.get("reason", np.full(growth.shape, "", dtype=object)),
                   {"long_name": "why the run failed", "units": "1"}),
        **times(outcome, decay > 1, axes),
        **{f"session_{name}": ("sessions", np.array([first, second, ""], dtype=object))
           for name, (first, second) in SESSIONS.items()},
    }
    attributes = {**SETTINGS, "source": "normsweep", "format_version": FORMAT, "title": "My first diagram",
                  "sweep_title": "My first diagram", "sweep": "title: My first diagram\nsteps: 20\n",
                  "configuration_digest": "c0ffee", "data_digest": "beef", "steps": 20, "bias": np.int8(1)}
    dataset = xr.Dataset(variables, {**axes, "step": STEPS}, attributes)
    dataset.learning_rate.attrs = {"long_name": "learning rate", "units": "1"}
    dataset.weight_decay.attrs = {"long_name": "weight decay", "units": "1"}
    return dataset
