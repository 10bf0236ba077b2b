"""Ctrl-C: what run says at the first and at the second."""

import os
import pathlib
import re
import signal
import time

import pytest

from conftest import NORMSWEEP
from preloaded import preload
from schemas import events
from test_status import Screen
from waited import ENDLESS, RUNS, SWEEP, Background, wait_until

pytestmark = pytest.mark.thorough("waits for sweeps that are interrupted")

TOLD = ("a.nc: interrupted: runs under way may lose their steps since their last checkpoints, all else is kept; run "
        "the same command again to continue")
EARLY = "a.nc: interrupted before the start had the dataset, nothing is lost; run the same command again"
# While the file `hold` is there, nothing is saved.
HOLD = """
int fsync(int file)
{
    NEXT(int, fsync, int);
    while (access("hold", F_OK) == 0)
        usleep(10000);
    return next(file);
}
"""

# The lease is not opened while the file `hold` is there.
HOLD_LEASE = """
int open(const char *path, int flags, ...)
{
    NEXT(int, open, const char *, int, int);
    if (ends(path, ".lease") && access("hold", F_OK) == 0)
        close(next("held", O_CREAT | O_WRONLY, 0666));
    while (ends(path, ".lease") && access("hold", F_OK) == 0)
        usleep(10000);
    return next(path, flags, 0666);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
"""
# Rank 0 does not leave MPI while the file `hold` is there.
HOLD_END = """
int MPI_Finalize(void)
{
    NEXT(int, MPI_Finalize, void);
    if (getenv("PMIX_RANK") && strcmp(getenv("PMIX_RANK"), "0") == 0)
        close(open("held", O_CREAT | O_WRONLY, 0666));
    while (access("hold", F_OK) == 0)
        usleep(10000);
    return next();
}
"""


def trains(folder):
    return events(folder, "run_started", "run_resumed")


def interrupt_until_ended(process):
    deadline = time.monotonic() + 600
    while process.poll() is None:  # those that come close together are one
        assert time.monotonic() < deadline
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)


def stop_workers(folder):
    """So that the first Ctrl-C does not end the sweep."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") != str(folder):
                continue
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if re.search(rb"\0PMIX_RANK=[12]\0", environment):
            os.kill(int(entry.name), signal.SIGSTOP)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_second_interrupt_is_told(folder, workers):
    """In one line; the log has none, as after any other kill."""
    environment = preload(folder, HOLD) if workers == "0" else dict(os.environ)
    with Background(folder, "run", "a.yaml", "-j", workers, *ENDLESS, "--log", "log", env=environment) as sweep:
        wait_until(lambda: trains(folder), "a run trains")
        (folder / "hold").touch()
        stop_workers(folder)
        interrupt_until_ended(sweep.process)
        out, err = sweep.ended(130)
    (folder / "hold").unlink()
    first, last = err.splitlines()
    assert re.fullmatch(rf"stopping, saving, 0/{RUNS} done, \d running, 0 diverged, 0 failed", first)
    assert last == TOLD and "stopped" not in out
    assert not any(line["event"].startswith("sweep_s") for line in events(folder)[1:])


def test_before_anything_trains(folder):
    (folder / "hold").touch()
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, env=preload(folder, HOLD)) as sweep:
        wait_until((folder / "a.nc.lease").exists, "the start is under way")
        interrupt_until_ended(sweep.process)
        assert sweep.ended(130) == ("", TOLD + "\n")


def test_before_the_start_has_the_dataset(folder):
    (folder / "hold").touch()
    with Background(folder, "run", "a.yaml", "-j", "0", *ENDLESS, "--log", "log",
                    env=preload(folder, HOLD_LEASE)) as sweep:
        wait_until((folder / "held").exists, "the start is about to take the dataset")
        interrupt_until_ended(sweep.process)
        assert sweep.ended(130) == ("", EARLY + "\n")
    assert events(folder) == [] and not (folder / "a.nc").exists()


def test_after_the_last_run_has_ended(folder):
    """Nothing is lost any more, so no loss is told, and the log has the end of the sweep."""
    (folder / "hold").touch()
    with Background(folder, "run", "a.yaml", "-j", "2", "--log", "log", env=preload(folder, HOLD_END)) as sweep:
        wait_until((folder / "held").exists, "the coordinator has ended its work")
        interrupt_until_ended(sweep.process)
        out, err = sweep.ended(0)
    assert f"{RUNS} runs: {RUNS} done" in out and "lose" not in err
    last = events(folder)[-1]
    assert last["event"] == "sweep_ended" and last["exit_status"] == 0


def test_on_a_terminal(folder):
    """The display says at once that it saves; the second Ctrl-C leaves its line below."""
    screen = Screen(NORMSWEEP, "run", "a.yaml", "-j", "2", *ENDLESS, columns=100, cwd=folder)
    screen.wait_for(r"/100000000 .* tokens/s\n0/8 done, 2 running, .* tokens/s in all")
    stop_workers(folder)
    screen.process.send_signal(signal.SIGINT)
    screen.wait_for(r"/100000000 .* tokens/s\nstopping, saving, 0/8 done, 2 running")
    interrupt_until_ended(screen.process)
    screen.wait_for(r"a\.nc: interrupted: runs under way may lose")
    assert screen.end() == 130
