"""Which runs share a panel, a mean or a choice: only seeds are averaged."""

import numpy as np
import xarray as xr
from conftest import PROJECT, run
from drawn import DECAYS, DIVERGED, DONE, RATES, SKIPPED, dataset, drawing, legend, near, panels, words
from matplotlib.collections import QuadMesh
from normsweep.figures import runs

SCRIPT = PROJECT / "analysis" / "figures"


def boundary_at(factors, **axes):
    """The boundary is weight_decay = factor * learning_rate, with one factor for each value of a further axis."""
    made = dataset({"learning_rate": RATES, "weight_decay": DECAYS[:-1], **axes})
    factor = xr.DataArray(factors, dims=list(axes))
    made["norm_growth"] = ((factor * made.learning_rate / made.weight_decay) ** 0.5).transpose(*made.outcome.dims)
    return made


def mesh(axes):
    return next(artist for artist in axes.collections if isinstance(artist, QuadMesh)).get_array().ravel()


def test_numbers_other_than_seeds_have_panels_of_their_own():
    made = boundary_at([3, 30], steps=[10, 100])
    found = drawing(made, "phase")
    one, two = panels(found)
    assert [axes.get_title().split("\n") for axes in (one, two)] == [
        [f"steps {steps}", f"measured slope 1.00 {error}"] for steps, error in ((10, "± 0.00"), (100, "± 0.00"))]
    assert near(mesh(two) - mesh(one), 0.5 * np.log(10)) and "mean over" not in words(found)
    made["final_train_loss"] = made.norm_growth
    assert [axes.get_title() for axes in panels(drawing(made, "final-losses"))] == ["steps 10", "steps 100"]


def test_panels_say_the_intervals_that_the_dataset_has():
    made = boundary_at([[20, 30], [30, 40]], width=[8, 16], seed=[0, 1])
    made = made.assign({name: ("width", [value, np.nan]) for name, value in (
        ("boundary_slope", 1.0), ("boundary_slope_low", -0.004), ("boundary_slope_high", 1.456))})
    slopes = [axes.get_title().split("\n", 1)[1] for axes in panels(drawing(made, "phase"))]
    assert slopes == ["measured slope 1.00,\n95 % interval 0.00 to 1.46", "measured slope 1.00 ± 0.00"]
    assert "Measured slope 1.00, 95 % interval 0.00 to 1.46." in drawing(made.isel(width=0), "phase").caption
    made.boundary_slope[0] = 0.9  # of runs that are not in this part
    assert "Measured slope 1.00 ± 0.00." in drawing(made.isel(width=0), "phase").caption


def test_seeds_are_averaged_within_the_panels_of_other_numbers():
    made = boundary_at([[3, 12], [30, 30]], width=[8, 16], seed=[0, 1])
    found = drawing(made, "phase")
    alone = drawing(boundary_at([6, 30], width=[8, 16]), "phase")
    for axes, expected in zip(panels(found), panels(alone)):
        assert near(mesh(axes), mesh(expected))
    assert "Geometric mean over seeds." in found.caption and "range of the boundary over seeds" in legend(found)


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


def test_script_draws_a_part(tmp_path):
    made = boundary_at([3, 30], steps=[10, 100])
    made.to_netcdf(tmp_path / "a.nc")
    drawn = run(SCRIPT, tmp_path / "a.nc", "-o", tmp_path, "--format", "svg", "--at", "steps=100", "--only", "phase")
    assert drawn.stdout == f"{tmp_path}/a-steps=100-phase.svg\n"
    assert "Made up at steps=100" in (tmp_path / "a-steps=100-phase.svg").read_text()
    axes = "the axes are learning_rate, weight_decay, steps"
    for at, error in (("steps=7", "steps: no value 7; it has 10, 100"),
                      ("step=1", f"step=1: not NAME=VALUE of an axis; {axes}")):
        assert run(SCRIPT, tmp_path / "a.nc", "--at", at, status=1).stderr == f"figures: {tmp_path}/a.nc: {error}\n"


def test_script_says_why_a_figure_is_empty(tmp_path):
    made = dataset({}, dynamics=np.int8(1), param_norm=(["step"], lambda step: 1.0 + step))
    made.dynamics.attrs = {"flag_values": np.arange(2, dtype=np.int8), "flag_meanings": "none aligned"}
    made.to_netcdf(tmp_path / "one.nc")
    done = run(SCRIPT, tmp_path / "one.nc", "-o", tmp_path, "--format", "svg", "--only", "dynamics,norms", status=1)
    assert done.stderr == "figures: dynamics: nothing to draw: a single run is not enough for this figure\n"
    assert done.stdout == f"{tmp_path}/one-norms.svg\n"
    run(SCRIPT, tmp_path / "one.nc", "-o", tmp_path, "--format", "svg")
