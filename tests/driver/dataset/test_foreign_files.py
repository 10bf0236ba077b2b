"""Datasets made by others: messages about them are safe for a terminal, and nothing is read past its end."""

import os
import pathlib
import shutil

import netCDF4
import numpy as np
import pytest
from altered import Content
from conftest import FORMAT
from test_dataset import sample

WILD = "a\x1b[2Jb\x07\x9b1m"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return sample(tmp_path_factory.mktemp("foreign") / "sample.nc")


def held(path):
    """Makes the lease unreadable, so that the dataset counts as being written."""
    os.symlink(path.with_name(path.name + ".lease"), path.with_name(path.name + ".lease"))


def test_control_characters_reach_no_terminal(path, tmp_path, normsweep):
    file = shutil.copy(path, tmp_path / "wild.nc")
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
    content = Content(path)
    content.dimensions["step"] = 2
    content["train_loss"].dimensions.sort(key="step seed weight_decay".find)
    content["outcome"].values[:] = 1
    file = content.write(tmp_path / "turned.nc")
    held(file)
    said = normsweep("status", file).stdout
    assert "running" in said and "pending" not in said


@pytest.mark.parametrize("width", [-1, 0, 2**63 - 1])
def test_parameters_out_of_bounds_are_not_known(path, tmp_path, normsweep, width):
    file = pathlib.Path(shutil.copy(path, tmp_path / "wide.nc"))
    with netCDF4.Dataset(file, "r+") as dataset:
        dataset.width = np.int64(width)
        dataset["outcome"][:] = 1
    held(file)
    assert "running" in normsweep("status", file).stdout


# ---- files of other programs, built from nothing ----

NOT_OURS, ALTERED = "is not a normsweep dataset", "; normsweep did not write this"
CLASSIC, COPY = "NETCDF3_64BIT_DATA", "NETCDF4"
HUGE = 1 << 40


def put(file, name, kind, **lengths):
    """A variable, and those of its dimensions that are not there yet."""
    for dimension, length in lengths.items():
        if dimension not in file.dimensions:
            file.createDimension(dimension, length)
    return file.createVariable(name, kind, tuple(lengths))


def ours(file, version=None):
    file.source, file.format_version = "normsweep", np.int32(FORMAT) if version is None else version


def grid(file, **steps):
    ours(file)
    put(file, "outcome", "i1", seed=2)
    put(file, "seed", "i8", seed=2)[:] = [1, 2]
    if steps:
        put(file, "step", "i8", **steps)


def large_grid(file):
    """Two axes, each of which the file could hold."""
    ours(file)
    for name in "seed", "corpus_seed":
        file.createDimension(name, 20000)
        file.createVariable(name, "i8", (name,), compression="zlib", complevel=9)[:] = np.arange(20000) % 2
    put(file, "outcome", "i1", seed=20000, corpus_seed=20000)


@pytest.mark.parametrize("kind, build, why", [
    (COPY, lambda file: put(file, "y", "f8", x=3), NOT_OURS),
    ("NETCDF3_CLASSIC", lambda file: put(file, "y", "f8", x=3), NOT_OURS),
    (CLASSIC, lambda file: None, NOT_OURS),
    (CLASSIC, lambda file: ours(file, np.int32(99)), "has dataset format 99; this program reads format"),
    *((CLASSIC, lambda file, version=version: ours(file, version), NOT_OURS)
      for version in (float(FORMAT), np.float32(FORMAT), str(FORMAT), np.int32([FORMAT, FORMAT]))),
    (CLASSIC, ours, NOT_OURS),
    (COPY, ours, NOT_OURS),
    (CLASSIC, lambda file: (ours(file), put(file, "outcome", "i1", **{f"x{i}": 1 for i in range(200)})), NOT_OURS),
    (CLASSIC, lambda file: (ours(file), put(file, "outcome", "i1", seed=2), put(file, "width", "i8")), NOT_OURS),
    (CLASSIC, grid, "step is missing" + ALTERED),
    (CLASSIC, lambda file: grid(file, step=1), NOT_OURS),
    (COPY, lambda file: (ours(file), put(file, "outcome", "i1", seed=HUGE)), NOT_OURS),
    (COPY, lambda file: grid(file, step=None), NOT_OURS),
    (COPY, lambda file: grid(file, step=HUGE), NOT_OURS),
    (COPY, lambda file: (grid(file, step=1), file.createDimension("layer", HUGE)), NOT_OURS),
    (COPY, large_grid, NOT_OURS)])
def test_a_file_of_another_program_is_refused(tmp_path, normsweep, kind, build, why):
    with netCDF4.Dataset(tmp_path / "a.nc", "w", format=kind) as file:
        file.set_fill_off()
        build(file)
    said = normsweep("status", "a.nc", status=2).stderr
    assert said.startswith(f"a.nc: {why}") and said.count("\n") == 1
