"""What people add to a dataset with other tools is there after `run` has written the file anew, or nothing is done."""

import os
import re
import resource

import missing
import netCDF4
import numpy as np
import pytest

from conftest import tiny, train_sweep

pytestmark = pytest.mark.thorough("starts dozens of sweeps")

SWEEP = tiny(feedforward=8, batch=2) + """\
steps: 4
bias: true
learning_rate: [1e-2, 1e-3]
measure: {every: 2}
"""
TITLED = "title: another title\n" + SWEEP
LONGER = SWEEP.replace("1e-3]", "1e-3, 1e-4]")
BEFORE = SWEEP.replace("[1e-2", "[1e-1, 1e-2")
DATE, VERSION = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", r"\d+\.\d+\.\d+"
OTHER_AXIS = SWEEP.replace("bias: true", "bias: [true, false]")


@pytest.fixture
def dataset(tmp_path):
    return train_sweep(tmp_path, SWEEP, name="a")


def add(path, *variables):
    """Attributes, and these variables: name, dimensions, values."""
    with netCDF4.Dataset(path, "a") as file:
        file.note = "mine, größer"
        file.numbers = np.arange(3.0)
        file.history = f"today: ncatted\n{file.history}"
        file["norm_growth"].remark = "look at this"
        file["norm_growth"].long_name = "not its name"
        for name, dimensions, values in variables:
            values = np.asarray(values)
            for dimension, length in zip(dimensions, values.shape):
                if dimension not in file.dimensions:
                    file.createDimension(dimension, length)
            made = file.createVariable(name, values.dtype, dimensions, fill_value=values.dtype.type(-9)
                                       if values.dtype.kind in "if" else None)
            made.units = "apples"
            made[...] = values


KEPT = [("scalar", (), 7.5), ("of_mine", ("mine",), np.arange(5)), ("of_two", ("step", "mine"), np.ones((3, 5))),
        ("letters", ("string3",), np.frombuffer(b"abc", "S1")), ("small", ("mine", "other"), np.eye(5, 3, dtype="i1"))]
KEPT += [("epochs", ("step",), np.arange(3)), ("momentum", ("mine",), np.ones(5))]  # parameters, though no axes
OF_RUNS = ("of_runs", ("learning_rate",), np.array([1.5, 2.5]))


@pytest.mark.parametrize("sweep, runs, also", [(TITLED, 2, [OF_RUNS]), (LONGER, 3, []), (BEFORE, 3, []),
                                               (OTHER_AXIS, 4, [OF_RUNS])])
def test_additions_are_kept(dataset, tmp_path, normsweep, sweep, runs, also):
    add(dataset, *KEPT, *also)
    (tmp_path / "a.yaml").write_text(sweep)
    assert f"{runs} runs: {runs} done" in normsweep("run", "a.yaml", "-j", "0").stdout
    with netCDF4.Dataset(dataset) as file:
        file.set_auto_chartostring(False)
        assert file.note == "mine, größer" and (file.numbers == np.arange(3.0)).all()
        lines = file.history.splitlines()
        assert re.fullmatch(rf"{DATE} extended by normsweep {VERSION}", lines[0])
        assert lines[1].endswith(": ncatted")
        assert re.fullmatch(rf"{DATE} created by normsweep {VERSION}", lines[2]) and len(lines) == 3
        assert file["norm_growth"].remark == "look at this" and file["norm_growth"].long_name != "not its name"
        assert ("bias" in file.ncattrs()) == (sweep is not OTHER_AXIS)
        for name, dimensions, values in KEPT + also:
            assert file[name].dimensions == dimensions and file[name].units == "apples"
            assert file[name].dtype == np.asarray(values).dtype
            np.testing.assert_array_equal(np.asarray(file[name][...]), values)
        assert np.isfinite(np.asarray(file["norm_growth"][...])).all()
    before = dataset.read_bytes()  # its numbers lie where they have to, so that nothing is written anew again
    normsweep("run", "a.yaml", "-j", "0")
    assert dataset.read_bytes() == before
    assert "altered" not in normsweep("status", "a.nc").stdout


@pytest.mark.parametrize("sweep", [LONGER, BEFORE, SWEEP.replace("[1e-2, 1e-3]", "[1e-3, 1e-2]")])
def test_what_has_no_place_is_not_lost(dataset, tmp_path, normsweep, sweep):
    add(dataset, *KEPT, OF_RUNS)
    (tmp_path / "a.yaml").write_text(sweep)
    before = dataset.read_bytes()
    refused = normsweep("run", "a.yaml", "-j", "0", status=2)
    assert refused.stderr == ("a.nc: of_runs, which normsweep did not write, cannot be kept: it is over learning_rate, "
                              "which changes; save it elsewhere and take it out, or use another -o\n")
    assert dataset.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["a.nc", "a.yaml"]
    normsweep("run", "a.yaml", "-j", "0", "-o", "b.nc")


def test_a_name_that_is_not_utf_8_is_not_lost(dataset, tmp_path, normsweep):
    """The netCDF library reads such a name but does not write it."""
    add(dataset, ("gross", ("mine",), np.arange(4)))
    dataset.write_bytes(dataset.read_bytes().replace(b"gross", "größe".encode("latin-1")))
    (tmp_path / "a.yaml").write_text(LONGER)
    before = dataset.read_bytes()
    said = normsweep("run", "a.yaml", "-j", "0", status=2).stderr
    assert said == ("a.nc: gr\\xf6\\xdfe, which normsweep did not write, cannot be kept: NetCDF: Name contains illegal "
                    "characters; save it elsewhere and take it out, or use another -o\n")
    assert dataset.read_bytes() == before
    assert normsweep("show", "a.nc").stdout


def test_a_parameter_that_is_not_an_axis_is_not_lost(dataset, tmp_path, normsweep):
    add(dataset, ("seed", ("mine",), np.arange(4)))
    before = dataset.read_bytes()
    (tmp_path / "a.yaml").write_text(SWEEP + "seed: [0, 1]\n")
    assert normsweep("run", "a.yaml", "-j", "0", status=2).stderr.startswith(
        "a.nc: seed, which normsweep did not write, cannot be kept: it has the name of an axis of the sweep; save it")
    assert dataset.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["a.nc", "a.yaml"]


def test_a_bare_variable_named_like_a_new_axis_is_not_lost(dataset, tmp_path, normsweep):
    """Nothing else was added to the file, and the variable has no attributes."""
    with netCDF4.Dataset(dataset, "a") as file:
        file.createDimension("mine", 4)
        file.createVariable("seed", "i8", ("mine",))[...] = np.arange(4)
    before = dataset.read_bytes()
    (tmp_path / "a.yaml").write_text(SWEEP + "seed: [0, 1]\n")
    refused = normsweep("run", "a.yaml", "-j", "0", status=2).stderr
    assert "seed, which normsweep did not write, cannot be kept" in refused
    assert dataset.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["a.nc", "a.yaml"]


def test_an_axis_that_becomes_a_fixed_parameter_leaves_nothing(tmp_path):
    train_sweep(tmp_path, SWEEP.replace("bias: true", "bias: [true]"))
    with netCDF4.Dataset(train_sweep(tmp_path, SWEEP)) as file:
        assert "bias" in file.ncattrs() and "bias" not in file.variables


def test_history_is_kept_without_other_additions(dataset, tmp_path):
    """Then nothing is defined after the layout: the file is as long as a new one with this history."""
    longer, fresh = (train_sweep(tmp_path, LONGER, name=name) for name in ("a", "new"))
    with netCDF4.Dataset(longer) as file, netCDF4.Dataset(fresh) as new:
        lines = file.history.splitlines()
        assert [re.fullmatch(rf"{DATE} (\w+) by normsweep {VERSION}", line)[1] for line in lines] == [
            "extended", "created"]
        more = 4 * -(-len(file.history) // 4) - 4 * -(-len(new.history) // 4)
    # the values begin at a multiple of 8 behind the header, in both files
    assert abs(longer.stat().st_size - fresh.stat().st_size - more) < 8


def test_additions_count_for_the_space_that_a_new_file_needs(dataset, tmp_path, normsweep):
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    if free > 2 ** 43:
        missing.skip("The disk has over 8 TiB free", "the message when an extended dataset does not fit on the disk",
                     "set TMPDIR to a smaller file system")
    with netCDF4.Dataset(dataset, "a") as file:
        file.set_fill_off()
        file.createDimension("mine", free // 8 + 2 ** 30)  # 8 GiB that others may give back in the meantime
        file.createVariable("huge", "f8", ("mine",))[-1] = 1  # a hole, which takes no space
    (tmp_path / "a.yaml").write_text(LONGER)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 ** 24, before[1]))  # whatever happens, the disk is not filled
    try:
        refused = normsweep("run", "a.yaml", "-j", "0", status=3).stderr
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "No space left on device: needs " in refused and sorted(os.listdir(tmp_path)) == ["a.nc", "a.yaml"]


def test_a_record_dimension_makes_the_file_unreadable(dataset, tmp_path, normsweep):
    with netCDF4.Dataset(dataset, "a") as file:
        file.createDimension("record", None)
    for command in (("run", "a.yaml", "-j", "0"), ("status", "a.nc"), ("show", "a.nc")):
        assert normsweep(*command, status=2).stderr == "a.nc: is not a normsweep dataset\n"
