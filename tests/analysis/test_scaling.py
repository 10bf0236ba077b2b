"""ds.sweep.scaling on datasets whose exponents are known: exactly, and as often as its intervals say in simulations."""

import numpy as np
import pytest
import xarray as xr
from drawn import DIVERGED, DONE, dataset, near

RATES, DECAYS, WIDTHS, SEEDS = [1e-3, 1e-2, 1e-1], [0.1, 0.3, 1.0, 3.0], [16, 64, 256], [0, 1, 2]
AXES = {"learning_rate": RATES, "weight_decay": DECAYS, "width": WIDTHS, "norm_placement": ["pre", "out"],
        "seed": SEEDS}
TRUE = {"q": (0.5, -0.5, 0.75), "w1": (0.25, -0.125, 0)}


def known(rate, decay, width, place, seed, step, tensor):
    value = np.zeros(np.shape(rate))
    for name, exponents in TRUE.items():
        power = rate ** exponents[0] * np.maximum(decay, 1e-9) ** exponents[1] * width ** exponents[2] * 2.0 ** seed
        value = np.where(tensor == name, power * np.where(place == "pre", 1, 3), value)
    return np.where(step < 4, value * (1 + step), np.nan)  # the last step was not measured


def swept(axes=None, **variables):
    return dataset(axes or AXES, other={"tensor": ["q", "w1"]}, top_singular=(["step", "tensor"], known), **variables)


@pytest.fixture
def ds():
    return swept()


def test_exponents_are_the_known_ones(ds):
    found = ds.sweep.scaling(over=["learning_rate", "weight_decay", "width"])
    assert found.exponent.dims == ("over", "norm_placement", "tensor")
    assert found["over"].values.tolist() == ["learning_rate", "weight_decay", "width"]
    for tensor, exponents in TRUE.items():
        one = found.sel(tensor=tensor, norm_placement="out")
        near(one.exponent, exponents)
        assert (one.error < 1e-12).all() and (one.low <= one.high).all() and one.spread < 1e-12
        near(one.level, np.log(9 * 2.0 ** np.array(SEEDS)))  # twice measured since: 3 times the first
        near(one.r_squared, 1)
    assert (found.runs == 108).all()


def test_order_and_names_change_nothing(ds):
    found = ds.sweep.scaling(over=["width", "learning_rate"])
    turned = ds.isel(width=[2, 0, 1], seed=[1, 2, 0]).sweep.scaling(over=["learning_rate", "width"])
    assert found.exponent.dims == ("over", "weight_decay", "norm_placement", "tensor")
    xr.testing.assert_allclose(found.exponent.sel(over="width"), turned.exponent.sel(over="width"))
    time = ds.assign_coords(time=1 / (ds.learning_rate * ds.weight_decay))
    near(time.sweep.scaling(over=["time", "weight_decay"]).exponent.sel(tensor="q"), [[[-0.5] * 2] * 3, [[-1] * 2] * 3])
    near(ds.sweep.scaling(over=["width"], repeats=None).exponent.sel(tensor="q"), 0.75)


def test_keys_that_change_together_count(ds):
    made = ds.rename(width="size").assign_coords(width=("size", WIDTHS), size=["s", "m", "l"])
    near(made.sweep.scaling(over=["learning_rate", "width"]).exponent.sel(over="width", tensor="q"), 0.75)


def test_what_does_not_count_is_left_out(ds):
    ds = ds.copy(deep=True)
    wrong = {"learning_rate": 1, "weight_decay": 2, "norm_placement": 0}
    ds.top_singular[wrong] = ds.top_singular[wrong] * 100
    bad = ds.copy(deep=True)
    bad.outcome[wrong] = DIVERGED
    assert (bad.outcome == DONE).any()
    over = ["learning_rate", "weight_decay", "width"]
    near(bad.sweep.scaling(over=over).exponent.sel(tensor="q", norm_placement="pre"), TRUE["q"])
    mask = (ds.learning_rate != 1e-2) | (ds.weight_decay != 1)
    found = ds.sweep.scaling(over=over, where=mask)
    near(found.exponent.sel(tensor="q", norm_placement="pre"), TRUE["q"])
    assert (found.runs == 99).all()
    assert abs(ds.sweep.scaling(over=over).exponent.sel(tensor="q", norm_placement="pre") - TRUE["q"]).max() > 1e-3
    ds["dead"] = xr.zeros_like(ds.top_singular).where(ds.top_singular.notnull())
    ds.dead[wrong] = ds.dead[wrong] + 1
    found = ds.sweep.scaling(over=over)
    near(found.exponent.sel(tensor="q", norm_placement="pre"), TRUE["q"])
    assert found.runs.sel(norm_placement="pre").values.tolist() == [99, 99]
    assert (ds.sweep.scaling(over=over, dead=True).runs == 108).all()
    later = ds.assign(dead=xr.where(ds.step == 4, 1, ds.dead))  # where the variable was not measured
    xr.testing.assert_identical(later.sweep.scaling(over=over), found)
    ds.top_singular[wrong] = 0
    assert (ds.sweep.scaling(over=over, dead=True).runs.sel(norm_placement="pre") == 99).all()


def test_a_decay_of_zero_is_no_point():
    made = swept({**AXES, "weight_decay": [0.0, *DECAYS]})
    found = made.sweep.scaling()
    assert (found.runs == 36).all()
    near(found.exponent.sel(tensor="w1"), np.broadcast_to(np.reshape(TRUE["w1"][:2], (2, 1, 1)), (2, 3, 2)))


def test_too_few_runs_have_no_exponents(ds):
    one = ds.sel(seed=[0], learning_rate=[1e-2])
    found = one.sweep.scaling(over=["learning_rate", "width"])
    assert found.exponent.isnull().all() and found.low.isnull().all() and (found.runs == 3).all()
    many = swept({**AXES, "learning_rate": np.geomspace(1e-3, 1, 10)}).sel(weight_decay=[0.1])
    found = many.sweep.scaling()  # the mean of ten equal logarithms differs from them in the last bit
    assert found.exponent.isnull().all() and found.error.isnull().all() and (found.runs == 30).all()
    two = ds.isel(seed=0, width=[0, 2]).sweep.scaling(over=["width"])
    near(two.exponent.sel(tensor="q"), 0.75)
    assert two.error.isnull().all() and two.low.isnull().all() and two.spread.isnull().all()


@pytest.mark.parametrize("variable, over, words", [
    ("norm_growth", ["width"], "norm_growth: not a variable"),
    ("top_singular", ["depth"], "depth: not a coordinate of numbers along the axes, which are learning_rate"),
    ("top_singular", ["norm_placement"], "norm_placement: not a coordinate of numbers"),
    ("top_singular", ["step"], "step: not a coordinate of numbers along the axes"),
    ("top_singular", "width", "over takes a list"),
    ("top_singular", [], "over takes a list")])
def test_what_makes_no_sense_is_refused(ds, variable, over, words):
    with pytest.raises(ValueError, match=words):
        ds.sweep.scaling(variable, over)


def test_nothing_scales_with_the_repeats(ds):
    with pytest.raises(ValueError, match="seed: each value of seed has a level of its own, so nothing scales with it"):
        ds.sweep.scaling(over=["learning_rate", "seed"])
    positive = ds.assign_coords(seed=[1, 2, 4])
    found = positive.sweep.scaling(over=["learning_rate", "seed"], repeats=None)
    assert found.exponent.sel(over="seed").notnull().all()


@pytest.mark.parametrize("seeds, known_share", [(1, 1), (2, 1), (3, 0.6)])
def test_intervals_cover_the_exponents_as_often_as_they_say(seeds, known_share):
    """Noise of 20 % from run to run, and a level of its own for each seed; of a share of the runs no value is known. A
    thousand sweeps at once, as an axis of words."""
    draw, count = np.random.default_rng(5), 1000
    axes = {"learning_rate": RATES, "weight_decay": DECAYS, "sweep": [f"s{i}" for i in range(count)],
            "seed": list(range(seeds))}
    shape = [len(values) for values in axes.values()]
    made = dataset(axes, final=np.ones(shape))
    noise = 0.2 * draw.normal(size=shape) + draw.normal(size=(count, seeds))
    line = 0.3 * np.log(made.learning_rate) - 0.7 * np.log(made.weight_decay)
    made["final"] = np.exp(line + xr.DataArray(noise, dims=list(axes))).where(
        xr.DataArray(draw.random(shape) < known_share, dims=list(axes)))
    found = made.sweep.scaling("final")
    true = xr.DataArray([0.3, -0.7], dims="over")
    covered = ((found.low <= true) & (true <= found.high)).mean("sweep")
    assert (abs(covered - 0.95) < 0.03).all(), covered.values  # 4 standard deviations of a thousand
    assert (abs((found.exponent - true) / found.error).mean() < 1.1)
    assert abs(float((found.spread ** 2).mean()) - 0.04) < 0.003
