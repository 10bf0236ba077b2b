"""SIGKILL at fixed moments: of a worker, the coordinator and mpirun when a step is measured, and of a whole sweep
before each of its syncs; and a disk that is full from a write on. Afterwards the same command ends with the bits of an
undisturbed sweep.

tests/driver/ranks/test_faults.py has faults of more kinds, at random moments."""

import re
import signal
import subprocess

import netCDF4
import pytest

import same
from conftest import NORMSWEEP, PROJECT, run, tiny, train_sweep
from preloaded import preload
from schemas import events
from waited import ENDLESS, Background, wait_until

SWEEP = tiny(corpus_tokens=2000, width=16, context=16) + """\
steps: 60
learning_rate: [1e-2, 1e-3]
seed: [1, 2]
measure: {every: 10}
"""
RUNS = 4
STEP = 30

# The rank that sends, or receives, the row of a step for the first time kills what it is told to.
KILL_AT_A_ROW = """
#include "worker/wire/wire.h"
#include <mpi.h>

static void kill_once(const struct message *message, const char *victim, pid_t pid)
{
    if (message->kind == MESSAGE_ROW && message->as.row.step == KILL_STEP && strcmp(getenv("VICTIM"), victim) == 0 &&
        open(MARK, O_CREAT | O_EXCL | O_WRONLY, 0666) >= 0)
        kill(pid, SIGKILL);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    kill_once(buffer, "worker", getpid());
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    int received = PMPI_Recv(buffer, count, type, from, tag, comm, status);
    kill_once(buffer, "coordinator", getpid());
    kill_once(buffer, "mpirun", getppid());
    return received;
}
"""

# The process dies as it would begin the sync of this number.
KILL_AT_A_SYNC = """
static void count_sync(void)
{
    static int count;
    if (++count == atoi(getenv("SYNC")))
        kill(getpid(), SIGKILL);
}

int fsync(int file)
{
    NEXT(int, fsync, int);
    count_sync();
    return next(file);
}

int fdatasync(int file)
{
    NEXT(int, fdatasync, int);
    count_sync();
    return next(file);
}
"""

# From the write of this number on there is no space left.
FULL_DISK = """
static int is_full(void)
{
    static int count;
    errno = ENOSPC;
    return ++count >= atoi(getenv("WRITES"));
}

ssize_t write(int file, const void *bytes, size_t size)
{
    NEXT(ssize_t, write, int, const void *, size_t);
    return file > STDERR_FILENO && is_full() ? -1 : next(file, bytes, size);
}
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The sweep file, and the values of its dataset."""
    path = train_sweep(tmp_path_factory.mktemp("undisturbed"), SWEEP)
    return path.with_suffix(".yaml"), same.read(path)


@pytest.mark.parametrize("victim", ["worker", "coordinator", "mpirun"])
def test_killed_when_a_step_is_measured(undisturbed, tmp_path, victim):
    """With a single worker the sweep needs the spare, however fast the machine is."""
    sweep, whole = undisturbed
    jobs = "1" if victim == "worker" else "2"
    environment = preload(tmp_path, KILL_AT_A_ROW, compiler="mpicc",
                          flags=[f"-I{PROJECT}", f"-DKILL_STEP={STEP}", f'-DMARK="{tmp_path}/killed"'])
    done = run(NORMSWEEP, "run", sweep, "-j", jobs, "-o", tmp_path / "sweep.nc",
               env=environment | {"VICTIM": victim}, cwd=tmp_path)
    assert (tmp_path / "killed").exists() and "lost" in done.stderr
    assert same.differences(same.read(tmp_path / "sweep.nc"), whole) == []
    if victim == "worker":
        with netCDF4.Dataset(tmp_path / "sweep.nc") as dataset:
            assert dataset["attempts"][:].sum() == RUNS + 1  # its run alone began anew
        assert "worker 1 on" in done.stderr and "has been replaced" in done.stderr
        assert "starting again" not in done.stderr
    assert sorted(path.name for path in tmp_path.glob("sweep.nc*")) == ["sweep.nc"]


def test_a_death_on_another_host_is_seen_there(undisturbed, tmp_path):
    """The workers' host has another name, so that the coordinator cannot look at their processes. One of them has told
    of the death, as nobody was silent for long enough."""
    sweep, whole = undisturbed
    if subprocess.run(["unshare", "--uts", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("a host name of its own needs root")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text('#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 0 ] && exec "$@"\n'
                         "exec unshare --uts sh -c 'hostname other && exec \"$@\"' sh \"$@\"\n")
    elsewhere.chmod(0o755)
    environment = preload(tmp_path, KILL_AT_A_ROW, compiler="mpicc",
                          flags=[f"-I{PROJECT}", f"-DKILL_STEP={STEP}", f'-DMARK="{tmp_path}/killed"'])
    done = run("mpirun", "--enable-recovery", "--oversubscribe", "-n", "4", elsewhere, NORMSWEEP, "run", sweep,
               "-o", tmp_path / "sweep.nc", env=environment | {"VICTIM": "worker"}, cwd=tmp_path)
    assert re.search(r"worker \d on other was lost; 2 of 3 are left", done.stderr), done.stderr
    assert same.differences(same.read(tmp_path / "sweep.nc"), whole) == []
    with netCDF4.Dataset(tmp_path / "sweep.nc") as dataset:
        assert dataset["attempts"][:].sum() == RUNS + 1 and dataset["deaths"][:].sum() == 1


def test_killed_before_each_sync(undisturbed, tmp_path):
    """Among them those between the values of a run and its outcome."""
    sweep, whole = undisturbed
    environment = preload(tmp_path, KILL_AT_A_SYNC)
    command = [NORMSWEEP, "run", sweep, "-j", "0", "-o", tmp_path / "sweep.nc"]
    interrupted = number = 0
    while number < 100:
        number += 1
        killed = subprocess.run(command, env=environment | {"SYNC": str(number)}, stdin=subprocess.DEVNULL,
                                capture_output=True, cwd=tmp_path, timeout=600)
        assert killed.returncode in (0, -signal.SIGKILL), killed.stderr
        if killed.returncode == 0:
            break
        if (tmp_path / "sweep.nc").exists():
            part = same.read(tmp_path / "sweep.nc")
            assert same.strays(part, whole) == [], number
            waits = ~same.ended(part)
            interrupted += (waits & ~part["norm_growth"].empty).any()  # its value is there, its outcome is not
        run(*command)
        assert same.differences(same.read(tmp_path / "sweep.nc"), whole) == [], number
        (tmp_path / "sweep.nc").unlink()
    assert 5 < number < 100 and interrupted >= 1


@pytest.mark.thorough("waits for sweeps that are killed")
def test_killed_whole_more_often_than_a_run_may_kill_workers(tmp_path):
    """The only run, which is under way each time, counts deaths and does not fail; its first checkpoint takes them
    back."""
    (tmp_path / "a.yaml").write_text(SWEEP.replace("[1e-2, 1e-3]", "1e-2").replace("[1, 2]", "1"))

    def begun():
        return [line["cell"] for line in events(tmp_path, "run_started")]

    def values(name):
        with netCDF4.Dataset(tmp_path / "a.nc") as dataset:
            return dataset[name][:].ravel().tolist()

    for start in range(5):
        with Background(tmp_path, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log") as sweep:
            wait_until(lambda: len(begun()) > start, "a run trains")
            cell = begun()[-1]
            wait_until(lambda: values("outcome")[cell] == same.RUNNING, "the dataset says so")
            assert values("deaths")[cell] == sum(values("deaths")) == min(start, 2)
            sweep.send(signal.SIGKILL if start < 4 else signal.SIGTERM)
            sweep.ended(-signal.SIGKILL if start < 4 else 75)
    assert set(begun()) == {cell} and not any(values("deaths"))


@pytest.mark.parametrize("writes", [1, 2, 4, 6])
def test_full_disk(undisturbed, tmp_path, writes):
    sweep, whole = undisturbed
    environment = preload(tmp_path, FULL_DISK)
    command = [NORMSWEEP, "run", sweep, "-j", "0", "-o", tmp_path / "sweep.nc"]
    error = run(*command, env=environment | {"WRITES": str(writes)}, cwd=tmp_path, status=3).stderr
    assert error.count("\n") == 1 and "No space left on device" in error
    if (tmp_path / "sweep.nc").exists():
        assert same.strays(same.read(tmp_path / "sweep.nc"), whole) == []
    run(*command)
    assert same.differences(same.read(tmp_path / "sweep.nc"), whole) == []
    assert sorted(path.name for path in tmp_path.glob("sweep.nc*")) == ["sweep.nc"]
