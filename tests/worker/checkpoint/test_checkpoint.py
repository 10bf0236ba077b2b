"""Sweeps in this process that are stopped within a run, and what then lies in OUT.nc.d."""

import pathlib
import resource
import signal

import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import NORMSWEEP, run_until, tiny, train_sweep
from normsweep.weights import seal
from same import assert_equal

pytestmark = pytest.mark.thorough("stops sweeps again and again; test_life.c has every optimiser")

SWEEP = tiny(vocabulary=32, layers=2, width=16, context=16) + """\
steps: 4000
learning_rate: [1e-2, 1e-3]
measure: {every: 50}
validate: {every: 400, tokens: 1000}
checkpoint_minutes: 1e-4
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return train_sweep(tmp_path_factory.mktemp("whole"), SWEEP)


def checkpoints(tmp_path, name="sweep.nc"):
    return sorted((tmp_path / f"{name}.d").glob("*.nc"))


def stop(sweep, number=signal.SIGUSR1):
    """Starts the sweep, stops or kills it when it has saved a run that has rows; the newest checkpoint."""
    folder, before = sweep.parent, set(checkpoints(sweep.parent))
    done = run_until(lambda: any(int(path.stem.split("-")[-1]) > 50 for path in set(checkpoints(folder)) - before),
                     number, NORMSWEEP, "run", sweep, "-j", "0", cwd=folder)
    assert done.returncode == (-number if number == signal.SIGKILL else 75), done
    if number != signal.SIGKILL:
        assert len(checkpoints(folder)) <= 2 and not list(folder.glob("*.d/*.part"))
    return checkpoints(folder)[-1]


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGKILL])
def test_ended_within_a_run_and_carried_on(number, normsweep, sweep, whole, tmp_path):
    assert not whole.with_suffix(".nc.d").exists()
    for _ in range(3):
        stop(sweep, number)
    done = normsweep("run", sweep, "-j", "0")
    assert done.stderr == "" and not (tmp_path / "sweep.nc.d").exists()
    assert_equal(whole, tmp_path / "sweep.nc")


def test_checkpoints_outlive_their_dataset(sweep, tmp_path):
    stop(sweep)
    older = stop(sweep)
    (tmp_path / "sweep.nc").unlink()  # and its session table with it
    newer = stop(sweep)
    run, older_step = older.stem.split("-")[0], int(older.stem.split("-")[-1])
    assert newer.stem.split("-")[0] == run and newer > older and int(newer.stem.split("-")[-1]) > older_step


def test_fresh_removes_nothing_but_its_own(normsweep, sweep, tmp_path):
    old = tmp_path / "sweep.nc.old.d"
    old.mkdir()
    for name in ("mine.txt", "0123456789abcdef0123456789abcdef.weights.nc", "worker-000001-2.log"):
        (old / name).touch()
    for options in ([], ["--fresh"]):
        normsweep("run", sweep, "-j", "0", "--set", "steps=3", *options)
    assert [path.name for path in old.iterdir()] == ["mine.txt"]


def test_a_checkpoint_is_for_people_too(sweep, tmp_path):
    path = stop(sweep)
    with xr.open_dataset(path) as saved, xr.open_dataset(tmp_path / "sweep.nc") as dataset:
        digest, session, ticket, step = path.stem.split("-")
        assert (saved.digest, saved.attrs["step"]) == (digest, int(step)) and session == "000000"
        assert len(digest) == 32 and len(ticket) == len(step) == 12
        assert saved.optimiser == "adamw" and saved.last_step == 4000 and saved.scalar == "float"
        cell = dataset.sel(learning_rate=saved.learning_rate)
        assert saved.step.values.tolist() == [s for s in range(0, int(step), 50)]
        for name in ["train_loss", "valid_loss", "layer_norm", "tensor_norm"]:
            np.testing.assert_array_equal(saved[name].values, cell[name].sel(step=saved.step).values, err_msg=name)
            assert saved[name].attrs["units"] == "1"
        assert saved.tensor.values[0] == "q" and saved.layer_norm.dims == ("step", "layer")
        assert saved.measured_norm.values[-1] == cell.param_norm.sel(step=saved.measured_step[-1])
        norms = [np.sum(saved[name].astype(float) ** 2) for name in saved.data_vars
                 if name.startswith("kept_") and "layer" in saved[name].dims and name != "kept_layer_square"]
        np.testing.assert_allclose(np.sum(norms), saved.kept_square, rtol=1e-6)
        assert saved.first_moment_q.dims == saved.q.dims == ("layer", "width", "input")
        assert (saved.second_moment_w1 >= 0).all() and saved.second_moment_w1.max() > 0
    before = path.read_bytes()
    seal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGKILL])
def test_resuming_takes_what_the_checkpoint_says(number, normsweep, sweep, tmp_path):
    """A row that was altered, under a new checksum, is found in the dataset: nothing began at step 0."""
    path = stop(sweep, number)
    with netCDF4.Dataset(path, "a") as saved:
        saved["train_loss"][1] = 1234.5
        rate = saved.learning_rate
    seal(path)
    normsweep("run", sweep, "-j", "0")
    with xr.open_dataset(tmp_path / "sweep.nc") as dataset:
        assert (dataset.outcome == 2).all()
        assert dataset.train_loss.sel(learning_rate=rate, step=50) == 1234.5
        assert dataset.train_loss.max() == 1234.5 and (dataset.train_loss > 1000).sum() == 1


def test_damaged_checkpoints_are_told(normsweep, sweep, whole, tmp_path):
    newest = stop(sweep)
    count = len(checkpoints(tmp_path))
    with open(newest, "r+b") as file:
        file.truncate(newest.stat().st_size // 2)
    told = normsweep("run", sweep, "-j", "0").stderr
    comes = "an earlier checkpoint is used" if count > 1 else "the run starts anew"
    lines = [line for line in told.splitlines() if " done, " not in line]  # progress, on a slow machine
    assert lines == [f"{newest.relative_to(tmp_path)}: damaged (checksum); {comes}"]
    assert_equal(whole, tmp_path / "sweep.nc")


@pytest.mark.parametrize("what", ["checkpoint_minutes=1e-4", "save_weights=true"])
def test_no_room_for_a_file_of_a_run(what, normsweep, sweep, tmp_path):
    """The disk's fault, not the run's: one line, status 3, and the same command, run again, continues."""
    settings = [f"--set={key}" for key in ("width=64", "feedforward=256", "steps=40", "seed=1", what)]
    if "checkpoint" not in what:
        settings.append("--set=checkpoint_minutes=60")
    normsweep("run", sweep, "-j", "0", "-o", "whole.nc", *settings)
    size = (tmp_path / "whole.nc").stat().st_size
    full = normsweep("run", sweep, "-j", "0", *settings, status=3,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    assert full.stderr.count("\n") == 1 and ".nc: File too large" in full.stderr and "sweep.nc.d/" in full.stderr
    assert list(tmp_path.glob("*.d/*.part")) == []
    with xr.open_dataset(tmp_path / "sweep.nc") as dataset:
        assert not (dataset.outcome == 4).any() and (dataset.outcome < 2).any()
    normsweep("run", sweep, "-j", "0", *settings)
    assert_equal(tmp_path / "whole.nc", tmp_path / "sweep.nc")
    kept = [pathlib.Path(path).name for path in tmp_path.glob("sweep.nc.d/*")]
    assert all(name.endswith(".weights.nc") for name in kept) and bool(kept) == ("save_weights" in what)
