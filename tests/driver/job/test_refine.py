"""Sweeps with `refine`: whatever workers, faults, starts and earlier sweeps there were, the same cells are trained to
the same bits, the pair that is found is that of the whole grid, and what is left says why."""

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
learning_rate: [0.03, 0.003, 0.1, 1]
weight_decay: {log: [0.001, 30], points: 32}
seed: [1, 2]
measure: {every: 5}
"""
AXES = ["learning_rate", "weight_decay", "seed"]
ALONG = sets("refine={axis: weight_decay}")
AT_ONCE = sets("refine={axis: weight_decay, at_once: 2}")
CELLS = sets("refine={axes: [learning_rate, weight_decay], coarse: 4}")
EARLY = [*AT_ONCE, *sets("stop_when=phase")]
REFINED = {"lines": ALONG, "pairs": AT_ONCE, "early": EARLY, "cells": CELLS}
SAID = {"outcome", "reason", "phase"}  # of cells that are left, too
GROWS, SHRINKS, DIVERGES = "+", "-", "d"
BETWEEN = re.compile(r"not needed: (?:norm_growth crosses 1|divergence begins) between weight_decay (\S+) and (\S+)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """sweep.yaml; full.nc, its whole grid; lines.nc, pairs.nc, early.nc and cells.nc, refined."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "sweep.yaml").write_text(SWEEP)
    for name, options in {"full": [], **REFINED}.items():
        run(NORMSWEEP, "run", "sweep.yaml", *options, "-j", "0", "-o", f"{name}.nc", cwd=folder)
    return folder


def go(place, *arguments, **options):
    return run(NORMSWEEP, "run", "sweep.yaml", *arguments, cwd=place, **options)


class Found:
    """A dataset: outcome, reason and other variables over learning_rate, weight_decay and seed."""

    def __init__(self, path):
        with netCDF4.Dataset(path) as file:
            assert list(file["outcome"].dimensions) == AXES
            file.set_auto_mask(False)
            self.outcome, self.reason = file["outcome"][:], file["reason"][:]
            self.decay, self.attempts = file["weight_decay"][:], file["attempts"][:]
            self.phase = file["phase"][:]
            self.growth, self.loss = file["norm_growth"][:], file["final_train_loss"][:]
        self.bits = same.read(path)
        self.trained = (self.outcome == same.DONE) | (self.outcome == same.DIVERGED)

    def sides(self, variable="growth", at=1):
        above = np.where(getattr(self, variable) > at, GROWS, SHRINKS)
        return np.where(self.outcome == same.DIVERGED, DIVERGES, above)

    def differ_from(self, other):
        both = self.trained & other.trained
        return [name for name, values in self.bits.items() if values.dimensions[:3] == tuple(AXES)
                and (values.bits != other.bits[name].bits)[both].any()]


def lines(found):
    """(line, its places in ascending order of weight decay)"""
    order = np.argsort(found.decay)
    return [((rate, slice(None), seed), order) for rate in range(found.outcome.shape[0])
            for seed in range(found.outcome.shape[2])]


def change_on(found, line, order):
    """Places of the neighbours between which a line changes, as the cells say that were not needed; None: nowhere."""
    left = found.outcome[line] == same.SKIPPED
    reasons = set(found.reason[line][left])
    assert len(reasons) == 1 and set(found.reason[line][~left]) == {""}
    reason = reasons.pop()
    if reason == "not needed: the first and the last run along weight_decay are on one side of norm_growth 1":
        return None
    low, high = (int(np.argmin(np.abs(found.decay[order] / float(value) - 1)))
                 for value in BETWEEN.fullmatch(reason).groups())
    assert high == low + 1
    return low, high


def check_lines(found, whole):
    """Every line has found a change of side, the only one where there is one, with few runs."""
    assert set(np.unique(found.outcome)) <= {same.DONE, same.DIVERGED, same.SKIPPED}
    assert found.differ_from(whole) == []
    for line, order in lines(found):
        sides, trained = whole.sides()[line][order], found.trained[line][order]
        changes = np.flatnonzero(sides[1:] != sides[:-1])
        pair = change_on(found, line, order)
        if pair is None:
            assert sides[0] == sides[-1] and trained[[0, -1]].all()
        else:
            assert trained[list(pair)].all() and sides[pair[0]] == sides[0] != sides[pair[1]]
            assert pair[0] in changes
        if len(changes) == 1:
            assert pair == (changes[0], changes[0] + 1)
        if len(changes) <= 1:
            assert (found.phase[line] == whole.phase[line]).all()
        assert trained.sum() <= 10
    return True


# ---- what is trained ----

def test_the_pair_on_every_line_is_that_of_the_whole_grid(folder):
    whole, found = Found(folder / "full.nc"), Found(folder / "lines.nc")
    assert check_lines(found, whole) and found.trained.sum() < 0.25 * found.trained.size
    assert {GROWS, SHRINKS, DIVERGES} == set(np.unique(whole.sides()))
    for name, values in found.bits.items():
        if values.dimensions[:3] == tuple(AXES) and name not in SAID:
            assert values.empty[~found.trained].all(), name


def test_two_at_once_find_the_same_pairs(folder):
    whole, found, single = (Found(folder / f"{name}.nc") for name in ("full", "pairs", "lines"))
    assert check_lines(found, whole)
    assert all(change_on(found, *line) == change_on(single, *line) for line in lines(found))
    assert single.trained.sum() < found.trained.sum() < 2 * single.trained.sum()
    with netCDF4.Dataset(folder / "pairs.nc") as file:
        assert file.refine == "{axis: weight_decay, variable: norm_growth, at: 1, at_once: 2}"


def test_runs_that_end_early_have_the_same_sides(folder):
    whole, found, single = (Found(folder / f"{name}.nc") for name in ("full", "early", "pairs"))
    assert (found.phase == whole.phase)[found.trained].all() and (found.outcome == whole.outcome)[found.trained].all()
    assert all(change_on(found, *line) == change_on(single, *line) for line in lines(found))
    steps = {}
    for name in ("early", "pairs"):
        with netCDF4.Dataset(folder / f"{name}.nc") as file:
            steps[name] = file["last_step"][:][file["outcome"][:] == same.DONE]
    assert steps["early"].mean() < 0.9 * steps["pairs"].mean() == 36


def test_two_at_once_keep_two_workers_busy(place):
    """Of one column; two runs are under way at a time if one began before the other ended."""
    column, together = sets("learning_rate=[0.03]", "seed=[1]", "steps=1500"), {}
    for name, options in (("lines", ALONG), ("pairs", AT_ONCE)):
        go(place, *column, *options, "-j", "2", "-o", f"column-{name}.nc")
        with netCDF4.Dataset(place / f"column-{name}.nc") as file:
            done = file["outcome"][:] == same.DONE
            begin, end = file["begin"][:][done], file["end"][:][done]
        together[name] = sum((begin < end[i]).sum() - (end <= begin[i]).sum() - 1 for i in range(len(end))) // 2
        found = Found(place / f"column-{name}.nc")
        assert change_on(found, *lines(found)[0])
    assert together["lines"] == 0 and together["pairs"] >= 1


def test_planes_have_all_neighbours_of_the_whole_grid(folder):
    whole, found = Found(folder / "full.nc"), Found(folder / "cells.nc")
    assert set(np.unique(found.outcome)) <= {same.DONE, same.DIVERGED, same.SKIPPED}
    assert found.differ_from(whole) == [] and found.trained.sum() < 0.75 * found.trained.size
    assert set(found.reason[~found.trained]) == {
        "not needed: no two runs around it are on different sides of norm_growth 1"}
    assert (found.phase == whole.phase).all()
    with netCDF4.Dataset(folder / "full.nc") as file:
        sides = whole.sides()[np.argsort(file["learning_rate"][:])]
        trained = found.trained[np.argsort(file["learning_rate"][:])]
    for axis in range(2):
        sides, trained = np.swapaxes(sides, 0, axis), np.swapaxes(trained, 0, axis)
        apart = sides[1:] != sides[:-1]
        assert (trained[1:] & trained[:-1])[apart].all() and apart.any()
        sides, trained = np.swapaxes(sides, 0, axis), np.swapaxes(trained, 0, axis)


@pytest.mark.parametrize("at", [3.2, 3.45])
def test_another_variable_crosses_another_value(place, at):
    go(place, "--set", f"refine={{axis: weight_decay, variable: final_train_loss, at: {at}}}", "-j", "2", "-o",
       "loss.nc")
    whole, found = Found(place / "full.nc"), Found(place / "loss.nc")
    assert found.differ_from(whole) == []
    crossed = 0
    for line, order in lines(found):
        sides, trained = whole.sides("loss", at)[line][order], found.trained[line][order]
        changes = np.flatnonzero(sides[1:] != sides[:-1])
        seen = [place for place in changes if trained[place] and trained[place + 1]]
        assert seen if sides[0] != sides[-1] else trained[[0, -1]].all()
        crossed += len(seen) > 0 and f"final_train_loss crosses {at:g}" in "".join(found.reason[line])
        assert trained.sum() < 20
    assert crossed >= 2


# ---- workers, stops, kills ----

@pytest.mark.parametrize("name", REFINED)
@pytest.mark.parametrize("jobs", ["0", "1", "2", "3"])
def test_any_number_of_workers_trains_the_same(place, jobs, name):
    go(place, *REFINED[name], "-j", jobs, "-o", "again.nc")
    same.assert_equal(place / "again.nc", place / f"{name}.nc")


def ended(path):
    """How many runs have ended; None if the dataset cannot be read."""
    try:
        with netCDF4.Dataset(path) as file:
            outcome = file["outcome"][:]
            return int(((outcome == same.DONE) | (outcome == same.DIVERGED)).sum())
    except (OSError, IndexError):
        return None


@pytest.fixture(scope="module")
def slow(folder):
    """The options of sweeps with runs of some tenths of a second; slow-lines.nc and the others are undisturbed."""
    slow = sets("learning_rate=[0.03, 1]", "seed=[1]", "steps=1500")
    for name, options in REFINED.items():
        run(NORMSWEEP, "run", "sweep.yaml", *options, *slow, "-j", "2", "-o", f"slow-{name}.nc", cwd=folder)
    return slow


# Every two of the three choices meet.
@pytest.mark.parametrize("number, jobs, name", [
    (signal.SIGTERM, "0", "lines"), (signal.SIGTERM, "2", "cells"), (signal.SIGKILL, "0", "cells"),
    (signal.SIGKILL, "2", "lines"), (signal.SIGKILL, "2", "pairs"),
    (signal.SIGKILL, "2", "early")])
def test_a_sweep_that_is_stopped_or_killed_goes_on(slow, place, number, jobs, name):
    status = 75 if number == signal.SIGTERM else -number
    options = REFINED[name]
    command = [NORMSWEEP, "run", "sweep.yaml", *options, *slow, "-j", jobs, "-o", "again.nc"]
    stopped, deadline = 0, time.monotonic() + 600
    for more in 1, 2, 3:
        wanted = (ended(place / "again.nc") or 0) + more
        done = run_until(lambda: (ended(place / "again.nc") or 0) >= wanted, number, *command, cwd=place)
        assert done.returncode in (status, 0, 3)  # 3: workers of a killed one are still there
        stopped += done.returncode == status
    while subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True).returncode == 3:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert stopped > 0
    same.assert_equal(place / "again.nc", place / f"slow-{name}.nc")


# ---- other sweeps before and after ----

@pytest.mark.parametrize("name", ["lines.nc", "cells.nc"])
def test_a_finished_sweep_trains_nothing_again(place, name):
    before, attempts = same.read(place / name), Found(place / name).attempts
    done = go(place, *(ALONG if name == "lines.nc" else CELLS), "-j", "2", "-o", name)
    assert "nothing left to do" in done.stdout
    assert same.differences(same.read(place / name), before) == []
    assert (Found(place / name).attempts == attempts).all()


def test_a_whole_grid_that_is_refined_stays(folder, place):
    done = go(place, *ALONG, "-j", "2", "-o", "full.nc")
    assert "nothing left to do" in done.stdout
    same.assert_equal(place / "full.nc", folder / "full.nc")
    assert Found(place / "full.nc").trained.all() and (Found(place / "full.nc").attempts == 1).all()


def test_a_part_of_a_grid_that_is_refined_trains_what_it_lacks(place):
    """The first line is there as a whole, and the last cell of another."""
    go(place, *sets("learning_rate=[0.03, 0.003]", "seed=[1]"), "-j", "0", "-o", "part.nc")
    go(place, *ALONG, "-j", "2", "-o", "part.nc")
    whole, fresh, found = Found(place / "full.nc"), Found(place / "lines.nc"), Found(place / "part.nc")
    assert found.trained[:2, :, 0].all() and (found.trained[2:] == fresh.trained[2:]).all()
    assert (found.trained[:2, :, 1] == fresh.trained[:2, :, 1]).all()
    assert found.differ_from(whole) == [] and (found.attempts <= 1).all()
    assert (found.reason[2:] == fresh.reason[2:]).all() and (found.reason[:2, :, 0] == "").all()


@pytest.mark.parametrize("name", ["lines.nc", "cells.nc"])
def test_without_refine_the_rest_is_trained(place, name):
    before = Found(place / name)
    go(place, "-j", "2", "-o", name)
    same.assert_equal(place / name, place / "full.nc")
    assert (Found(place / name).attempts == 1).all() and not before.trained.all()


def test_a_sweep_that_skips_what_was_not_needed_does_not_say_why(place):
    skip = ["--set", "skip=[{weight_decay: 30}]"]
    for options in ([], ALONG):
        go(place, *skip, *options, "-j", "0", "-o", "lines.nc")
        assert set(Found(place / "lines.nc").reason[:, -1].ravel()) == {""}


def test_refine_may_change(place):
    """From one variable to another and back; from lines to planes; what was trained stays."""
    whole, lines_before = Found(place / "full.nc"), Found(place / "lines.nc")
    go(place, "--set", "refine={axis: weight_decay, variable: final_train_loss, at: 3.2}", "-j", "2", "-o", "lines.nc")
    other = Found(place / "lines.nc")
    assert (other.trained >= lines_before.trained).all() and other.trained.sum() > lines_before.trained.sum()
    assert not any("norm_growth" in reason for reason in other.reason.ravel())
    go(place, *CELLS, "-j", "2", "-o", "lines.nc")
    found, cells = Found(place / "lines.nc"), Found(place / "cells.nc")
    assert (found.trained == (other.trained | cells.trained)).all() and (found.attempts == found.trained).all()
    assert set(found.reason[~found.trained]) == set(cells.reason[~cells.trained])
    assert found.differ_from(whole) == []
    go(place, *ALONG, "-j", "2", "-o", "lines.nc")
    back = Found(place / "lines.nc")
    assert (back.trained == found.trained).all() and back.differ_from(whole) == []
    assert all(change_on(back, *line) == change_on(lines_before, *line) for line in lines(back))


def test_a_run_that_was_begun_and_is_not_needed_leaves_no_values(place):
    """As after a kill, if `refine` then changes; also one that has failed, and is not needed when it is retried."""
    whole, fresh = Found(place / "full.nc"), Found(place / "lines.nc")
    left = np.argwhere((fresh.outcome == same.SKIPPED) & (whole.outcome == same.DONE))[[0, -1]]
    with netCDF4.Dataset(place / "full.nc", "r+") as file:
        file["outcome"][tuple(left[0])], file["outcome"][tuple(left[1])] = same.RUNNING, same.FAILED
    go(place, *ALONG, "-j", "0", "-o", "full.nc", "--retry-failed")
    found = Found(place / "full.nc")
    for cell in map(tuple, left):
        assert found.outcome[cell] == same.SKIPPED and found.reason[cell] == fresh.reason[cell] != ""
        assert found.attempts[cell] == 1
        for name, values in found.bits.items():
            if values.dimensions[:3] == tuple(AXES) and name not in SAID:
                assert values.empty[cell].all(), name
    assert found.trained.sum() == found.trained.size - 2
    go(place, "-j", "0", "-o", "full.nc")
    assert Found(place / "full.nc").differ_from(whole) == [] and Found(place / "full.nc").trained.all()


def test_the_axis_may_grow(place):
    """By values in the middle, and beyond both ends."""
    longer = ["--set", "weight_decay={log: [0.001, 30], points: 32, plus: [0, 0.0003, 0.0625, 0.25, 1.1, 100]}"]
    go(place, *longer, *ALONG, "-j", "2", "-o", "lines.nc")
    go(place, *longer, *ALONG, "-j", "0", "-o", "fresh.nc")
    go(place, *longer, "-j", "2", "-o", "whole.nc")
    found, fresh, whole = (Found(place / f"{name}.nc") for name in ("lines", "fresh", "whole"))
    assert check_lines(fresh, whole)
    assert (found.trained >= fresh.trained).all() and found.differ_from(whole) == [] and (found.attempts <= 1).all()
    left = ~found.trained
    assert (found.reason[left] == fresh.reason[left]).all() and not (found.outcome[left] != same.SKIPPED).any()


# ---- runs that fail ----

def test_a_line_ends_at_a_failed_run_and_goes_on_when_it_is_retried(place):
    """At its smallest decay."""
    (rate, _, seed), order = lines(Found(place / "lines.nc"))[2]
    cell = rate, int(order[0]), seed
    go(place, "--set", "weight_decay=[0.001]", "-j", "0", "-o", "again.nc")
    with netCDF4.Dataset(place / "again.nc", "r+") as file:
        file["outcome"][rate, 0, seed] = same.FAILED
    go(place, *ALONG, "-j", "2", "-o", "again.nc", status=1)
    found, fresh = Found(place / "again.nc"), Found(place / "lines.nc")
    line = cell[0], slice(None), cell[2]
    assert found.outcome[cell] == same.FAILED and (np.delete(found.outcome[line], cell[1]) == same.SKIPPED).all()
    assert set(np.delete(found.reason[line], cell[1])) == {
        "not reached: the run at weight_decay 0.001 has no norm_growth"}
    others = np.ones(found.outcome.shape, bool)
    others[line] = False
    assert (found.outcome[others] == fresh.outcome[others]).all() and found.differ_from(fresh) == []
    assert "nothing left to do" in go(place, *ALONG, "-j", "2", "-o", "again.nc", status=1).stdout
    go(place, *ALONG, "-j", "2", "-o", "again.nc", "--retry-failed")
    same.assert_equal(place / "again.nc", place / "lines.nc")


def test_runs_without_memory_end_their_lines_alone(place):
    """The first run of each line of the large model fails; planes go on around such runs."""
    model = sets("feedforward=[8, 60000000]", "learning_rate=[0.03]", "seed=[1]")
    limited = f"ulimit -v 1500000 && exec {NORMSWEEP} run sweep.yaml"
    for name, refine in (("a", "{axis: weight_decay}"), ("b", "{axes: [weight_decay]}")):
        run("bash", "-c", f"{limited} -j 0 -o {name}.nc --set 'refine={refine}' \"$@\"", "bash", *model, cwd=place,
            status=1)
        with netCDF4.Dataset(place / f"{name}.nc") as file:
            file.set_auto_mask(False)
            small, large = np.moveaxis(file["outcome"][:].squeeze(), file["outcome"][:].squeeze().shape.index(2), 0)
            reasons = set(file["reason"][:].ravel()) - {""}
        assert set(small) <= {same.DONE, same.SKIPPED} and set(large) == {same.FAILED, same.SKIPPED}
        assert (large == same.FAILED).sum() == (1 if name == "a" else 5)
        if name == "a":
            assert "not reached: the run at weight_decay 0.001 has no norm_growth" in reasons
