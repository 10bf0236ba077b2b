"""`stop_when: phase`: runs that end early have the phase that all their steps give, and the same values until then."""

import json
import math

import netCDF4
import numpy as np
import pytest

from conftest import NORMSWEEP, run, sets, tiny, train_sweep
from normsweep import open_sweep
from normsweep.drawings.report import report

pytestmark = pytest.mark.thorough("trains whole sweeps")

SWEEP = tiny(layers=2) + """\
steps: 200
learning_rate: {log: [1.0e-4, 1], points: 5}
weight_decay: {log: [1.0e-3, 10], points: 7, plus: [0]}
stop_when: [never, phase]
measure: {every: 10}
validate: {every: 50, tokens: 200}
"""
GRIDS = {
    "adamw": [],
    "cosine after a warm-up": ["schedule=cosine", "warmup_steps=20"],
    "clipped sgd": ["optimiser=sgd", "momentum=0.9", "gradient_clip=1"],
    "lion": ["optimiser=lion", "schedule=wsd"],
    "pre": ["norm_placement=pre", "schedule=linear"],
}
NEVER, PHASE = 0, 1  # along stop_when, which is the last axis


def train(folder, name, settings):
    file = netCDF4.Dataset(train_sweep(folder, SWEEP, *sets(*settings), name=name))
    file.set_auto_mask(False)
    return file


@pytest.fixture(scope="module", params=GRIDS)
def grid(request, tmp_path_factory):
    with train(tmp_path_factory.mktemp("early"), "grid", GRIDS[request.param]) as file:
        assert file["outcome"].dimensions == ("learning_rate", "weight_decay", "stop_when")
        yield file


def both(grid, name):
    values = grid[name][:]
    return values[:, :, NEVER], values[:, :, PHASE]


def test_no_phase_changes(grid):
    whole, early = both(grid, "phase")
    assert np.array_equal(whole, early)
    assert {1, 2} <= set(whole.flat)
    assert np.array_equal(*both(grid, "outcome"))


def test_many_runs_end_early(grid):
    whole, early = both(grid, "ended_early")
    assert not whole.any()
    assert early.sum() >= early.size / 3
    steps, taken = both(grid, "last_step")
    assert np.array_equal(taken < steps, early == 1)
    assert (taken[early == 1] % 10 == 0).all() and (taken[early == 1] >= 40).all()


def test_values_until_the_end(grid):
    step = grid["step"][:]
    ended, last = both(grid, "ended_early")[PHASE] == 1, both(grid, "last_step")[PHASE]
    for name in ("param_norm", "train_loss", "grad_norm", "valid_loss"):
        whole, early = both(grid, name)
        for cell in np.argwhere(ended):
            before, after = step < last[tuple(cell)], step > last[tuple(cell)]
            assert np.array_equal(whole[*cell, before], early[*cell, before], equal_nan=True)
            assert np.isnan(early[*cell, after]).all()
    growth, norm = both(grid, "norm_growth")[PHASE], both(grid, "param_norm")[NEVER]
    for cell in np.argwhere(ended):
        at = np.searchsorted(step, last[tuple(cell)])
        assert growth[tuple(cell)] == norm[*cell, at] / norm[*cell, 0]
        loss = both(grid, "valid_loss")[PHASE][*cell, at]
        assert np.isfinite(loss) and both(grid, "final_valid_loss")[PHASE][tuple(cell)] == loss
        assert both(grid, "final_train_loss")[PHASE][tuple(cell)] == both(grid, "train_loss")[PHASE][*cell, at]


@pytest.mark.parametrize("grid", ["cosine after a warm-up"], indirect=True)
def test_pictures_say_that_runs_ended_early(grid):
    path, early = grid.filepath(), int(both(grid, "ended_early")[PHASE].sum())
    says = "runs ended early: norm_growth is of different steps"
    assert f"\n{early} of 80 {says}\n" in run(NORMSWEEP, "show", path).stdout
    assert f"\n{early} of 40 {says}\n" in run(NORMSWEEP, "show", path, "--at", "stop_when=phase").stdout
    assert "ended early" not in run(NORMSWEEP, "show", path, "--at", "stop_when=never").stdout
    with open_sweep(path) as dataset:
        assert (f"<p>{early} of 80 runs ended early: norm_growth, boundary and final losses are of different steps."
                "</p>") in report(dataset)


def test_equilibrium_is_at_the_rate_of_the_last_step(tmp_path):
    settings = ["stop_when=phase", "schedule=linear", "schedule_end=0", "learning_rate=0.03", "weight_decay=3",
                "measure={every: 1, metrics: [norms, equilibrium]}"]
    with train(tmp_path, "early", settings) as early:
        last = int(early["last_step"][...])
        assert early["ended_early"][...] == 1 and 1 < last < 200
        at = slice(0, last + 1)
        balance = early["rotation_equilibrium"][at, 0, 0] * early["rms_equilibrium"][at, 0, 0]
        rate = np.diff(early["rate_sum"][at])  # of steps 1, 2, ..
        assert rate[-1] < 0.99 * rate[0]
    of_update = math.sqrt((1 - 0.9) / (1 + 0.9))
    np.testing.assert_allclose(balance, of_update * np.append(rate, rate[-1]), rtol=1e-9)


def test_workers_and_verify(tmp_path):
    with train(tmp_path, "alone", ["stop_when=phase"]) as alone:
        run(NORMSWEEP, "run", "alone.yaml", "--set", "stop_when=phase", "-j", "2", "-o", "two.nc", cwd=tmp_path)
        with netCDF4.Dataset(tmp_path / "two.nc") as two:
            two.set_auto_mask(False)
            for name in ("ended_early", "last_step", "param_norm", "norm_growth", "final_valid_loss"):
                assert np.array_equal(alone[name][:], two[name][:], equal_nan=True)
    run(NORMSWEEP, "verify", "alone.yaml", *sets("stop_when=phase", "output=two.nc"), "-n", "10", cwd=tmp_path)


# Runs that shrink at first, in steps far below full ones, and grow in the end.
PLATEAUS = {
    "gradients far below clipping": {
        "layers": 2, "width": 16, "heads": 2, "feedforward": 32, "context": 3, "batch": 30, "bias": False,
        "corpus": "modular", "vocabulary": 12, "train_share": 0.6, "init_scale": 0.01, "optimiser": "sgd",
        "momentum": 0.9, "gradient_clip": 3, "learning_rate": 0.0574, "weight_decay": 1.94e-4, "schedule": "linear",
        "steps": 1500, "measure": {"every": 30, "metrics": ["norms"]}, "seed": 1914},
    "gradients far below epsilon, of the tensors that are most of the norm": {
        "layers": 1, "width": 8, "heads": 2, "feedforward": 16, "context": 8, "batch": 4, "bias": False,
        "corpus": "markov", "vocabulary": 33, "corpus_tokens": 4000, "norm_placement": "out", "norm": "rmsnorm",
        "init": "normal", "init_deviation": 0.1, "init_scale": 1e-3, "precision": "bfloat16", "optimiser": "muon",
        "epsilon": 1e-4, "gradient_clip": 0.01, "learning_rate": 4.12e-4, "weight_decay": 0.172, "schedule": "wsd",
        "schedule_decay": 0.05, "warmup_steps": 40, "steps": 400, "measure": {"every": 8, "metrics": ["norms"]},
        "seed": 516},
}


@pytest.mark.parametrize("name", PLATEAUS)
def test_a_plateau_goes_on(name, tmp_path):
    path = train_sweep(tmp_path, json.dumps(PLATEAUS[name] | {"stop_when": ["never", "phase"]}))
    with netCDF4.Dataset(path) as file:
        assert (file["phase"][:] == 1).all() and (file["norm_growth"][:] > 1.001).all()


UNBOUNDED, UNEVEN = "steps with a bound: sgd needs gradient_clip", "a decay that is the same share of every weight;"


@pytest.mark.parametrize("settings, needs", [
    (["optimiser=sgd"], UNBOUNDED), (["beta1=0.999", "beta2=0.9"], UNBOUNDED),
    (["optimiser=adam", "weight_decay=0.1"], UNEVEN), (["decay_rule=cautious", "weight_decay=0.1"], UNEVEN),
    (["norm_rule=fixed"], UNEVEN), (["decay_on=matrices", "weight_decay=0.1"], UNEVEN),
    (["weights=bfloat16", "weight_decay=0.1"], UNEVEN),
    (["together={arm: {a: {optimiser: sgd, decay_rule: scaled}, b: {optimiser: adamw, decay_rule: cautious}}}",
      "weight_decay=0.1"], "both steps with a bound and a decay"),
])
def test_refused_where_no_run_can_end_early(tmp_path, settings, needs):
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("[never, phase]", "phase"))
    said = run(NORMSWEEP, "check", "sweep.yaml", *sets(*settings), cwd=tmp_path, status=2).stderr
    assert f"sweep.yaml:13:12: stop_when: has no effect: no cell has {needs}" in said


@pytest.mark.parametrize("axis", ["axis: weight_decay", "axis: weight_decay, at_once: 3", "axis: learning_rate",
                                  "axes: [learning_rate, weight_decay], coarse: 4"])
def test_a_search_finds_the_same_sides(tmp_path, axis):
    with train(tmp_path, "searched", [f"refine={{{axis}}}"]) as file:
        outcome, phase, last = file["outcome"][:], file["phase"][:], file["last_step"][:]
        reason = file["reason"][:]
    both, skipped = (outcome == 2).all(axis=-1), (outcome == 5)
    assert (phase[both][:, NEVER] == phase[both][:, PHASE]).all() and set(phase[both].flat) == {1, 2}
    same = (reason[..., NEVER] == reason[..., PHASE]) | ~skipped.all(axis=-1)
    assert same.all() and skipped.all(axis=-1).any()
    assert last[..., PHASE][outcome[..., PHASE] == 2].mean() < 0.95 * last[..., NEVER][outcome[..., NEVER] == 2].mean()


@pytest.mark.parametrize("refine", ["axis: weight_decay, at: 2",
                                    "axis: weight_decay, variable: final_train_loss, at: 1"])
def test_refused_beside_another_refine(tmp_path, refine):
    (tmp_path / "sweep.yaml").write_text(SWEEP + f"refine: {{{refine}}}\n")
    said = run(NORMSWEEP, "check", "sweep.yaml", cwd=tmp_path, status=2).stderr
    assert said == ("sweep.yaml:16:9: refine: with stop_when: phase a run tells its side of norm_growth 1 alone; "
                    "leave one of the two out\n")


def test_no_prediction_from_a_run_that_may_have_ended(tmp_path):
    with train(tmp_path, "early", ["stop_when=phase"]) as early:
        found = open_sweep(early.filepath()).sweep.boundary()
        assert np.isnan(found.predicted).all() and np.isfinite(found.each).any()
