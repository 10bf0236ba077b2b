"""The Python package: what open_sweep gives."""

import doctest
import importlib.util
import os
import re
import shutil
import sys

import missing
import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import PROJECT, names_in, run, tables
from drawn import near
from made_up import DYNAMICS, LEARNING_RATES, WEIGHT_DECAYS, made_up
import normsweep
import normsweep.boundary
import normsweep.dataset
import normsweep.plane
import normsweep.predicted
from normsweep import names


@pytest.fixture
def ds():
    return made_up()


@pytest.mark.parametrize("module", ["", ".boundary", ".dataset", ".plane", ".predicted", ".table"])
def test_examples(module, tmp_path, monkeypatch, ds):
    monkeypatch.chdir(tmp_path)
    ds.to_netcdf("first.nc")
    names = {"ds": ds, "np": np, "open_sweep": normsweep.open_sweep, "sweep_of": normsweep.sweep_of}
    done = doctest.testmod(sys.modules["normsweep" + module], extraglobs=names)
    assert done.attempted > 0 and done.failed == 0


def test_opens_what_it_should(tmp_path, ds):
    ds.to_netcdf(tmp_path / "a.nc")
    with normsweep.open_sweep(tmp_path / "a.nc") as opened, xr.open_dataset(tmp_path / "a.nc") as plain:
        assert opened.identical(plain.isel(sessions=slice(2))) and plain.sweep.axes == opened.sweep.axes
        assert opened.sweep.title == "My first diagram" and opened.sweep.sweep_file == ds.attrs["sweep"]


def test_documentation_of_methods_is_that_of_their_functions():
    for function in (normsweep.boundary, normsweep.predicted_boundary, normsweep.gradient_slopes,
                     normsweep.scaling, normsweep.plane.pivot):
        assert function.__doc__ and getattr(normsweep.Sweep, function.__name__).__doc__ == function.__doc__


def test_opens_nothing_else(tmp_path):
    with pytest.raises(FileNotFoundError):
        normsweep.open_sweep(tmp_path / "none.nc")
    with pytest.raises(IsADirectoryError):
        normsweep.open_sweep(tmp_path)
    (tmp_path / "text.nc").write_text("title: no dataset\n")
    (tmp_path / "empty.nc").write_text("")
    netCDF4.Dataset(tmp_path / "foreign.nc", "w").close()
    for name in ("text.nc", "empty.nc", "foreign.nc"):
        with pytest.raises(normsweep.NotASweep, match=f"{name}: not a normsweep dataset$"):
            normsweep.open_sweep(tmp_path / name)
    assert issubclass(normsweep.NotASweep, ValueError)
    with pytest.raises(normsweep.NotASweep):
        xr.Dataset().sweep.axes


def test_masks_tell_every_run(ds):
    masks = [getattr(ds.sweep, word) for word in names.OUTCOMES]
    assert (sum(mask.astype(int) for mask in masks) == 1).all()
    for code, (word, mask) in enumerate(zip(names.OUTCOMES, masks)):
        assert ((ds.outcome == code) == mask).all() and ((ds.sweep.outcome == word) == mask).all()


def test_planes_of_other_grids():
    def plane(**sizes):
        outcome = xr.DataArray(np.zeros(list(sizes.values())), dims=list(sizes))
        return xr.Dataset({"outcome": outcome}, {name: range(size) for name, size in sizes.items()}).sweep.plane
    assert plane(a=2, b=3, c=3) == ("a", "b") and plane(a=1, seed=9, b=3) == ("seed", "b")
    assert plane(a=5, weight_decay=2, learning_rate=1) == ("a", "weight_decay")
    assert plane(a=5, b=2, learning_rate=3) == ("learning_rate", "a")
    assert plane(weight_decay=2, learning_rate=3, a=5) == ("learning_rate", "weight_decay")
    assert plane(weight_decay=2) == ("weight_decay",) and plane(learning_rate=2) == ("learning_rate",)
    assert plane(a=5) == ("a",) and plane(a=1) == () and plane() == ()


def test_pivot_takes_means(ds):
    near(ds.sweep.pivot(norm_placement="post").sel(learning_rate=1e-2), (0.3 / WEIGHT_DECAYS[::-1]) ** 0.5)
    ds["norm_growth"][:] = np.where(ds.seed == 0, 0.5, 2.0)
    ds["seconds"][:] = np.where(ds.seed == 0, 0.5, 2.0)
    assert near(ds.sweep.pivot(), 1.0) and near(ds.sweep.pivot("seconds"), 1.25)
    assert near(ds.sweep.pivot(seed=1), 2.0)
    found = ds.sweep.pivot()
    assert found.dims == ("weight_decay", "learning_rate") and found.attrs["long_name"] == "norm growth"
    assert near(found.learning_rate, LEARNING_RATES[::-1]) and near(found.weight_decay, WEIGHT_DECAYS[::-1])


def test_pivot_of_steps_is_of_the_last(ds):
    ds["param_norm"][..., -1] = np.nan
    ds["param_norm"][..., 1] = np.where(ds.seed == 0, 3, np.nan)
    ds["param_norm"][..., 0] = 1
    assert near(ds.sweep.pivot("param_norm"), 2.0)
    assert near(ds.sweep.pivot("param_norm", step=0), 1.0) and near(ds.sweep.pivot("param_norm", seed=0), 3.0)


def test_pivot_leaves_out_what_went_wrong(ds):
    """Of a cell with one run that diverged, one that failed and two that are sound, these alone count."""
    ds["outcome"][0, 1, 0, :] = [3, 2]
    ds["outcome"][0, 1, 1, :] = [4, 2]
    ds["param_norm"][0, 1, :, :, -1] = [[1e30, 2], [np.inf, 4]]
    ds["seconds"][0, 1] = [[1, 2], [3, 6]]
    at = {"learning_rate": LEARNING_RATES[0], "weight_decay": WEIGHT_DECAYS[1]}
    assert near(ds.sweep.pivot("param_norm").sel(at), 3) and near(ds.sweep.pivot("seconds").sel(at), 3)
    assert ds.sweep.pivot("param_norm", seed=0).sel(at).isnull()
    ds["dynamics"] = ds.phase.dims, np.zeros(ds.phase.shape, np.int8), DYNAMICS
    ds["dynamics"][0, 1, 1, 1] = 2
    assert ds.sweep.pivot("dynamics", seed=0).sel(at).item() == ""
    assert ds.sweep.pivot("dynamics", norm_placement="post").sel(at).item() == "misaligned"
    assert ds.sweep.pivot("outcome", seed=0, norm_placement="pre").sel(at).item() == "diverged"


def test_pivot_of_words_is_the_most_frequent(ds):
    ds["phase"][:] = np.where(ds.norm_placement == "pre", 1, np.where(ds.seed == 0, 1, 2))
    assert (ds.sweep.pivot("phase") == "growing").all()
    assert (ds.sweep.pivot("phase", seed=1, norm_placement="post") == "shrinking").all()
    ds["reason"][:] = "out of memory"
    assert (ds.sweep.pivot("reason") == "out of memory").all()


def test_pivot_says_what_is_none(ds):
    for variable, at, message in (("norm", {}, "norm: not a variable"),
                                  ("norm_growth", {"speed": 1}, "speed: not a dimension"),
                                  ("norm_growth", {"seed": 7}, "seed: no value 7; it has 0, 1")):
        with pytest.raises(KeyError, match=message):
            ds.sweep.pivot(variable, **at)


@pytest.mark.skipif(not all(importlib.util.find_spec(name) for name in ("pip", "setuptools", "wheel", "matplotlib")),
                    reason=missing.sentence("Not all of Python's pip, setuptools, wheel and matplotlib are installed",
                                            "pip install ./analysis", "apt-get install python3-pip python3-setuptools "
                                            "python3-wheel python3-matplotlib"))
@pytest.mark.skipif("NORMSWEEP_INSTALLED" in os.environ, reason="these tests already run on a package that pip "
                    "has installed, so they do not install it again")
def test_is_installed_by_pip(tmp_path, ds):
    shutil.copytree(PROJECT / "analysis", tmp_path / "analysis", ignore=shutil.ignore_patterns("__pycache__"))
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
        "--disable-pip-version-check", "--root-user-action=ignore", "--target", tmp_path / "there",
        tmp_path / "analysis")
    ds.to_netcdf(tmp_path / "a.nc")
    program = ("import normsweep, pkgutil, sys; assert normsweep.__file__.startswith(sys.argv[1]);"
               "[__import__(m.name) for m in pkgutil.walk_packages(normsweep.__path__, 'normsweep.')];"
               "print(normsweep.open_sweep(sys.argv[2]).sweep.title)")
    done = run(sys.executable, "-c", program, tmp_path / "there", tmp_path / "a.nc",
               env={**os.environ, "PYTHONPATH": str(tmp_path / "there")})
    assert done.stdout == "My first diagram\n"
    said = run(tmp_path / "there" / "bin" / "normsweep-table", tmp_path / "a.nc",
               env={**os.environ, "PYTHONPATH": str(tmp_path / "there")}).stdout
    assert said.startswith("learning_rate,weight_decay,") and said.count("\n") == 61
    version = re.search(r"^VERSION = (.*)$", (PROJECT / "Makefile").read_text(), re.M)[1]
    assert os.path.isdir(tmp_path / "there" / f"normsweep-{version}.dist-info")


def test_names_are_the_programs():
    """What the package has to know beside what a file says."""
    rows = {row["name"]: row["words"] for row in tables()["run_variables"]}
    assert rows["outcome"] == list(names.OUTCOMES)
    assert set(rows) - {"dynamics"} == set(names.OF_RUNS) and set(names.FITTED) == {"dynamics"}
    assert {*names.PHASE_AXES, names.REPEAT} <= {*names_in("parameters")}
    natures = names_in("natures")
    assert natures == list(names.NATURES)
    assert {row["nature"] for row in tables()["metrics"]} <= set(natures)
