"""`run --only NAME=VALUE` trains the runs that it names and leaves the others pending; `inspect OUT.nc --at` finds the
weights of a run by its values."""

import json

import netCDF4
import pytest
import xarray as xr

import same
from conftest import NORMSWEEP, run, tiny
from waited import FAILED

SWEEP = tiny() + """\
steps: 20
learning_rate: {log: [1e-1, 1e-3], points: 3}
weight_decay: [0, 3]
norm_placement: [pre, post]
seed: [1]
skip: [{norm_placement: post, learning_rate: 0.1}]
measure: {every: 10}
save_weights: true
"""
RUNS = 10


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


def start(folder, *arguments, status=0, jobs="0"):
    return run(NORMSWEEP, "run", "sweep.yaml", "-j", jobs, *arguments, cwd=folder, status=status)


def outcomes(folder):
    with xr.open_dataset(folder / "sweep.nc") as dataset:
        return dataset.outcome.load()


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_the_others_wait(folder, jobs):
    # As the checkpoint of a run that waits.
    other = folder / "sweep.nc.d" / f"{'0123456789abcdef' * 2}-000000-000000000001-000000000010.nc"
    other.parent.mkdir()
    other.touch()
    said = start(folder, "--only", "learning_rate=1e-2", jobs=jobs).stdout
    assert "sweep.nc: 4 runs of --only: 4 done, 0 diverged, 0 failed; " in said
    assert said.endswith("6 other runs wait: run the same command without --only\n")
    outcome = outcomes(folder)
    assert (outcome.sel(learning_rate=1e-2) == 2).all() and int((outcome == 2).sum()) == 4
    assert int((outcome == 0).sum()) == RUNS - 4
    assert other.exists()
    assert "nothing left to do: 2 runs of --only: " in start(
        folder, "--only", "learning_rate=0.01,norm_placement=pre", jobs=jobs).stdout
    assert other.exists()
    assert f"sweep.nc: {RUNS} runs: " in start(folder, jobs=jobs).stdout
    assert not other.exists()
    start(folder, "-o", "whole.nc", jobs=jobs)
    same.assert_equal(folder / "sweep.nc", folder / "whole.nc")


def test_it_says_how_many_before(folder):
    """One --only after the other adds runs."""
    only = ["--only", "learning_rate=0.1,weight_decay=3", "--only", "norm_placement=post"]
    told = start(folder, "--dry-run", *only).stdout
    assert "\ntrain     5 runs, from the first step\nwait      5 runs, which --only leaves" in told
    plan = ["plan", "sweep.yaml", *only]
    assert f"\nruns        5 of {RUNS}, chosen by --only, 2 cells skipped\n" in run(NORMSWEEP, *plan, cwd=folder).stdout
    assert "\nruns=5\n" in run(NORMSWEEP, *plan, "--values", cwd=folder).stdout
    start(folder, *only)
    assert int((outcomes(folder) == 2).sum()) == 5
    assert "\nnothing is left to train\n" in start(folder, "--dry-run", *only).stdout


def test_only_its_failed_runs_are_repeated(folder):
    start(folder)
    with netCDF4.Dataset(folder / "sweep.nc", "a") as file:
        file["outcome"][1:, 0, 0, 0] = FAILED
    start(folder, "--only", "learning_rate=1e-3", "--retry-failed")
    assert outcomes(folder)[:, 0, 0, 0].values.tolist() == [2, FAILED, 2]
    start(folder, "--only", "learning_rate=1e-2", status=1)


def test_a_search_waits_for_the_others(tmp_path):
    (tmp_path / "sweep.yaml").write_text(tiny() + """\
steps: 30
learning_rate: [0.01, 0.1]
weight_decay: {log: [1e-2, 1e2], points: 17}
refine: {axis: weight_decay, variable: norm_growth, at: 1}
""")
    start(tmp_path, "--only", "learning_rate=0.1")
    outcome = outcomes(tmp_path)
    assert (outcome.sel(learning_rate=0.01) == 0).all() and 2 < int((outcome.sel(learning_rate=0.1) == 2).sum()) < 17
    start(tmp_path)
    start(tmp_path, "-o", "whole.nc")
    same.assert_equal(tmp_path / "sweep.nc", tmp_path / "whole.nc")


REFUSED = {
    "learning_rate=2e-3": "no learning_rate '2e-3'; it is one of 0.1, 0.01, 0.001",
    "norm_placement=prae": "no norm_placement 'prae'; did you mean 'pre'?",
    "learning_rte=1": "has no dimension 'learning_rte'; did you mean 'learning_rate'?",
    "steps=20": "steps is 20 in all runs, and is not an axis; leave it out of --only",
    "learning_rate=0.1,0.01": "--only takes NAME=VALUE and not '0.01'",
    "seed=1,seed=1": "--only names seed twice",
}


@pytest.mark.parametrize("only", REFUSED)
def test_what_is_not_there(folder, only):
    """One line with the values that there are, and nothing is made."""
    said = start(folder, "--only", only, status=2)
    assert said.stdout == "" and said.stderr.replace("sweep.yaml:", "sweep.yaml") == f"sweep.yaml {REFUSED[only]}\n"
    assert not (folder / "sweep.nc").exists()


def test_status_counts_the_runs_that_wait(folder):
    start(folder, "--only", "norm_placement=pre")
    said = run(NORMSWEEP, "status", "sweep.nc", cwd=folder).stdout
    assert "ended     6 of 10 runs, 60.0 %" in said and "  pending  4, 40.0 %" in said
    assert json.loads(run(NORMSWEEP, "status", "sweep.nc", "--json", cwd=folder).stdout)["expected_runs"] == RUNS


def inspect(folder, *arguments, status=0):
    return run(NORMSWEEP, "inspect", "sweep.nc", *arguments, cwd=folder, status=status)


def test_the_weights_of_a_run(folder):
    start(folder, "--only", "norm_placement=pre")
    found = json.loads(inspect(folder, "--at", "learning_rate=0.1", "--at", "weight_decay=3,norm_placement=pre",
                               "--json").stdout)
    assert len({json.loads(inspect(folder, "--at", f"learning_rate={rate},weight_decay={decay},norm_placement=pre",
                                   "--json").stdout)["attrs"]["file"]
                for rate in (0.1, 0.01, 0.001) for decay in (0, 3)}) == 6
    with xr.open_dataset(folder / "sweep.nc") as dataset:
        run_ = dataset.sel(learning_rate=0.1, weight_decay=3, norm_placement="pre", seed=1)
        norm = float(run_.param_norm.dropna("step")[-1])
    measured = found["data_vars"]["param_norm"]["data"]
    assert abs(measured - norm) <= 1e-6 * norm, (measured, norm)


def test_the_weights_of_a_run_with_a_long_word(folder):
    what = "all+matrices+hidden+attention+feedforward+gains+biases+embeddings+output"
    start(folder, "--only", "norm_placement=pre,learning_rate=0.1", "--set", f"decay_on={what}")
    inspect(folder, "--at", "learning_rate=0.1,weight_decay=3,norm_placement=pre")


AT_REFUSED = {
    "learning_rate=0.1": "sweep.nc: --at names 4 runs, and inspect takes one; add a value of weight_decay, "
                         "norm_placement",
    "learning_rate=0.1,weight_decay=3,norm_placement=post":
        "sweep.nc.d: no weights of learning_rate=0.1 weight_decay=3 norm_placement=post seed=1; a sweep with "
        "save_weights: true keeps those of each run that is done",
    "learning_rate=5": "sweep.nc: no learning_rate '5'; it is one of 0.1, 0.01, 0.001",
    "": "sweep.nc: a dataset of 12 runs, and inspect takes one; add --at with values of learning_rate, weight_decay, "
        "norm_placement",
}


def test_no_weights(folder):
    start(folder, "--only", "norm_placement=pre")
    for at, line in AT_REFUSED.items():
        assert inspect(folder, *(["--at", at] if at else []), status=2).stderr == line + "\n"
