"""Workers that died together with their coordinator: what their logs tell counts at the next start."""

import signal

import netCDF4
import numpy as np
import pytest

import schemas
from preloaded import preload
from conftest import NORMSWEEP, run
from waited import ENDLESS, FAILED, SWEEP, Background, wait_until

pytestmark = pytest.mark.thorough("kills sweeps again and again")


def events(folder, *names):
    return [line for line in schemas.lines(folder / "log") if line["event"] in names]


def fatal(worker, run_, cell, killed_by=11):
    return (f"2026-11-23T06:10:02Z pid 25351 host n7 worker {worker}\n"
            f"2026-11-23T06:10:02Z pid 25351 host n7 begins run {run_} cell {cell}\n"
            f"killed by signal {killed_by}, in run {run_}, cell {cell}\n")


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


def start_and_stop(folder, *options, **others):
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log", *options, **others) as sweep:
        wait_until(lambda: events(folder, "run_started", "run_resumed"), "a run trains")
        sweep.send(signal.SIGTERM)
        return sweep.ended(75)[1]


def numbers(folder, name):
    with netCDF4.Dataset(folder / "a.nc") as dataset:
        return dataset[name][:].ravel().tolist()


def deaths(folder):
    return numbers(folder, "deaths")


def put(folder, name, cell, value):
    with netCDF4.Dataset(folder / "a.nc", "a") as dataset:
        values = dataset[name][:]
        values[tuple(int(i) for i in np.unravel_index(cell, values.shape))] = value
        dataset[name][:] = values


def started_and_killed(folder, *options):
    """A start that ends before a checkpoint, which would take the deaths back."""
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log", *options) as sweep:
        wait_until(lambda: events(folder, "run_started", "run_resumed"), "a run trains")
        sweep.process.kill()
        return sweep.process.communicate()[1]


def test_a_run_that_killed_once_too_often(stopped):
    """It fails, without being begun again; its log is kept and its checkpoint is not."""
    folder, cell, digest = stopped
    assert numbers(folder, "attempts")[cell] == 1
    put(folder, "deaths", cell, 2)
    (folder / "a.nc.d/worker-000000-3.log").write_text(fatal(3, digest, (cell + 1) % 8))  # as if the grid had grown
    err = start_and_stop(folder)
    assert err.startswith("a.nc: an earlier start lost worker 3 on n7, killed by signal 11, in learning_rate=")
    with netCDF4.Dataset(folder / "a.nc") as dataset:
        assert dataset["outcome"][:].ravel()[cell] == FAILED and dataset["attempts"][:].ravel()[cell] == 3
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
    assert "earlier start lost" not in err and not any(deaths(folder)) and not events(folder, "worker_lost")
    assert not list((folder / "a.nc.d").glob("worker-*"))


def test_a_worker_whose_rank_has_another_number(stopped):
    """As that of a spare has, or of a second host."""
    folder, cell, digest = stopped
    (folder / "a.nc.d/worker-000000-5.log").write_text(fatal(2, digest, cell))
    assert start_and_stop(folder).startswith("a.nc: an earlier start lost worker 2 on n7, killed by signal 11, in ")
    lost, = events(folder, "worker_lost")
    assert (lost["worker"], lost["rank"]) == (2, 5)


def test_a_death_is_counted_once(stopped):
    folder, cell, digest = stopped
    (folder / "a.nc.d/worker-000000-12.log").write_text(fatal(12, digest, cell))
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log") as sweep:
        wait_until(lambda: events(folder, "run_resumed"), "the run goes on")
        assert deaths(folder)[cell] == 1 and sum(deaths(folder)) == 1
        sweep.process.kill()
    (folder / "log").unlink()
    assert "earlier start lost" not in start_and_stop(folder)
    assert run(NORMSWEEP, "status", "a.nc", cwd=folder).stdout.count("failed") == 0


# The log cannot be removed: it does not count, now or ever after.
KEPT = """
#define CALL(name, arguments, path, ...) \\
    int name arguments \\
    { \\
        static int (*next) arguments; \\
        if (strstr(path, "worker-")) { \\
            errno = EIO; \\
            return -1; \\
        } \\
        if (!next) \\
            next = dlsym(RTLD_NEXT, #name); \\
        return next(__VA_ARGS__); \\
    }
CALL(unlink, (const char *path), path, path)
CALL(unlinkat, (int folder, const char *path, int flags), path, folder, path, flags)
"""


def test_a_log_that_cannot_be_removed(stopped):
    folder, cell, digest = stopped
    put(folder, "deaths", cell, 1)
    log = folder / "a.nc.d/worker-000000-1.log"
    log.write_text(fatal(1, digest, cell))
    for _ in range(2):
        with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log",
                        env=preload(folder, KEPT)) as sweep:
            wait_until(lambda: events(folder, "run_started", "run_resumed"), "a run trains")
            sweep.process.kill()
        assert log.exists() and deaths(folder)[cell] == 1 and not events(folder, "worker_lost")
        (folder / "log").unlink()
    assert "earlier start lost" not in start_and_stop(folder) and not log.exists()  # runs have gone on since
    assert numbers(folder, "outcome")[cell] != FAILED


def test_logs_beside_a_new_dataset(stopped):
    """They tell of runs of the dataset that was removed, though these had the same digests."""
    folder, cell, digest = stopped
    (folder / "a.nc").unlink()
    for number in range(3):
        (folder / f"a.nc.d/worker-{number:06}-1.log").write_text(fatal(1, digest, cell))
    assert "earlier start lost" not in start_and_stop(folder)
    assert not any(deaths(folder)) and not list((folder / "a.nc.d").glob("worker-*"))


def test_two_logs_of_one_attempt(stopped):
    folder, cell, digest = stopped
    for number in (1, 2, 3):
        (folder / f"a.nc.d/worker-000000-{number}.log").write_text(fatal(number, digest, cell))
    started_and_killed(folder)
    assert deaths(folder)[cell] == 1 and len(events(folder, "worker_lost")) == 1


@pytest.mark.parametrize("signals, counted", [([6], 1), ([6, 6], 0), ([6, 11], 1), ([11], 1)])
def test_an_abort_beside_another_crash(stopped, signals, counted):
    """MPI libraries abort the neighbours of a process that has crashed: an abort alone blames its run."""
    folder, cell, digest = stopped
    for number, killed_by in enumerate(signals, 1):
        (folder / f"a.nc.d/worker-000000-{number}.log").write_text(fatal(number, digest, cell, killed_by))
    started_and_killed(folder)
    assert deaths(folder)[cell] == counted
    assert [line["message"] for line in events(folder, "worker_lost")] == [f"killed by signal {signals[-1]}"] * counted


def test_a_crash_before_its_start_was_written(stopped):
    """The dataset then learns from the log that the run was started, where, and in which session."""
    folder, cell, digest = stopped
    other = (cell + 1) % 8
    assert numbers(folder, "attempts")[other] == 0
    put(folder, "attempts", cell, 0)
    put(folder, "session", cell, -1)
    put(folder, "deaths", cell, 2)
    (folder / "a.nc.d/worker-000000-1.log").write_text(fatal(1, digest, cell))
    start_and_stop(folder)
    assert (numbers(folder, "outcome")[cell], numbers(folder, "attempts")[cell]) == (FAILED, 3)
    assert numbers(folder, "session")[cell] == 0
    with netCDF4.Dataset(folder / "a.nc") as dataset:
        assert dataset["host"][:].ravel()[cell] == "n7"


def test_a_third_death_and_retry_failed(stopped):
    """The run is begun again, and is not failed by what happened before."""
    folder, cell, digest = stopped
    put(folder, "deaths", cell, 2)
    (folder / "a.nc.d/worker-000000-1.log").write_text(fatal(1, digest, cell))
    start_and_stop(folder, "--retry-failed")
    assert events(folder, "run_resumed")[0]["cell"] == cell and not events(folder, "run_ended", "worker_lost")
    assert numbers(folder, "outcome")[cell] != FAILED and not list((folder / "a.nc.d").glob("worker-*"))
    assert "killed by signal 11" in (folder / f"a.nc.d/{digest}.log").read_text()


def test_a_checkpoint_takes_the_deaths_back(stopped):
    """Also in one process: the stop writes a checkpoint."""
    folder, cell, _ = stopped
    put(folder, "deaths", cell, 2)
    start_and_stop(folder)
    assert deaths(folder)[cell] == 0


def test_a_sweep_of_one_run(tmp_path):
    (tmp_path / "a.yaml").write_text("".join(f"{line}\n" for line in SWEEP.splitlines() if "[0" not in line
                                             and "[true" not in line and "[out" not in line))
    start_and_stop(tmp_path)
    digest, = {path.name.split("-")[0] for path in (tmp_path / "a.nc.d").glob("*-*.nc")}
    (tmp_path / "a.nc.d/worker-000000-1.log").write_text(fatal(1, digest, 0))
    (tmp_path / "log").unlink()
    assert start_and_stop(tmp_path).splitlines()[0] == (
        "a.nc: an earlier start lost worker 1 on n7, killed by signal 11, in the run")
