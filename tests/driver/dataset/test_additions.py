"""What people add to a dataset with other tools is there after `run` has written the file anew, or nothing is done."""

import os

import netCDF4
import numpy as np
import pytest

SWEEP = """\
corpus: markov
corpus_tokens: 4000
vocabulary: 33
layers: 1
width: 8
heads: 2
feedforward: 8
context: 8
batch: 2
steps: 4
bias: true
learning_rate: [1e-2, 1e-3]
measure: {every: 2}
"""
TITLED = "title: another title\n" + SWEEP
LONGER = SWEEP.replace("1e-3]", "1e-3, 1e-4]")
BEFORE = SWEEP.replace("[1e-2", "[1e-1, 1e-2")
OTHER_AXIS = SWEEP.replace("bias: true", "bias: [true, false]")


@pytest.fixture
def dataset(tmp_path, normsweep):
    (tmp_path / "a.yaml").write_text(SWEEP)
    normsweep("run", "a.yaml", "-j", "0")
    return tmp_path / "a.nc"


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
        assert [line.split(": ")[1] for line in file.history.splitlines()] == [
            "laid out by normsweep", "ncatted", "laid out by normsweep"]
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
