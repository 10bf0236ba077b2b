"""Sweeps with `stop_when: phase` that are stopped and resumed: their datasets and weights are, bit for bit, those of a
sweep that was never stopped."""

import signal

import netCDF4
import pytest

import same
from conftest import NORMSWEEP, run, run_until, tiny, train_sweep

pytestmark = pytest.mark.thorough("trains whole sweeps")

SWEEP = tiny(width=32, feedforward=64) + """\
steps: 4000
learning_rate: [0.003, 0.01]
weight_decay: [5, 0.3, 0]
measure: {every: 40, metrics: [norms, alignment]}
validate: {every: 300, tokens: 400}
stop_when: phase
save_weights: true
checkpoint_minutes: 1e-4
"""
LIVES = 3  # that are ended


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    with netCDF4.Dataset(train_sweep(folder, SWEEP)) as file:
        early, last = file["ended_early"][:].ravel(), file["last_step"][:].ravel()
    assert (early == 1).sum() >= 2 and (early == 0).any()  # both kinds of runs
    assert ((last < 4000) == (early == 1)).all()
    return folder


@pytest.mark.parametrize("jobs, number", [("0", signal.SIGTERM), ("0", signal.SIGKILL), ("2", signal.SIGTERM)])
def test_stopped_and_resumed(undisturbed, tmp_path, jobs, number):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    command, saved = [NORMSWEEP, "run", "sweep.yaml", "-j", jobs], lambda: set((tmp_path / "sweep.nc.d").glob("*-*.nc"))
    resumed = set()
    for _ in range(LIVES):
        before = saved()
        run_until(lambda: not saved() <= before, number, *command, cwd=tmp_path)
        resumed |= {path.name.split("-")[0] for path in saved()}
    run(*command, cwd=tmp_path)
    assert same.differences(same.read(tmp_path / "sweep.nc"), same.read(undisturbed / "sweep.nc")) == []
    kept = same.read_weights(undisturbed / "sweep.nc")
    assert len(kept) == 6 and same.read_weights(tmp_path / "sweep.nc") == kept
    assert any(kept[f"{digest}.weights.nc"][0] < 4000 for digest in resumed)
