"""ds.sweep.optimum and collapse on datasets whose answers are known: exactly, and as often as their intervals say in
simulations; planes and boundaries over the timescale of decay."""

import numpy as np
import pytest
from drawn import DIVERGED, DONE, dataset, near

from normsweep.optimum import HIGH, LOW, collapsed_at, least_place

RATES, SCALES, SEEDS = [1e-3, 1e-2, 1e-1], [0.01, 0.1, 1.0, 10.0, 100.0], [0, 1, 2]
AXES = {"learning_rate": RATES, "timescale": SCALES, "seed": SEEDS}
STEPS = 100


def loss(rate, timescale, seed):
    return (np.log(timescale) - np.log(rate * 1000)) ** 2 + seed


def swept(value=loss, axes=AXES, **variables):
    made = dataset(axes, final_valid_loss=value(*np.meshgrid(*axes.values(), indexing="ij")), **variables)
    return made.assign_coords(weight_decay=1 / (made.timescale * made.learning_rate * STEPS))


def test_the_optimum_is_the_known_one():
    found = swept().sweep.optimum(over="timescale")
    near(found.optimum.isel(learning_rate=[0, 1]), [1, 10])
    near(found.least.isel(learning_rate=[0, 1]), 1)
    near(found.low.isel(learning_rate=1), 10)  # seeds differ by a level alone
    assert found.reason.values.tolist() == ["", "", HIGH] and np.isnan(found.optimum[2]) and np.isnan(found.low[2])
    down = swept(lambda *of: -loss(*of)).sweep.optimum(over="timescale")
    assert set(down.reason.values.tolist()) <= {LOW, HIGH}
    alone = swept().sel(seed=0, drop=True).sweep.optimum(over="timescale")
    near(alone.optimum.isel(learning_rate=0), 1)
    assert np.isnan(alone.low).all()
    shuffled = swept().isel(timescale=[3, 0, 4, 1, 2]).sweep.optimum(over="timescale")
    near(shuffled.optimum.isel(learning_rate=[0, 1]), [1, 10])


def test_what_has_not_ended_well_does_not_count():
    outcome = np.full((3, 5, 3), DONE, np.int8)
    outcome[0, 3], outcome[1] = DIVERGED, DIVERGED
    found = swept(outcome=outcome).sweep.optimum(over="timescale")
    assert found.reason.values.tolist() == ["beside", "no run", HIGH]
    for wrong in ({"over": "weight_decay"}, {"over": "nothing"}, {"variable": "nothing", "over": "timescale"}):
        with pytest.raises(ValueError, match="not a"):
            swept().sweep.optimum(**wrong)


@pytest.mark.parametrize("b", [-0.5, 0.3, 1.0])
def test_the_exponent_is_the_known_one(b):
    def value(rate, timescale, seed):
        x = b * np.log(rate) - np.log(timescale * rate * STEPS)
        return 0.3 * (x / 10) ** 2 + 0.1 * seed

    found = swept(value).sweep.collapse()
    assert found.exponent.dims == () and abs(found.exponent - b) < 1e-3 and found.reason == "" and found.cells == 15
    assert found.low <= found.exponent <= found.high and found.high - found.low < 1e-6 and found.spread < 1e-3
    assert found.apart.sel(b=1) < 1e-3 if b == 1 else found.apart.sel(b=1) > 0.01
    axes = {"learning_rate": RATES, "weight_decay": SCALES, "seed": SEEDS}
    made = dataset(axes, norm_growth=np.exp(np.add.outer(np.add.outer(b * np.log(RATES), np.log(SCALES)), SEEDS)))
    assert abs(made.sweep.collapse("norm_growth").exponent - b) < 1e-3  # in its logarithm
    few = swept(value).isel(timescale=slice(3)).sweep.collapse()
    assert few.reason == "too few runs" and np.isnan(few.exponent) and few.cells == 9
    assert swept(lambda rate, *_: np.log(rate) ** 2).sweep.collapse().reason in (LOW, HIGH)


def test_intervals_cover_as_often_as_they_say():
    random = np.random.default_rng(5)
    x, total = np.log(np.geomspace(0.01, 10, 9)), 100
    rates, decays = np.meshgrid(np.log(np.geomspace(1e-3, 0.1, 5)), np.log(np.geomspace(1e-3, 1, 6)), indexing="ij")
    plane = np.stack([decays.ravel(), rates.ravel()])
    places = exponents = 0
    for _ in range(total):
        place, b = random.uniform(x[3], x[5]), random.uniform(-0.5, 1.5)
        noise = random.normal(0, 0.02, (9, 3)) + random.normal(0, 0.1, 3)
        found = least_place(x, 0.02 * (x - place)[:, np.newaxis] ** 2 + noise)
        places += found[1] <= np.exp(place) <= found[2]
        along = plane[0] + b * plane[1]
        along = (along - along.mean()) / along.std()
        noise = random.normal(0, 0.05, (30, 3)) + random.normal(0, 0.1, 3)
        found = collapsed_at(plane, (0.3 * along ** 2)[:, np.newaxis] + noise)
        exponents += found[1] <= b <= found[2]
    assert 84 <= places <= 99 and 84 <= exponents <= 99


def test_planes_and_boundaries_take_the_timescale():
    growth = np.broadcast_to(np.array(SCALES)[:, np.newaxis] ** 0.25 * 1.2, (3, 5, 3))
    ds = swept(norm_growth=growth)
    assert ds.sweep.plane == ("learning_rate", "timescale") and ds.sweep.together == {}
    assert ds.isel(learning_rate=0).sweep.together == {}
    found = ds.sweep.boundary()
    near(found.boundary, 1.2 ** -4)
    assert found.boundary.attrs["long_name"].startswith("timescale at which growth stops")
    near(found.before, 1)
    near(found.after, 0.1)
