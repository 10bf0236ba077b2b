"""Axes of integers, such as seeds above a billion: each value is itself, while real numbers are the same to 1e-9."""

import numpy as np
import pytest
import xarray as xr
from conftest import script
from made_up import made_up
from normsweep import compare, open_sweep
from normsweep.plane import equal, part_at, value_of

FIRST = 1_700_000_000  # its neighbours differ from it by 6e-10 of it
AXIS = xr.DataArray(np.array([FIRST, FIRST + 1]), dims="seed", name="seed")


@pytest.fixture
def large(tmp_path):
    """The path of a dataset of two such seeds."""
    made_up().assign_coords(seed=AXIS.values).to_netcdf(tmp_path / "large.nc")
    return tmp_path / "large.nc"


def test_one_value_is_found(large):
    with open_sweep(large) as ds:
        for place in (0, 1):
            growth = ds.sweep.pivot(norm_placement="pre", seed=FIRST + place)
            xr.testing.assert_equal(growth, ds.isel(seed=place).sweep.pivot(norm_placement="pre"))
            assert part_at(ds, [f"seed={FIRST + place}"]).seed == FIRST + place
        with pytest.raises(KeyError, match=f"seed: no value {FIRST + 2}; it has {FIRST}, {FIRST + 1}"):
            part_at(ds, [f"seed={FIRST + 2}"])


@pytest.mark.parametrize("word, expected", [(str(FIRST + 1), FIRST + 1), ("1.7e9", FIRST), ("2e3", 2000), ("0.5", 0.5),
                                            (str(10 ** 30), 10 ** 30), ("1e30", int(1e30)), ("-1", -1)])
def test_texts_mean_integers(word, expected):
    found = value_of(AXIS, word)
    assert found == expected and type(found) is type(expected)
    assert equal(AXIS.values, found).sum() == AXIS.values.tolist().count(expected)


def test_texts_that_are_not_finite_numbers():
    assert value_of(AXIS, "x") == "x" and value_of(AXIS, "inf") == np.inf and np.isnan(value_of(AXIS, "nan"))


def test_parts_of_such_seeds_are_joined(large):
    folder = large.parent
    with open_sweep(large) as ds:
        for place in (0, 1):
            ds.isel(seed=[place]).to_netcdf(folder / f"{place}.nc")
    with open_sweep([folder / "0.nc", folder / "1.nc"]) as found, open_sweep(large) as ds:
        assert found.seed.values.tolist() == [FIRST, FIRST + 1] and found.seed.dtype == ds.seed.dtype
        assert int(found.sweep.done.sum()) == int(ds.sweep.done.sum())
        xr.testing.assert_equal(found.norm_growth.transpose(*ds.norm_growth.dims), ds.norm_growth)
    with open_sweep([large, folder / "1.nc"]) as found:
        assert found.seed.values.tolist() == [FIRST, FIRST + 1]


def test_such_seeds_are_compared(large):
    with open_sweep(large) as ds:
        found = compare(ds, ds.isel(seed=[1]))
        assert (found.norm_growth_ratio.fillna(1) == 1).all()
        assert f"only A has it: seed {FIRST}." in found.attrs["notes"]
    every, some = (script("compare", "large.nc", "--format", "csv", "--at", "norm_placement=pre", "--along", seeds,
                          cwd=large.parent).stdout for seeds in ("seed", f"seed={FIRST},{FIRST + 1}"))
    assert every == some and f"A  large, norm_placement=pre, seed={FIRST}\n" in every
    assert every.endswith(f"compare-large-norm_placement-pre-seed-{FIRST}-{FIRST + 1}.csv\n")


def test_one_run_is_joined_with_itself(tmp_path):
    """Without axes there is one cell."""
    one = made_up().isel(learning_rate=1, weight_decay=1, norm_placement=0, seed=0)
    one.to_netcdf(tmp_path / "one.nc")
    with open_sweep([tmp_path / "one.nc"] * 2) as found, open_sweep(tmp_path / "one.nc") as expected:
        assert found.sweep.axes == () and found.outcome.dtype == expected.outcome.dtype
        xr.testing.assert_equal(found.norm_growth, expected.norm_growth)
    one.assign(norm_growth=(one.norm_growth * 2).assign_attrs(one.norm_growth.attrs)).to_netcdf(tmp_path / "other.nc")
    with pytest.raises(ValueError, match="other.nc: norm_growth of the run differs from that in .*one.nc; leave"):
        open_sweep([tmp_path / "one.nc", tmp_path / "other.nc"])
