"""One copy of a corpus on a machine, whatever becomes of the processes that use it."""

import os

import pytest

from conftest import NORMSWEEP
from watched import Watched

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


@pytest.fixture(autouse=True)
def words(tmp_path):
    (tmp_path / "words.txt").write_text("".join(f"one two three {i % 50}\n" for i in range(100000)))


def copy(pid):
    """The inode of the shared corpus that a process holds; None: it holds none."""
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            if os.readlink(entry.path).startswith("/memfd:normsweep-"):
                return os.stat(entry.path).st_ino
    except OSError:
        pass
    return None


def start(sweep, workers):
    return Watched([NORMSWEEP, "run", sweep, "-j", workers], cwd=sweep.parent)


def holders(command):
    """[(role, inode)] of the processes that hold a copy. A spare holds none."""
    return sorted((process.role, inode) for process in command.look() if (inode := copy(process.pid)))


def all_hold(command, *roles):
    return [role for role, _ in holders(command)] == [*roles]


def test_all_ranks_share_one_copy(sweep):
    shared_memory = set(os.listdir("/dev/shm"))
    with start(sweep, 2) as command:
        command.wait_until(lambda: all_hold(command, "coordinator", "launcher", "worker", "worker"), "all hold a copy")
        assert len({inode for _, inode in holders(command)}) == 1
        command.end()
    assert not [name for name in set(os.listdir("/dev/shm")) - shared_memory if "normsweep" in name]


def test_two_sweeps_share_a_copy(sweep, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text(SWEEP + "output: other.nc\n")
    with start(sweep, 1) as first, start(other, 0) as second:
        first.wait_until(lambda: all_hold(first, "coordinator", "launcher", "worker"), "the first sweep holds a copy")
        second.wait_until(lambda: all_hold(second, "launcher"), "the second holds one")
        assert len({inode for command in (first, second) for _, inode in holders(command)}) == 1
