"""analysis/compare and its function, on sweeps whose differences are known."""

import csv
import doctest
import os
import sys
import xml.etree.ElementTree

import numpy as np
import pytest
import xarray as xr
from compared import RATES, end, made
from conftest import script
from drawn import DIVERGED, PENDING, SKIPPED, legend, near, panels, words
from made_up import made_up
from normsweep import NothingInCommon, compare, comparison_table, comparison_text
from normsweep.drawings.comparison import comparison

pytestmark = pytest.mark.thorough("compares many whole datasets and draws them")

QUANTILE = 0.95 * (2 / (1 - 0.95 ** 2)) ** 0.5  # Student's, for two degrees of freedom


# ---- numbers ----

def test_pairs_cancel_what_they_share():
    found = compare(made(), made(boundary=2.0, loss=2.5))
    assert near(found.norm_growth_ratio, 2 ** 0.5) and near(found.final_train_loss_difference, 0.5)
    assert near(found.norm_growth_ratio_low, 2 ** 0.5) and (found.norm_growth_p < 1e-9).all()
    assert (found.norm_growth_runs == 3).all() and found.attrs["pairing"] == "paired"
    assert near(found.norm_growth_a.sel(learning_rate=0.1, weight_decay=1), 0.1 ** 0.5)


def test_interval_of_pairs():
    """Differences of logarithms: log(2) / 2 and half of -0.1, 0 and 0.1 of a cell."""
    found = compare(made(), made(boundary=2.0, own=1.0))
    assert near(np.log(found.norm_growth_ratio_high), np.log(2) / 2 + QUANTILE * 0.05 / 3 ** 0.5)
    assert found.norm_growth_mean_p_exact == 0.25 == found.norm_growth_mean_p_least
    assert near(found.final_train_loss_difference_high, QUANTILE * 0.1 / 3 ** 0.5)


def test_other_seeds_are_not_paired():
    found = compare(made(), made(boundary=2.0, seeds=(3, 4, 5)))
    half = 2.7764451051977987 * 0.05 * (2 / 3) ** 0.5  # four degrees of freedom: equal spreads
    assert found.attrs["pairing"] == "unpaired" and "seeds of A: 0, 1, 2; of B: 3, 4, 5" in found.attrs["notes"]
    assert near(np.log(found.norm_growth_ratio_high) - np.log(2) / 2, half)
    assert found.norm_growth_mean_p_exact == 0.1 == found.norm_growth_mean_p_least
    again = compare(made(), made(boundary=2.0), paired=False)
    assert near(again.norm_growth_ratio_high, found.norm_growth_ratio_high)


def test_seeds_in_common_are_paired():
    more = compare(made(seeds=(0, 1, 2)), made(boundary=2.0, seeds=(2, 5, 1, 0, 4)))
    assert more.attrs["pairing"] == "paired" and near(more.norm_growth_ratio_high, 2 ** 0.5)
    assert "only B has it: seed 5, 4" in more.attrs["notes"]
    few = compare(made(seeds=(0, 1, 2)), made(seeds=(2, 3, 4)))
    assert few.attrs["pairing"] == "unpaired"
    assert compare(made(seeds=(0, 1, 2)), made(seeds=(2, 3, 4)), paired=True).attrs["seeds_a"] == 1
    with pytest.raises(NothingInCommon, match="no seed in common"):
        compare(made(seeds=(0, 1)), made(seeds=(2, 3)), paired=True)


@pytest.mark.parametrize("a, b", [(made(seeds=[0]), made(boundary=2.0, seeds=[0])),
                                  (made().isel(seed=0), made(boundary=2.0).isel(seed=1)),
                                  (made(), made(boundary=2.0).isel(seed=0, drop=True))])
def test_one_seed_says_nothing_about_significance(a, b):
    found = compare(a, b)
    assert near(found.norm_growth_ratio.mean(), 2 ** 0.5, rtol=0.2)
    for name in found.data_vars:
        if str(name).endswith(("_p", "_q", "_low", "_high", "_exact")):
            assert found[name].isnull().all(), name
    assert "one seed: the spread between seeds is unknown, and nothing is tested" in found.attrs["notes"]
    text = comparison_text(found)
    assert "not tested" in text and "largest of" not in text and " to " not in text.partition("Boundary")[0]
    assert "interval is over seeds" not in text and "xact p: " not in text


def test_slopes_of_one_seed_have_no_interval():
    decays = list(np.logspace(-6, 2, 9))
    noisy = made(decays=decays, rates=[1e-1, 1e-2, 1e-3, 1e-4]).isel(seed=[0])
    noisy["norm_growth"] = noisy.norm_growth * np.exp(np.sin(np.arange(4.0)))[:, None, None]
    noisy.norm_growth.attrs["nature"] = "ratio"
    found = compare(noisy, made(decays=decays, rates=[1e-1, 1e-2, 1e-3, 1e-4], slope=0.5).isel(seed=[0]))
    assert found.boundary_slope_a.notnull() and found.boundary_slope_a_low.isnull()
    said = comparison_text(found).partition("Slope over")[2].partition("\n\n")[0]
    assert "A 0.957, B 0.5" in said and "(" not in said and " p " not in said and "B-A" in said


def test_parts_of_one_sweep():
    """The docstring's example; its dataset grows with the square root of boundary / decay."""
    ds = made_up()
    done = doctest.testmod(sys.modules["normsweep.comparison"], extraglobs={"ds": ds})
    assert done.attempted > 0 and done.failed == 0
    found = compare(ds.sel(norm_placement="pre"), ds.sel(norm_placement="post"))
    assert near(found.norm_growth_ratio.sel(learning_rate=1e-2), 30 ** 0.5)
    assert near(found.boundary_ratio, [3, 30, np.nan]) and near(found.boundary_ratio_high[:2], [3, 30])
    assert found.attrs["differ"] == "norm_placement (pre, post)" and "norm_placement" not in found.coords
    assert found.diverged_a.sum() == 2 and "B: 25 of 30 runs have ended" in found.attrs["notes"]


# ---- the grid ----

def test_common_values_alone_are_compared():
    """Numbers are the same to 1e-9, in whatever order."""
    found = compare(made(), made(boundary=2.0, rates=[1e-3, 0.01 * (1 + 1e-12), 5.0], decays=[1e-1, 7.0, 1.0]))
    assert found.learning_rate.values.tolist() == [0.01, 0.001] and found.weight_decay.values.tolist() == [1.0, 0.1]
    assert near(found.norm_growth_ratio, 2 ** 0.5)
    for line in ("only A has it: learning_rate 0.1.", "only B has it: learning_rate 5.",
                 "only A has it: weight_decay 10, 0.01.", "only B has it: weight_decay 7."):
        assert line in found.attrs["notes"]


def test_an_axis_of_one_alone():
    both = xr.concat([made(), made(boundary=2.0)], xr.DataArray(
        np.array(["causal", "published"], object), dims="attention_mask", name="attention_mask"))
    plain = made(boundary=2.0).assign_attrs(attention_mask="published")
    found = compare(both, plain)
    assert near(found.norm_growth_ratio, 1) and "Of attention_mask of A, only published" in found.attrs["notes"]
    assert near(compare(plain, both).norm_growth_ratio, 1)
    with pytest.raises(NothingInCommon, match="A has an axis attention_mask .causal, published., B has none"):
        compare(both, made())
    with pytest.raises(NothingInCommon, match="B has attention_mask other: choose one value"):
        compare(both, plain.assign_attrs(attention_mask="other"))


def test_truth_values_and_seeds_of_attributes():
    both = xr.concat([made(boundary=2.0), made()], xr.DataArray([False, True], dims="bias", name="bias"))
    found = compare(both, made(boundary=2.0).assign_attrs(bias=np.int8(0)))
    assert near(found.norm_growth_ratio, 1) and "only false is compared" in found.attrs["notes"]
    one = made().isel(seed=1, drop=True).assign_attrs(seed=np.int64(1))
    assert near(compare(made(), one).norm_growth_ratio, 1) and compare(made(), one).attrs["pairing"] == "paired"


@pytest.mark.parametrize("a, b, message", [
    (made(), made(rates=[5.0, 6.0]), "no value of learning_rate in common: A has 0.1, 0.01, 0.001, B has 5, 6"),
    (made(outcome=np.full((3, 4, 3), PENDING, np.int8)), made(),
     "in no common cell do both A and B have a run that has ended")])
def test_nothing_in_common(a, b, message):
    with pytest.raises(NothingInCommon) as raised:
        compare(a, b)
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_variables_that_are_asked_for():
    a, b = (made(seconds=np.full((3, 4, 3), value)) for value in (2.0, 5.0))
    found = compare(a, b, ["seconds"])
    assert found.attrs["compared"] == "seconds" and near(found.seconds_difference, 3)
    assert "norm_growth_ratio" not in found
    assert compare(a, b, "seconds").attrs["compared"] == "seconds"
    assert compare(a, b, iter(["seconds", "norm_growth", "seconds"])).attrs["compared"] == "seconds norm_growth"
    for name in "nothing", "step", "outcome", "phase":
        with pytest.raises(NothingInCommon, match=f"{name} is not a number of each run of A"):
            compare(a, b, [name])


# ---- runs without a number ----

def test_diverged_runs_are_counted_not_dropped():
    b = end(made(boundary=2.0), DIVERGED, learning_rate=0.1, weight_decay=10.0)
    b = end(b, DIVERGED, learning_rate=0.1, weight_decay=1.0, seed=1)
    found = compare(made(), b)
    gone = found.sel(learning_rate=0.1, weight_decay=10)
    assert np.isnan(gone.norm_growth_ratio) and gone.norm_growth_runs == 0
    assert [gone.done_a, gone.done_b, gone.diverged_b] == [3, 0, 3] and gone.phase_b == "diverged"
    assert found.norm_growth_runs.sel(learning_rate=0.1, weight_decay=1) == 2
    shifted = made().phase != made(boundary=2.0).phase
    assert found.norm_growth_mean_cells == 10 and found.phase_differs.sum() == 4 + shifted.sum()
    text = comparison_text(found)
    assert "Diverged: 0 of 36 runs in A, 4 of 36 in B" in text and "All 12 cells that both have are compared" in text
    assert set(legend(comparison(found))) >= {"diverged in B", "some diverged"}


def test_running_sweeps_compare_what_is_there():
    a = end(made(), PENDING, learning_rate=0.1)
    a = end(a, PENDING, learning_rate=0.01, weight_decay=1.0, seed=2)
    found = compare(a, end(made(boundary=2.0), SKIPPED, learning_rate=0.001, weight_decay=10.0))
    assert "7 of 12 cells that both have are compared" in found.attrs["notes"]
    assert "A: 23 of 36 runs have ended; only these are compared." in found.attrs["notes"]
    assert "B:" not in found.attrs["notes"].partition("A: 23")[2]
    assert near(found.norm_growth_ratio.sum("weight_decay", skipna=False).isnull(), [1, 0, 1])
    assert near(found.norm_growth_ratio.sel(learning_rate=0.01), 2 ** 0.5)
    assert "not compared" in legend(comparison(found))


def test_runs_that_ended_early_have_phases_alone():
    early = made(boundary=2.0, ended_early=np.broadcast_to(np.arange(4)[:, np.newaxis] == 0, (3, 4, 3)).astype(float))
    found = compare(made(), early)
    assert found.norm_growth_ratio.sel(weight_decay=10).isnull().all() and found.norm_growth_mean_cells == 9
    assert (found.phase_b.sel(weight_decay=10) == "shrinking").all()
    assert "B: 9 runs ended early (stop_when)" in found.attrs["notes"]


def collapse(found, *places):
    """Adds predicted_entropy, which ends at 0.0007 in some runs."""
    entropy = np.full((*found.outcome.shape, found.sizes["step"]), 1.5)
    for place in places:
        entropy[(*place, -1)] = 0.0007
    return found.assign(predicted_entropy=((*found.outcome.dims, "step"), entropy))


def test_collapsed_runs_are_counted_and_can_be_left_out():
    a, b = collapse(made()), collapse(made(boundary=2.0, loss=2.5), (0, 0, 1), (2, 1, 0), (2, 1, 1), (2, 1, 2))
    b["final_valid_loss"] = b.final_valid_loss.where(~b.sweep.collapsed, 50).assign_attrs(b.final_valid_loss.attrs)
    found = compare(a, b)
    assert found.collapsed_a.sum() == 0 and found.collapsed_b.sum() == 4 and found.collapsed_b[2, 1] == 3
    said = "Collapsed runs, which always predict the same word: A 0, B 4; they "
    assert said + "count like the others." in found.attrs["notes"]
    assert "Collapsed runs are left out with --without-collapsed." in comparison_text(found)
    assert found.done_b.sum() == 36 and found.final_valid_loss_mean_difference > 4
    assert near(found.final_valid_loss_median_difference, 0.5) and near(found.norm_growth_median_ratio, 2 ** 0.5)
    without = compare(a, b, without_collapsed=True)
    assert said + "are left out." in without.attrs["notes"] and without.collapsed_b.sum() == 4
    assert "--without" not in comparison_text(without)
    assert without.done_b.sum() == 32 and without.phase_b[2, 1] == "" and without.norm_growth_runs[0, 0] == 2
    assert near(without.final_valid_loss_difference.where(without.norm_growth_runs > 0, 0.5), 0.5)
    assert without.final_valid_loss_mean_cells == 10 and near(without.final_valid_loss_mean_difference, 0.5)
    assert a.sweep.collapsed.sum() == 0 and b.sweep.done.sum() == 36, "the datasets stay as they are"
    assert "Collapsed" not in compare(made(), made(boundary=2.0)).attrs["notes"]
    assert "A not measured, B 4" in compare(made(), b).attrs["notes"]


def test_collapsed_runs_have_no_boundary_without_them():
    decays = [10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4]
    b = collapse(made(boundary=2.0, decays=decays), *((1, i, seed) for i in range(6) for seed in range(3)))
    a = collapse(made(decays=decays))
    assert compare(a, b).boundary_ratio.notnull().all()
    assert compare(a, b, without_collapsed=True).boundary_ratio.isnull().values.tolist() == [False, True, False]


def test_medians_are_of_cells():
    """One cell of an extreme change moves the mean."""
    b = made(boundary=2.0, loss=2.5)
    b["final_train_loss"] = b.final_train_loss + xr.where((b.learning_rate == 0.1) & (b.weight_decay == 10), 60.0, 0)
    found = compare(made(), b, ["final_train_loss"])
    assert near(found.final_train_loss_mean_difference, 5.5) and near(found.final_train_loss_median_difference, 0.5)
    assert near(found.final_train_loss_median_a, 2) and near(found.final_train_loss_median_b, 2.5)
    row, = (line for line in comparison_text(found).splitlines() if line.startswith("final_train_loss "))
    assert row.split()[4] == "+5.5" and row.split()[-4] == "+0.5"


def test_what_has_no_logarithm_is_named():
    a, b = made(), made(boundary=2.0).copy(deep=True)
    b["norm_growth"] = b.norm_growth.where(b.weight_decay < 10, 0).assign_attrs(b.norm_growth.attrs)
    b["final_train_loss"] = b.final_train_loss.where((b.seed > 0) | (b.learning_rate < 0.1), np.inf)
    found = compare(a, b)
    assert found.norm_growth_mean_cells == 9 and near(found.norm_growth_mean_ratio, 2 ** 0.5)
    lines = found.attrs["notes"].split("\n")
    assert "B: in 9 runs norm_growth is 0, which has no logarithm: left out of its changes." in lines
    assert "B: in 4 runs final_train_loss is not a finite number: left out of its changes." in lines
    assert not any(line.startswith("A: ") for line in lines)
    assert "left out of its changes" in comparison_text(found)


def test_the_same_twice_is_said():
    said = "A and B are the same: all numbers that are compared are equal, run by run."
    assert compare(made(), made()).attrs["notes"].startswith(said)
    other = made()
    other["final_train_loss"] = other.final_train_loss * (1 + 1e-12)
    for one, two in ((made(), other), (made(), made(seeds=(3, 4, 5))), (made(), end(made(), PENDING, seed=1))):
        assert said not in compare(one, two).attrs["notes"]


# ---- boundaries ----

def test_boundaries_and_their_ratios():
    """A's boundaries at a rate of 0.1 are 0.1 and e^0.1 times more or less, B's twice that and e^0.2."""
    decays = [10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4]
    found = compare(made(decays=decays), made(boundary=2.0, own=1.0, decays=decays))
    half = QUANTILE * 0.1 / 3 ** 0.5
    assert near(found.boundary_a, RATES) and near(found.boundary_b, [0.2, 0.02, 0.002])
    assert near(found.boundary_ratio, 2) and (found.boundary_runs == 3).all()
    assert near(np.log(found.boundary_ratio_high / 2), half) and near(np.log(found.boundary_ratio_low / 2), -half)
    assert near(found.boundary_ratio_least, 10 ** (-1 / 3)) and near(found.boundary_ratio_most, 10 ** (5 / 3))


def test_slopes():
    """Places where a seed has no boundary do not count."""
    decays = list(np.logspace(-6, 2, 9))
    found = compare(made(decays=decays), made(slope=0.5, own=1.0, decays=decays))
    assert near(found.boundary_slope_a, 1) and near(found.boundary_slope_b, 0.5) and found.boundary_slope_places == 3
    assert near(found.boundary_slope_difference, -0.5) and near(found.boundary_slope_difference_low, -0.5)
    assert found.boundary_slope_a_low < 1 < found.boundary_slope_a_high
    some = end(made(slope=0.5, decays=decays), PENDING, learning_rate=0.1, seed=1)
    assert compare(made(decays=decays), some).boundary_slope_places == 2
    assert compare(made(decays=decays), some).boundary_runs.values.tolist() == [2, 3, 3]


# ---- text, table, figure ----

def test_text():
    text = comparison_text(compare(made(), made(boundary=2.0, own=1.0), names=("one", "two")))
    for line in ("A  one", "B  two", "All keys of the sweep file are the same.", "No run diverged.",
                 "with 3 pairs it cannot be below 0.25, so it is not shown",
                 "Boundary: norm_growth at 1 along weight_decay",
                 "norm_growth: the 5 largest of 12 changes with q <= 0.05"):
        assert line in text
    assert "final_valid_loss: " not in text and max(map(len, text.splitlines())) <= 125
    assert "largest" not in comparison_text(compare(made(), made(boundary=2.0)), cells=0)


def test_table_has_every_number():
    found = compare(made(), made(boundary=2.0, own=1.0))
    table = comparison_table(found)
    assert table.quantity.value_counts().to_dict() == {
        "norm_growth": 12, "final_train_loss": 12, "final_valid_loss": 12, "norm_growth_mean": 1,
        "final_train_loss_mean": 1, "final_valid_loss_mean": 1, "norm_growth_median": 1, "final_train_loss_median": 1,
        "final_valid_loss_median": 1, "boundary": 3, "boundary_slope": 1}
    growth = table[table.quantity == "norm_growth"]
    for column, name in (("change", "ratio"), ("change_low", "ratio_low"), ("p", "p"), ("q", "q"), ("a", "a")):
        assert near(growth[column], found[f"norm_growth_{name}"].values.ravel())
    assert set(growth.kind) == {"ratio"} and growth.phase_a.isin(["growing", "shrinking"]).all()


def test_figure_over_the_plane():
    found = compare(made(), made(boundary=2.0, loss=2.5))
    shown = comparison(found)
    assert len(panels(shown)) == 2 and legend(shown) == ["significant: q ≤ 0.05", "boundary of A", "boundary of B"]
    growth, loss = panels(shown)
    assert "norm growth, B / A (–)" in growth.get_title() and "valid loss, B − A\n(nats)" in loss.get_title()
    assert near(growth.collections[0].get_array().data.ravel(), np.log(2) / 2)
    assert growth.collections[0].norm.vmin == -growth.collections[0].norm.vmax
    assert "Student's test of pairs in each cell, over 3 seeds" in words(shown)


def test_figure_without_a_plane():
    pair = [made(boundary=boundary, own=own).isel(learning_rate=[0]) for boundary, own in ((1, 0), (2, 1))]
    shown = comparison(compare(*pair))
    assert [text.get_text() for text in panels(shown)[0].get_yticklabels()][0] == "weight decay 10"
    assert legend(shown) == ["significant: q ≤ 0.05", "not significant"]
    assert comparison(compare(*(part.isel(weight_decay=[0]) for part in pair))) is not None


# ---- the script ----

@pytest.fixture
def folder(tmp_path):
    both = xr.concat([made(), made(boundary=2.0, own=1.0), made(boundary=3.0)], xr.DataArray(
        np.array(["out", "pre", "post"], object), dims="norm_placement", name="norm_placement"))
    both.attrs["source"] = "normsweep"
    both.outcome.attrs = made().outcome.attrs
    for name, part in (("both", both), ("a", made()), ("b", made(boundary=2.0, own=1.0)), ("far", made(rates=[7.0]))):
        part.to_netcdf(tmp_path / f"{name}.nc")
    return tmp_path


def test_script_compares_two_files(folder):
    done = script("compare", "a.nc", "b.nc", "-o", "out", cwd=folder)
    stem = "compare-a-b"
    assert sorted(os.listdir(folder / "out")) == [f"{stem}.csv", f"{stem}.png", f"{stem}.svg"]
    assert done.stdout.endswith("".join(f"out/{stem}.{ending}\n" for ending in ("png", "svg", "csv")))
    assert done.stdout.startswith("A  a\nB  b\n") and not done.stderr
    assert xml.etree.ElementTree.parse(folder / "out" / f"{stem}.svg").getroot().tag.endswith("svg")
    with open(folder / "out" / f"{stem}.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 46 and lines[0]["quantity"] == "norm_growth"
    assert near(float(lines[0]["change"]), 2 ** 0.5)


def test_the_figure_has_the_looks_that_are_asked_for(folder):
    looks = ("--format", "svg", "--width", "3.3", "--title", "Mine", "--no-notes")
    written = script("compare", "both.nc", "--along", "norm_placement", *looks, cwd=folder).stdout.splitlines()[-1]
    drawn = (folder / written).read_text()
    assert 'width="237.6pt"' in drawn and ">Mine<" in drawn and ">A: both" not in drawn
    said = script("compare", "both.nc", "--along", "norm_placement", "--width", "0.5", cwd=folder, status=1).stderr
    assert said == "compare: --width: 0.5 is not from 1 to 100 inches\n"


def test_script_compares_parts(folder):
    said = script("compare", "both.nc", "--at-a", "norm_placement=out", "--at-b", "norm_placement=pre", "--format",
                  "none", cwd=folder).stdout
    assert "They differ in norm_placement (out, pre)." in said and len(os.listdir(folder)) == 4
    along = script("compare", "both.nc", "--along", "norm_placement", "--format", "csv", cwd=folder).stdout
    assert said in along.replace("compare-both-norm_placement-out-pre.csv\n", "")
    assert along.count("A  both") == 3 and len([name for name in os.listdir(folder) if name.endswith(".csv")]) == 3
    two = script("compare", "both.nc", "--along", "learning_rate=0.1,0.001", "--at", "norm_placement=post", "--cells",
                 "0", "--format", "none", cwd=folder).stdout
    assert two.count("A  both") == 1 and "They differ in learning_rate (0.1, 0.001)." in two
    assert two.startswith("A  both, norm_placement=post, learning_rate=0.1\n")
    for place in ("out", "pre"):  # tables of different parts do not overwrite each other
        script("compare", "both.nc", "--along", "learning_rate=0.1,0.001", "--at", f"norm_placement={place}",
               "--format", "csv", cwd=folder)
        assert (folder / f"compare-both-norm_placement-{place}-learning_rate-0.1-0.001.csv").exists(), place
    mixed = script("compare", "both.nc", "a.nc", "--at-a", "norm_placement=post", "--unpaired", "--format", "none",
                "--variables", "final_train_loss", cwd=folder).stdout
    assert "not in pairs" in mixed and "norm_growth  " not in mixed.partition("Boundary")[0]


def test_script_compares_parts_of_several_values(folder):
    def said(*arguments):
        return script("compare", "a.nc", "b.nc", *arguments, "--format", "none", cwd=folder).stdout
    listed = said("--at", "learning_rate=0.1,0.001")
    assert "All 8 cells" in listed and "A  a, learning_rate=0.1,0.001" in listed
    assert "All 9 cells" in said("--at", "weight_decay=0.1..10") and "All 6 cells" in said("--at", "weight_decay=1..")
    both = said("--at-a", "weight_decay=..1,learning_rate=0.01..0.1,seed=0,2", "--at-b", "seed=0..1")
    assert "All 6 cells" in both and "not in pairs (seeds of A: 0, 2; of B: 0, 1)" in both
    along = script("compare", "a.nc", "--along", "weight_decay=0.05..2", "--format", "none", cwd=folder).stdout
    assert along.count("A  a") == 1 and "They differ in weight_decay (1, 0.1)" in along


def test_script_leaves_out_collapsed_runs(folder):
    collapse(made(), (0, 0, 0)).assign_attrs(source="normsweep").to_netcdf(folder / "c.nc")
    said = [script("compare", "c.nc", "b.nc", *more, "--format", "none", cwd=folder).stdout
            for more in ((), ("--without-collapsed",))]
    assert "A 1, B not measured; they count like the others." in said[0].replace("\n  ", " ")
    assert "A 1, B not measured; they are left out." in said[1].replace("\n  ", " ")


def test_each_format_is_written_once_and_whole(folder):
    done = script("compare", "a.nc", "b.nc", "-o", "out", "--format", "svg,csv,svg", cwd=folder)
    assert done.stdout.endswith("out/compare-a-b.svg\nout/compare-a-b.csv\n") and done.stdout.count("out/") == 2
    (folder / "out" / "compare-a-b.png").mkdir()
    done = script("compare", "a.nc", "b.nc", "-o", "out", "--format", "png", cwd=folder, status=1)
    assert done.stderr == "compare: out/compare-a-b.png: is a folder\n"
    assert sorted(os.listdir(folder / "out")) == [f"compare-a-b.{ending}" for ending in ("csv", "png", "svg")]
    for text, message in (("none,png", "none stands alone"), ("gif", "'gif' is not one of png, svg, pdf, csv")):
        assert message in script("compare", "a.nc", "b.nc", "--format", text, cwd=folder, status=2).stderr


def test_a_figure_that_fails_leaves_the_old_one(folder, monkeypatch):
    from normsweep.scripts import compare as script
    path = folder / "old.png"
    path.write_bytes(b"old")

    def fails(figure, name, options):
        with open(name, "wb") as file:
            file.write(b"half")
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(script.look, "save", fails)
    with pytest.raises(SystemExit, match="old.png: No space left on device"):
        script.write_figure(None, str(path), {})
    assert path.read_bytes() == b"old" and {name[-3:] for name in os.listdir(folder)} == {".nc", "png"}


@pytest.mark.parametrize("arguments, message", [
    (["a.nc"], "a.nc: what is it compared with? Name a second dataset"),
    (["a.nc", "b.nc", "far.nc"], "far.nc: two datasets are compared, not 3"),
    (["a.nc", "b.nc", "--along", "seed"], "--along compares parts of one dataset"),
    (["a.nc", "far.nc"], "a.nc, far.nc: no value of learning_rate in common: A has 0.1, 0.01, 0.001, B has 7"),
    (["a.nc", "both.nc"], "a.nc, both.nc: B has an axis norm_placement (out, pre, post), A has none: choose one value"),
    (["a.nc", "--along", "width"], "a.nc: width: not an axis; the axes are learning_rate, weight_decay, seed"),
    (["a.nc", "--along", "seed=1"], "a.nc: seed has only one value, 1"),
    (["a.nc", "--along", "seed=1,9"], "a.nc: seed: no value 9"),
    (["a.nc", "b.nc", "--at-b", "seed=7"], "b.nc: seed: no value 7"),
    (["a.nc", "b.nc", "--at", "learning_rate=0.1,7"], "a.nc: learning_rate: no value 7; it has 0.1, 0.01, 0.001"),
    (["a.nc", "b.nc", "--at", "learning_rate=2..7"], "a.nc: learning_rate: no value in 2..7; it has 0.1"),
    (["a.nc", "b.nc", "--at", "seed=0", "--at-a", "seed=1"], "a.nc: seed=1: seed is selected twice"),
    (["a.nc", "b.nc", "--variables", "grad_norm"], "grad_norm is not a number of each run of A"),
    (["a.nc", "b.nc", "-o", "a.nc"], "a.nc: is a file, not a folder")])
def test_errors_are_one_line(folder, arguments, message):
    before = sorted(os.listdir(folder))
    done = script("compare", *arguments, cwd=folder, status=1)
    assert done.stderr.startswith("compare: ") and message in done.stderr and done.stderr.count("\n") == 1
    assert sorted(os.listdir(folder)) == before
