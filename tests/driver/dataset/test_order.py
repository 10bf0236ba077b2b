"""Axes of numbers have a strict order in the dataset. A file from before they had is carried on in its own order."""

import signal
import subprocess
import time

import netCDF4
import numpy as np
import pytest

import same
from conftest import NORMSWEEP

pytestmark = pytest.mark.thorough("starts dozens of sweeps")

SWEEP = """\
corpus: markov
corpus_tokens: 4000
vocabulary: 33
layers: 1
width: 8
heads: 2
feedforward: 8
context: 8
batch: 2
steps: 4
learning_rate: [3e-2, 1e-1, 1e-3]
weight_decay: {log: [1e-1, 10], points: 3, plus: [0]}
norm_placement: [post, out]
bias: [true, false]
together:
  model:
    second: {epsilon: 1e-6}
    first: {epsilon: 1e-8}
skip:
  - {learning_rate: [3e-2, 1e-3], weight_decay: 0, bias: false}
  - {weight_decay: 10, norm_placement: out}
measure: {every: 2}
"""
# The values as the sweep file lists them, which was their order in datasets.
LISTED = {"learning_rate": [3e-2, 1e-1, 1e-3], "weight_decay": [1e-1, 1, 10, 0]}


def axis(path, name):
    with netCDF4.Dataset(path) as file:
        return np.asarray(file[name][...]).tolist()


def disorder(path, listed):
    """Puts values along axes, and what was measured with them, into the order that a file had."""
    with netCDF4.Dataset(path, "r+") as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        places = {name: [np.flatnonzero(file[name][...] == value).item() for value in values]
                  for name, values in listed.items()}
        for variable in file.variables.values():
            values = variable[...]
            for place, name in enumerate(variable.dimensions):
                if name in places:
                    values = np.take(values, places[name], axis=place)
            variable[...] = values


def forget(path, chosen):
    """Makes runs pending, as if the sweep had been stopped before they began; returns which ones."""
    with netCDF4.Dataset(path, "r+") as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        lost = chosen & (file["outcome"][...] == same.DONE)
        for variable in file.variables.values():
            if variable.dimensions[:lost.ndim] == file["outcome"].dimensions:
                values = variable[...]
                values[lost] = getattr(variable, "_FillValue", np.zeros((), values.dtype))
                variable[...] = values
    return lost


@pytest.fixture
def strict(tmp_path, normsweep):
    (tmp_path / "a.yaml").write_text(SWEEP)
    normsweep("run", "a.yaml", "-j", "0")
    return tmp_path / "a.nc"


@pytest.fixture
def before(strict, normsweep):
    """The dataset as an older program made it."""
    disorder(strict, LISTED)
    return strict


def test_new_datasets_have_a_strict_order(strict):
    assert axis(strict, "learning_rate") == [1e-3, 3e-2, 1e-1] and axis(strict, "weight_decay") == [0, 1e-1, 1, 10]
    assert axis(strict, "bias") == [1, 0]  # descends in the file
    with netCDF4.Dataset(strict) as file:
        assert list(file["norm_placement"][...]) == ["post", "out"]
        assert list(file["model"][...]) == ["second", "first"]
        assert np.asarray(file["epsilon"][...]).tolist() == [1e-6, 1e-8]
        rate, decay, placement, bias = np.ix_([1e-3, 3e-2, 1e-1], [0, 1e-1, 1, 10], ["post", "out"], [1, 0])
        skipped = (rate < 0.1) & (decay == 0) & (bias == 0) | (decay == 10) & (placement == "out")
        assert ((np.asarray(file["outcome"][...]) == same.SKIPPED) == skipped[..., None]).all()


def test_a_complete_dataset_stays_as_it_is(before, normsweep):
    content = before.read_bytes()
    assert "nothing left to do" in normsweep("run", "a.yaml", "-j", "0").stdout
    assert before.read_bytes() == content and axis(before, "weight_decay") == LISTED["weight_decay"]
    assert "76 of 76 have ended; 0 to train" in " ".join(normsweep("plan", "a.yaml").stdout.split())
    assert "12 equal in " in normsweep("verify", "a.yaml", "-n", "12").stdout
    assert "76 of 76 runs, 100.0 %" in normsweep("status", "a.nc").stdout
    assert "weight_decay" in normsweep("show", "a.nc").stdout


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_what_is_missing_is_trained_in_its_place(before, normsweep, jobs):
    whole = same.read(before)
    lost = forget(before, np.random.default_rng(3).random((3, 4, 2, 2, 2)) < 0.4)
    with netCDF4.Dataset(before) as file:
        sessions = np.asarray(file["session"][...])
    said = normsweep("run", "a.yaml", "-j", jobs).stdout
    assert "76 runs: 76 done" in said and 20 < lost.sum() < 44
    assert same.differences(same.read(before), whole) == []
    with netCDF4.Dataset(before) as file:
        now = np.asarray(file["session"][...])
        assert (now[~lost] == sessions[~lost]).all() and (now[lost] > sessions.max()).all()
        assert set(np.asarray(file["attempts"][...])[np.asarray(file["outcome"][...]) == same.DONE]) == {1}


def test_a_new_title_keeps_the_order_and_what_others_added(before, tmp_path, normsweep):
    whole = same.read(before)
    with netCDF4.Dataset(before, "a") as file:
        file.createVariable("of_mine", "f8", ("weight_decay",))[:] = np.arange(4)
    (tmp_path / "a.yaml").write_text("title: another\n" + SWEEP)
    normsweep("run", "a.yaml", "-j", "0")
    with netCDF4.Dataset(before) as file:
        assert file.title == "another" and np.asarray(file["of_mine"][...]).tolist() == [0, 1, 2, 3]
    now = same.read(before)
    del now["of_mine"]
    assert same.differences(now, whole) == []


@pytest.mark.parametrize("change", [("1e-1, 1e-3]", "1e-1, 1e-3, 1e-2]"), ("together:", "seed: [2, 0, 3]\ntogether:")])
def test_an_extension_gets_the_strict_order(before, tmp_path, normsweep, change):
    text = SWEEP.replace(*change)
    (tmp_path / "a.yaml").write_text(text)
    normsweep("run", "a.yaml", "-j", "0")
    assert axis(before, "learning_rate") == ([1e-3, 3e-2, 1e-1] if "seed" in text else [1e-3, 1e-2, 3e-2, 1e-1])
    assert axis(before, "weight_decay") == [0, 1e-1, 1, 10]
    normsweep("run", "a.yaml", "-j", "0", "-o", "fresh.nc")
    assert same.differences(same.read(before), same.read(tmp_path / "fresh.nc")) == []
    with netCDF4.Dataset(before) as file:
        session = np.asarray(file["session"][...].filled(-1))
        attempts = np.asarray(file["attempts"][...])
    assert set(attempts.ravel()) == {0, 1} and (session == 0).sum() == 76 and (session == 1).sum() >= 20


def checkpoints(folder):
    """{digest of a run: the last step that is saved of it}"""
    found = {}
    for path in (folder / "a.nc.d").glob("*-*.nc"):
        digest, *_, step = path.stem.split("-")
        found[digest] = max(found.get(digest, 0), int(step))
    return found


def stop_after(folder, jobs, enough):
    """Runs the sweep until `enough` of its checkpoints, then stops it."""
    command, deadline = [NORMSWEEP, "run", "a.yaml", "-j", jobs], time.monotonic() + 120
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not enough(checkpoints(folder)) and time.monotonic() < deadline:
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 75 and enough(checkpoints(folder))


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_a_run_under_way_is_resumed(tmp_path, jobs):
    """A run without an end: what was saved of it goes on, so that the next checkpoint has more steps."""
    (tmp_path / "a.yaml").write_text(
        SWEEP.partition("weight_decay")[0].replace("steps: 4", "steps: 100000000")
        + "skip: [{learning_rate: [3e-2, 1e-3]}]\nmeasure: {every: 1000000}\ncheckpoint_minutes: 1e-4\n")
    stop_after(tmp_path, jobs, lambda found: any(step > 5000 for step in found.values()))
    (digest, step), = checkpoints(tmp_path).items()
    disorder(tmp_path / "a.nc", {"learning_rate": LISTED["learning_rate"]})
    stop_after(tmp_path, jobs, lambda found: found != {digest: step})
    assert set(checkpoints(tmp_path)) == {digest} and checkpoints(tmp_path)[digest] > step
    assert axis(tmp_path / "a.nc", "learning_rate") == LISTED["learning_rate"]


REFINED = """\
corpus: markov
corpus_tokens: 4000
vocabulary: 33
layers: 1
width: 8
heads: 2
feedforward: 8
context: 8
batch: 2
steps: 60
learning_rate: [1e-1, 1, 3e-1]
weight_decay: {log: [1e-3, 10], points: 24, plus: [0]}
measure: {every: 10}
"""


@pytest.mark.parametrize("refine", ["{axis: weight_decay}", "{axes: [learning_rate, weight_decay], coarse: 4}"])
def test_a_search_does_not_depend_on_the_order(tmp_path, normsweep, refine):
    """A dataset in the old order, complete or stopped, is carried on in it; the same runs are chosen."""
    (tmp_path / "a.yaml").write_text(f"{REFINED}refine: {refine}\n")
    normsweep("run", "a.yaml", "-j", "0")
    path, listed = tmp_path / "a.nc", {"learning_rate": [1e-1, 1, 3e-1]}
    listed["weight_decay"] = [*axis(path, "weight_decay")[1:], 0]
    disorder(path, listed)
    ordered, chosen = same.read(path), same.read(path)["outcome"].values == same.DONE
    assert "nothing left to do" in normsweep("run", "a.yaml", "-j", "0").stdout
    whole = same.read(path)  # the draws of intervals have the numbers of places
    assert all("slope" in line.partition(":")[0] for line in same.differences(whole, ordered))
    forget(path, np.random.default_rng(5).random(chosen.shape) < 0.5)
    with netCDF4.Dataset(path, "r+") as file:
        outcome = np.asarray(file["outcome"][...])
        file["outcome"][...] = np.where(outcome == same.SKIPPED, same.PENDING, outcome)
    normsweep("run", "a.yaml", "-j", "0")
    assert 6 <= chosen.sum() < chosen.size - 6 and axis(path, "weight_decay") == listed["weight_decay"]
    assert same.differences(same.read(path), whole) == []


@pytest.mark.parametrize("first, then, order", [
    ("[3, 1]", "[3, 1, 2]", [1, 2, 3]),  # neither ascending nor descending: the order turns
    ("[3, 1]", "[3, 2, 1]", [3, 2, 1]), ("[1, 3]", "[3, 2, 1]", [3, 2, 1]), ("[3]", "[5, 3]", [5, 3]),
    ("[3, 1]", "{range: [1, 3]}", [1, 2, 3])])
def test_a_grown_axis_may_turn_round(tmp_path, normsweep, first, then, order):
    """Every value keeps its runs, whatever its index becomes; the others are those of an undisturbed sweep."""
    (tmp_path / "a.yaml").write_text(SWEEP.replace("measure:", f"seed: {first}\nmeasure:"))
    normsweep("run", "a.yaml", "-j", "0")
    before = seeds(tmp_path / "a.nc")
    (tmp_path / "a.yaml").write_text(SWEEP.replace("measure:", f"seed: {then}\nmeasure:"))
    normsweep("run", "a.yaml", "-j", "0")
    after = seeds(tmp_path / "a.nc")
    assert list(after) == axis(tmp_path / "a.nc", "seed") == order and set(before) < set(after)
    for seed, variables in before.items():
        for name, values in variables.items():
            assert after[seed][name].tobytes() == values.tobytes(), (seed, name)
    normsweep("run", "a.yaml", "-j", "0", "-o", "b.nc")
    assert same.differences(same.read(tmp_path / "a.nc"), same.read(tmp_path / "b.nc")) == []
    with netCDF4.Dataset(tmp_path / "a.nc") as file:
        assert (np.asarray(file["attempts"][...])[np.asarray(file["outcome"][...]) == same.DONE] == 1).all()


def seeds(path):
    """{seed: {variable: its values of this seed}} in the order of the file."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        return {int(seed): {name: np.take(variable[...], place, axis=variable.dimensions.index("seed"))
                            for name, variable in file.variables.items()
                            if "seed" in variable.dimensions and name != "seed"}
                for place, seed in enumerate(file["seed"][...])}
