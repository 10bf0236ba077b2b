"""Datasets made by others: messages about them are safe for a terminal, and nothing is read past its end."""

import os

import netCDF4
import numpy as np
import pytest
from test_dataset import sample

WILD = "a\x1b[2Jb\x07\x9b1m"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return sample(tmp_path_factory.mktemp("foreign") / "sample.nc")


def held(path):
    """Makes the lease unreadable, so that the dataset counts as being written."""
    os.symlink(path.with_name(path.name + ".lease"), path.with_name(path.name + ".lease"))


def copy(source, target, dimensions=lambda name, kept: kept, steps=None):
    """A dataset with another order of dimensions and fewer steps."""
    with netCDF4.Dataset(source) as old, netCDF4.Dataset(target, "w", format="NETCDF3_64BIT_DATA") as new:
        old.set_auto_maskandscale(False)
        old.set_auto_chartostring(False)
        new.setncatts(old.__dict__)
        for name, dimension in old.dimensions.items():
            new.createDimension(name, steps if name == "step" and steps else len(dimension))
        for name, variable in old.variables.items():
            order = dimensions(name, variable.dimensions)
            attributes = dict(variable.__dict__)
            made = new.createVariable(name, variable.dtype, order, fill_value=attributes.pop("_FillValue", None))
            made.set_auto_maskandscale(False)
            made.set_auto_chartostring(False)
            made.setncatts(attributes)
            values = variable[:].transpose([variable.dimensions.index(one) for one in order])
            made[:] = values[tuple(slice(len(new.dimensions[one])) for one in order)]
    return target


def test_control_characters_reach_no_terminal(path, tmp_path, normsweep):
    file = copy(path, tmp_path / "wild.nc")
    with netCDF4.Dataset(file, "r+") as dataset:
        dataset.set_auto_chartostring(False)
        dataset.sweep_title = WILD
        for name in ("host", "reason", "session_version"):
            text = dataset[name]
            text[..., :10] = np.frombuffer(WILD.encode("latin1"), "S1")
        dataset["outcome"][:] = 4
    for arguments in ([], ["--watch"]):
        said = normsweep("status", file, *arguments).stdout
        assert "a\\x1b[2Jb" in said and "failed: " in said
        assert not set(said) & {"\x1b", "\x07", "\x9b", "\udc9b"}


def test_losses_over_other_dimensions_are_none(path, tmp_path, normsweep):
    def turned(name, kept):
        return tuple(sorted(kept, key="step seed weight_decay".find)) if name == "train_loss" else kept

    file = copy(path, tmp_path / "turned.nc", turned, steps=2)
    with netCDF4.Dataset(file, "r+") as dataset:
        dataset["outcome"][:] = 1
    held(file)
    said = normsweep("status", file).stdout
    assert "running" in said and "pending" not in said


@pytest.mark.parametrize("width", [-1, 0, 2**63 - 1])
def test_parameters_out_of_bounds_are_not_known(path, tmp_path, normsweep, width):
    file = copy(path, tmp_path / "wide.nc")
    with netCDF4.Dataset(file, "r+") as dataset:
        dataset.width = np.int64(width)
        dataset["outcome"][:] = 1
    held(file)
    assert "running" in normsweep("status", file).stdout
