"""Compressed netCDF-4 copies of datasets, as `status` suggests: everything that reads a dataset reads them, and a copy
that is converted back can be continued."""

import os
import re
import shutil
import subprocess

import missing
import netCDF4
import numpy as np
import pytest
import xarray as xr
from altered import Content
from conftest import FORMAT, NORMSWEEP, run, train_sweep
from test_altered import MORE, SWEEP
from normsweep import open_sweep
from normsweep.verify import extents

pytestmark = pytest.mark.thorough("starts dozens of sweeps")

NCCOPY = missing.program("nccopy", "compressed copies of datasets", "netcdf-bin")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """a.nc, with two pending runs, and its copy a-small.nc."""
    folder = tmp_path_factory.mktemp("copies")
    with netCDF4.Dataset(train_sweep(folder, "title: träumerisch\n" + SWEEP, name="a"), "r+") as file:
        file["outcome"][1, 1] = [0, 1]
    # like nccopy -4 -d 5 -s, but attributes that are not ASCII become type string
    Content(folder / "a.nc").write(folder / "a-small.nc", "NETCDF4", compression="zlib", shuffle=True)
    return folder


def shown(folder, name, *arguments):
    return run(NORMSWEEP, *arguments[:1], name, *arguments[1:], cwd=folder).stdout.replace(name, "NAME")


@pytest.mark.parametrize("arguments", [[], ["norm_growth"], ["tensor_norm"], ["outcome"], ["homogeneity"],
                                       ["train_loss", "--over", "step,model"]])
def test_show_draws_the_same(folder, arguments):
    assert shown(folder, "a-small.nc", "show", *arguments) == shown(folder, "a.nc", "show", *arguments)


def test_status_says_the_same(folder):
    def lines(name):
        return [line for line in shown(folder, name, "status").splitlines()
                if not line.startswith(("file", "stopped", "continue", "written"))]
    assert lines("a-small.nc") == lines("a.nc")
    said = run(NORMSWEEP, "status", "a-small.nc", cwd=folder).stdout
    size = os.path.getsize(folder / "a-small.nc")
    assert f"file      a netCDF-4 copy, to be read only, {size} bytes, format {FORMAT}" in said
    assert "continue  nccopy -k cdf5 a-small.nc a-small-cdf5.nc   " in said and "stopped" not in said
    assert "stopped" in run(NORMSWEEP, "status", "a.nc", cwd=folder).stdout


def test_python_reads_the_same(folder):
    with open_sweep(folder / "a.nc") as whole, open_sweep(folder / "a-small.nc") as copy:
        xr.testing.assert_identical(whole.load(), copy.load())
        assert copy.sweep.title == "träumerisch" and int(copy.sweep.done.sum()) == 6


@NCCOPY
@pytest.mark.parametrize("sweep, runs", [(SWEEP, 8), (MORE, 12)])
def test_the_way_back(folder, tmp_path, sweep, runs):
    home = tmp_path / "it's one"
    home.mkdir()
    shutil.copy(folder / "a.nc", home / "it's.nc")
    with netCDF4.Dataset(home / "it's.nc", "r+") as file:
        unfinished = file["outcome"][:].data < 2
        file["outcome"][:] = np.where(unfinished, 0, file["outcome"][:])
    subprocess.run(["nccopy", "-4", "-d", "5", "-s", "it's.nc", "it's-small.nc"], check=True, cwd=home)
    (home / "a.yaml").write_text("title: träumerisch\n" + sweep)
    copy = r"'it'\''s-small.nc'"
    before = {path: path.read_bytes() for path in home.iterdir()}
    said = run(NORMSWEEP, "run", "a.yaml", "-j", "0", "-o", "it's-small.nc", cwd=home, status=2).stderr
    assert before == {path: path.read_bytes() for path in home.iterdir()}
    told = re.fullmatch(r"it's-small.nc: is a netCDF-4 copy, which can only be read; to continue: "
                        r"(nccopy .*), then run with (-o .*)\n", said)
    assert f"continue  {told[1]}   " in run(NORMSWEEP, "status", "it's-small.nc", cwd=home).stdout and copy in told[1]
    subprocess.run(told[1], shell=True, check=True, cwd=home, stdin=subprocess.DEVNULL)
    done = subprocess.run(f"{NORMSWEEP} run a.yaml -j 0 {told[2]}", shell=True, check=True, cwd=home, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True)
    assert f"{runs} runs: {runs} done" in done.stdout
    kept = ~unfinished
    with open_sweep(home / "it's-small-cdf5.nc") as back, open_sweep(folder / "a.nc") as whole:
        same = back.isel(learning_rate=slice(2))
        for name in ("norm_growth", "param_norm", "tensor_norm", "host", "seconds", "attempts"):
            np.testing.assert_array_equal(same[name].values[kept], whole[name].values[kept])
        assert (same.attempts.values[unfinished] == 2).all() and back.sizes["sessions"] == 2


def test_fresh_sets_a_copy_aside(folder, tmp_path, normsweep):
    shutil.copy(folder / "a-small.nc", tmp_path / "a.nc")
    (tmp_path / "a.yaml").write_text(SWEEP)
    normsweep("run", "a.yaml", "-j", "0", "--fresh")
    assert (tmp_path / "a.nc.old").read_bytes() == (folder / "a-small.nc").read_bytes()


@pytest.mark.parametrize("bytes_", [8, 100, 30000])
def test_a_copy_that_is_cut_short(folder, tmp_path, normsweep, bytes_):
    (tmp_path / "a.nc").write_bytes((folder / "a-small.nc").read_bytes()[:bytes_])
    for command in "status", "show":
        said = normsweep(command, "a.nc", status=2).stderr
        assert said.startswith("a.nc: cannot be read as netCDF-4: NetCDF: ") and said.count("\n") == 1


def test_types_that_only_copies_have(folder, tmp_path, normsweep):
    """Strings and user-defined types are not numbers."""
    shutil.copy(folder / "a-small.nc", tmp_path / "a.nc")
    with netCDF4.Dataset(tmp_path / "a.nc", "r+") as file:
        file.createVariable("words", str, ("model",))[:] = np.array(["x", "yz"], object)
        pair = file.createCompoundType(np.dtype([("a", "f8"), ("b", "i4")]), "pair")
        file.createVariable("pairs", pair, ("model",))
        file.createDimension("endless", None)
        file.createVariable("nothing", "f8", ("endless",))
        file.createVariable("letters", "S1", ("endless", "model"))
    for name in ("words", "pairs", "nothing", "letters"):
        assert normsweep("show", "a.nc", name, status=2).stderr.startswith(f"a.nc: no variable {name};")
    assert "6 of 8 runs" in normsweep("status", "a.nc").stdout


def begins(path):
    with open(path, "rb") as file:
        file.seek(4)
        places = extents(file)
    content = Content(path)
    return [places[name][0] for name, variable in content.variables.items()
            if variable.type.itemsize == 8 and variable.dimensions[:1] == ["learning_rate"] and name != "learning_rate"]


def test_numbers_lie_at_multiples_of_8_again(folder, tmp_path, normsweep):
    """A reader never sees half of a number."""
    content = Content(folder / "a.nc")
    path = content.write(tmp_path / "a.nc")
    if not any(begin % 8 for begin in begins(path)):
        content.attributes["x"] = np.int32(0)  # 4 bytes more and those of its name and type
        content.attributes["y"] = "abcde"
        path = content.write(tmp_path / "a.nc")
    if not any(begin % 8 for begin in begins(path)):
        content.attributes["y"] = "a"
        path = content.write(tmp_path / "a.nc")
    assert any(begin % 8 for begin in begins(path))
    shutil.copy(folder / "a.yaml", tmp_path)
    normsweep("run", "a.yaml", "-j", "0")
    assert not any(begin % 8 for begin in begins(path))
