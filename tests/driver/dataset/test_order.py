"""Axes of numbers have a strict order in the dataset."""

import netCDF4
import numpy as np
import pytest

import same

from conftest import tiny, train_sweep

pytestmark = pytest.mark.thorough("starts dozens of sweeps")

SWEEP = tiny(feedforward=8, batch=2) + """\
steps: 4
learning_rate: [3e-2, 1e-1, 1e-3]
weight_decay: {log: [1e-1, 10], points: 3, plus: [0]}
norm_placement: [post, out]
bias: [true, false]
together:
  model:
    second: {epsilon: 1e-6}
    first: {epsilon: 1e-8}
skip:
  - {learning_rate: [3e-2, 1e-3], weight_decay: 0, bias: false}
  - {weight_decay: 10, norm_placement: out}
measure: {every: 2}
"""


def axis(path, name):
    with netCDF4.Dataset(path) as file:
        return np.asarray(file[name][...]).tolist()


def test_new_datasets_have_a_strict_order(tmp_path):
    strict = train_sweep(tmp_path, SWEEP)
    assert axis(strict, "learning_rate") == [1e-3, 3e-2, 1e-1] and axis(strict, "weight_decay") == [0, 1e-1, 1, 10]
    assert axis(strict, "bias") == [1, 0]  # descends in the file
    with netCDF4.Dataset(strict) as file:
        assert list(file["norm_placement"][...]) == ["post", "out"]
        assert list(file["model"][...]) == ["second", "first"]
        assert np.asarray(file["epsilon"][...]).tolist() == [1e-6, 1e-8]
        rate, decay, placement, bias = np.ix_([1e-3, 3e-2, 1e-1], [0, 1e-1, 1, 10], ["post", "out"], [1, 0])
        skipped = (rate < 0.1) & (decay == 0) & (bias == 0) | (decay == 10) & (placement == "out")
        assert ((np.asarray(file["outcome"][...]) == same.SKIPPED) == skipped[..., None]).all()


@pytest.mark.parametrize("first, then, order", [
    ("[3, 1]", "[3, 1, 2]", [1, 2, 3]),  # neither ascending nor descending: the order turns
    ("[1, 3]", "[3, 2, 1]", [3, 2, 1]), ("[3]", "[5, 3]", [5, 3])])
def test_a_grown_axis_may_turn_round(tmp_path, first, then, order):
    """Every value keeps its runs, whatever its index becomes; the others are those of an undisturbed sweep."""
    smaller = SWEEP.replace("[3e-2, 1e-1, 1e-3]", "[3e-2, 1e-3]")
    smaller = smaller.replace("{log: [1e-1, 10], points: 3, plus: [0]}", "[0, 10]")
    earlier, later = (f"{smaller}seed: {values}\n" for values in (first, then))
    before = seeds(train_sweep(tmp_path, earlier, name="a"))
    grown = train_sweep(tmp_path, later, name="a")
    after = seeds(grown)
    assert list(after) == axis(grown, "seed") == order and set(before) < set(after)
    for seed, variables in before.items():
        for name, values in variables.items():
            assert after[seed][name].tobytes() == values.tobytes(), (seed, name)
    assert same.differences(same.read(grown), same.read(train_sweep(tmp_path, later, name="b"))) == []
    with netCDF4.Dataset(grown) as file:
        assert (np.asarray(file["attempts"][...])[np.asarray(file["outcome"][...]) == same.DONE] == 1).all()


def seeds(path):
    """{seed: {variable: its values of this seed}} in the order of the file."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        return {int(seed): {name: np.take(variable[...], place, axis=variable.dimensions.index("seed"))
                            for name, variable in file.variables.items()
                            if "seed" in variable.dimensions and name != "seed"}
                for place, seed in enumerate(file["seed"][...])}
