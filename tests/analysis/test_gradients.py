"""Slopes of gradients over depth, and the figures of gradients and of warm-up, on datasets in closed form."""

import numpy as np
import pytest
import xarray as xr
from drawn import DIVERGED, DONE, dataset, drawing, legend, near, panels, words
from normsweep import gradient_slopes
from normsweep.drawings import look

pytestmark = pytest.mark.thorough("draws figures again and again; test_figures_sweep.py draws each once")

LAYERS, SEEDS, B = [9, 4, 6], [0, 1, 2], np.log(1.5) / 2
EXPONENT = {"post": 0.0, "pre": -0.5, "out": 0.25}
SLOPE = {"post": 0.2, "pre": -0.1, "out": 0.0}


def of(table, place):
    return np.vectorize(table.get, otypes=[float])(place)


def untrained(axes=None):
    """The norm in layer l of L is (1 + seed) L^(p + (seed - 1) / 10) exp(b (l - L + 1)), with p of EXPONENT and b of
    SLOPE; twice that after a step, thrice in w1."""
    axes = axes or {"layers": LAYERS, "norm_placement": list(EXPONENT), "seed": SEEDS}

    def norm(depth, place, seed, step, layer, tensor):
        grown = (1 + seed) * depth ** (of(EXPONENT, place) + (seed - 1) / 10) * np.where(tensor == "w2", 1, 3)
        value = grown * np.exp(of(SLOPE, place) * (layer - depth + 1)) * (1 + step)
        return np.where(layer < depth, value, np.nan)

    def slope(depth, place, seed, step, tensor):
        return of(SLOPE, place) + (seed - 1) / 100 + 0 * depth * step

    def theory(depth, place, seed, step, tensor):
        known = of({"post": B, "pre": 0, "out": np.nan}, place)
        return np.where((tensor == "w2") & (step == 0), known, np.nan)

    return dataset(axes, step=(0, 1), other={"layer": range(9), "tensor": ["w1", "w2"]},
                   mean_gradient_norm=(["step", "layer", "tensor"], norm),
                   gradient_depth_slope=(["step", "tensor"], slope),
                   gradient_depth_slope_theory=(["step", "tensor"], theory))


def test_slopes_are_the_known_ones():
    found = gradient_slopes(untrained())
    for place in EXPONENT:
        one = found.sel(norm_placement=place)
        assert near(one.each.sel(seed=SEEDS), EXPONENT[place] + np.array([-0.1, 0, 0.1]))
        assert near(one.slope, EXPONENT[place]) and near(one.slope_error, 0.1 / 3 ** 0.5)
        assert near(one.depth.sel(layers=6), SLOPE[place]) and near(one.depth_error.sel(layers=4), 0.01 / 3 ** 0.5)
        assert near(one["last"], 6 ** (1 / 3) * one["layers"] ** EXPONENT[place])
    assert near(found.theory.sel(norm_placement=["post", "pre", "out"]), [0, -0.5, np.nan])
    assert near(found.depth_theory.sel(norm_placement=["post", "pre", "out"], layers=9), [B, 0, np.nan])


def test_theory_of_a_sweep_with_one_place():
    """The place is an attribute, a coordinate without an axis, or unknown."""
    for place, want in (("post", 0), ("pre", -0.5), ("out", np.nan)):
        part = untrained().sel(norm_placement=place)
        assert near(part.sweep.gradient_slopes().theory, want)
        part = part.drop_vars("norm_placement")
        assert near(part.assign_attrs(norm_placement=place).sweep.gradient_slopes().theory, want)
        assert part.sweep.gradient_slopes().theory.isnull()


def test_slopes_of_another_tensor_have_no_theory():
    found = untrained().sweep.gradient_slopes("w1")
    assert near(found.slope.sel(norm_placement="pre"), -0.5) and found.theory.isnull().all()
    assert near(found["last"].sel(norm_placement="post"), 3 * 6 ** (1 / 3))


def test_one_seed_has_the_error_of_its_line():
    made = untrained()
    bent = made.mean_gradient_norm * np.exp(xr.DataArray([1, -2, 1], dims="layers"))
    for part in (made.sel(seed=1), made.sel(seed=[1])):
        assert near(part.sweep.gradient_slopes().slope_error, 0)
        part = part.assign(mean_gradient_norm=bent.sel(seed=part.seed))
        x, y = np.log(LAYERS), np.log(LAYERS) * -0.5 + [1, -2, 1]
        (slope, _), covariance = np.polyfit(x, y, 1, cov="unscaled")
        rest = y - np.polyval(np.polyfit(x, y, 1), x)
        found = part.sweep.gradient_slopes().sel(norm_placement="pre")
        assert near(found.slope, slope) and near(found.slope_error, (rest @ rest * covariance[0, 0]) ** 0.5, 1e-9)


def test_one_depth_has_no_slope_over_depths():
    found = untrained().sel(layers=6).sweep.gradient_slopes()
    assert "slope" not in found and near(found.depth.sel(norm_placement="post"), 0.2)


def test_slopes_that_cannot_be():
    with pytest.raises(ValueError, match="mean_gradient_norm was not measured"):
        gradient_slopes(dataset({"seed": SEEDS}))
    with pytest.raises(ValueError, match="w9: not a tensor; they are w1, w2"):
        gradient_slopes(untrained(), "w9")


# ---- the figures ----

def test_gradients_by_layer():
    found = drawing(untrained(), "gradients")
    shown = panels(found)
    assert [axes.get_title() for axes in shown] == [
        "post\nb = 0.200 ± 0.006", "pre\nb = −0.100 ± 0.006", "out\nb = 0.000 ± 0.006"]
    assert legend(found) == ["4 layers", "6 layers", "9 layers", "theory"]
    for axes, place in zip(shown, EXPONENT):
        lines = [line for line in axes.lines if line.get_linestyle() == "-"]
        for line, depth in zip(lines, sorted(LAYERS)):
            x, y = line.get_xydata().T
            assert list(x) == list(range(depth))[::-1]
            assert near(y, 6 ** (1 / 3) * depth ** EXPONENT[place] * np.exp(-SLOPE[place] * x))
        theory = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert len(lines) == 3 and len(theory) == (place != "out")
        for line in theory:
            (left, right), (end, begin) = line.get_xydata().T[0], np.log(line.get_ydata())
            assert near((end - begin) / (right - left), {"post": B, "pre": 0}[place])


def test_last_gradients_over_depth():
    found = drawing(untrained(), "gradients-last")
    axes, = panels(found)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "post: 0.00 ± 0.06", "pre: −0.50 ± 0.06", "out: 0.25 ± 0.06"]
    theory = [np.log(line.get_xydata()) for line in axes.lines if line.get_linestyle() == "--"]
    assert near([np.diff(line[[0, -1], 1])[0] / np.diff(line[[0, -1], 0])[0] for line in theory], [0, -0.5])
    assert legend(found) == ["theory"] and "standard error" in found.caption


def test_axes_of_one_value_are_no_matter():
    more = untrained().expand_dims(setting=["theory"])
    more = more.transpose("layers", "norm_placement", "setting", "seed", ...)
    for name in ("gradients", "gradients-last"):
        assert words(drawing(more, name)) == words(drawing(untrained(), name))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("factor", [0, np.nan, np.inf])
def test_norms_without_a_logarithm_are_left_out(tmp_path, factor):
    made = untrained()
    made["mean_gradient_norm"] = made.mean_gradient_norm * factor
    for name in ("gradients", "gradients-last"):
        found = drawing(made, name)
        if found is not None:
            look.save(found.figure, tmp_path / "a.svg")
    part = untrained()
    part["mean_gradient_norm"] = part.mean_gradient_norm.where(part.seed != 1, 0)
    assert near(part.sweep.gradient_slopes()["last"].sel(norm_placement="post", layers=6), 3 ** 0.5)


def test_gradients_without_axes():
    alone = untrained().isel(layers=[0], norm_placement=[0], seed=[0])
    axes, = panels(drawing(alone, "gradients"))
    assert axes.get_title() == "b = 0.190" and drawing(alone, "gradients-last") is None
    assert drawing(untrained().drop_vars("mean_gradient_norm"), "gradients") is None


def warmed(**changes):
    """final_valid_loss = 2 + warm-up / 1000 + seed / 10 with post, 1 less with pre. Without a warm-up, post diverges in
    seed 0 and collapses in seed 1."""
    axes = {"warmup_steps": [500, 1], "norm_placement": ["post", "pre"], "seed": [0, 1]}
    outcome, entropy = np.full((2, 2, 2), DONE, np.int8), np.ones((2, 2, 2))
    outcome[1, 0, 0], entropy[1, 0, 1] = DIVERGED, 0
    made = dataset(axes, outcome, step=(0, 10), unigram_loss=3.0, final_valid_loss=0.0)
    loss = 2 + made.warmup_steps / 1000 + made.seed / 10 - (made.norm_placement == "pre")
    made["final_valid_loss"] = loss.transpose(*axes).where(made.outcome == DONE)
    made["predicted_entropy"] = (*axes, "step"), np.stack([np.full_like(entropy, np.nan), entropy], axis=-1)
    return made.assign(changes)


def test_warmup_joins_the_means_and_marks_the_lost():
    found = drawing(warmed(), "warmup")
    axes, = panels(found)
    lines = [line for line in axes.lines if line.get_linestyle() == "-" and line.get_marker() == "None"]
    post, pre = (line.get_ydata() for line in lines)
    assert near(post, [2.101, 2.55]) and near(pre, [1.051, 1.55])
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "500"]
    rings = [line.get_ydata() for line in axes.lines if line.get_markersize() == 8]
    assert near(rings, [[2.101]])
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    assert len(crosses) == 1 and "1" in [text.get_text() for text in axes.texts]
    assert legend(found) == ["post", "pre", "unigram level", "collapsed: always predicts the same word", "diverged"]


def test_warmup_needs_an_axis_and_a_loss():
    assert drawing(warmed().isel(warmup_steps=[0]), "warmup") is None
    assert drawing(warmed().drop_vars("final_valid_loss"), "warmup") is None
    found = drawing(warmed().drop_vars(["predicted_entropy", "unigram_loss"]), "warmup")
    assert "collapsed" not in words(found) and "unigram" not in " ".join(legend(found))
