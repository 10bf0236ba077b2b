"""The benchmark of time to a boundary: its own side, what it says of missing packages, and that bisection finds the
same boundary. Times are not judged, and neither joblib nor python-adaptive is needed."""
import os
import re
import sys

import numpy as np
import pytest
import speed_boundary
import speed_peer
from conftest import BUILD, PROJECT, run

pytestmark = pytest.mark.thorough("runs the benchmarks")

SCRIPT = PROJECT / "tests" / "speed_boundary.py"
SMALL = ["--grid", "2x9", "--steps", "20", "--rounds", "1"]
NUMBER = r"\d+\.\d+"
ENVIRONMENT = os.environ | {"NORMSWEEP_BUILD": str(BUILD)}


def boundary(*arguments, status=0, **environment):
    done = run(sys.executable, SCRIPT, *arguments, status=status, env=ENVIRONMENT | environment)
    return [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("|")], done


def test_the_program_alone():
    (head, _, own, every), done = boundary(*SMALL, "grid")
    assert tuple(head) == speed_boundary.HEADINGS
    assert own[0] == "normsweep, refine" and 2 * 2 <= int(own[1]) < 2 * 9 and own[4:6] == ["1", "1"]
    assert every[:2] == ["normsweep, every cell", "18"] and every[6] == "2 of 2; at most 0.0 steps apart"
    assert all(re.fullmatch(NUMBER, text) for text in (*own[2:4], *every[2:6]))
    assert "the boundary of 2 learning rates at 9 weight decays, runs of 20 steps\n" in done.stdout


def test_without_packages(tmp_path):
    for module in ("joblib", "adaptive"):
        (tmp_path / f"{module}.py").write_text("raise ImportError\n")
    rows, done = boundary(*SMALL, "bisect", "adaptive", "--pytorch", sys.executable, PYTHONPATH=str(tmp_path))
    assert len(rows) == 3
    for how, package, command in (("bisect", "joblib", "joblib"), ("adaptive", "adaptive", "adaptive loky")):
        assert re.search(rf"^{how}: its rows are left out, as the Python with PyTorch [\w.+]+ lacks {package}: "
                         rf"pip install {command} there$", done.stdout, re.M)
    (tmp_path / "torch.py").write_text("raise ImportError\n")
    done = boundary(*SMALL, "bisect", PYTHONPATH=str(tmp_path))[1]
    assert "PyTorch: not installed for any Python here" in done.stdout


def test_wrong_ways():
    assert boundary("newton", status=1)[1].stderr.splitlines()[-1] == (
        "speed_boundary: no way 'newton': refine, grid, bisect, adaptive")
    assert speed_boundary.parse_arguments([]).hows == list(speed_boundary.HOWS)
    assert speed_boundary.parse_arguments(["refine"]).hows == []


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setattr(speed_peer, "BUILD", BUILD.resolve())
    return speed_peer.Study(tmp_path, (2, 9), 20, speed_boundary.ENDS)


def test_bisection_finds_the_same_boundary(study, tmp_path):
    """In one process here; joblib calls the same function. Neither trains the ends of a column."""
    study.write_sweep("grid")
    study.write_arrays()
    own = speed_boundary.Search(1, "every cell", "grid").run(study, ENVIRONMENT)[1]
    done = run(sys.executable, PROJECT / "tests" / "speed_boundary_torch.py", "loop", tmp_path / "study.npz",
               tmp_path / "results.npz")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["ready", "done"]
    other = dict(np.load(tmp_path / "results.npz"))
    assert own["brackets"].tolist() == other["brackets"].tolist() and own["runs"] == 18
    assert 2 * 3 <= other["runs"] <= 2 * 4 and speed_boundary.apart(study, own, other).tolist() == [0, 0]
    within = [study.decays.index(low) + 1 == study.decays.index(high) for low, high in own["brackets"].tolist()]
    assert within == [True, True]


def test_steps_between_boundaries(study):
    step = (study.decays[-1] / study.decays[0]) ** (1 / 8)
    here = np.array([[1.0, step], [1.0, step]])
    found = speed_boundary.apart(study, {"brackets": here}, {"brackets": here * [[step ** 2], [step ** -0.5]]})
    assert found == pytest.approx([2, 0.5])
    speed_boundary.check_same("near", found[1:])
    for wrong in found, np.array([np.nan]):
        with pytest.raises(SystemExit, match="far found another boundary"):
            speed_boundary.check_same("far", wrong)


def test_brackets_of_a_learner():
    """Without python-adaptive: the module of the others imports it only for a learner of its own."""
    torch = pytest.importorskip("torch")
    assert torch.__version__
    speed_boundary_torch = pytest.importorskip("speed_boundary_torch")
    bracket, _ = speed_boundary_torch.bracket_of({-1.0: 0.3, 1.0: -0.2, 0.0: 0.1, 0.5: 0.0, 0.25: 0.05})
    assert bracket == pytest.approx((10 ** 0.25, 10 ** 0.5))
    assert speed_boundary_torch.bracket_of({-1.0: 0.3, 1.0: 0.2})[0] == pytest.approx((10, 10))
    assert speed_boundary_torch.crossing([0.25, 0.5], [1, -1]) == 0.25 > speed_boundary_torch.crossing([0, 1], [1, 2])
