"""Rules of decay, schedules and optimisers: the share that a step takes, of which the boundary is predicted, is that of
the runs; or there is no prediction, and a reason why."""


import numpy as np
import pytest
from conftest import BUILD, sets, tables, tiny, train_sweep
import normsweep
from normsweep import predicted

pytestmark = pytest.mark.thorough("trains whole sweeps, in double")

SWEEP = tiny(feedforward=12) + """\
steps: 40
learning_rate: [3.0e-3, 3.0e-2]
weight_decay: [0.03, 0.3, 3]
measure: {every: 1}
validate: {every: end, tokens: 200}
"""
FALLING = {
    "cosine": ["schedule=cosine", "schedule_start=7"],
    "wsd": ["schedule=wsd", "schedule_decay=0.4", "warmup_steps=5"],
    "linear": ["schedule=linear", "schedule_end=0"],
    "inverse_sqrt": ["schedule=inverse_sqrt", "schedule_start=4"],
}
EVEN = {
    "scaled": [],
    "independent": ["decay_rule=independent", "weight_decay=[1.0e-3, 3.0e-2, 1.0e-1]", *FALLING["cosine"]],
    "corrected, constant": ["decay_rule=corrected"],
    **{f"corrected, {name}": ["decay_rule=corrected", *keys] for name, keys in FALLING.items()},
    **{f"scaled, {name}": keys for name, keys in FALLING.items()},
    "hidden": ["decay_on=hidden"],
    "sgd": ["optimiser=sgd", "decay_rule=corrected", "learning_rate=[0.3, 1]", "weight_decay=[0, 1.0e-3, 1]",
            *FALLING["wsd"]],
    "lion": ["optimiser=lion", "learning_rate=[1.0e-3, 1.0e-2]"],
    "muon": ["optimiser=muon", *FALLING["wsd"]],
    **{word: [f"optimiser={word}"] for row in tables()["parameters"] if row["name"] == "optimiser"
       for word in row["words"] if word not in ("adamw", "adam", "sgd", "lion", "muon")},
    "mup at its base": ["parametrization=mup", "base_width=8"],
    "mup, independent": ["parametrization=mup", "base_width=2", "decay_rule=independent",
                         "weight_decay=[1.0e-3, 3.0e-2, 1.0e-1]", *FALLING["linear"]],
}
NONE = {
    "adam": (["optimiser=adam"], "coupled"),
    "matrices": (["decay_on=matrices"], "uneven"),
    "cautious": (["decay_rule=cautious"], "uneven"),
    "norm_rule": (["norm_rule=fixed"], "uneven"),
    "bfloat16": (["weights=bfloat16"], "uneven"),
    "mup": (["parametrization=mup", "base_width=2"], "uneven"),
    "mup, corrected": (["parametrization=mup", "base_width=16", "decay_rule=corrected"], "uneven"),
    "stop_when": (["stop_when=phase"], "early"),
}


def train(folder, settings):
    path = train_sweep(folder, SWEEP, *sets(*settings), program=BUILD / "normsweep-double")
    with normsweep.open_sweep(path) as dataset:
        return dataset.load()


def imbalance(made):
    """|theta|^2 after a step, less what the share of decay and the update leave of it, over |theta|^2."""
    time = predicted.decay_times(made).broadcast_like(made.param_norm)
    share = predicted.decay_factor(made) * made.weight_decay * time.diff("step", label="lower")
    rate = made.rate_sum.diff("step", label="lower")
    square, size = made.param_norm ** 2, rate * made.update_norm
    after = square.diff("step", label="lower") + square
    kept = (1 - share) ** 2 * square + 2 * (1 - share) * made.param_norm * size * made.update_alignment + size ** 2
    return abs(after - kept) / square


@pytest.mark.parametrize("settings", EVEN.values(), ids=EVEN)
def test_decay_takes_the_share_that_predictions_assume(settings, tmp_path):
    made = train(tmp_path, settings)
    found = imbalance(made).where(made.outcome == 2)
    assert found.notnull().sum() >= 40 and float(found.max()) <= 1e-12
    here = made.sweep.predicted_boundary(runs=1)
    assert "uneven" not in here.each_reason and np.isfinite(here.each).any()


@pytest.mark.parametrize("settings, reason", NONE.values(), ids=NONE)
def test_there_is_no_prediction_and_a_reason(settings, reason, tmp_path):
    made = train(tmp_path, settings)
    for runs in (1, 2):
        found = made.sweep.predicted_boundary(runs=runs)
        assert np.isnan(found.each).all() and (found.each_reason == reason).all()
    if reason == "uneven":
        assert float(imbalance(made).where(made.outcome == 2).max()) > 1e-6
