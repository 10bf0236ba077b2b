"""The benchmark of whole sweeps: its own side, what it says of missing packages, and that the other side trains the
same runs. Times are not judged, and neither joblib nor Ray is needed."""
import os
import re
import sys

import numpy as np
import pytest
import speed_peer
from conftest import BUILD, PROJECT, run

pytestmark = pytest.mark.thorough("runs the benchmarks")

SCRIPT = PROJECT / "tests" / "speed_peer.py"
SMALL = ["--grid", "2x2", "--steps", "20", "--rounds", "1"]
NUMBER = r"\d+\.\d+"
ENVIRONMENT = os.environ | {"NORMSWEEP_BUILD": str(BUILD)}


def peer(*arguments, status=0, **environment):
    done = run(sys.executable, SCRIPT, *arguments, status=status, env=ENVIRONMENT | environment)
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("|")]
    return rows, done


def check_own_row_alone(rows):
    head, _, (name, everything, started, *beside) = rows
    assert tuple(head) == speed_peer.HEADINGS and name == "normsweep"
    assert re.fullmatch(NUMBER, everything) and everything == started and beside[:2] == ["1", "1"]


def without(folder, *modules):
    """An environment in which these cannot be imported."""
    for module in modules:
        (folder / f"{module}.py").write_text("raise ImportError\n")
    return {"PYTHONPATH": str(folder)}


def test_the_program_alone():
    rows, done = peer(*SMALL, "normsweep")
    check_own_row_alone(rows)
    assert "2 learning rates x 2 weight decays = 4 runs of 20 steps, measured every 10\n" in done.stdout
    assert re.search(rf"^round 1: normsweep: {NUMBER} s, started {NUMBER} s$", done.stderr, re.M)


def test_without_pytorch(tmp_path):
    rows, done = peer(*SMALL, **without(tmp_path, "torch"))
    check_own_row_alone(rows)
    assert "PyTorch: not installed for any Python here, so normsweep alone is timed: pip install torch" in done.stdout


def test_without_joblib_and_ray(tmp_path):
    rows, done = peer(*SMALL, "--pytorch", sys.executable, **without(tmp_path, "joblib", "ray"))
    check_own_row_alone(rows)
    for name, package in ("joblib", "joblib"), ("ray", "ray[tune]"):
        assert re.search(rf"^{name}: not installed for the Python with PyTorch [\w.+]+, its rows are left out: "
                         rf"pip install '{re.escape(package)}' there$", done.stdout, re.M)


@pytest.mark.parametrize("arguments, status, message", [
    (["--grid", "9by8"], 2, "argument --grid: '9by8' is not a grid such as 9x8"),
    (["--grid", "0x8"], 2, "argument --grid: '0x8' is not a grid such as 9x8"),
    (["--rounds", "0"], 2, "argument -r/--rounds: '0' is not a positive integer"),
    (["dask"], 1, "speed_peer: no sweep 'dask': normsweep, joblib, joblib-compile, ray, ray-compile"),
])
def test_wrong_arguments(arguments, status, message):
    assert peer(*arguments, status=status)[1].stderr.splitlines()[-1].endswith(message)


def test_hows():
    assert speed_peer.parse_arguments([]).hows == list(speed_peer.HOWS)
    assert speed_peer.parse_arguments(["normsweep"]).hows == []
    assert speed_peer.parse_arguments(["ray", "normsweep", "joblib"]).hows == ["joblib", "ray"]


def test_the_others_train_the_same_runs(tmp_path, monkeypatch):
    """In one process here; joblib and Ray call the same function. At large rates rounding grows within few steps."""
    monkeypatch.setattr(speed_peer, "BUILD", BUILD.resolve())
    monkeypatch.setattr(speed_peer, "RATES", (1e-4, 1e-3))
    study = speed_peer.Study(tmp_path, (2, 2), 40)
    study.write_sweep()
    study.write_arrays()
    _, own = speed_peer.Own(1).run(study, ENVIRONMENT)
    script = PROJECT / "tests" / "speed_peer_torch.py"
    done = run(sys.executable, script, "loop", tmp_path / "study.npz", tmp_path / "results.npz")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["ready", "done"]
    other = dict(np.load(tmp_path / "results.npz"))
    assert other["losses"].shape == own["losses"].shape == (4, 4)
    assert other["param_norm"] == pytest.approx(own["param_norm"], rel=1e-4)
    assert other["losses"] == pytest.approx(own["losses"], abs=1e-3)
    found = speed_peer.differences(own, other)
    assert found["first"] < 1e-5 and np.max(found["last"]) < 1e-3 and found["same_side"] == 4
    speed_peer.check_same("loop", found)
    for wrong in ({"losses": own["losses"] + 0.01}, {"valid_loss": own["valid_loss"] * np.nan}):
        with pytest.raises(SystemExit, match="did not train the same runs"):
            speed_peer.check_same("loop", speed_peer.differences(own, other | wrong))


def test_the_best_of_the_others(capsys):
    own = [{"all": 2.0, "started": 2.0}, {"all": 3.0, "started": 3.0}]
    sweeps = {"normsweep": own, "slow": [{"all": 30.0, "started": 20.0}] * 2,
              "fast": [{"all": 90.0, "started": 6.0}] * 2}
    speed_peer.print_table(own, sweeps, {"fast": "the same"})
    speed_peer.print_best(own, sweeps)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "| normsweep | 2.50 | 2.50 | 1 | 1 |  |"
    assert lines[4] == "| fast | 90.00 | 6.00 | 37.5 | 2.5 | the same |"
    assert lines[-1] == "The fastest of the others, fast, takes 2.5 times as long as normsweep once it is started."
