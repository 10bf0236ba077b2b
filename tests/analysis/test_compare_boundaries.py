"""Boundaries of two sweeps: only between runs that both have can they be compared."""

import numpy as np
import pytest
import xarray as xr
from compared import end, made
from drawn import DIVERGED, FAILED, PENDING, SKIPPED, dataset, near
from normsweep import compare, comparison_text

pytestmark = pytest.mark.thorough("compares many whole datasets")

FINE = [10.0 ** (place / 4) for place in range(4, -13, -1)]


def bent(**more):
    """A sweep whose norms shrink four times as fast above the boundary as they grow below: where a boundary comes to
    lie depends on the runs beside it."""
    found = made(**more)
    growth = found.norm_growth
    return found.assign(norm_growth=(growth * xr.where(growth < 1, growth ** 3, 1)).assign_attrs(growth.attrs))


def noted(found):
    return [line for line in found.attrs["notes"].split("\n") if line.startswith("Boundaries")]


LESS = ("3 of 3 lines are computed only from runs that both sides have, because one side has runs next to its boundary "
        "that the other lacks.")
OTHER = "3 of 3 lines are not tested, because A and B have no common runs around their boundaries."


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("less", [
    lambda whole: end(whole, PENDING, weight_decay=0.1), lambda whole: end(whole, FAILED, weight_decay=0.1),
    lambda whole: end(whole, SKIPPED, weight_decay=0.1), lambda whole: end(whole, DIVERGED, weight_decay=1.0),
    lambda whole: whole.isel(weight_decay=[0, 1, 3, 4]), lambda whole: whole.isel(weight_decay=[4, 0])])
def test_a_sweep_has_the_boundary_of_itself(less, paired):
    """Also where one side has fewer runs, whatever became of the others."""
    whole = bent(decays=[10.0, 1.0, 0.1, 0.01, 1e-3], slope=0.2, own=0.5)
    for a, b in (whole, less(whole)), (less(whole), whole):
        found = compare(a, b, paired=paired)
        assert found.boundary_ratio.notnull().any() and near(found.boundary_ratio.fillna(1), 1)
        there = found.boundary_ratio.notnull()
        assert (found.boundary_p >= 0.99)[there].all() and (found.boundary_q >= 0.99)[there].all()
        assert found.boundary_slope_places < 2 or near(found.boundary_slope_difference, 0)
        assert any("computed only from runs that both sides have" in line for line in noted(found))
    assert noted(compare(whole, whole, paired=paired)) == []


def test_pairs_are_decided_one_by_one():
    """Of a seed without a run, the boundary lies between others; those of the other seeds stay where they are."""
    whole = bent(decays=[10.0, 1.0, 0.1, 0.01], slope=0.2, boundary=0.5)
    found = compare(whole, end(whole, PENDING, seed=2, weight_decay=0.1))
    alone = compare(whole.isel(seed=[0, 1]), whole.isel(seed=[0, 1]))
    assert near(found.boundary_ratio, 1) and (found.boundary_runs == 3).all() and LESS in noted(found)[0]
    wide = compare(*[whole.isel(seed=[2], weight_decay=[0, 1, 3])] * 2)
    assert near(found.boundary_a, (alone.boundary_a ** 2 * wide.boundary_a) ** (1 / 3))


def test_samples_are_decided_together():
    """Without pairs, a run that one seed of either side lacks counts on neither side."""
    whole = bent(decays=[10.0, 1.0, 0.1, 0.01], slope=0.2, boundary=0.5)
    a, b = (end(whole, PENDING, seed=seed, weight_decay=0.1) for seed in (0, 2))
    found = compare(a, b, paired=False)
    assert near(found.boundary_ratio, 1) and noted(found) == [f"Boundaries: {LESS}"]


def test_different_runs_are_shown_and_not_tested():
    """Each side's own boundary, and how far that goes; no interval, no probability, no slope."""
    a, b = (bent(rates=[0.1, 0.03, 0.01], decays=decays) for decays in ([1.0, 1e-3], [10.0, 1.0, 1e-4]))
    found = compare(a, b)
    assert noted(found) == [f"Boundaries: {OTHER}"] and found.boundary_ratio.notnull().all()
    for name in "ratio_low", "ratio_high", "p", "q":
        assert found[f"boundary_{name}"].isnull().all(), name
    assert found.boundary_slope_places == 0 and np.isnan(found.boundary_slope_difference)
    assert (found.boundary_ratio_least < 1).all() and (found.boundary_ratio_most > 1).all()
    assert near(found.boundary_a, compare(a, a).boundary_a) and near(found.boundary_b, compare(b, b).boundary_b)
    assert compare(a, b, paired=False).boundary_p.isnull().all()
    assert OTHER[:32] in comparison_text(found)


def test_a_run_beside_a_boundary_at_zero():
    """The boundary may lie anywhere down to 0, at which no ratio is left."""
    def along_warmup(*boundaries):
        found = dataset({"warmup": [0, 100, 200], "seed": range(len(boundaries))},
                        norm_growth=([], lambda warmup, seed: np.exp((np.array(boundaries)[seed] - warmup) / 100)))
        found.norm_growth.attrs.update(nature="ratio", long_name="norm growth", units="1")
        return found.assign_attrs(refine="{axis: warmup, variable: norm_growth, at: 1}")
    a, b = along_warmup(50, 150), along_warmup(60, 160)
    found = compare(a, b)
    assert near(found.boundary_ratio, (60 * 160 / 50 / 150) ** 0.5)
    assert found.boundary_ratio_least == 0 and found.boundary_ratio_most == np.inf
    assert "0 to inf" in comparison_text(found)
    found = compare(a.isel(seed=[1]), b.isel(seed=[1]))
    assert near(found.boundary_ratio_least, 0.5) and near(found.boundary_ratio_most, 2)


def refined(**more):
    """(a sweep, the same without the runs that are not needed: the ends of each line and those beside the boundary)."""
    whole = bent(decays=FINE, rates=[1e-1, 1e-2], **more)
    grows = whole.norm_growth.transpose(..., "weight_decay") > 1
    edge = grows != grows.shift(weight_decay=1, fill_value=False)
    needed = edge | edge.shift(weight_decay=-1, fill_value=True)
    needed[..., 0] = True
    outcome = whole.outcome.where(needed, SKIPPED).astype(np.int8).assign_attrs(whole.outcome.attrs)
    assert 0.15 < float(needed.mean()) < 0.35
    return whole, whole.assign(outcome=outcome)


def test_refined_sweeps_keep_their_boundaries():
    """What `refine` skipped is known; the boundaries of both are as exact as of the whole grids."""
    parts = [refined(boundary=1.0), refined(boundary=3.0, own=0.4)]
    for paired in True, False:
        whole, few = (compare(*(pair[which] for pair in parts), paired=paired) for which in (0, 1))
        assert noted(few) == [] and (few.boundary_p < 0.05).all()
        for name in "boundary_ratio", "boundary_ratio_low", "boundary_p", "boundary_slope_difference":
            assert near(few[name], whole[name]), name
    running = end(parts[0][1], PENDING, weight_decay=FINE[8])
    assert LESS.partition("are ")[2] in noted(compare(parts[0][0], running))[0]


def test_a_second_crossing_that_one_side_cannot_see():
    """Both grow again and shrink again; B has no run where it would grow again."""
    whole = made(rates=[1e-1, 1e-2], decays=[10.0, 1.0, 0.1, 1e-4])
    growth = xr.where(whole.weight_decay == 1, 1.5, xr.where(whole.weight_decay == 0.1, 0.7, whole.norm_growth))
    growth = growth.transpose(*whole.norm_growth.dims).assign_attrs(whole.norm_growth.attrs)
    whole = whole.assign(norm_growth=growth)
    found = compare(whole, whole.isel(weight_decay=[0, 2, 3]))
    assert near(found.boundary_ratio, 1) and (compare(whole, whole).boundary_a > 1).all()
    a, b = (whole.assign(predicted_entropy=growth.where(growth != other, 0.0)) for other in (np.nan, 1.5))
    found = compare(a, b, without_collapsed=True)  # left out is not known
    assert found.collapsed_b.sum() == 6 and near(found.boundary_ratio, 1)


# ---- none ----

def test_why_no_boundary_is_compared():
    whole = made()
    loss = whole.assign_attrs(refine="{axis: weight_decay, variable: final_train_loss, at: 2.5}")
    found = compare(whole, loss)
    assert noted(found) == ["Boundaries are not compared, because A and B looked for different ones."]
    assert found.attrs["differ"] == ("boundary (norm_growth at 1 along weight_decay, final_train_loss at 2.5 along "
                                     "weight_decay)")
    bare = compare(whole, whole.sel(weight_decay=1.0, drop=True).assign_attrs(weight_decay=1.0))
    assert noted(bare) == ["Boundaries are not compared: B has no norm_growth along weight_decay."]
    assert noted(compare(*[whole.sel(weight_decay=1.0)] * 2)) == []
    seeds = [whole.assign_attrs(refine="{axis: seed, variable: norm_growth, at: 1}")] * 2
    assert noted(compare(*seeds)) == ["Boundaries along seed are not compared."]
    for one in (found, bare, compare(*seeds)):
        assert "boundary_ratio" not in one and "boundary_notes" not in one.attrs
