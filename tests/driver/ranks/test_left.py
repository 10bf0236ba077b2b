"""A lost process leaves no files behind, and a rank that does not share the output's folder does not begin."""

import os
import re
import shutil
import signal
import subprocess

import pytest

from conftest import NORMSWEEP, run, stand_in, tiny
from fault_sweeps import said
from preloaded import preload
from schemas import events
from watched import Watched, files_in

pytestmark = pytest.mark.thorough("kills sweeps again and again")

SWEEP = tiny(width=16, context=16) + """\
steps: 3000
seed: [1, 2]
measure: {every: 1000}
checkpoint_minutes: 0.002
"""

# Simulates a host that does not share the output's folder: the coordinator's file is missing for rank 2, which is slow
# to notice.
ELSEWHERE = """
static int is_elsewhere(const char *path)
{
    const char *rank = getenv("PMIX_RANK");
    return rank && strcmp(rank, "2") == 0 && ends(path, ".mark");
}
int open(const char *path, int flags, ...)
{
    NEXT(int, open, const char *, int, int);
    if (is_elsewhere(path)) {
        usleep(500000);
        errno = ENOENT;
        return -1;
    }
    return next(path, flags, 0666);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
"""


def status(folder):
    return subprocess.run([NORMSWEEP, "status", "sweep.nc"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True).stdout


def files(folder):
    return [path for path in folder.rglob("*") if not path.is_dir()]


def test_a_folder_that_is_not_shared_is_refused(sweep, tmp_path, normsweep):
    """Before any worker has a run, as all of them would be in vain if the sweep needs this host."""
    refused = normsweep("run", sweep, "-j", "2", "--log", "log", status=3, env=preload(tmp_path, ELSEWHERE))
    assert [line["event"] for line in events(tmp_path)] == ["sweep_started", "sweep_failed"]
    lines = refused.stderr.splitlines()
    assert len(lines) == 1, lines
    assert "sweep.nc.d is not the folder that the coordinator on " in lines[0] and "hosts share" in lines[0]
    assert not list(tmp_path.glob("sweep.nc.d/*")) and not list(tmp_path.glob("*.lease*"))
    normsweep("run", sweep, "-j", "2")


def test_a_killed_mpirun_leaves_nothing(sweep, tmp_path):
    """Its folder and the shared memory of its ranks are removed by the time the command ends. Files of other mpiruns
    stay."""
    temporary, shared = tmp_path / "t", tmp_path / "shared"
    owner = f"{os.uname().nodename}.{os.geteuid()}"
    others = {temporary / f"ompi.{owner}/pid.1/contact.txt", shared / f"vader_segment.{owner}.10001.0"}
    for other in others:
        other.parent.mkdir(parents=True)
        other.touch()
    with Watched([NORMSWEEP, "run", sweep, "-j", "2", "--set", "steps=20000"], files_in(temporary, shared),
                 cwd=tmp_path) as command:
        assert command.wait(60, lambda: list(tmp_path.glob("sweep.nc.d/*.nc")))
        assert len(files(temporary)) > 1 and len(files(shared)) > 1, "mpirun has its files elsewhere"
        assert command.of("mpirun")[0].kill(signal.SIGKILL)
        assert not command.wait(120), command.stacks()
        assert command.process.returncode == 0, command.text
        assert "the coordinator was lost; starting again" in command.text["err"]
    left = {path for path in tmp_path.rglob("*") if not path.is_dir()}
    assert left == others | {sweep, tmp_path / "sweep.nc"}
    assert not list(temporary.glob("normsweep-*"))


def test_an_mpirun_that_has_the_number_of_a_killed_one(sweep, tmp_path):
    """Where that one's files are, Open MPI 5.0 removes them and ends (openpmix 4022), and the next start has another
    number. Other mpiruns start at once."""
    environment = {**os.environ, "TMPDIR": str(tmp_path / "t"), **stand_in(tmp_path, f"""\
        [ "$1" = --version ] || [ -f once ] || {{ mkdir t/ompi.$$ && >t/ompi.$$/pmix.$(uname -n).tool && >once; }}
        exec {shutil.which("mpirun")} "$@\"""")}
    (tmp_path / "t").mkdir()
    begun = subprocess.run([NORMSWEEP, "run", sweep, "-j", "2"], cwd=tmp_path, env=environment,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert begun.returncode == 0 and "2 runs: 2 done" in begun.stdout, begun
    if re.search(r"^MPI +Open MPI v?5\.0", run(NORMSWEEP, "--version").stdout, re.M):
        assert said(begun.stderr) == ["sweep.nc: mpirun ended before the sweep began; starting again"]
        assert not list(tmp_path.glob("t/*"))
    else:
        assert not said(begun.stderr)


def test_a_mark_that_a_cleaner_has_removed_is_left_again(sweep, tmp_path):
    """A worker that comes later finds it, and so does whoever saves when the sweep is stopped."""
    def marks():
        return list(tmp_path.glob("sweep.nc.d/coordinator-*.mark"))

    forever = ["--set", "steps=100000000", "--set", "measure={every: 1000000}", "--set", "checkpoint_minutes=60"]
    with Watched([NORMSWEEP, "run", sweep, "-j", "2", *forever], cwd=tmp_path) as command:
        assert command.wait(60, lambda: marks() and len(command.of("worker")) == 2
                            and all(worker.catches(signal.SIGUSR1) for worker in command.of("worker")))
        assert command.wait(60, lambda: "running" in status(tmp_path))
        mark, = marks()
        mark.unlink()
        assert command.of("worker")[0].kill(signal.SIGKILL)
        assert command.wait(60, lambda: "has been replaced" in command.text["err"])
        assert "has been replaced" in command.text["err"] and mark.exists(), command.text
        mark.unlink()
        assert command.wait(30, mark.exists) and mark.exists(), command.text
        command.process.send_signal(signal.SIGTERM)
        assert not command.wait(60), command.stacks()
        assert command.process.returncode == 75, command.text
