"""Programs of others read a dataset: the recipes of docs/formats.md, and what that page says that does not work.

The numbers that come back have to be those of the netCDF library. A program that is not installed is named as skipped.
"""

import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
import xarray as xr

import documents
import missing
from conftest import NORMSWEEP, PROJECT, run

pytestmark = pytest.mark.thorough("starts R, NCO and other readers")

PAGE = PROJECT / "docs" / "formats.md"


def recipes():
    """{heading: its blocks}"""
    found, text = {}, PAGE.read_text()
    for block in documents.blocks(PAGE):
        heading = re.findall(r"^#+ (.*)$", "\n".join(text.splitlines()[:block.line]), re.M)[-1]
        found.setdefault(heading, []).append(block)
    return found


RECIPES = recipes()


def needs(program, package):
    __tracebackhide__ = True
    missing.need(program, f"that {program} reads a dataset", package)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readers")
    sweep, = (block for block in RECIPES["Datasets in other programs"] if block.language == "yaml")
    (folder / sweep.name).write_text(sweep.text)
    run(NORMSWEEP, "run", sweep.name, "-j", "0", cwd=folder)
    return folder


@pytest.fixture
def place(made, tmp_path):
    shutil.copy(made / "small.nc", tmp_path)
    return tmp_path


@pytest.fixture
def growth(place):
    """[learning_rate, weight_decay, norm_placement, seed]"""
    with xr.open_dataset(place / "small.nc", engine="netcdf4") as ds:
        assert ds.norm_growth.dims == ("learning_rate", "weight_decay", "norm_placement", "seed")
        assert ds.norm_growth.notnull().all() and ds.norm_placement.values.tolist() == ["pre", "out"]
        return ds.norm_growth.load()


def copy(place):
    needs("nccopy", "netcdf-bin")
    commands = [line for block in RECIPES["Datasets in other programs"] if block.language == "sh"
                for line in documents.commands(block.text) if line.startswith("nccopy")]
    assert len(commands) == 1
    run(*commands[0].split(), cwd=place)
    return place / "small-4.nc"


def commands(heading):
    lines = [line for block in RECIPES[heading] if block.language == "sh" for line in documents.commands(block.text)]
    assert lines
    return lines


def shell(place, heading):
    lines = commands(heading)
    return [run("sh", "-c", line, cwd=place).stdout for line in lines]


def script(heading, language):
    block, = (block for block in RECIPES[heading] if block.language == language)
    return block.text


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def over_seeds(growth, placement="pre"):
    """[learning_rate, weight_decay], as the page has it."""
    return np.exp(np.log(growth.sel(norm_placement=placement)).mean("seed"))


def numbers(text):
    return np.array(re.findall(r"-?\d[\d.e+-]*", text), float)


# ---- netCDF's own programs ----

def test_ncdump(place, growth):
    needs("ncdump", "netcdf-bin")
    said = run("ncdump", "-p", "9,17", "-v", "norm_growth", "small.nc", cwd=place).stdout
    found = numbers(said.partition("\ndata:")[2].partition("=")[2])
    np.testing.assert_array_equal(found, growth.values.ravel())
    assert run("ncdump", "-k", "small.nc", cwd=place).stdout.strip() == "cdf5"


def test_nccopy(place):
    with xr.open_dataset(copy(place)) as four, xr.open_dataset(place / "small.nc") as ds:
        assert four.identical(ds)
    run("nccopy", "-k", "cdf5", "small-4.nc", "back.nc", cwd=place)
    with xr.open_dataset(place / "back.nc") as back, xr.open_dataset(place / "small.nc") as ds:
        assert back.identical(ds)


# ---- R ----

def test_r(place, growth):
    needs("Rscript", "r-base-core")
    if subprocess.run(["Rscript", "-e", "library(ncdf4)"], capture_output=True, stdin=subprocess.DEVNULL).returncode:
        missing.skip("R has no package ncdf4", "that R reads a dataset", "apt-get install r-cran-ncdf4")
    copy(place)
    (place / "growth.R").write_text(script("R", "r"))
    run("Rscript", "growth.R", cwd=place)
    header, *rows = (place / "growth.csv").read_text().splitlines()
    found = np.array([row.split(",") for row in rows], float)
    names = [name.strip('"') for name in header.split(",")]
    assert names[0] == "weight_decay" and (place / "growth.pdf").read_bytes().startswith(b"%PDF")
    np.testing.assert_array_equal(found[:, 0], growth.weight_decay)
    np.testing.assert_array_equal(np.array(names[1:], float), growth.learning_rate)
    close(found[:, 1:], over_seeds(growth).transpose("weight_decay", "learning_rate"))


# ---- NCO ----

def test_nco(place, growth):
    needs("ncks", "nco")
    needs("ncap2", "nco")
    said = shell(place, "NCO")
    with xr.open_dataset(place / "part.nc") as part:
        expected = growth.sel(norm_placement=["pre"], weight_decay=slice(0.01, 1))
        assert part.weight_decay.values.tolist() == [0.01, 0.1, 1] and part.norm_placement.values.tolist() == ["pre"]
        np.testing.assert_array_equal(part.norm_growth, expected)
    with xr.open_dataset(place / "mean.nc") as mean:
        close(mean.growth.isel(norm_placement=0), over_seeds(growth))
        close(mean.growth.isel(norm_placement=1), over_seeds(growth, "out"))
    close(numbers(said[-2].rpartition("=")[2]), over_seeds(growth).values.ravel())
    with xr.open_dataset(place / "loss.nc") as loss, xr.open_dataset(place / "small.nc") as ds:
        close(loss.final_train_loss, ds.final_train_loss.mean("seed"))


# ---- Python ----

def test_python(place, growth):
    (place / "growth.py").write_text(script("Python", "python"))
    run(sys.executable, "growth.py", cwd=place)
    header, *rows = (place / "pandas.csv").read_text().splitlines()
    found = np.array([row.split(",") for row in rows], float)
    assert header.startswith("learning_rate,")
    close(found[:, 1:], over_seeds(growth))


def read(path, engine):
    with xr.open_dataset(path, engine=engine) as ds:
        return ds.norm_growth.load(), ds.norm_placement.values.tolist()


def test_h5netcdf_reads_the_copy(place, growth):
    missing.module("h5netcdf", "that it reads the netCDF-4 copy", "pip install h5netcdf h5py")
    found, words = read(copy(place), "h5netcdf")
    np.testing.assert_array_equal(found, growth)
    assert words == ["pre", "out"]
    with pytest.raises(Exception):
        read(place / "small.nc", "h5netcdf")


def test_scipy_reads_neither(place):
    missing.module("scipy", "that it cannot read a dataset, as docs/formats.md says", "pip install scipy")
    for path in place / "small.nc", copy(place):
        with pytest.raises(Exception):
            read(path, "scipy")


@pytest.mark.filterwarnings("ignore:.*Zarr:UserWarning", "ignore:.*Zarr V3 specification")
def test_zarr_has_the_same_values(place, growth):
    zarr = missing.module("zarr", "a dataset that xarray converts to Zarr", "pip install zarr")
    formats = (2, 3) if int(zarr.__version__.partition(".")[0]) >= 3 else (2,)
    for version in formats:
        with xr.open_dataset(place / "small.nc") as ds:
            ds.to_zarr(place / f"{version}.zarr", **({"zarr_format": version} if len(formats) > 1 else {}))
            with xr.open_zarr(place / f"{version}.zarr") as found:
                np.testing.assert_array_equal(found.norm_growth, growth)
                xr.testing.assert_equal(found.load(), ds.load())


def test_zarr_without_a_word(place):
    """What docs/formats.md and the guide say of `open_sweep` and keywords that avoid the notes of zarr."""
    zarr = missing.module("zarr", "that converting to Zarr gives no warning", "pip install zarr")
    import normsweep
    with normsweep.open_sweep(place / "small.nc") as ds:
        ways = [({"consolidated": False}, {"consolidated": False})]
        ways += [({"zarr_format": 2}, {})] if int(zarr.__version__.partition(".")[0]) >= 3 else []
        for i, (writing, reading) in enumerate(ways):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                ds.to_zarr(place / f"{i}.zarr", **writing)
                with xr.open_zarr(place / f"{i}.zarr", **reading) as found:
                    xr.testing.assert_equal(found.load(), ds.load())
