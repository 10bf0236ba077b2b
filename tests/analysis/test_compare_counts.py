"""What `compare` counts and tests where cells differ in their numbers of runs and in how sure their changes are."""

import numpy as np
import pytest
from compared import end, made, uneven
from conftest import script
from drawn import DIVERGED, near
from normsweep import NotASweep, compare, comparison_table, comparison_text, significance

pytestmark = pytest.mark.thorough("compares many whole datasets")


def numbers(part, name="norm_growth"):
    """[cells, seeds] of the runs that are done."""
    values = part[name].where(part.outcome == 2).values
    return np.log(values) if name == "norm_growth" else values


def of_test(a, b, paired):
    return (significance.paired if paired else significance.unpaired)(a, b)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("name", ["norm_growth", "final_train_loss"])
def test_each_cell(name, paired):
    """Only runs that are done count; in pairs, only those whose other one is done, too; q is that of all cells."""
    one, two, _ = uneven(paired)
    found = compare(one, two)
    a, b = numbers(one, name), numbers(two, name)
    if paired:
        a = np.where(np.isnan(b), np.nan, a)
    expected, back = of_test(a, b, paired), np.exp if name == "norm_growth" else np.asarray
    change = f"{name}_ratio" if name == "norm_growth" else f"{name}_difference"
    assert near(found[f"{name}_a"], back(significance.moments(a)[1])) and found[f"{name}_a"].isnull().any() == paired
    assert near(found[f"{name}_b"], back(significance.moments(b)[1]))
    assert near(found[change], back(expected.value)) and near(found[f"{change}_low"], back(expected.low))
    assert near(found[f"{name}_p"], expected.p)
    known = expected.p[~np.isnan(expected.p)]
    assert len(known) == (13 if paired else 14) and np.ptp(known) > 0.1
    assert near(found[f"{name}_q"], significance.discoveries(expected.p))
    runs = (~np.isnan(b)).sum(-1) if paired else np.minimum(3, (~np.isnan(b)).sum(-1))
    assert found[f"{name}_runs"].values.tolist() == runs.tolist() and (runs < runs.max()).sum() == (3 if paired else 2)
    marked = found[f"{name}_q"] <= 0.05
    assert 0 < marked.sum() < (found[f"{name}_p"] <= 0.05).sum()  # so that q is not p


@pytest.mark.parametrize("paired", [True, False])
def test_mean_over_cells_without_missing_runs(paired):
    """Also where runs are missing in B alone, or in A alone."""
    one, two, done = uneven(paired)
    whole = done.all(-1)
    assert whole.sum() == 12
    for sides in (one, two), (two, one):
        found = compare(*sides)
        expected = of_test(*(numbers(part)[whole].mean(0) for part in sides), paired)
        assert found.norm_growth_mean_cells == 12 and near(found.norm_growth_mean_p, expected.p)
        assert near(np.log(found.norm_growth_mean_ratio), expected.value)
        assert near(np.log(found.norm_growth_mean_ratio_high), expected.high)


def test_boundaries_of_pairs_alone():
    """Where a seed has no boundary in B, that of A does not count: not in the mean, and not in the range."""
    decays = [10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4]
    one, two = made(decays=decays), made(boundary=2.0, own=0.5, decays=decays)
    two["norm_growth"] = two.norm_growth.where(~((two.seed == 1) & (two.learning_rate == 0.01)), 0.5).transpose(
        *two.norm_growth.dims).assign_attrs(two.norm_growth.attrs)
    found, less = compare(one, two), compare(one.isel(seed=[0, 2]), two.isel(seed=[0, 2]))
    assert found.boundary_runs.values.tolist() == [3, 2, 3]
    for name in "a", "b", "ratio", "p", "ratio_least", "ratio_most":
        assert near(*(one[f"boundary_{name}"].sel(learning_rate=0.01) for one in (found, less))), name
    assert found.boundary_ratio_least.sel(learning_rate=0.1) < 1 < found.boundary_ratio_most.sel(learning_rate=0.1)
    assert found.boundary_slope_places == 2


# ---- rounding ----

@pytest.mark.parametrize("paired", [True, False])
def test_rounding_is_not_a_change(paired):
    """The same factor in every seed would be significant, however near to 1 it is."""
    a, b = made(boundary=2.0), made(boundary=2.0)
    for part in (a, b) if not paired else ():  # seeds alike, so that the spread is that of rounding, too
        for name in "norm_growth", "final_train_loss", "final_valid_loss":
            part[name] = (part[name].isel(seed=0) * (1 + 1e-16 * part.seed)).transpose(
                *part[name].dims).assign_attrs(part[name].attrs)
    for name, factor in ("norm_growth", 1 + 2e-15), ("final_train_loss", 1 - 3e-15):
        b[name] = (b[name] * factor).assign_attrs(b[name].attrs)
    found = compare(a, b, paired=paired)
    for name in "norm_growth", "final_train_loss":
        assert (found[f"{name}_p"] == 1).all() and (found[f"{name}_q"] == 1).all(), name
        assert found[f"{name}_mean_p"] > 0.9
    assert (found.norm_growth_ratio == 1).all() and (found.final_train_loss_difference == 0).all()
    assert found.boundary_p.values[:2].tolist() == [1, 1] and found.boundary_slope_p > 0.9
    b["norm_growth"] = (b.norm_growth * (1 + 1e-9)).assign_attrs(b.norm_growth.attrs)
    assert (compare(a, b, paired=paired).norm_growth_p < 1e-3).all()


# ---- nothing to compare ----

def test_all_runs_diverged(tmp_path):
    gone = end(made(), DIVERGED)
    for part in gone, gone.isel(weight_decay=0), gone.isel(learning_rate=0, weight_decay=0):
        found = compare(part, part)
        text, table = comparison_text(found), comparison_table(found)
        assert "No run has a finite value in both A and B." in text and "mean over cells  cells" not in text
        assert {"quantity", "kind", "change", "p", "q"} <= set(table.columns) and table.change.isna().all()
        assert set(table.quantity) <= {"boundary", "boundary_slope"} if "weight_decay" in part.dims else len(table) == 0
        assert ("learning_rate" in table.columns) == ("learning_rate" in part.dims)
    gone.isel(weight_decay=0).to_netcdf(tmp_path / "gone.nc")
    done = script("compare", "gone.nc", "gone.nc", cwd=tmp_path)
    assert "No run has a finite value in both A and B." in done.stdout and not done.stderr
    assert done.stdout.endswith("/compare-gone-itself.csv\n")


def test_what_is_not_a_sweep():
    for sides, name in ((made()[["norm_growth"]], made()), "A"), ((made(), made()[["norm_growth"]]), "B"):
        with pytest.raises(NotASweep, match=f"{name} is not a normsweep dataset: it has no outcome"):
            compare(*sides)
