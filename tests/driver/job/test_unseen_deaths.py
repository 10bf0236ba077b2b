"""Workers that died together with their coordinator: what their logs tell counts at the next start."""

import signal

import netCDF4
import pytest

import schemas
from conftest import NORMSWEEP, run
from waited import ENDLESS, FAILED, SWEEP, Background, wait_until


def events(folder, *names):
    return [line for line in schemas.lines(folder / "log") if line["event"] in names]


def fatal(number, run_, cell):
    return (f"2026-11-23T06:10:02Z pid 25351 host n7 worker {number}\n"
            f"2026-11-23T06:10:02Z pid 25351 host n7 begins run {run_} cell {cell}\n"
            f"killed by signal 11, in run {run_}, cell {cell}\n")


@pytest.fixture
def stopped(tmp_path):
    """The folder of a sweep with a run under way; its cell and its digest."""
    (tmp_path / "a.yaml").write_text(SWEEP)
    with Background(tmp_path, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log") as sweep:
        wait_until(lambda: events(tmp_path, "run_started"), "a run trains")
        sweep.send(signal.SIGTERM)
        sweep.ended(75)
    begun, = events(tmp_path, "run_started")
    saved, = {path.name.split("-")[0] for path in (tmp_path / "a.nc.d").glob("*-*.nc")}
    (tmp_path / "log").unlink()
    return tmp_path, begun["cell"], saved


def start_and_stop(folder):
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log") as sweep:
        wait_until(lambda: events(folder, "run_started", "run_resumed"), "a run trains")
        sweep.send(signal.SIGTERM)
        return sweep.ended(75)[1]


def deaths(folder):
    with netCDF4.Dataset(folder / "a.nc") as dataset:
        return dataset["deaths"][:].ravel().tolist()


def test_a_run_that_killed_once_too_often(stopped):
    """It fails, without being begun again; its log is kept and its checkpoint is not."""
    folder, cell, digest = stopped
    with netCDF4.Dataset(folder / "a.nc", "a") as dataset:
        assert dataset["attempts"][:].ravel()[cell] == 1
        shape = dataset["deaths"].shape
        values = dataset["deaths"][:].ravel()
        values[cell] = 2
        dataset["deaths"][:] = values.reshape(shape)
    (folder / "a.nc.d/worker-000000-3.log").write_text(fatal(3, digest, (cell + 1) % 8))  # as if the grid had grown
    err = start_and_stop(folder)
    assert err.splitlines()[0].startswith("a.nc: worker 3 on n7 was lost, killed by signal 11, in the run ")
    with netCDF4.Dataset(folder / "a.nc") as dataset:
        assert dataset["outcome"][:].ravel()[cell] == FAILED and dataset["attempts"][:].ravel()[cell] == 1
        assert dataset["session"][:].ravel()[cell] == 0 and deaths(folder)[cell] == 3
        reason = str(dataset["reason"][:].ravel()[cell])
    assert reason == ("its worker died 3 times without a checkpoint in between, killed by signal 11; see "
                      f"a.nc.d/{digest}.log")
    assert "killed by signal 11" in (folder / f"a.nc.d/{digest}.log").read_text()
    assert not list((folder / "a.nc.d").glob(f"{digest}-*")) and not list((folder / "a.nc.d").glob("worker-*"))
    lost, = events(folder, "worker_lost")
    ended, = events(folder, "run_ended")
    assert (lost["worker"], lost["rank"], lost["host"], lost["cell"]) == (3, 3, "n7", cell)
    assert (ended["cell"], ended["outcome"], ended["reason"]) == (cell, "failed", reason)
    assert [line["event"] for line in schemas.lines(folder / "log")][:3] == [
        "sweep_resumed", "worker_lost", "run_ended"]


@pytest.mark.parametrize("text", [
    "", "killed by signal 11, between two runs\n", "killed by signal 11, in run 0123, cell 0\n",
    "killed by signal 11, in run {}", "killed by signal 11, in run {}, cell", "begins run {} cell 0\n",
    "killed by signal 11, in run {}0, cell 0\n", "in run {}, cell 0\n" * 500, "\0" * 5000])
def test_logs_that_tell_nothing(stopped, text):
    """Those of workers that were ended with the others, or that cannot be understood, count for nothing."""
    folder, _, digest = stopped
    (folder / "a.nc.d/worker-000000-1.log").write_text(text.replace("{}", digest))
    err = start_and_stop(folder)
    assert "was lost" not in err and not any(deaths(folder)) and not events(folder, "worker_lost")
    assert not list((folder / "a.nc.d").glob("worker-*"))


def test_a_death_is_counted_once(stopped):
    folder, cell, digest = stopped
    (folder / "a.nc.d/worker-000000-12.log").write_text(fatal(12, digest, cell))
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log") as sweep:
        wait_until(lambda: events(folder, "run_resumed"), "the run goes on")
        assert deaths(folder)[cell] == 1 and sum(deaths(folder)) == 1
        sweep.process.kill()
    (folder / "log").unlink()
    assert "was lost" not in start_and_stop(folder)
    assert run(NORMSWEEP, "status", "a.nc", cwd=folder).stdout.count("failed") == 0
