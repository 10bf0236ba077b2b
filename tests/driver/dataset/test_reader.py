"""A dataset is read constantly while its sweep runs: it can always be opened, and each value is correct or missing."""

import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import same
from conftest import NORMSWEEP, PROJECT, tiny, train_sweep
from watched import Watched

pytestmark = pytest.mark.thorough("reads a sweep while it runs")

SWEEP = tiny(width=32, feedforward=64, context=32) + """\
steps: 2000
together:
  recipe:
    adamw: {optimiser: adamw, momentum: 0}
    adafactor: {optimiser: adafactor, momentum: 0}
    sgd: {optimiser: sgd, momentum: 0.9}
learning_rate: [1e-2, 1e3]
seed: [1, 2]
measure: {every: 1}
validate: {every: 100, tokens: 128}
checkpoint_minutes: 0.002
"""


def reader(path, whole_path):
    """Until stdin ends, reads the dataset repeatedly: every value equals that of the finished one or is missing."""
    whole, last = same.read(whole_path), None
    told = {"opened": 0, "partial": 0, "wrong": [], "back": 0}
    print("ready", flush=True)
    stop = []
    threading.Thread(target=lambda: (sys.stdin.read(), stop.append(True)), daemon=True).start()
    while not stop or not told["opened"]:
        try:
            part = same.read(path)
        except FileNotFoundError:
            if told["opened"]:
                told["wrong"].append("the dataset has vanished")
            continue
        except Exception as error:
            told["wrong"].append(f"opened {told['opened']} times, then: {error!r}")
            continue
        told["opened"] += 1
        told["wrong"] += same.strays(part, whole)
        outcome = part["outcome"].values
        told["partial"] += bool((outcome == same.RUNNING).any() and np.isfinite(part["train_loss"].values).any())
        if last is not None:
            if ((last >= same.DONE) & (outcome != last)).any():
                told["wrong"].append("a run that had ended has another outcome")
            told["back"] += int((outcome < last).sum())
        last = outcome
    print(json.dumps(told), flush=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return train_sweep(tmp_path_factory.mktemp("whole"), SWEEP)


def run_sweep(sweep, path, is_disturbed):
    """If it is disturbed, a worker is killed once there are rows, and with them a checkpoint."""
    with Watched([NORMSWEEP, "run", sweep, "-j", "2", "-o", path], cwd=path.parent) as command:
        if is_disturbed:
            assert command.wait(120, lambda: list(path.with_name("sweep.nc.d").glob("*.nc"))), command.text
            assert command.of("worker")[0].kill(signal.SIGKILL)
        assert not command.wait(300), command.stacks()
        assert command.process.returncode == 0, command.text
        assert command.wait_gone(60) is not None, command.stacks()


@pytest.mark.parametrize("is_disturbed", [False, True], ids=["undisturbed", "worker killed"])
def test_read_all_the_time(whole, tmp_path, is_disturbed):
    path = tmp_path / "sweep.nc"
    process = subprocess.Popen([sys.executable, __file__, path, whole], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, env={**os.environ, "PYTHONPATH": str(PROJECT / "tests")})
    try:
        assert process.stdout.readline() == "ready\n"
        run_sweep(whole.with_suffix(".yaml"), path, is_disturbed)
        out, _ = process.communicate(timeout=600)
    finally:
        process.kill()
        process.wait()
    told = json.loads(out)
    print(f"opened {told['opened']} times, {told['partial']} times with rows of runs under way")
    assert told["wrong"] == []
    assert told["opened"] > 0 and told["partial"] > 0
    assert is_disturbed or told["back"] == 0  # a run whose worker died waits again
    assert same.differences(same.read(path), same.read(whole)) == []


if __name__ == "__main__":
    reader(sys.argv[1], sys.argv[2])
