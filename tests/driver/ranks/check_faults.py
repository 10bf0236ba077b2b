"""Faults that take about a minute each: slow starts, ranks that hang at a bad moment. `make faults` runs these after
its random ones."""

import os
import re
import shutil
import signal
import subprocess
import time

import pytest

import same
from conftest import NORMSWEEP, stand_in
from preloaded import CHECKPOINTS, preload
from test_faults import ENDLESS, SWEEP, outcomes, start  # noqa: F401 (for `sweep`)
from waited import wait_until
from watched import Watched

START_SECONDS = 120  # the longest time that a start may hang
SAVING = ["--set", "checkpoint_minutes=0.0003"]  # several in each run, also on a fast machine

# The first sync of an incomplete checkpoint stops its process; only once among all processes.
STOPS_WHILE_IT_SAVES = CHECKPOINTS + """
int fsync(int file)
{
    NEXT(int, fsync, int);
    if (is_part(file)) {
        int once = creat(getenv("STOPPED_ONCE"), 0666);
        if (once >= 0 && lockf(once, F_TLOCK, 0) == 0 && lseek(once, 0, SEEK_END) == 0) {
            int done = access(getenv("STOPPED_DONE"), F_OK) == 0;
            if (!done) {
                close(creat(getenv("STOPPED_DONE"), 0666));
                raise(SIGSTOP);
            }
        }
        if (once >= 0)
            close(once);
    }
    return next(file);
}
"""


def stopping(folder):
    (folder / "between").mkdir()
    return {**preload(folder / "between", STOPS_WHILE_IT_SAVES), "STOPPED_ONCE": str(folder / "between" / "lock"),
            "STOPPED_DONE": str(folder / "between" / "done")}


def test_a_worker_that_hangs_while_it_saves_is_given_up_like_any_other(normsweep, sweep, tmp_path):
    with Watched([NORMSWEEP, "run", sweep, "-j", "2", *SAVING], stopping(tmp_path), cwd=tmp_path) as command:
        command.wait_until((tmp_path / "between" / "done").exists, "a worker hangs")
        begin = time.monotonic()
        command.wait_until(lambda: "has been silent for" in command.text["err"], "it is given up", seconds=60)
        assert time.monotonic() - begin < 45
        assert command.ends() == 0, command.text
    normsweep("run", sweep, "-j", "0", *SAVING, "-o", "whole.nc")
    assert same.differences(same.read(tmp_path / "sweep.nc"), same.read(tmp_path / "whole.nc")) == []
    assert not (tmp_path / "sweep.nc.d").exists()


def test_a_worker_that_wakes_after_the_end_leaves_nothing(sweep, tmp_path):
    """Under an mpirun that is not ended, as on another host: the worker finishes the file that it was about to save."""
    mpirun = ["mpirun", "--enable-recovery", "--oversubscribe", "-n", "3", NORMSWEEP, "run", sweep, *SAVING]
    with Watched(mpirun, stopping(tmp_path), cwd=tmp_path) as command:
        command.wait_until((tmp_path / "between" / "done").exists, "a worker hangs")
        command.wait_until(lambda: (tmp_path / "sweep.nc").exists() and (outcomes(tmp_path / "sweep.nc") >= 2).all()
                   and not command.of("coordinator"), "the sweep has ended", seconds=150)
        assert not (tmp_path / "sweep.nc.d").exists() or not list(tmp_path.glob("sweep.nc.d/*"))
        left = [process for process in command.of("worker") if process.kill(signal.SIGCONT)]
        assert left, "no worker is left to wake"
        wait_until(lambda: not command.of("worker"), "the worker has ended", timeout=90)
        assert not list(tmp_path.glob("sweep.nc.d/*"))


def wrapped(folder, text):
    """The environment in which mpirun is a script with this text around the real one."""
    real = shutil.which("mpirun")
    return stand_in(folder, f'[ "$1" != --version ] || exec {real} --version\n{text.format(mpirun=real)}')


@pytest.mark.parametrize("wrapper", ["sleep 12; {mpirun} \"$@\"", "sleep 25; exec {mpirun} \"$@\""])
def test_a_slow_start_is_waited_for(sweep, tmp_path, wrapper):
    """Also behind a script, so that the ranks are its grandchildren."""
    with Watched([NORMSWEEP, "run", sweep, "-j", "2"], wrapped(tmp_path, wrapper), cwd=tmp_path) as command:
        assert command.ends(200) == 0, command.text
        assert re.fullmatch(r"(sweep.nc: mpirun was started \d+ s ago, .*\n)?", command.text["err"]), command.text


@pytest.mark.parametrize("role, moment", [("worker", 0.2), ("worker", 0.45), ("coordinator", 0.3), ("mpirun", 0.2)])
def test_no_start_hangs(sweep, tmp_path, role, moment):
    """A process that stops forever during the start delays the sweep by two minutes; the sweep goes on without it."""
    with start(sweep, "-j", "2") as command:
        command.wait_until(lambda: command.of(role), f"there is a {role}")
        time.sleep(moment)
        found = [process for process in command.of(role)[:1] if process.kill(signal.SIGSTOP)]
        begin = time.monotonic()
        assert command.ends(START_SECONDS + 30) == 0, (found, command.text)
        print(role, moment, f"{time.monotonic() - begin:.1f} s", re.sub(r"\s+", " ", command.text["err"]))
    assert not (tmp_path / "sweep.nc.d").exists()


def test_workers_without_a_coordinator_end(sweep, tmp_path):
    """As on another machine, where no process kills them: two minutes after its last message none trains or writes."""
    with start(sweep, "-j", "2", *ENDLESS, "--set", "checkpoint_minutes=0.01") as command:
        command.wait_until(lambda: len(list(tmp_path.glob("sweep.nc.d/*.nc"))) > 1, "runs are saved")
        others = [process for process in command.look() if process.role not in ("worker", "spare")]
        assert {process.role for process in others} == {"launcher", "mpirun", "coordinator"}
        for process in others:
            process.kill(signal.SIGSTOP)
        wait_until(lambda: not command.of("worker", "spare"), "no worker lives on", timeout=150)
        assert "the coordinator" in "".join(p.read_text() for p in tmp_path.glob("sweep.nc.d/worker-*.log"))
        for process in others:
            process.kill(signal.SIGKILL)


SLOW_DISK = CHECKPOINTS + """
int fsync(int file)
{
    NEXT(int, fsync, int);
    if (is_part(file))
        sleep(35);
    return next(file);
}
"""


def test_a_disk_that_is_slow_for_all_ends_no_sweep(sweep, tmp_path):
    """All workers are silent together while they save; they come back, and allow for the disk's pace from then on."""
    (tmp_path / "between").mkdir()
    environment = preload(tmp_path / "between", SLOW_DISK)
    with Watched([NORMSWEEP, "run", sweep, "-j", "2", "--set", "checkpoint_minutes=0.01"], environment,
                 cwd=tmp_path) as command:
        assert command.ends(580) == 0, command.text
        assert "starting again" not in command.text["err"] and "was lost" not in command.text["err"]


@pytest.mark.parametrize("victim", ["launcher", "script"])
def test_a_script_around_mpirun_leaves_nothing_running(sweep, tmp_path, victim):
    environment = wrapped(tmp_path, "sleep 1; {mpirun} \"$@\"")
    with Watched([NORMSWEEP, "run", sweep, "-j", "2", *ENDLESS], environment, cwd=tmp_path) as command:
        command.wait_until(lambda: same.RUNNING in outcomes(tmp_path / "sweep.nc")
                   if (tmp_path / "sweep.nc").exists() else False, "it trains")
        before = {process.pid for process in command.look() if process.role not in ("launcher", "other")}
        killed = command.process.pid
        if victim == "script":
            killed = int(subprocess.run(["ps", "-o", "ppid=", "-p", str(command.of("mpirun")[0].pid)],
                                        capture_output=True, text=True, check=True).stdout)
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: not before & {process.pid for process in command.look()}, "they have ended", timeout=60)
