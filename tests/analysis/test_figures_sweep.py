"""The figures of a sweep as the program writes it, with every group of metrics."""

import warnings

import everything
import layout
import numpy as np
import pytest
import xarray as xr
from conftest import train_sweep
from drawn import DIVERGED, PENDING, near, words
from normsweep import figures, open_sweep
from normsweep.drawings import canvas, equilibrium, fits, look, table

thorough = pytest.mark.thorough("draws figures again and again")

AXES_OF_THEIR_OWN = {"gradients-last", "warmup", "boundaries"}
STACKS = {"norms-stack", "direction-stack"}
OF_EACH_STACK = {f"{name}-{stack}" for name in STACKS for stack in ("encoder", "decoder")}


@pytest.fixture(scope="session")
def measured(tmp_path_factory):
    with open_sweep(everything.trained(tmp_path_factory.mktemp("sweep"))) as made:
        yield made


@pytest.mark.parametrize("sweep, names", [
    (everything.OTHER_AXES, AXES_OF_THEIR_OWN), (everything.STACKS, OF_EACH_STACK)], ids=["other axes", "stacks"])
def test_figures_of_other_sweeps(tmp_path, sweep, names):
    with open_sweep(everything.trained(tmp_path, sweep)) as made:
        for figure in figures.draw_all(made, names):
            assert figure.caption.endswith("."), figure.name
            look.save(figure.figure, tmp_path / f"{figure.name}.png")
    assert names <= {path.stem for path in tmp_path.glob("*.png")}


@thorough
def test_equilibrium_is_late_in_each_run(tmp_path):
    """The last quarter of a run's own steps, of runs of several lengths and of runs that end early."""
    path = train_sweep(
        tmp_path, "corpus: markov\nvocabulary: 9\ncorpus_tokens: 2000\nwidth: 8\nheads: 2\nfeedforward: 8\ncontext: 8\n"
        "batch: 4\nweight_decay: 2\nlearning_rate: 0.01\nsteps: [8, 40]\nstop_when: [never, phase]\n"
        "measure: {every: 2, metrics: [norms, equilibrium]}\n")
    with open_sweep(path) as made:
        taken = made.last_step.values
        assert taken[0, 0] == 8 and taken[1, 0] == 40 and 8 < taken[1, 1] < 40
        late = equilibrium.late_steps(made, ["rotation", "tensor_rms"])
        ratio = equilibrium.late_ratio(made, "tensor_rms", "rms_equilibrium", late)
        for place in np.ndindex(taken.shape):
            one = made.isel(steps=place[0], stop_when=place[1])
            one = one.sel(step=slice(0.75 * taken[place], taken[place]))
            expected = np.exp(np.log(one.tensor_rms / one.rms_equilibrium).mean("step"))
            assert near(ratio.isel(steps=place[0], stop_when=place[1]), expected)
        assert np.isfinite(ratio.sel(tensor="q")).all()


@pytest.mark.long(90)
@thorough
def test_every_metric_has_a_figure_that_can_be_read(measured):
    """What test_figures_layout.py asks of figures of made-up datasets. The quick tests of test_figures_bend.py draw one
    of each module."""
    assert table.undrawn(measured) == []
    names = set()
    for found in figures.draw_all(measured):
        figure = layout.drawn(found)
        names.add(found.name)
        for flaw in (layout.outside, layout.overlapping, layout.few_ticks, layout.without_unit, layout.hyphens,
                     layout.unseen_in_legend):
            assert flaw(figure) == [], (found.name, flaw.__name__)
        assert all(text.get_fontsize() >= canvas.SIZE for text in layout.texts_of(figure)), found.name
        assert "n = " in found.caption and found.caption.endswith("."), found.name
        texts = [found.caption, *(text.get_text() for text in layout.texts_of(figure))]
        assert "Everything" in " ".join(texts), found.name
        width, height = figure.get_size_inches()
        assert width == canvas.WIDTH and height < 13, found.name
    assert names == {row.name for row in table.FIGURES} - AXES_OF_THEIR_OWN - STACKS


def test_fits_are_the_programs(measured):
    """R^2 of the curves that are drawn, against what the program says of its own fit."""
    part = {"learning_rate": 1, "weight_decay": 2, "seed": 1}
    run_of = measured.isel(part)
    step, norm = run_of.step.values.astype(float), run_of.param_norm.values
    straight = fits.straight_fits(measured, part, step, norm)
    recursions = fits.recursion_fits(measured, part, np.isfinite(norm))
    assert set(recursions) == {"aligned", "misaligned", "adam_like"}
    for name, (fitted, r2) in (straight | recursions).items():
        assert near(1 - np.sum((norm - fitted) ** 2) / np.sum((norm - norm.mean()) ** 2), r2, rtol=1e-6), name
        assert r2 == float(run_of[f"fit_{name}_r2"]), name


@pytest.mark.long(30)
@thorough
@pytest.mark.parametrize("outcome, factor, least", [(PENDING, np.nan, 0), (DIVERGED, 1, 15), (None, np.inf, 0),
                                                    (None, 1e100, 15), (None, 0, 12)])
def test_strange_values_are_drawn_without_a_warning(measured, outcome, factor, least):
    """Nothing measured yet, everything diverged, infinite, huge, zero."""
    made = measured.load().isel(weight_decay=[0, 1]).copy(deep=True)
    if outcome is not None:
        made.outcome[...] = outcome
    with np.errstate(invalid="ignore"):
        for name in made.data_vars:
            if made[name].dtype.kind == "f":
                made[name] = made[name].copy(data=made[name].values * factor)
    drawn = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for found in figures.draw_all(made, everything.few_of_each_module(made, 1)):
            with look.style():
                found.figure.draw_without_rendering()
            drawn += 1
    assert drawn >= least and (least > 0 or drawn == 0)


@thorough
def test_planes_have_the_lines_on_which_exponents_vanish(measured):
    """Exponents that are 0 at a learning rate between the two of the sweep, or nowhere."""
    made = measured.load().copy(deep=True)
    rate = xr.where(made.learning_rate > 0.05, 1.0, -1.0)
    made["angle_exponent"] = (rate + 0 * made.angle_exponent).transpose(*made.angle_exponent.dims)
    made["gradient_exponent"] = 1 + 0 * made.gradient_exponent.fillna(0)
    made.final_valid_loss.loc[{"learning_rate": 1e-1, "weight_decay": 1}] = -1
    found = next(figures.draw_all(made, ["trainability"]))
    assert "angle exponent 0" in words(found) and "gradient exponent 0" not in words(found)
    assert "Gradient exponent: above 0 everywhere." in found.caption
    axes = found.figure.axes[0]
    lines = [path.vertices for one in axes.collections for path in one.get_paths() if len(path.vertices) == 3]
    assert lines and all(near(line[:, 0], -1.5) for line in lines)
    (star,) = (line for line in axes.lines if line.get_marker() == "*")
    assert near(star.get_xdata(), -1) and near(star.get_ydata(), 0)
