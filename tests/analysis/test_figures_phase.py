"""The phase diagram, by what is drawn in it: maps, contours, bars and words, not pixels."""

import numpy as np
import pytest
import xarray as xr
from conftest import script
from drawn import (
    DECAYS, DIVERGED, DONE, FAILED, PENDING, RATES, RUNNING, SKIPPED, dataset, drawing, legend, mesh, near, panels,
    words)
from made_up import PHASE
from matplotlib.collections import LineCollection
from normsweep.drawings import colours
from normsweep.drawings.cells import PALE, implied_sides

pytestmark = pytest.mark.thorough("draws figures again and again; test_figures_sweep.py draws each once")


def straight_phase(**changes):
    """norm_growth = sqrt(3 learning_rate / weight_decay): the boundary is weight_decay = 3 learning_rate."""
    made = dataset({"learning_rate": RATES, "weight_decay": DECAYS[:-1]})
    made["norm_growth"] = (3 * made.learning_rate / made.weight_decay) ** 0.5
    return made.assign(changes)


def boundary_line(axes):
    """The points of the line of no growth, in log10."""
    line, = (line for line in axes.lines if line.get_marker() == "o" and line.get_color() == "black")
    return np.array(line.get_xydata())


def test_phase_has_the_growth_of_every_cell():
    axes = panels(drawing(straight_phase(), "phase"))[0]
    rate, decay = np.meshgrid(sorted(RATES), sorted(DECAYS[:-1]))
    assert near(mesh(axes), 0.5 * np.log(3 * rate / decay).ravel())
    assert near(axes.get_xlim(), (-4.5, -0.5)) and near(axes.get_ylim(), (-3.5, 1.5))
    assert [text.get_text() for text in axes.get_xticklabels()] == ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]


def test_phase_boundary_and_predictions():
    found = drawing(straight_phase(), "phase")
    axes = panels(found)[0]
    x, y = boundary_line(axes).T
    assert near(x, [-4, -3, -2, -1]) and near(y, [np.nan, *(x[1:] + np.log10(3))])  # 1e-4 has none in the grid
    lines_of = {line.get_linestyle(): line for line in axes.lines}
    level, rising = lines_of["--"], lines_of["-."]
    assert near(rising.get_ydata() - rising.get_xdata(), np.log10(3))
    assert near(level.get_ydata(), [np.log10(3) - 2] * 2)
    assert {"no growth", "runs on either side", "aligned: slope 0", "misaligned: slope 1", "PyTorch's defaults"} == set(
        legend(found))
    star = next(line for line in axes.lines if line.get_marker() == "*")
    assert near(star.get_xydata(), [[-3, -2]])
    assert "Measured slope 1.00, one seed." in found.caption
    assert "A slope of one seed has no interval: the spread between seeds is unknown." in found.caption


def test_dynamics_say_nothing_where_norms_of_matrices_are_held():
    made = straight_phase().expand_dims(norm_rule=["free", "hyperball"])
    made.attrs.pop("norm_rule")
    found = drawing(made, "phase")
    free, held = panels(found)
    assert [len(boundary_line(axes)) for axes in (free, held)] == [4, 4]
    assert {"--", "-."} <= {line.get_linestyle() for line in free.lines}
    assert not {"--", "-."} & {line.get_linestyle() for line in held.lines}
    assert "slope 1.00" in held.get_title() and "only those of gains and biases" in found.caption
    assert "gains and biases" not in drawing(straight_phase(), "phase").caption


def test_phase_of_a_search_for_another_boundary_has_no_line_of_growth():
    made = straight_phase()
    made["final_train_loss"] = made.norm_growth
    made.attrs["refine"] = "{axis: weight_decay, variable: final_train_loss, at: 2.9}"
    found = drawing(made, "phase")
    assert legend(found) == ["PyTorch's defaults"] and "lope" not in words(found)
    assert "the sweep looked for final_train_loss at 2.9 along weight_decay" in found.caption
    made.attrs["refine"] = "{axis: weight_decay, variable: norm_growth, at: 1}"
    assert "no growth" in legend(drawing(made, "phase")) and "left out" not in drawing(made, "phase").caption


def test_a_slope_of_one_seed_has_no_interval():
    """Though another seed is there that has no boundary."""
    one, seeds = straight_phase(), xr.IndexVariable("seed", [0, 1])
    other = one.assign(norm_growth=0 * one.norm_growth + 2)
    for made in one, xr.concat([one, other], seeds, data_vars="all"):
        caption = drawing(made, "phase").caption
        assert "Measured slope 1.00, one seed." in caption and "95 %" not in caption


def test_phase_spread_over_seeds():
    made = straight_phase()
    made = xr.concat([made, made.assign(norm_growth=made.norm_growth * 10 ** 0.1)], xr.IndexVariable("seed", [0, 1]),
                     data_vars="all")
    found = drawing(made, "phase")
    axes = panels(found)[0]
    assert "range over seeds" in legend(found) and "Geometric mean over seeds." in found.caption
    low, high = (line for line in axes.lines if line.get_marker() == "_")
    (x, down), (_, up) = (np.asarray(line.get_xydata(), float).T for line in (low, high))
    known = np.isfinite(down)
    assert known.sum() == 3 and near((down - x)[known], np.log10(3)) and near((up - x)[known], np.log10(3) + 0.2)
    assert low.get_markersize() > 8, "beside the dots of the line"
    assert low.get_zorder() > 3 and low.get_path_effects(), "above the line, on any colour"
    one = drawing(made.isel(seed=[0]), "phase")
    assert "range over seeds" not in legend(one) and not any(
        line.get_marker() == "_" for line in panels(one)[0].lines)


def test_phase_line_is_the_boundary_of_the_module():
    """Seeds that differ, several crossings, a rate without any: no plane that is averaged first says the same."""
    growth = np.array([[[4, 2], [0.5, 0.9], [3, 1.5], [0.2, 0.1]], [[2, 2]] * 4, [[3, 2], [2, 0.5], [0.5, 0.4],
                                                                                  [0.4, 0.3]]])
    made = dataset({"learning_rate": [1e-1, 1e-2, 1e-3], "weight_decay": [1e-2, 1e-1, 1.0, 10.0], "seed": [0, 1]},
                   norm_growth=growth)
    found = drawing(made, "phase")
    known = np.log10(made.sweep.boundary().boundary.sortby("learning_rate"))
    assert np.isnan(known).sum() == 1 and near(boundary_line(panels(found)[0])[:, 1], known)
    assert "none where all runs grow or all shrink" in found.caption
    assert not any("slope" in name for name in legend(drawing(made.isel(learning_rate=[1, 0], seed=[0]), "phase")))


def test_cells_without_a_result():
    made = straight_phase()
    made.outcome[0, 0], made.outcome[0, 1], made.outcome[1, 0], made.outcome[1, 1] = DIVERGED, FAILED, SKIPPED, RUNNING
    made.norm_growth[2, 0] = np.nan
    found = drawing(made, "phase")
    axes = panels(found)[0]
    places = {(patch.get_hatch(), *np.round(patch.get_center(), 9)) for patch in axes.patches}
    assert places == {("xxxxx", -1.0, 1.0), ("|||||", -1.0, 0.0), (".....", -2.0, 1.0), ("-----", -2.0, 0.0),
                      ("/////", -3.0, 1.0)}
    assert set(legend(found)) >= {"diverged", "failed", "skipped", "running", "no value"}
    assert np.ma.count_masked(np.ma.masked_invalid(mesh(axes))) == 5


def test_pending_cells_look_like_the_nearest_that_has_ended():
    made = straight_phase()
    made.outcome[:] = PENDING
    made.outcome[0, 0], made.outcome[-1, -1] = DONE, DIVERGED
    rows, columns = np.indices(made.outcome.shape)
    far = (np.array(made.outcome.shape) - 1)[:, None, None]
    like_done = np.hypot(rows, columns) < np.hypot(*(np.array([rows, columns]) - far))
    ordered = like_done[np.ix_(np.argsort(made.learning_rate.values), np.argsort(made.weight_decay.values))].T.ravel()
    found = drawing(made, "phase")
    axes = panels(found)[0]
    pale, = (part for part in axes.collections if part.get_alpha() == PALE)
    painted = np.ma.masked_invalid(np.ma.ravel(pale.get_array()))
    assert "pending, like the nearest that has ended" in legend(found)
    growth = np.log(made.norm_growth.values[0, 0])
    assert (painted.compressed() == growth).all() and ordered.sum() - 1 == painted.count()
    assert not (~painted.mask & ~ordered).any()
    hatched = sum(patch.get_alpha() == PALE for patch in axes.patches)
    assert hatched > 0 and "no value" not in legend(found)
    dotted = [patch for patch in axes.patches if patch.get_hatch() == colours.PENDING["hatch"]]
    below, rates = made.weight_decay.size, np.ptp(axes.get_xlim()) / made.learning_rate.size
    high = sum(patch.get_height() for patch in dotted) / np.ptp(axes.get_ylim()) * below
    assert near(high, painted.count()) and all(near(patch.get_width(), rates) for patch in dotted)
    pale = next(each for each in found.figure.legends[0].get_patches() if each.get_hatch() == "....")
    assert pale.get_facecolor()[3] == 0  # dots alone: the colour is that of the nearest


def test_decay_zero_is_a_row_of_its_own():
    made = dataset({"learning_rate": RATES, "weight_decay": DECAYS})
    made["norm_growth"] = (3 * made.learning_rate / made.weight_decay.where(made.weight_decay > 0, 1e-4)) ** 0.5
    axes = panels(drawing(made, "phase"))[0]
    ticks = dict(zip((text.get_text() for text in axes.get_yticklabels()), axes.get_yticks()))
    assert ticks["0"] == -4.5 and ticks["0.001"] == -3
    assert any(np.ptp(line.get_ydata()) == 0 and near(line.get_ydata()[0], -3.75) for line in axes.lines
               if line.get_color() == "white" and line.get_marker() != "*")


def test_phase_without_the_usual_axes():
    plane = drawing(dataset({"layers": [1, 2, 4], "width": [8, 16]}, norm_growth=1.5), "phase")
    assert panels(plane)[0].get_xlabel() == "layers (–)" and "slope" not in words(plane)
    three = dataset({"layers": [1, 2], "width": [8, 16, 32], "heads": [1, 2, 4, 8]}, norm_growth=1.5)
    longest = drawing(three, "phase")
    assert (panels(longest)[0].get_xlabel(), panels(longest)[0].get_ylabel()) == ("heads (–)", "width (–)")
    curve = drawing(dataset({"weight_decay": DECAYS}, norm_growth=np.arange(6) + 0.5), "phase")
    assert near(panels(curve)[0].lines[0].get_ydata(), np.arange(6)[::-1] + 0.5)
    dots = drawing(dataset({"norm_placement": ["pre", "post"]}, norm_growth=[0.5, 2]), "phase")
    assert [text.get_text() for text in panels(dots)[0].get_xticklabels()] == ["pre", "post"]
    assert drawing(dataset({}, norm_growth=2.0), "phase") is None


def test_panels_of_words_wrap():
    made = dataset({"learning_rate": RATES, "weight_decay": DECAYS, "optimiser": list("abcde")}, norm_growth=1.5)
    axes = panels(drawing(made, "phase"))
    assert [panel.get_title() for panel in axes] == list("abcde")
    assert axes[0].get_gridspec().nrows == 3 and axes[0].get_gridspec().ncols == 2


def test_huge_growth():
    growth = np.full((4, 6), 2.0)
    growth[0, :4] = 1e300, np.inf, 0, 1e30
    made = dataset({"learning_rate": RATES, "weight_decay": DECAYS}, norm_growth=growth,
                   param_norm=(["step"], lambda rate, decay, step: np.where(rate == 0.1, 1e300 * step, 1)))
    for name in ("phase", "norms"):
        assert words(drawing(made, name))


def refined(seeds=1, **changes):
    """A column for each learning rate in which only the ends and the runs beside a boundary of 0.03 were trained."""
    growth = np.tile([0.2, np.nan, 0.8, 1.5, np.nan, 3.0], (4, seeds, 1))
    phase = np.tile([2, 2, 2, 1, 1, 1], (4, seeds, 1)).astype(np.int8)
    outcome = np.where(np.isnan(growth), SKIPPED, DONE).astype(np.int8)
    for name, (place, value) in changes.items():
        {"growth": growth, "outcome": outcome, "phase": phase}[name][place] = value
    made = dataset({"learning_rate": RATES, "seed": range(seeds), "weight_decay": [10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4]},
                   outcome, norm_growth=growth)
    made["phase"] = made.outcome.dims, phase, PHASE
    return made


def test_refined_phase_has_the_sides_that_its_runs_imply():
    said = words(drawing(refined(), "phase"))
    assert "growing, not trained" in said and "shrinking, not trained" in said and "skipped" not in said
    sides = implied_sides(refined(), ("learning_rate", "weight_decay"))
    assert sides["growing"].dims == ("weight_decay", "learning_rate")
    np.testing.assert_array_equal(sides["growing"].isel(learning_rate=0), [0, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(sides["shrinking"].isel(learning_rate=0), [0, 0, 0, 0, 1, 0])


@pytest.mark.parametrize("changes, growing", [
    ({}, [0, 1, 0, 0, 0, 0]),
    ({"phase": ((3, 1, 4), 2)}, [0, 0, 0, 0, 0, 0]),  # the seeds disagree
    ({"outcome": ((3, 1, 4), DONE)}, [0, 0, 0, 0, 0, 0]),  # one seed is done, whose value the cell shows
    ({"outcome": ((3, 1, 4), DIVERGED)}, [0, 0, 0, 0, 0, 0]),
])
def test_implied_side_is_that_of_all_seeds(changes, growing):
    sides = implied_sides(refined(2, **changes), ("learning_rate", "weight_decay"))
    np.testing.assert_array_equal(sides["growing"].sel(learning_rate=1e-4), growing)


def test_cells_without_a_phase_stay_skipped():
    made = refined(phase=((slice(None), slice(None), [1, 4]), 0))
    assert implied_sides(made, ("learning_rate", "weight_decay")) is None
    assert "skipped" in words(drawing(made, "phase"))
    assert "skipped" in words(drawing(made.drop_vars("phase"), "phase"))


def test_phase_draws_a_bar_between_the_runs_beside_the_boundary():
    panel, = panels(drawing(refined(), "phase"))
    bars = [line for lines in panel.collections if isinstance(lines, LineCollection) for line in lines.get_segments()]
    assert len(bars) == 4
    for bar in bars:
        np.testing.assert_allclose(bar[:, 1], [-2, -1], atol=1e-12)


# ---- the boundaries of several kinds of runs ----

def two_rules(**changes):
    """weight_decay = 3 learning_rate under one rule, 9 under the other, over two seeds that differ by 1 +- 0.1."""
    made = dataset({"rule": ["slow", "fast"], "learning_rate": RATES, "weight_decay": DECAYS[:-1], "seed": [0, 1]})
    level = xr.DataArray([3, 9], dims="rule") * xr.DataArray([0.9, 1.1], dims="seed")
    made["norm_growth"] = ((level * made.learning_rate / made.weight_decay) ** 0.5).transpose(*made.sweep.axes)
    return made.assign(changes)


def test_boundaries_of_all_rules_are_in_one_panel():
    found = drawing(two_rules(), "boundaries")
    panel, = panels(found)
    lines = [line for line in panel.lines if len(line.get_xdata()) == len(RATES) and line.get_linestyle() != "None"]
    assert legend(found) == ["slow", "fast"] and len(lines) == 2
    for line, level in zip(lines, (3, 9)):
        rates, decays = line.get_xydata().T
        known = np.isfinite(decays)
        assert known.sum() >= 2
        np.testing.assert_allclose(decays[known], level * np.sqrt(0.99) * rates[known], rtol=1e-6)
    assert "range over them" in words(found)


def test_boundaries_have_a_note_on_gaps_if_there_are_any():
    """At the least learning rate there is no boundary."""
    assert "A line has a gap at learning rates where" in drawing(two_rules(), "boundaries").caption
    assert "A line has a gap" not in drawing(two_rules().isel(learning_rate=slice(3)), "boundaries").caption


def test_boundaries_need_several_kinds_of_runs():
    assert drawing(two_rules().isel(rule=[0]), "boundaries") is None
    assert drawing(two_rules().isel(learning_rate=[0]), "boundaries") is None


def test_boundaries_say_what_they_need(tmp_path):
    two_rules().isel(rule=[0]).to_netcdf(tmp_path / "one.nc")
    said = script("figures", tmp_path / "one.nc", "--only", "boundaries", status=1)
    assert "it needs axes learning_rate and weight_decay (or timescale) and a third one" in said.stderr


def test_the_bar_of_strong_growth_has_no_e():
    made = dataset({"learning_rate": RATES, "weight_decay": DECAYS[:-1]})
    seen = set()
    for power in (1, 1.5, 2, 3, 5):
        made["norm_growth"] = ((made.learning_rate / made.weight_decay) ** power).transpose(*made.outcome.dims)
        found = drawing(made, "phase")
        found.figure.draw_without_rendering()
        bar, = (axes for axes in found.figure.axes if axes.get_label() == "<colorbar>")
        seen |= {text.get_text() for text in bar.get_yticklabels()}
    assert {"1", "1000"} <= seen and not any("e" in tick for tick in seen), seen
