"""A sweep in eight parts under HyperQueue, of which processes are killed on the way: the undivided sweep, bit for bit.

`make check-hyperqueue` runs this, in a network of its own, because the server of HyperQueue listens on all interfaces.
HyperQueue starts the parts, two at a time, and knows nothing of what they do: a part that has failed is submitted again
and goes on where it was.
"""

import os
import pathlib
import signal
import time

import pytest

from conftest import NORMSWEEP, run, script, tiny
from same import assert_equal

hyperqueue = pytest.importorskip("hyperqueue", reason="HyperQueue is not here: pip install hyperqueue; not checked: "
                                 "parts of a sweep that it starts")
PARTS, RUNS = 8, 32
SWEEP = tiny(vocabulary=64, layers=2, width=32, feedforward=64, context=32, batch=8) + """\
steps: 1200
learning_rate: {log: [1e-1, 1e-4], points: 4}
weight_decay: [0, 1]
seed: {range: [0, 3]}
measure: {every: 50}
"""


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    from hyperqueue.cluster import WorkerConfig
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # it leaves a socket there
    with hyperqueue.LocalCluster(str(tmp_path / "server"), WorkerConfig(cores=2)) as cluster:
        yield cluster.client()


def submit(client, folder, parts):
    job = hyperqueue.Job(default_workdir=folder)
    for part in parts:
        job.program([str(NORMSWEEP), "run", "sweep.yaml", "--part", f"{part}/{PARTS}", "-j", "1"], name=str(part),
                    stdout=str(folder / f"{part}.out"), stderr=str(folder / f"{part}.err"))
    return client.submit(job)


def processes(part):
    """The processes of a part: {pid: its parent}."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        if words[:1] == [os.fsencode(NORMSWEEP)] and f"{part}/{PARTS}".encode() in words:
            found[int(path.name)] = parent
    return found


def launcher(part):
    """The process that HyperQueue has started, whose workers are threads of this one."""
    return next((pid for pid, parent in processes(part).items() if parent == os.getpid()), None)


def worker(part):
    """A rank that has used a processor for a fifth of a second: the others sleep."""
    def ticks(pid):
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0
        return int(fields[11]) + int(fields[12])
    return next((pid for pid, parent in processes(part).items() if parent != os.getpid() and
                 ticks(pid) > os.sysconf("SC_CLK_TCK") / 5), None)


def wait_for(condition, what):
    end = time.monotonic() + 600
    while not (found := condition()):
        assert time.monotonic() < end, f"not within 600 s: {what}"
        time.sleep(0.01)
    return found


def test_parts_under_hyperqueue(cluster, tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    run(NORMSWEEP, "run", "sweep.yaml", "-j", "2", "-o", "whole.nc", cwd=tmp_path, timeout=600)
    job = submit(cluster, tmp_path, range(1, PARTS + 1))
    os.kill(wait_for(lambda: launcher(1), "the first part has begun"), signal.SIGKILL)  # HyperQueue sees its task fail
    os.kill(wait_for(lambda: worker(2), "a worker of the second part trains"), signal.SIGKILL)  # a spare goes on
    assert not cluster.wait_for_jobs([job], raise_on_error=False)
    failed = cluster.get_failed_tasks(job)
    assert list(failed) == [0] and "signal" in failed[0].error
    again = submit(cluster, tmp_path, range(1, PARTS + 1))
    assert cluster.wait_for_jobs([again], raise_on_error=False)
    for part in range(2, PARTS + 1):
        assert "nothing left to do: 4 runs: 4 done" in (tmp_path / f"{part}.out").read_text()
    said = run(NORMSWEEP, "status", "sweep.parts", cwd=tmp_path).stdout
    assert f"ended     {RUNS} of {RUNS} runs, 100.0 %" in said
    script("join", "sweep.parts", cwd=tmp_path)
    assert_equal(tmp_path / "sweep.nc", tmp_path / "whole.nc")
    assert "nothing left to do" in run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", cwd=tmp_path).stdout
