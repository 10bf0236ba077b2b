"""Sweeps with `refine: {seeds: ...}`: each cell has the seeds that the rule says, by the values in the dataset,
whatever workers, kills and starts there were."""

import json
import re
import signal
import subprocess
import time

import netCDF4
import numpy as np
import pytest

import same
from conftest import NORMSWEEP, run, run_until, sets, tiny

pytestmark = pytest.mark.thorough("trains whole sweeps")

SWEEP = tiny(feedforward=8) + """\
steps: 40
norm_placement: [pre, post]
learning_rate: [0.03, 0.3]
weight_decay: {log: [0.01, 10], points: 6}
seed: {range: [1, 9]}
measure: {every: 5}
"""
AXES = ["norm_placement", "learning_rate", "weight_decay", "seed"]
LEAST, MOST, WIDTH = 3, 8, 0.15
RULE = f"variable: norm_growth, width: {WIDTH}, least: {LEAST}, most: {MOST}"
REFINED = {
    "alone": f"{{seeds: {{{RULE}}}}}",
    "pairs": f"{{at_once: 2, seeds: {{{RULE}}}}}",
    "differences": f"{{seeds: {{{RULE}, difference: norm_placement}}}}",
    "beside": f"{{axis: weight_decay, at_once: 2, seeds: {{{RULE}}}}}",
    "halved": f"{{axes: [weight_decay], coarse: 2, seeds: {{{RULE}}}}}",
}
STUDENT = [np.nan, 12.7062047362, 4.3026527297, 3.1824463053, 2.7764451052, 2.5705818356, 2.4469118511, 2.3646242516]


def go(place, name, *options, out=None, **more):
    refine = sets(f"refine={REFINED[name]}") if name else []
    return run(NORMSWEEP, "run", "sweep.yaml", *refine, *options, "-o", out or f"{name}.nc", cwd=place, **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """full.nc, the whole grid; and the others."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "sweep.yaml").write_text(SWEEP)
    go(folder, None, "-j", "0", out="full.nc")
    for name in REFINED:
        go(folder, name, "-j", "0")
    return folder


def read(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        assert list(file["outcome"].dimensions) == AXES
        outcome = file["outcome"][:]
        growth = np.where(outcome == same.DONE, file["norm_growth"][:], np.nan)
        return outcome, growth, file["reason"][:], file.refine if "refine" in file.ncattrs() else ""


def width(values):
    values = values[~np.isnan(values)]
    n = len(values)
    return 2 * STUDENT[n - 1] * values.std(ddof=1) / np.sqrt(n) if n > 1 else np.inf


def seeds_said(values, at_once=1):
    """Seeds that cells [..., seed] of these values need, by the rule."""
    used = np.empty(values.shape[:-1], int)
    for cell in np.ndindex(used.shape):
        n = LEAST
        while n < MOST and width(values[cell][:n]) > WIDTH and not np.isnan(values[cell][:n]).all():
            n = min(n + at_once, MOST)
        used[cell] = n
    return used


def trained(outcome):
    assert np.isin(outcome, (same.DONE, same.DIVERGED, same.SKIPPED)).all()
    done = outcome != same.SKIPPED
    used = done.sum(axis=-1)
    assert (done == (np.arange(done.shape[-1]) < used[..., None])).all()
    return used


# ---- what is trained ----

@pytest.mark.parametrize("name", ["alone", "pairs"])
def test_each_cell_has_the_seeds_of_the_rule(folder, name):
    whole, growth, *_ = read(folder / "full.nc")
    outcome, found, reason, refine = read(folder / f"{name}.nc")
    used = trained(outcome)
    assert (used == seeds_said(growth, 2 if name == "pairs" else 1)).all()
    assert len(set(used.flat)) >= 3 and used.min() == LEAST
    assert np.array_equal(found, np.where(outcome == same.SKIPPED, np.nan, growth), equal_nan=True)
    assert refine == REFINED[name]
    for cell in np.ndindex(used.shape):
        left, n, values = set(reason[cell][used[cell]:]), used[cell], growth[cell][:used[cell]]
        said, count = left.pop(), (~np.isnan(values)).sum()
        assert not left and (reason[cell][:n] == "").all()
        if count > 1:
            part = re.fullmatch(r"not needed: the 95 % interval of norm_growth over (\d+) seeds is (\S+) wide"
                                rf"(, and refine trains no more than {MOST})?", said)
            assert int(part[1]) == count and float(part[2]) == pytest.approx(width(values), rel=5e-3)
            assert bool(part[3]) == (width(values) > WIDTH)
        else:
            assert said == f"not reached: {count} of the first {n} seeds tell norm_growth"


def test_a_difference_has_the_pairs_of_the_rule(folder):
    _, growth, *_ = read(folder / "full.nc")
    outcome, _, reason, refine = read(folder / "differences.nc")
    used = trained(outcome)
    assert (used[0] == used[1]).all() and (used[0] == seeds_said(growth[1] - growth[0])).all()
    assert len(set(used.flat)) >= 3 and refine == REFINED["differences"]
    assert any("of the difference of norm_growth along norm_placement over" in text for text in set(reason.flat))


@pytest.mark.parametrize("name, search, at_once", [("beside", "{axis: weight_decay, at_once: 2}", 2),
                                                   ("halved", "{axes: [weight_decay], coarse: 2}", 1)])
def test_a_search_is_that_of_the_first_seeds(folder, place, name, search, at_once):
    run(NORMSWEEP, "run", "sweep.yaml", *sets(f"refine={search}", "seed=[1, 2, 3]"), "-j", "0", "-o", "first.nc",
        cwd=place)
    first, _, said, _ = read(place / "first.nc")
    searched = (first != same.SKIPPED).any(axis=-1)
    outcome, _, reason, _ = read(folder / f"{name}.nc")
    _, growth, *_ = read(folder / "full.nc")
    used = trained(outcome)
    assert (used == np.where(searched, seeds_said(growth, at_once), 0)).all() and 0 < searched.sum() < searched.size
    assert (reason[..., :3] == said)[~searched].all()
    assert set(reason[..., 3:][~searched].flat) == {"not needed: no search of the first 3 seeds came here"}


def test_plan_and_dry_run_say_how_many(place):
    said = run(NORMSWEEP, "plan", "sweep.yaml", *sets(f"refine={REFINED['alone']}"), cwd=place).stdout
    assert re.search(r"^runs +about 132 of 216, chosen by refine, 3 to 8 seeds of a cell$", said, re.M)
    said = go(place, "alone", "--dry-run", out="new.nc").stdout
    assert re.search(r"^train +72 runs", said, re.M) and "search    would choose about 60 more as these end" in said
    said = go(place, "alone", "--dry-run").stdout
    assert "nothing" in said and "would choose" not in said
    finer = sets("refine={seeds: {variable: norm_growth, width: 0.02, least: 3, most: 9}}")
    said = run(NORMSWEEP, "plan", "sweep.yaml", *finer, "-o", "alone.nc", cwd=place).stdout
    planned = re.search(r"^runs .* (\d+) of (\d+) have ended; (\d+) to train$", said, re.M)
    said = run(NORMSWEEP, "run", "sweep.yaml", *finer, "-o", "alone.nc", "--dry-run", cwd=place).stdout
    begun, later = re.search(r"^train +(\d+) runs", said, re.M), re.search(r"choose about (\d+) more", said)
    assert "by mpi" in said and abs(int(planned[3]) - int(begun[1]) - int(later[1])) <= 4  # rounded up by kind of run
    found = json.loads(run(NORMSWEEP, "status", "alone.nc", "--json", cwd=place).stdout)
    outcome, *_ = read(place / "alone.nc")
    assert found["expected_runs"] == found["ended"] == (outcome != same.SKIPPED).sum()


# ---- workers, kills, other starts ----

@pytest.mark.parametrize("name", REFINED)
@pytest.mark.parametrize("jobs", ["1", "2", "3"])
def test_any_number_of_workers_trains_the_same(place, jobs, name):
    go(place, name, "-j", jobs, out="again.nc")
    same.assert_equal(place / "again.nc", place / f"{name}.nc")


@pytest.fixture(scope="module")
def slow(folder):
    slow = sets("learning_rate=[0.3]", "weight_decay=[0.01, 3]", "steps=1200", "measure={every: 50}")
    for name in "differences", "beside":
        go(folder, name, *slow, "-j", "2", out=f"slow-{name}.nc")
    return slow


def ended(path):
    try:
        with netCDF4.Dataset(path) as file:
            return int(np.isin(file["outcome"][:], (same.DONE, same.DIVERGED)).sum())
    except (OSError, IndexError):
        return 0


@pytest.mark.parametrize("number, jobs, name", [
    (signal.SIGTERM, "2", "beside"), (signal.SIGKILL, "0", "beside"), (signal.SIGKILL, "2", "differences")])
def test_a_sweep_that_is_stopped_or_killed_goes_on(slow, place, number, jobs, name):
    status = 75 if number == signal.SIGTERM else -number
    command = [NORMSWEEP, "run", "sweep.yaml", *sets(f"refine={REFINED[name]}"), *slow, "-j", jobs, "-o", "again.nc"]
    stopped, deadline = 0, time.monotonic() + 600
    for more in 2, 5, 4:
        wanted = ended(place / "again.nc") + more
        done = run_until(lambda: ended(place / "again.nc") >= wanted, number, *command, cwd=place)
        assert done.returncode in (status, 0, 3)  # 3: workers of a killed one are still there
        stopped += done.returncode == status
    while subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True).returncode == 3:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert stopped > 0
    same.assert_equal(place / "again.nc", place / f"slow-{name}.nc")


@pytest.mark.parametrize("name", REFINED)
def test_a_finished_sweep_trains_nothing_again(place, name):
    before = same.read(place / f"{name}.nc")
    assert "nothing left to do" in go(place, name, "-j", "2").stdout
    assert same.differences(same.read(place / f"{name}.nc"), before) == []


@pytest.mark.parametrize("name", ["alone", "beside"])
def test_the_key_comes_and_goes(place, name):
    """A whole grid that gets it trains nothing; without it, the rest is trained; a smaller width trains more."""
    assert "nothing left to do" in go(place, name, "-j", "0", out="full.nc").stdout
    before, *_ = read(place / f"{name}.nc")
    finer = REFINED[name].replace(f"width: {WIDTH}", "width: 0.05")
    for out in f"{name}.nc", "fresh.nc":
        run(NORMSWEEP, "run", "sweep.yaml", *sets(f"refine={finer}"), "-j", "2", "-o", out, cwd=place)
    after, *_ = read(place / f"{name}.nc")
    fresh, *_ = read(place / "fresh.nc")
    assert (after == fresh).all() and (after != same.SKIPPED).sum() > (before != same.SKIPPED).sum()
    go(place, None, "-j", "2", out=f"{name}.nc")
    same.assert_equal(place / f"{name}.nc", place / "full.nc")


def test_a_failed_run_does_not_count(place):
    _, whole, *_ = read(place / "full.nc")
    used, without = seeds_said(whole), whole.copy()
    without[..., 0] = np.nan
    cell = tuple(np.argwhere((used == LEAST) & (seeds_said(without) > LEAST))[0])
    n = seeds_said(without)[cell]
    with netCDF4.Dataset(place / "alone.nc", "r+") as file:
        file["outcome"][(*cell, 0)] = same.FAILED
    go(place, "alone", "-j", "0", status=1)
    again, _, reason, _ = read(place / "alone.nc")
    assert (again[cell] != same.SKIPPED).sum() == n and again[(*cell, 0)] == same.FAILED
    assert all(f"over {n - 1} seeds" in text for text in reason[cell][n:])
    go(place, "alone", "-j", "0", "--retry-failed")
    again, _, reason, _ = read(place / "alone.nc")
    assert again[(*cell, 0)] == same.DONE and all(f"over {LEAST} seeds" in text for text in reason[cell][n:])
