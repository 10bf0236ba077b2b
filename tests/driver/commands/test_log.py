"""run --log: every line against its schema, in sweeps that end, are stopped and resumed, and lose processes; and what a
log that cannot be written does."""

import os
import re
import signal
import time

import netCDF4
import pytest

import schemas
from schemas import events
from preloaded import preload
from conftest import NORMSWEEP, PROJECT, run
from waited import ENDLESS, RUNS, SWEEP, Background, let_one_fail, wait_until

pytestmark = pytest.mark.thorough("starts dozens of sweeps")

OFTEN = ["--set", "checkpoint_minutes=0.005"]


def follow(lines):
    """Follows what runs and workers do: whatever begins is not under way yet, and whatever ends is. A coordinator that
    was lost, and the end of a sweep, end all."""
    way, ended = {}, {}
    for line in lines:
        event = line["event"]
        if event in ("run_started", "run_resumed"):
            assert line["cell"] not in way and line["cell"] not in ended and line["worker"] not in way.values()
            assert (line["step"] > 0) == (event == "run_resumed") and line["step"] <= line["last_step"]
            way[line["cell"]] = line["worker"]
        elif event in ("run_ended", "run_returned"):
            assert way.pop(line["cell"]) == line["worker"]
            if event == "run_ended":
                ended[line["cell"]] = line["outcome"]
        elif event == "worker_lost":
            assert "cell" not in line or way[line["cell"]] == line["worker"]
        elif event != "worker_replaced":
            assert not way or event == "coordinator_restarted"
            way.clear()
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)
    return ended


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_sweep_from_its_start_to_its_end(folder, workers):
    run(NORMSWEEP, "run", "a.yaml", "-j", workers, "--log", "log", cwd=folder)
    lines = events(folder)
    first, last = lines[0], lines[-1]
    assert first["event"] == "sweep_started" and first["workers"] == max(int(workers), 1)
    assert first["cells"] == first["runs_left"] == first["counts"]["pending"] == RUNS
    status = schemas.read(run(NORMSWEEP, "status", "a.nc", "--json", cwd=folder).stdout, "status")
    for name in ("version", "host", "start", "blas_kernel", "number"):
        assert first["session"][name] == status["session"][name]
    assert last["event"] == "sweep_ended" and (last["exit_status"], last["message"]) == (0, None)
    for name in ("path", "cells", "runs", "ended", "counts"):
        assert last[name] == status[name]
    assert follow(lines) == dict.fromkeys(range(RUNS), "done")
    with netCDF4.Dataset(folder / "a.nc") as dataset:
        growth, seconds = dataset["norm_growth"][:].ravel(), dataset["seconds"][:].ravel()
        axes = [dataset[name][:] for name in ("learning_rate", "bias", "norm_placement")]
    for line in events(folder, "run_ended"):
        cell = line["cell"]
        assert (line["norm_growth"], line["seconds"]) == (growth[cell], seconds[cell]) and line["last_step"] == 20
        assert list(line["axes"].values()) == [axes[0][cell // 4], bool(axes[1][cell // 2 % 2]), axes[2][cell % 2]]
    run(NORMSWEEP, "run", "a.yaml", "-j", workers, "--log", "log", cwd=folder)  # nothing left to do
    assert [line["event"] for line in events(folder)[len(lines):]] == ["sweep_ended"]
    let_one_fail(folder / "a.nc", "for a reason")
    run(NORMSWEEP, "run", "a.yaml", "-j", workers, "--retry-failed", "--log", "log", cwd=folder)
    again = [line["event"] for line in events(folder)[len(lines) + 1:]]
    assert again == ["sweep_resumed", "run_started", "run_ended", "sweep_ended"]


def test_divergence_has_no_number(folder):
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", "--set", "optimiser=sgd", "--set", "learning_rate=10", "--set",
        "weight_decay=1000", "--set", "steps=200", "--log", "log", cwd=folder)
    ended = events(folder, "run_ended")
    assert {line["outcome"] for line in ended} == {"diverged"} and all(line["norm_growth"] is None for line in ended)


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_sweep_that_is_stopped_and_resumed(folder, workers):
    for start in range(2):
        with Background(folder, "run", "a.yaml", "-j", workers, *ENDLESS, *OFTEN, "--log", "log") as sweep:
            wait_until(lambda: len(events(folder, "run_started", "run_resumed")) > start, "a run trains")
            sweep.send(signal.SIGTERM)
            sweep.ended(75)
    assert [line["event"] for line in events(folder)] == [
        "sweep_started", "run_started", "run_returned", "sweep_stopped",
        "sweep_resumed", "run_resumed", "run_returned", "sweep_stopped"]
    assert follow(events(folder)) == {} and events(folder)[-1]["counts"]["pending"] == RUNS


def test_a_sweep_that_loses_a_worker_and_its_coordinator(folder):
    with Background(folder, "run", "a.yaml", "-j", "2", *ENDLESS, *OFTEN, "--log", "log") as sweep:
        wait_until(lambda: len(events(folder, "run_started")) == 2, "two runs train")
        wait_until(lambda: len(list((folder / "a.nc.d").glob("*-*"))) >= 2, "they are saved")
        assert sweep.of("worker")[0].kill(signal.SIGKILL)
        wait_until(lambda: len(events(folder, "run_started", "run_resumed")) == 3, "another worker has its run")
        lost, = events(folder, "worker_lost")
        assert lost["worker"] == lost["rank"] in (1, 2) and lost["message"] == "died"
        wait_until(lambda: events(folder, "worker_replaced"), "it was replaced")
        replaced, = events(folder, "worker_replaced")
        assert (replaced["worker"], replaced["rank"]) == (lost["worker"], 3)
        assert sweep.of("coordinator")[0].kill(signal.SIGKILL)
        wait_until(lambda: len(events(folder, "run_started", "run_resumed")) == 5, "the coordinator is back")
        sweep.send(signal.SIGTERM)
        sweep.ended(75)
    assert follow(events(folder)) == {}
    begun = events(folder, "sweep_started", "coordinator_restarted", "sweep_resumed", "sweep_stopped")
    assert [line["event"] for line in begun] == ["sweep_started", "coordinator_restarted", "sweep_resumed",
                                                 "sweep_stopped"]
    assert begun[1]["message"] == "the coordinator was lost" and begun[2]["session"]["number"] == 1


def test_a_foreign_mpirun(folder):
    run("mpirun", "--oversubscribe", "-n", "3", NORMSWEEP, "run", "a.yaml", "--log", "log", cwd=folder)
    lines = events(folder)
    assert [lines[0]["event"], lines[-1]["event"]] == ["sweep_started", "sweep_ended"]
    assert len(follow(lines)) == RUNS and len(events(folder, "sweep_started", "sweep_ended")) == 2
    run("mpirun", "-n", "2", "--oversubscribe", NORMSWEEP, "run", "a.yaml", "--log", "a.yaml", cwd=folder, status=2)
    assert (folder / "a.yaml").read_text() == SWEEP


def test_a_refined_sweep(folder):
    (folder / "a.yaml").write_text(SWEEP.replace("learning_rate: [0.1, 0.001]", "weight_decay: {log: [1e-3, 10], "
                                                 "points: 8}\nrefine: {axis: weight_decay, variable: norm_growth, "
                                                 "at: 1}"))
    run(NORMSWEEP, "run", "a.yaml", "-j", "2", "--log", "log", cwd=folder)
    last = events(folder)[-1]
    assert len(follow(events(folder))) == last["runs"] == last["ended"] < last["cells"] == 32


@pytest.mark.parametrize("name, said", [
    ("no/log", "no/log: No such file or directory"), (".", ".: Is a directory"),
    ("a.nc", "--log: a.nc is this sweep's dataset; give another file"),
    ("a.yaml", "a.yaml: is not a log of normsweep"), ("pipe", "pipe: is not a regular file, as a log must be"),
    ("other.nc", "other.nc: is not a log of normsweep")])
@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_log_that_cannot_be_opened(folder, name, said, workers):
    os.mkfifo(folder / "pipe")
    (folder / "other.nc").write_bytes(b"CDF\5")
    before = {path.name: path.is_file() and path.read_bytes() for path in folder.iterdir()}
    done = run(NORMSWEEP, "run", "a.yaml", "-j", workers, "--log", name, cwd=folder, status=2)
    assert done.stderr == said + "\n" and done.stdout == ""
    assert {path.name: path.is_file() and path.read_bytes() for path in folder.iterdir()} == before


# No room for the log, which alone is written with writev.
FULL = """
#include <sys/uio.h>
ssize_t writev(int file, const struct iovec *part, int count)
{
    NEXT(ssize_t, writev, int, const struct iovec *, int);
    struct stat status;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        errno = ENOSPC;
        return -1;
    }
    return next(file, part, count);
}
"""
LOST = "log: No space left on device; events are missing from this log"


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_full_disk_does_not_end_the_sweep(folder, workers):
    done = run(NORMSWEEP, "run", "a.yaml", "-j", workers, "--log", "log", cwd=folder, env=preload(folder, FULL))
    lines = set(done.stderr.splitlines())
    assert lines == {LOST + ", and the sweep goes on"} | ({LOST} if workers == "1" else set())
    assert "8 runs: 8 done" in done.stdout
    if workers == "0":
        assert done.stderr.count("\n") == 1


def test_a_torn_line_stays_alone(folder):
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", "--log", "log", cwd=folder)
    whole = (folder / "log").read_text()
    (folder / "log").write_text(whole[:-40])
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", "--log", "log", cwd=folder)
    lines = (folder / "log").read_text().splitlines()
    assert "\n".join(lines[:-1]) == whole[:-40] and schemas.read(lines[-1], "log")["event"] == "sweep_ended"


def test_a_sweep_that_has_ended_does_not_go_on(folder):
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=folder)
    full = preload(folder, FULL)
    assert run(NORMSWEEP, "run", "a.yaml", "-j", "0", "--log", "log", cwd=folder, env=full).stderr == LOST + "\n"
    done = run(NORMSWEEP, "run", "none.yaml", "--log", "log", cwd=folder, env=full, status=2)
    assert done.stderr == f"none.yaml: No such file or directory\n{LOST}\n"


def test_starts_can_be_told_apart(folder):
    with Background(folder, "run", "a.yaml", "-j", "1", *ENDLESS, "--log", "log") as sweep:
        wait_until(lambda: events(folder, "run_started"), "a run trains")
        refused = run(NORMSWEEP, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log", cwd=folder, status=3)
        sweep.send(signal.SIGTERM)
        sweep.ended(75)
    line, = events(folder, "start_refused")
    assert line["message"] + "\n" == refused.stderr and "in use" in line["message"]
    own = [one["process"]["pid"] for one in events(folder) if one is not line and one["event"] != "start_refused"]
    assert set(own) == {sweep.process.pid} and line["process"]["pid"] != sweep.process.pid
    assert not events(folder, "sweep_failed")


def test_the_last_line_is_there_once_the_dataset_is_free(folder):
    """A process waits for the lease and looks at the log at once."""
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log") as sweep:
        wait_until(lambda: events(folder, "run_started"), "a run trains")
        held = os.open(folder / "a.nc.lease", os.O_RDONLY)
        sweep.send(signal.SIGTERM)
        deadline = time.monotonic() + 600
        while os.fstat(held).st_nlink:
            assert time.monotonic() < deadline
        assert events(folder)[-1]["event"] == "sweep_stopped"
        os.close(held)
        sweep.ended(75)
    assert events(folder)[-1]["counts"]["pending"] == RUNS


def test_a_dataset_that_is_gone_at_the_end(folder):
    """Also to a sweep that is just being stopped; the file in its place is none of its own."""
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log") as sweep:
        wait_until(lambda: events(folder, "run_started"), "a run trains")
        (folder / "a.nc").rename(folder / "b.nc")
        (folder / "a.nc").write_text("not a dataset")
        sweep.send(signal.SIGTERM)
        err = sweep.ended(3)[1]
    last = events(folder)[-1]
    assert last["event"] == "sweep_failed" and last["exit_status"] == 3 and last["message"] in err.splitlines()
    assert last["message"].startswith(f"a.nc: was renamed to {folder.resolve()}/b.nc while its sweep ran")
    assert (folder / "a.nc").read_text() == "not a dataset"


def test_events_are_named_alike_everywhere():
    table = re.findall(r'X\(\w+, "(\w+)"', (PROJECT / "driver/log/log.h").read_text())
    schema = []
    for part in schemas.schema("log")["oneOf"]:
        form = part["properties"]["event"]
        schema += form.get("enum", [form.get("const")])
    page = (PROJECT / "docs/scripts.md").read_text().split("## A log of what happens")[1].split("\n## ")[0]
    rows = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in page.splitlines() if line.startswith("| `")]
    assert len(set(table)) == len(table) and table == schema == [name for row in rows[1:] for name in row]


def test_tasks_that_no_mpi_connects(folder):
    """The first of them writes the line."""
    for rank in ("0", "1"):
        task = {**os.environ, "SLURM_PROCID": rank, "SLURM_STEP_NUM_TASKS": "2"}
        done = run(NORMSWEEP, "run", "a.yaml", "--log", "log", cwd=folder, env=task, status=3 if rank == "0" else 0)
        line, = events(folder)
        assert line["event"] == "start_refused" and line["exit_status"] == 3 and line["path"] == str(folder / "a.nc")
        assert (line["message"] + "\n" == done.stderr) == (rank == "0")
    assert not (folder / "a.nc").exists()


def test_a_failure_before_the_sweep(folder):
    run(NORMSWEEP, "run", "none.yaml", "--log", "log", cwd=folder, status=2)
    line, = events(folder)
    assert line["event"] == "start_refused" and line["message"] == "none.yaml: No such file or directory"
    assert line["path"] is None and "counts" not in line


def test_a_refused_start_names_its_output(folder):
    """As far as -o tells it, even if the sweep file cannot be read."""
    run(NORMSWEEP, "run", "none.yaml", "-o", "b.nc", "--log", "log", cwd=folder, status=2)
    line, = events(folder)
    assert line["event"] == "start_refused" and line["path"] == str(folder / "b.nc")
