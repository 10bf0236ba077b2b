"""Which runs share a panel, a mean or a choice: only seeds are averaged."""

import numpy as np
import pytest
import xarray as xr
from conftest import script
from drawn import DECAYS, DIVERGED, DONE, RATES, SKIPPED, dataset, drawing, legend, mesh, near, panels, words
from normsweep import plane
from normsweep import words as words_of
from normsweep.drawings import equilibrium, runs

pytestmark = pytest.mark.thorough("draws figures again and again; test_figures_sweep.py draws each once")


def boundary_at(factors, **axes):
    """The boundary is weight_decay = factor * learning_rate, with one factor for each value of a further axis."""
    made = dataset({"learning_rate": RATES, "weight_decay": DECAYS[:-1], **axes})
    factor = xr.DataArray(factors, dims=list(axes))
    made["norm_growth"] = ((factor * made.learning_rate / made.weight_decay) ** 0.5).transpose(*made.outcome.dims)
    made.norm_growth.attrs["nature"] = "ratio"
    return made


def test_numbers_other_than_seeds_have_panels_of_their_own():
    made = boundary_at([3, 30], steps=[10, 100])
    found = drawing(made, "phase")
    one, two = panels(found)
    assert [axes.get_title().split("\n") for axes in (one, two)] == [
        ["steps 10", "slope 1.00, one seed"], ["steps 100", "slope 1.00, one seed"]]
    assert near(mesh(two) - mesh(one), 0.5 * np.log(10)) and "mean over" not in words(found)
    made["final_train_loss"] = made.norm_growth
    assert [axes.get_title() for axes in panels(drawing(made, "final-losses"))] == ["steps 10", "steps 100"]


def test_panels_say_their_intervals():
    made = boundary_at([[20, 30], [30, 40]], width=[8, 16], seed=[0, 1])
    known = made.sweep.boundary()
    ends = [f"{words_of.fixed(low)} to {words_of.fixed(high)}" for low, high in zip(known.slope_low, known.slope_high)]
    slopes = [axes.get_title().split("\n", 1)[1] for axes in panels(drawing(made, "phase"))]
    assert slopes == [f"slope 1.00,\n95 % interval {end}" for end in ends]
    assert f"Measured slope 1.00, 95 % interval {ends[0]}." in drawing(made.isel(width=0), "phase").caption
    assert "One seed" not in drawing(made.isel(width=0), "phase").caption
    one = drawing(made.isel(width=0, seed=[0]), "phase")
    assert "the spread between seeds is unknown" in one.caption and "95 %" not in words(one)


def test_seeds_are_averaged_within_the_panels_of_other_numbers():
    made = boundary_at([[3, 12], [30, 30]], width=[8, 16], seed=[0, 1])
    found = drawing(made, "phase")
    alone = drawing(boundary_at([6, 30], width=[8, 16]), "phase")
    for axes, expected in zip(panels(found), panels(alone)):
        assert near(mesh(axes), mesh(expected))
    assert "Geometric mean over seeds." in found.caption and "range over seeds" in legend(found)


def test_too_many_panels_are_thinned_with_a_note():
    made = boundary_at(np.arange(1, 31), width=np.arange(1, 31))
    found = drawing(made, "phase")
    assert len(panels(found)) == 18
    assert "18 of 30 widths are shown; others with --at width=VALUE." in found.caption


def test_cells_with_skipped_seeds_are_counted():
    made = boundary_at([3, 3], seed=[0, 1])
    assert "skipped" not in words(drawing(made, "phase"))
    made["final_train_loss"] = made.norm_growth
    made.outcome[0, 0, 1], made.outcome[1, 2, 0], made.outcome[3, 3] = SKIPPED, SKIPPED, SKIPPED
    for name in ("phase", "final-losses"):
        assert "Cells with fewer runs (skipped): 2." in drawing(made, name).caption


def test_the_star_is_in_the_row_of_a_positive_decay():
    def stars(decays):
        made = dataset({"learning_rate": RATES, "weight_decay": decays}, norm_growth=1.5)
        return [line for line in panels(drawing(made, "phase"))[0].lines if line.get_marker() == "*"]
    assert not stars([0.0, 0.1, 1.0]) and not stars([0.1, 1.0])
    assert len(stars([0.0, 0.02, 0.2])) == len(stars([0.0, 0.001, 0.1])) == 1


def chosen(made, count=2):
    found, note = runs.representatives(made, "norm_growth", count)
    return [{axis: made[axis].values[i] for axis, i in one.items() if axis != "model"} for one in found], note


def test_the_run_closest_to_the_defaults():
    made = dataset({"model": ["a", "b"], "learning_rate": [1e-1, 1e-3, 1e-2], "weight_decay": [0.0, 1.0, 0.1]},
                   norm_growth=1.5)
    found, note = chosen(made)
    assert found == [{"learning_rate": 1e-3, "weight_decay": 0.1}] * 2
    assert note == "n = 2 of 18 runs: for each model, the one closest to PyTorch's defaults (decay 0 last)."
    made.outcome[1, 1, 2] = SKIPPED
    made["norm_growth"] = made.norm_growth.where(made.outcome == DONE)
    assert chosen(made)[0][1] in ({"learning_rate": 1e-3, "weight_decay": 1.0},
                                  {"learning_rate": 1e-2, "weight_decay": 0.1})  # two decades away, both
    made.outcome[1, :, 1:] = SKIPPED
    made["norm_growth"] = made.norm_growth.where(made.outcome == DONE)
    assert chosen(made)[0][1] == {"learning_rate": 1e-3, "weight_decay": 0.0}
    positive = dataset({"model": ["a", "b"], "learning_rate": RATES, "weight_decay": [1.0, 0.1]}, norm_growth=1.5)
    assert chosen(positive)[1].endswith("each model, the one closest to PyTorch's defaults.")
    several = dataset({"model": ["a", "b"], "learning_rate": RATES, "steps": [10, 100]}, norm_growth=1.5)
    assert chosen(several)[1].endswith("one of those closest to PyTorch's defaults.")


def test_the_closest_run_may_have_another_seed():
    made = dataset({"model": ["a", "b"], "learning_rate": RATES, "seed": [0, 1]}, norm_growth=1.5)
    made.outcome[0, 2, 0], made.outcome[1, :, 0] = DIVERGED, SKIPPED
    made["norm_growth"] = made.norm_growth.where(made.outcome == DONE)
    assert chosen(made)[0] == [{"learning_rate": 1e-3, "seed": 1}] * 2


def test_fits_show_every_point_of_a_run_that_is_not_much_too_long():
    for count, drawn in ((31, 31), (60, 60), (61, 30)):
        made = dataset({}, step=range(count), param_norm=(["step"], lambda step: 3 + np.sqrt(step)))
        found = drawing(made, "norms-fits")
        assert len(panels(found)[0].lines[0].get_xdata()) == drawn
        assert (f"30 of {count} measured points are drawn." in found.caption) == (drawn == 30)


@pytest.mark.parametrize("text, places", [
    ("0.1", 3), ("0.1,1e-4", [0, 3]), ("1e-4,0.1,0.1", [0, 3]), ("1e-3..1e-2", [1, 2]), ("..1e-3", [0, 1]),
    ("0.01..", [2, 3]), ("..", [0, 1, 2, 3]), ("0.005..0.05", [2]), ("1e-4,0.01..", [0, 2, 3]),
    ("0.000999999999999..0.01", [1, 2]), ("1e-2..1e-3", [1, 2])])
def test_parts_of_several_values(text, places):
    made = dataset({"learning_rate": RATES[::-1], "seed": [0, 1]}, norm_growth=1.5)
    assert plane.places_of(made.learning_rate, text) == places
    part = plane.part_at(made, [f"learning_rate={text}", "seed=1"])
    assert part.learning_rate.values.tolist() == made.learning_rate.values[places].tolist()
    assert part.sweep.title == f"Made up at learning_rate={text}, seed=1" and part.norm_growth.ndim == np.ndim(places)


@pytest.mark.parametrize("pair, message", [
    ("learning_rate=1..2", "learning_rate: no value in 1..2; it has 0.1, 0.01, 0.001, 0.0001"),
    ("learning_rate=0.02..0.05", "learning_rate: no value in 0.02..0.05; it has"),
    ("learning_rate=a..b", "learning_rate: a..b: a range is LOW..HIGH of an axis of numbers"),
    ("rule=a..b", "rule: a..b: a range is LOW..HIGH of an axis of numbers"),
    ("rule=a,c", "rule: no value c; it has a, a,b..c"),
    ("learning_rate=0.1,", "learning_rate: no value ; it has"), ("learning_rate=0.1,x", "learning_rate: no value x"),
    ("width=8", "width is not an axis: it is 8 in all runs; the axes are learning_rate, rule"),
    ("rule", "rule: not NAME=VALUE of an axis; the axes are learning_rate, rule")])
def test_parts_that_are_not_there(pair, message):
    made = dataset({"learning_rate": RATES, "rule": ["a", "a,b..c"]}, norm_growth=1.5).assign_attrs(width=8)
    assert plane.places_of(made.rule, "a,b..c") == 1, "a label"
    with pytest.raises(KeyError) as raised:
        plane.part_at(made, [pair])
    assert raised.value.args[0].startswith(message)
    with pytest.raises(KeyError, match="learning_rate=1: learning_rate is selected twice"):
        plane.part_at(made, ["learning_rate=0.1", "learning_rate=1"])


@pytest.mark.filterwarnings("error")
def test_values_of_another_kind_are_not_there():
    for values in np.array(["a", "b"]), np.array(["a"], object), np.array([True, False]), np.array([0.1, 1]):
        for value in 0.5, "c", "0.1", float("inf"), float("nan"):
            assert plane.equal(values, value).tolist() == [False] * len(values)
    assert plane.equal(np.array([False, True]), True).tolist() == [False, True]
    assert plane.equal(np.array([1.0, np.inf]), np.inf).tolist() == [False, True]


def test_script_draws_a_part(tmp_path):
    made = boundary_at([3, 30], steps=[10, 100])
    made.to_netcdf(tmp_path / "a.nc")
    drawn = script("figures", tmp_path / "a.nc", "-o", tmp_path, "--format", "svg", "--at", "steps=100", "--only",
                   "phase")
    assert drawn.stdout == f"{tmp_path}/a-steps=100-phase.svg\n"
    assert "Made up at steps=100" in (tmp_path / "a-steps=100-phase.svg").read_text()
    axes = "the axes are learning_rate, weight_decay, steps"
    for at, error in (("steps=7", "steps: no value 7; it has 10, 100"),
                      ("step=1", f"step=1: not NAME=VALUE of an axis; {axes}")):
        said = script("figures", tmp_path / "a.nc", "--at", at, status=1).stderr
        assert said == f"figures: {tmp_path}/a.nc: {error}\n"


def test_script_says_why_a_figure_is_empty(tmp_path):
    made = dataset({}, dynamics=np.int8(1), param_norm=(["step"], lambda step: 1.0 + step))
    made.to_netcdf(tmp_path / "one.nc")
    done = script("figures", tmp_path / "one.nc", "-o", tmp_path, "--format", "svg", "--only", "dynamics,norms",
                  status=1)
    assert done.stderr == "figures: dynamics: nothing to draw: a single run is not enough for this figure\n"
    assert done.stdout == f"{tmp_path}/one-norms.svg\n"
    script("figures", tmp_path / "one.nc", "-o", tmp_path, "--format", "svg")


def test_a_value_may_be_rounded_as_long_as_it_means_one():
    made = dataset({"learning_rate": np.logspace(-4, -1, 13), "bias": [True, False], "rule": ["a", "b"]})
    at = made.learning_rate.values
    assert plane.value_of(made.learning_rate, "0.00316") == at[6]
    assert plane.value_of(made.learning_rate, "3.162e-3") == at[6]
    assert plane.value_of(made.learning_rate, "0.0032") == 0.0032  # two digits are not enough
    assert plane.value_of(made.learning_rate, "0.01") == 0.01 and plane.value_of(made.bias, "true") is True
    assert plane.value_of(made.rule, "0.01") == "0.01"
    near = dataset({"learning_rate": [0.010001, 0.010002]})
    assert plane.value_of(near.learning_rate, "0.0100") == 0.01  # it could mean either
    assert float(plane.part_at(made, ["learning_rate=0.00316"]).learning_rate) == at[6]


def test_an_error_names_the_nearest_of_many_values():
    made = dataset({"weight_decay": np.logspace(-3, 1, 256), "rule": [f"rule {i}" for i in range(20)]})
    with pytest.raises(KeyError) as error:
        plane.part_at(made, ["weight_decay=0.5"])
    assert error.value.args[0] == (
        "weight_decay: no value 0.5; it has 256 values from 0.001 to 10, the nearest 0.49893 and 0.51728")
    with pytest.raises(KeyError, match="rule: no value rule 30; it has rule 0, .*, rule 11 and 8 more"):
        plane.part_at(made, ["rule=rule 30"])


# ---- runs that are too short for their balance ----

@pytest.mark.parametrize("keys, times", [
    ({}, 4.0), ({"optimiser": "sgd", "momentum": 0.5}, 8.0), ({"optimiser": "adam"}, np.nan),
    ({"decay_rule": "corrected"}, np.nan)])
def test_balance_takes_one_over_twice_rate_times_decay(keys, times):
    made = dataset({"weight_decay": [0.02, 0.2]}, rate_sum=(["step"], lambda decay, step: 0.1 * step * 25))
    made = made.assign_attrs({"optimiser": "adamw", "decay_rule": "scaled", **keys})
    found = equilibrium.balance_times(made, {"weight_decay": 1})
    assert near(found, times)
    assert equilibrium.times_note([0.4, 4.0]) == (
        "The balance takes 1/(2 · rate · decay) steps; the runs last 0.4 to 4 times as long; 1 of 2 last less than 3 "
        "times, which is too short.")
    assert equilibrium.times_note([np.nan]) == "" and "too short" not in equilibrium.times_note([4.0])


def test_critical_sharpness_is_compared_with_the_rate_of_the_next_step():
    made = dataset({"learning_rate": [0.1, 0.01]}, None, [0, 2, 4], norm_growth=[0.9, 1.1], critical_sharpness=(
        ["step"], lambda rate, step: np.where(step < 4, 3 / rate, np.nan)))
    made.attrs |= {"schedule": "linear", "schedule_end": 0.0, "warmup_steps": 2, "steps": 4}
    for axes, rate in zip(panels(drawing(made, "critical-sharpness")), (0.1, 0.01)):
        value, limit = axes.lines
        near(value.get_xydata(), [[0, 3 / rate], [2, 3 / rate]])
        near(limit.get_xydata(), [[0, 2 / (rate / 2 * 0.75)], [2, 2 / (rate * 0.25)]])
    assert "Critical sharpness is 2/c" in words(drawing(made, "critical-sharpness"))


def test_dots_of_scores_have_room():
    """Those at 0 and in the hundreds, in different runs of one column: none is cut by the frame."""
    made = dataset({"learning_rate": [1e-3, 1e-1]}, None, [0, 10], {"layer": [0, 1], "head": [0, 1, 2]},
                   norm_growth=[0.9, 1.1], **{name: (["step", "layer", "head"], lambda rate, step, layer, head: (
                       np.where((rate > 1e-2) & (step > 0), 300.0 + 50 * head, 0.1 * head)))
                       for name in ("max_logit", "attention_entropy", "first_attention")})
    for axes in panels(drawing(made, "attention-by-layer")):
        places = np.concatenate([line.get_xydata() for line in axes.lines])
        high = axes.transAxes.inverted().transform(axes.transData.transform(places))[:, 1]
        assert (high > 0.02).all() and (high < 0.98).all()


@pytest.mark.parametrize("least", [0.001, 0.1])
def test_figures_of_attention_say_what_they_mean(least):
    made = dataset({"learning_rate": [1e-3, 1e-1], "weight_decay": [0.1, 1]}, None, [0, 10],
                   {"layer": [0, 1], "head": [0, 1, 2]}, norm_growth=np.full((2, 2), 0.9),
                   sink_share=(["step"], lambda rate, decay, step: rate),
                   **{name: (["step", "layer", "head"], lambda rate, decay, step, layer, head: least + rate)
                      for name in ("max_logit", "attention_entropy", "first_attention")})
    sink, scores = "A head has a sink if its mean weight on the first position is above 0.3.", "Scores below 0.01"
    for name in ("attention", "attention-steps"):
        found = drawing(made, name)
        assert sink in words(found) and (scores in words(found)) == (least < 0.01)
        assert found.caption.count(sink) == 1
    found = drawing(made, "attention-by-layer")
    assert legend(found)[-1] == "0.3: above it a head has a sink" and (scores in words(found)) == (least < 0.01)
    assert "From left to right within a layer: heads 0 to 2." in words(found)
    assert all(list(axes.lines[-1].get_ydata()) == [0.3, 0.3] for axes in panels(found)[2::3])
