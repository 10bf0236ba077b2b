"""A sweep in parts, `run --part I/N`: one dataset for each, which together are the sweep."""

import json
import shutil

import numpy as np
import pytest
import xarray as xr

from conftest import NORMSWEEP, run, tiny

SWEEP = tiny() + """\
title: Parts
steps: 20
learning_rate: {log: [1e-1, 1e-3], points: 3}
weight_decay: [0, 3]
norm_placement: [pre, post]
seed: [1, 2]
skip: [{norm_placement: post, learning_rate: 0.1}]
measure: {every: 10}
"""
CELLS, RUNS, PARTS = 24, 20, 3
SKIPPED, DONE = 5, 2


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with the sweep as a whole, and in parts."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "sweep.yaml").write_text(SWEEP)
    run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", cwd=folder)
    for part in range(1, PARTS + 1):
        run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", "--part", f"{part}/{PARTS}", cwd=folder)
    return folder


@pytest.fixture
def folder(trained, tmp_path):
    shutil.copytree(trained, tmp_path / "folder")
    return tmp_path / "folder"


def command(folder, *arguments, status=0):
    return run(NORMSWEEP, *arguments, cwd=folder, status=status)


def refused(folder, *arguments):
    said = command(folder, *arguments, status=2)
    assert said.stdout == "" and said.stderr.count("\n") == 1
    return said.stderr.rstrip("\n")


def status(folder, path="sweep.parts"):
    return json.loads(command(folder, "status", path, "--json").stdout)


def part_of(path):
    """The outcome and the reason of each cell."""
    with xr.open_dataset(path) as dataset:
        return dataset.outcome.values.ravel(), dataset.reason.values.ravel().astype(str), dataset.attrs["part"]


def test_each_run_is_in_one_part(trained):
    found = [part_of(trained / f"sweep.parts/{part}-of-{PARTS}.nc") for part in range(1, PARTS + 1)]
    outcomes = np.array([outcome for outcome, _, _ in found])
    owned = (outcomes != SKIPPED).sum(axis=0)
    assert sorted(owned) == [0] * (CELLS - RUNS) + [1] * RUNS
    assert [(outcome == DONE).sum() for outcome in outcomes] == [7, 7, 6]
    for number, (outcome, reason, attribute) in enumerate(found, 1):
        assert attribute.startswith(f"{number}/{PARTS} ") and attribute.split()[1] == found[0][2].split()[1]
        for cell in range(CELLS):
            owner = int(np.argmax(outcomes[:, cell] != SKIPPED)) + 1
            other = owned[cell] and owner != number
            assert reason[cell] == (f"trained by part {owner}/{PARTS}" if other else "")
    with xr.open_dataset(trained / "sweep.nc") as whole:
        assert "part" not in whole.attrs


def test_runs_are_dealt_out_coarse_first(trained):
    """By seed, then by the largest of the reversed indices of the axes that are numbers, then by cell."""
    def turn(cell):
        rate, decay, _, seed = np.unravel_index(cell, (3, 2, 2, 2))
        return seed, max(int(f"{rate:02b}"[::-1], 2), int(f"{decay:01b}"[::-1], 2)), cell

    with xr.open_dataset(trained / "sweep.nc") as whole:
        order = sorted(np.flatnonzero(whole.outcome.values.ravel() != SKIPPED), key=turn)
    for part in range(1, PARTS + 1):
        outcome, _, _ = part_of(trained / f"sweep.parts/{part}-of-{PARTS}.nc")
        assert sorted(order[part - 1::PARTS]) == np.flatnonzero(outcome != SKIPPED).tolist()


def test_a_part_goes_on(folder):
    part = ["run", "sweep.yaml", "--part", "2/3", "-j", "0"]
    assert "nothing left to do: 7 runs: 7 done" in command(folder, *part).stdout
    command(folder, *part, "--set", "title=New")
    found = status(folder, "sweep.parts/2-of-3.nc")
    assert (found["title"], found["runs"], found["ended"], found["state"]) == ("New", 7, 7, "complete")
    outcome, reason, _ = part_of(folder / "sweep.parts/2-of-3.nc")
    assert (outcome == DONE).sum() == 7 and (reason != "").sum() == RUNS - 7  # copied to a new file, and left out again


def test_dry_run_and_plan(folder):
    shutil.rmtree(folder / "sweep.parts")
    said = command(folder, "run", "sweep.yaml", "--part", "3/3", "--dry-run", "-j", "0").stdout
    assert "\npart      3 of 3: 6 of 20 runs\n" in said and "\ntrain     6 runs, " in said
    assert "sweep.parts/3-of-3.nc does not exist and would be made, with 24 cells" in said
    assert "\nskip      4 cells\n" in said and not (folder / "sweep.parts").exists()
    assert "runs        6, 18 cells skipped\n" in command(folder, "plan", "sweep.yaml", "--part", "3/3").stdout
    command(folder, "run", "sweep.yaml", "--part", "2/2", "-o", "there.nc", "-j", "0")
    said = command(folder, "run", "sweep.yaml", "--part", "1/2", "-o", "there.parts", "-j", "0").stdout
    assert [path.name for path in sorted(folder.glob("there.parts/*.nc"))] == ["1-of-2.nc", "2-of-2.nc"]
    assert said.endswith(f"\nto see the results: {NORMSWEEP} status there.parts\n")


@pytest.mark.parametrize("part", ["0/3", "4/3", "1", "1/", "1/3x", "-1/3", "1/3/3", " 1/3"])
def test_what_is_not_a_part(folder, part):
    said = refused(folder, "run", "sweep.yaml", "--part", part)
    assert said.startswith("--part takes I/N, such as 3/8, with I from 1 to N, and not '")


def test_a_search_has_no_parts(folder):
    said = refused(folder, "run", "sweep.yaml", "--part", "1/2", "--set", "refine={axis: weight_decay}")
    assert said.startswith("sweep.yaml:1:1: refine: ")


def test_another_division_is_refused(folder):
    parts = folder / "sweep.parts"
    assert refused(folder, "run", "sweep.yaml", "-o", "sweep.parts/2-of-3.nc") == \
        "sweep.parts/2-of-3.nc: holds part 2/3 of a sweep; give another -o"
    (folder / "other.parts").mkdir()
    shutil.copy(parts / "2-of-3.nc", folder / "other.parts/1-of-4.nc")
    assert refused(folder, "run", "sweep.yaml", "-o", "other.nc", "--part", "1/4") == \
        "other.parts/1-of-4.nc: holds part 2/3 of a sweep; give another -o"
    shutil.copy(folder / "sweep.nc", folder / "other.parts/1-of-4.nc")
    assert refused(folder, "run", "sweep.yaml", "-o", "other.nc", "--part", "1/4") == \
        "other.parts/1-of-4.nc: holds a whole sweep, not a part; give another -o"
    for change in ["seed=[1, 2, 3]", "skip=null"]:
        said = refused(folder, "run", "sweep.yaml", "--part", "2/3", "--set", change)
        assert "holds part 2/3 of a sweep, as it was when the part began; a part does not grow" in said
    outcome, _, _ = part_of(parts / "2-of-3.nc")
    assert (outcome == DONE).sum() == 7


@pytest.mark.parametrize("more", [["run"], ["run", "--fresh"], ["run", "--dry-run"], ["plan"]])
def test_parts_of_another_number_are_refused(folder, more):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert refused(folder, *more, "sweep.yaml", "--part", "1/4") == \
        "sweep.parts: has parts of 3 and not of 4; give --part I/3, or move these parts elsewhere"
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    (folder / "sweep.parts/9-of-9.nc").touch()
    assert refused(folder, *more, "sweep.yaml", "--part", "1/3").startswith("sweep.parts: has parts of ")


@pytest.mark.parametrize("more", [["run", "-j", "0"], ["run", "--dry-run"], ["plan"]])
def test_a_part_of_another_sweep_is_refused(folder, more):
    """Before anything is trained; not if all parts are begun anew."""
    (folder / "sweep.parts/2-of-3.nc").unlink()
    before = {path: path.read_bytes() for path in folder.rglob("*.nc")}
    changed = ["--part", "2/3", "--set", "seed=[1, 2, 3]"]
    assert refused(folder, *more, "sweep.yaml", *changed) == (
        "sweep.parts/1-of-3.nc: is a part of another sweep, or its texts were others; give another -o, or move it "
        "elsewhere")
    assert {path: path.read_bytes() for path in folder.rglob("*.nc")} == before
    command(folder, *more, "sweep.yaml", "--part", "2/3")
    (folder / "sweep.parts/2-of-3.nc").unlink(missing_ok=True)
    if more[0] == "run":
        command(folder, *more, "sweep.yaml", "--fresh", *changed)


def test_failed_runs_of_a_part_are_repeated(folder):
    path = folder / "sweep.parts/2-of-3.nc"
    with netcdf(path) as file:
        outcome = file["outcome"][:]
        cell = np.unravel_index(np.flatnonzero(outcome.ravel() == DONE)[0], outcome.shape)
        file["outcome"][cell] = 4
    part = ["run", "sweep.yaml", "--part", "2/3", "-j", "0"]
    assert "nothing left to do: 7 runs: 6 done, 0 diverged, 1 failed" in command(folder, *part, status=1).stdout
    assert "retry     1 run, " in command(folder, *part, "--retry-failed", "--dry-run").stdout
    command(folder, *part, "--retry-failed")
    with xr.open_dataset(folder / "sweep.nc") as whole, xr.open_dataset(path) as found:
        assert found.attempts.values[cell] == 2 and found.outcome.values[cell] == DONE
        assert (found.outcome.values == DONE).sum() == 7
        ours = found.outcome.values == DONE
        np.testing.assert_array_equal(found.final_train_loss.values[ours], whole.final_train_loss.values[ours])


def test_a_part_begins_anew(folder):
    path = folder / "sweep.parts/2-of-3.nc"
    before, others = path.read_bytes(), (folder / "sweep.parts/1-of-3.nc").read_bytes()
    command(folder, "run", "sweep.yaml", "--part", "2/3", "-j", "0", "--fresh", "--set", "title=Anew")
    assert path.with_name("2-of-3.nc.old").read_bytes() == before
    assert (folder / "sweep.parts/1-of-3.nc").read_bytes() == others
    with xr.open_dataset(path) as found:
        assert found.attrs["sweep_title"] == "Anew" and (found.outcome.values == DONE).sum() == 7
        assert (found.attempts.values == 1).sum() == 7
    assert status(folder)["state"] == "complete" and status(folder)["ended"] == RUNS


def test_status_counts_all_parts(folder):
    whole = status(folder)
    counts = {"pending": 0, "running": 0, "done": RUNS, "diverged": 0, "failed": 0, "skipped": CELLS - RUNS}
    assert whole["counts"] == counts and whole["state"] == "complete" and whole["saved"] is None
    assert (whole["runs"], whole["ended"], whole["cells"], whole["sessions"]) == (RUNS, RUNS, CELLS, PARTS)
    assert whole["missing_parts"] is None
    assert whole["path"] == str(folder / "sweep.parts") and whole["title"] == "Parts"
    with xr.open_dataset(folder / "sweep.parts/1-of-3.nc") as one, xr.open_dataset(folder / "sweep.parts/2-of-3.nc") \
            as two, xr.open_dataset(folder / "sweep.parts/3-of-3.nc") as three:
        seconds = np.concatenate([part.seconds.values[part.outcome.values == DONE] for part in (one, two, three)])
    np.testing.assert_allclose(whole["mean"]["seconds"], seconds.mean(), rtol=1e-12)
    assert command(folder, "status", "--wait", "sweep.parts").stdout.startswith("sweep.parts: Parts\n")


def test_status_of_some_parts(folder):
    (folder / "sweep.parts/1-of-3.nc").unlink()
    found = status(folder)
    assert found["counts"]["pending"] == 7 and found["counts"]["done"] == 13 and found["counts"]["skipped"] == 4
    assert (found["state"], found["runs"], found["ended"], found["saved"]) == ("stopped", RUNS, 13, 0)
    assert found["missing_parts"] == "1 of 3"
    assert "\nmissing   part 1 of 3: run --part" in command(folder, "status", "sweep.parts").stdout
    command(folder, "status", "--wait", "--limit", "0", "sweep.parts", status=75)


def test_failures_of_parts(folder):
    for number in (1, 3):
        with netcdf(folder / f"sweep.parts/{number}-of-3.nc") as file:
            outcome = file["outcome"][:]
            cell = np.unravel_index(np.flatnonzero(outcome.ravel() == DONE)[0], outcome.shape)
            file["outcome"][cell] = 4
            word = f"reason of part {number}".encode()
            file["reason"][cell] = np.frombuffer(word.ljust(file["reason"].shape[-1], b"\0"), dtype="S1")
    found = status(folder)
    assert found["state"] == "failed" and found["counts"]["failed"] == 2
    assert sorted(each["reason"] for each in found["failures"]) == ["reason of part 1", "reason of part 3"]
    said = command(folder, "status", "sweep.parts").stdout
    assert ": reason of part 1\n" in said and ": reason of part 3\n" in said
    command(folder, "status", "--wait", "sweep.parts", status=1)


def netcdf(path):
    file = pytest.importorskip("netCDF4").Dataset(path, "r+")
    file.set_auto_maskandscale(False)
    file.set_auto_chartostring(False)
    return file


def test_status_of_mixed_parts(folder):
    parts = folder / "sweep.parts"
    shutil.copytree(parts, folder / "kept.parts")
    shutil.copy(parts / "1-of-3.nc", parts / "1-of-4.nc")
    assert "sweep.parts: has parts of " in refused(folder, "status", "sweep.parts")
    (parts / "1-of-4.nc").unlink()
    shutil.copy(folder / "sweep.nc", parts / "2-of-3.nc")
    assert refused(folder, "status", "sweep.parts").startswith("sweep.parts/2-of-3.nc: is not part 2 of the sweep")
    for number in (1, 2):  # a copy under another name
        shutil.copy(parts / "3-of-3.nc", parts / f"{number}-of-3.nc")
        assert refused(folder, "status", "sweep.parts") == (
            f"sweep.parts/{number}-of-3.nc: is not part {number} of the sweep and the division that the first file of "
            "its folder is of; move it elsewhere")
        shutil.copy(folder / "kept.parts" / f"{number}-of-3.nc", parts)
    command(folder, "run", "sweep.yaml", "-o", "other.nc", "--part", "2/3", "-j", "0", "--set", "seed=[1, 2, 3]")
    shutil.copy(folder / "other.parts/2-of-3.nc", parts / "2-of-3.nc")
    assert refused(folder, "status", "sweep.parts").startswith("sweep.parts/2-of-3.nc: is not part 2 of the sweep")
    (folder / "empty").mkdir()
    for what in ("status", "show"):
        assert refused(folder, what, "empty").startswith("empty: is a folder; if it has parts of a sweep, status ")
