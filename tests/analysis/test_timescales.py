"""Sweeps over the timescale of decay say the same as those over weight_decay that have the same runs: boundaries,
predictions, forces, comparisons, tables, figures."""

import numpy as np
import pytest
import xarray as xr
from compared import end, made
from drawn import DONE, PENDING, SKIPPED, dataset, drawing, legend, near, words
from normsweep import compare, open_sweep
from normsweep.optimum import HIGH

STEPS, RATES, SCALES, SEEDS = 100, [1e-3, 1e-2, 1e-1], [1000.0, 100.0, 10.0, 1.0, 0.1], [0, 1, 2]
TIMES = [0, 10, 20, 50, 100]


def growth(rate, decay, seed):
    """Falls through 1 at a decay of rate^(1/2), but for the seed."""
    return (np.sqrt(rate) * np.exp(0.1 * seed) / decay) ** 0.5


def norms(rate, decay, seed, step):
    return 7 * growth(rate, decay, seed) ** (step / STEPS)


def by_timescale(names=("timescale", "learning_rate", "seed"), **more):
    """Runs of decays from 1e-4 to 100, of which each rate has its own five."""
    axes = {"timescale": SCALES, "learning_rate": RATES, "seed": SEEDS}
    grid = dict(zip(axes, np.meshgrid(*axes.values(), indexing="ij")))
    decay = 1 / (grid["timescale"] * grid["learning_rate"] * STEPS)
    loss = (np.log10(decay) - np.select([grid["learning_rate"] == rate for rate in RATES], [2.4, -0.8, -2.1])) ** 2
    found = dataset({name: axes[name] for name in names}, None, TIMES)
    found["norm_growth"] = tuple(axes), growth(grid["learning_rate"], decay, grid["seed"]), {"nature": "ratio"}
    found["final_valid_loss"] = tuple(axes), loss
    found["param_norm"] = (*axes, "step"), norms(*(part[..., np.newaxis] for part in (
        grid["learning_rate"], decay, grid["seed"])), np.array(TIMES))
    found["tokens"] = ("learning_rate",), np.arange(3)  # not along timescale
    found = found.transpose(*names, ...).assign_attrs(steps=STEPS, configuration_digest="1", **more)
    return found.assign_coords(weight_decay=1 / (found.timescale * found.learning_rate * STEPS))


def as_decay(found, timescale):
    return 1 / (timescale * found.learning_rate * STEPS)


def test_decays_become_an_axis():
    ds = by_timescale()
    found = ds.sweep.with_axes("weight_decay")
    near(found.weight_decay, 10.0 ** np.arange(-4, 3))
    assert found.sweep.axes == ("weight_decay", "learning_rate", "seed") and found.sweep.together == {}
    assert "timescale" not in found.coords and found.attrs["timescale"] == 0 and found.attrs["steps"] == STEPS
    assert int(found.sweep.done.sum()) == ds.outcome.size and int(found.sweep.skipped.sum()) == 7 * 9 - ds.outcome.size
    for scale in SCALES:
        for rate in RATES:
            at = {"learning_rate": rate, "method": "nearest"}
            run, same = ds.sel(timescale=scale, **at), found.sel(weight_decay=1 / (scale * rate * STEPS), **at)
            for name in "norm_growth", "param_norm", "outcome", "tokens":
                np.testing.assert_array_equal(run[name], same[name])
    absent = found.sel(learning_rate=1e-3, weight_decay=1e-4, method="nearest")
    assert (absent.outcome == SKIPPED).all() and absent.param_norm.isnull().all()
    assert found.outcome.dtype == ds.outcome.dtype and found.norm_growth.attrs == ds.norm_growth.attrs
    xr.testing.assert_identical(ds.isel(learning_rate=1).norm_growth.variable, ds.isel(
        learning_rate=1).sweep.with_axes("weight_decay").norm_growth.transpose("weight_decay", "seed").isel(
            weight_decay=slice(None)).rename(weight_decay="timescale").variable)


def test_a_single_timescale_has_its_decays_too():
    one = by_timescale().isel(timescale=1)
    found = one.sweep.with_axes("weight_decay", "learning_rate")
    near(found.weight_decay, [1e-3, 1e-2, 0.1])
    done = found.sweep.done.all("seed").transpose("learning_rate", "weight_decay").values
    np.testing.assert_array_equal(done, np.eye(3)[::-1])
    alone = one.isel(learning_rate=0, seed=0).sweep.with_axes("weight_decay", "learning_rate", "seed")
    assert alone.sizes["weight_decay"] == 1 and alone.sweep.plane == () and near(alone.weight_decay, 0.1)


def test_what_cannot_become_an_axis():
    with pytest.raises(KeyError, match="timescale: this sweep has weight_decay instead"):
        made().sweep.with_axes("timescale")
    together = by_timescale().rename(timescale="m").assign_coords(m=list("abcde"), timescale=("m", SCALES))
    with pytest.raises(KeyError, match="timescale: changes along m, so it is not an axis"):
        together.sweep.with_axes("weight_decay")


def test_boundaries_and_predictions_are_those_of_the_decays():
    ds = by_timescale()
    found, same = ds.sweep.boundary(), ds.sweep.with_axes("weight_decay").sweep.boundary()
    near(as_decay(found, found.each), same.each)
    near(found.slope, -1 - same.slope)
    near(found.slope_high, -1 - same.slope_low)
    assert found.each.notnull().all() and found.rejects == same.rejects == "both" and abs(same.slope - 0.5) < 0.05
    assert "weight_decay" not in found.coords
    for name, other in ("before", "before"), ("after", "after"), ("predicted", "predicted"):
        near(as_decay(found, found[name]), same[other], rtol=1e-10)
    assert found.predicted.notnull().any()
    for runs in (1, 2):
        found, same = (one.sweep.predicted_boundary(runs=runs) for one in (ds, ds.sweep.with_axes("weight_decay")))
        assert (found.each_reason == same.each_reason).all() and (found.each_reason == "predicted").any()
        assert "timescale" in found.each.attrs["long_name"]
        for name in "each", "first", "second":
            near(as_decay(found, found[name]), same[name], rtol=1e-10)
    chosen = ds.sweep.predicted_boundary(decays=[100, 1000])
    assert (chosen["first"] == 1000).all() and (chosen.second.isin([100]) | chosen.second.isnull()).all()
    with pytest.raises(ValueError, match="decays: one or two of 1000, 100, 10"):
        ds.sweep.predicted_boundary(decays=7)


def test_forces_at_the_boundary_are_those_of_the_decays():
    def force(timescale, rate, step, layer, tensor, force):
        decay = 1 / (timescale * rate * STEPS)
        value = np.select([force == "decay", force == "injection", force == "pull"], [-decay, rate, np.sqrt(rate)], 0)
        return np.where(step > 0, value, np.nan)

    other = {"layer": [0], "tensor": ["q"], "force": ["decay", "injection", "chance", "pull"]}
    axes = {"timescale": SCALES, "learning_rate": RATES}
    ds = dataset(axes, None, [0, 10], other, force_sum=(["step", "layer", "tensor", "force"], force),
                 tensor_norm=(["step", "layer", "tensor"], lambda *of: 10.0 + 0 * of[0]), norm_growth=np.ones((5, 3)))
    ds = ds.assign_coords(weight_decay=1 / (ds.timescale * ds.learning_rate * STEPS))
    growing = np.sqrt((1 + ds.sweep.forces().sum("force")).clip(0))
    ds["norm_growth"] = growing.assign_attrs(nature="ratio")
    found = ds.sweep.forces_at_boundary()
    xr.testing.assert_allclose(found, ds.sweep.with_axes("weight_decay").sweep.forces_at_boundary())
    near(found.sum("force"), 1)
    assert found.dims == ("learning_rate", "force")
    assert drawing(ds, "forces-boundary") and "no growth" in words(drawing(ds, "forces-plane"))


def turned(found):
    """A sweep over decays as one over timescales, each of the place of a decay."""
    found = found.assign_coords(weight_decay=1 / found.weight_decay).rename(weight_decay="timescale")
    return found.assign_coords(weight_decay=1 / (found.timescale * found.learning_rate * 20))


@pytest.mark.parametrize("paired", [True, False])
def test_comparisons_know_which_runs_are_beside_a_boundary(paired):
    a = made(decays=[10.0, 1.0, 0.1, 0.01, 1e-3], slope=0.2, own=0.5)
    a = a.assign(norm_growth=(a.norm_growth * xr.where(a.norm_growth < 1, a.norm_growth ** 3, 1)).assign_attrs(
        a.norm_growth.attrs))
    between = made(decays=[10.0, 1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.01, 1e-3], slope=0.2, boundary=0.1)
    for b in (between, a, end(a, PENDING, weight_decay=0.1), a.isel(weight_decay=[0, 1, 3, 4]),
              made(boundary=2.0, slope=0.2)):
        of_decays, of_scales = compare(a, b, paired=paired), compare(turned(a), turned(b), paired=paired)
        assert of_decays.boundary_ratio.notnull().any()
        for name, other in ("", ""), ("_least", "_most"), ("_most", "_least"):
            near(of_scales[f"boundary_ratio{name}"] * of_decays[f"boundary_ratio{other}"].fillna(1), of_scales[
                f"boundary_ratio{name}"] * 0 + 1)
        near(of_scales.boundary_p, of_decays.boundary_p)
        notes = [[line for line in one.attrs["notes"].split("\n") if "Boundaries" in line] for one in (
            of_decays, of_scales)]
        assert notes[0] == notes[1]


def test_decays_and_timescales_are_not_compared():
    a, b = by_timescale(), by_timescale().sweep.with_axes("weight_decay")
    for one, other, sides in (a, b, "A has an axis timescale, B an"), (b, a, "B has an axis timescale, A an"):
        with pytest.raises(ValueError, match=sides + " axis weight_decay: compare in Python, after ds.sweep.with_axes"):
            compare(one, other)
    compare(b, a.sweep.with_axes("weight_decay"))


def test_tables_have_the_decay():
    frame = by_timescale().sweep.table()
    assert list(frame.columns[:5]) == ["timescale", "learning_rate", "seed", "weight_decay", "outcome"]
    near(frame.weight_decay, 1 / (frame.timescale * frame.learning_rate * STEPS))
    assert list(by_timescale().sweep.table(over="seed").columns[:4]) == [
        "timescale", "learning_rate", "weight_decay", "done"]
    assert "weight_decay" not in by_timescale().sweep.table(over="learning_rate")
    assert list(made().sweep.table().columns[:4]) == ["learning_rate", "weight_decay", "seed", "outcome"]


def test_the_optimum_passes_over_skipped_cells():
    ds = by_timescale().isel(timescale=[0, 2, 4])  # every second decay of the lattice
    found, of_scales = ds.sweep.with_axes("weight_decay").sweep.optimum(over="weight_decay"), ds.sweep.optimum(
        over="timescale")
    assert ds.sweep.optimum().identical(of_scales)
    inside = of_scales.reason.values == ""
    assert inside.tolist() == [False, True, True]
    near(found.optimum, as_decay(found, of_scales.optimum))
    assert found.reason.values.tolist() == [HIGH, "", ""]
    lost = ds.assign(outcome=ds.outcome.where(ds.timescale != 1000, PENDING).where(ds.seed < 3, DONE))
    assert "beside" in lost.sweep.optimum(over="timescale").reason.values


def test_figures_say_on_which_side_norms_grow():
    part = by_timescale(names=("learning_rate", "timescale", "seed"))
    several = part[["norm_growth", "outcome"]].expand_dims(width=[8, 16]).copy(deep=True)
    several.norm_growth[1] *= 2
    several.attrs.pop("width", None)
    drawn = words(drawing(several, "boundaries"))
    assert "timescale of decay at which growth stops" in drawn and "above a line" in drawn
    assert "1 / (learning rate × weight decay × steps)" in drawn
    phase = words(drawing(part, "phase"))
    assert "predicted from one run" in phase and "predicted from two runs" in phase and "misaligned: slope −2" in phase
    independent = words(drawing(part.assign_attrs(decay_rule="independent"), "phase"))
    assert "1 / (weight decay × steps)" in independent and "1 / (learning" not in independent


def test_decays_are_written_and_read(tmp_path):
    by_timescale().sweep.with_axes("weight_decay").to_netcdf(tmp_path / "x.nc")
    with open_sweep(tmp_path / "x.nc") as ds:
        assert ds.sweep.plane == ("learning_rate", "weight_decay")


def test_dynamics_have_other_slopes_with_independent_decay():
    """Decay takes the share weight_decay itself, which for the same dynamics grows by one more power of the rate."""
    ds = made(slope=1.0, rates=[1e-1, 1e-2, 1e-3], decays=[10.0 ** (place / 4) for place in range(4, -17, -1)])
    alone = ds.assign_attrs(decay_rule="independent")
    assert ds.sweep.boundary().rejects == "aligned" and alone.sweep.boundary().rejects == "orthogonal"
    both = xr.concat([ds, ds], xr.IndexVariable("decay_rule", ["scaled", "independent"]), data_vars="all")
    both.attrs = {name: value for name, value in ds.attrs.items() if name != "decay_rule"}
    both.norm_growth.attrs["nature"] = "ratio"
    assert both.sweep.boundary().rejects.values.tolist() == ["aligned", "orthogonal"]
    assert {"aligned: slope 1", "misaligned: slope 2"} <= set(legend(drawing(alone, "phase")))
    assert {f"{word}: slope {slope}" for word, slope in (
        ("aligned", 0), ("aligned", 1), ("misaligned", 1), ("misaligned", 2))} <= set(legend(drawing(both, "phase")))
