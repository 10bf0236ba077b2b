"""One copy of a corpus on a machine, whatever becomes of the processes that use it."""

import os
import signal

import pytest

from test_run import Start, processes, rank, wait_until

pytestmark = pytest.mark.thorough("kills processes that share a corpus")

SWEEP = """
corpus: text
train_text: words.txt
sequences: lines
layers: 1
width: 8
heads: 1
feedforward: 8
context: 8
batch: 4
steps: 1000000
seed: {range: [0, 3]}
measure: {every: 100000}
"""


@pytest.fixture
def sweep(tmp_path):
    (tmp_path / "words.txt").write_text("".join(f"one two three {i % 50}\n" for i in range(100000)))
    path = tmp_path / "sweep.yaml"
    path.write_text(SWEEP)
    return path


def copy(pid):
    """The inode of the shared corpus that a process holds; None: it holds none."""
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            if os.readlink(entry.path).startswith("/memfd:normsweep-"):
                return os.stat(entry.path).st_ino
    except OSError:
        pass
    return None


def is_ours(pid):
    """Not an mpirun, which names the sweep, too."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "normsweep"
    except OSError:
        return False


def holders(sweep):
    """{rank: inode} of the processes of a sweep that hold a copy; the launcher is rank -1. A spare holds none."""
    return {rank(pid): copy(pid) for pid in processes(sweep) if is_ours(pid) and copy(pid)}


def all_hold(sweep, ranks):
    return set(holders(sweep)) == set(ranks)


def test_all_ranks_share_one_copy(sweep):
    shared_memory = set(os.listdir("/dev/shm"))
    with Start(sweep, "-j", "2") as start:
        wait_until(lambda: all_hold(sweep, [-1, 0, 1, 2]), "launcher, coordinator and workers hold a copy")
        assert len(set(holders(sweep).values())) == 1
        pids = processes(sweep)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        start.process.communicate()
        wait_until(lambda: not processes(sweep), "all are dead")
    assert not [name for name in set(os.listdir("/dev/shm")) - shared_memory if "normsweep" in name]


def test_two_sweeps_share_a_copy(sweep, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text(SWEEP + "output: other.nc\n")
    with Start(sweep, "-j", "1"), Start(other, "-j", "0"):
        wait_until(lambda: all_hold(sweep, [-1, 0, 1]), "the first sweep holds a copy")
        wait_until(lambda: all_hold(other, [-1]), "the second holds one")
        assert set(holders(sweep).values()) == set(holders(other).values())
