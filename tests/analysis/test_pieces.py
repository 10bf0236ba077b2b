"""The same numbers and figures from a dataset in memory, from one in dask's pieces, and from a Zarr store."""

import functools
import importlib.util
import inspect
import warnings

import everything
import missing
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import script
from drawn import DIVERGED, PENDING
from made_up import made_up
from matplotlib.collections import Collection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from normsweep import Sweep, compare, comparison_text, figures, open_sweep
from normsweep.drawings import table as table_of_figures
from normsweep.drawings.report import report

pytestmark = pytest.mark.thorough("reads datasets in dask's pieces and from Zarr")

FORMS = {  # how a dataset comes: what it takes, (path of the dataset, path of its store) -> dataset
    "pieces": (("dask",), lambda path, store: open_sweep(path, chunks={})),
    "small pieces": (("dask",), lambda path, store: open_sweep(path, chunks={"learning_rate": 1, "step": 2})),
    "pieces of any size": (("dask",), lambda path, store: open_sweep(path, chunks="auto")),
    "xarray's pieces": (("dask",), lambda path, store: xr.open_dataset(path, chunks={})),
    "store": (("zarr",), lambda path, store: open_sweep(store)),
    "store in pieces": (("dask", "zarr"), lambda path, store: open_sweep(store, chunks={})),
    "xarray's store": (("zarr",), lambda path, store: xr.open_zarr(store, chunks=None, consolidated=False)),
    "xarray's store in pieces": (("dask", "zarr"), lambda path, store: xr.open_zarr(store, consolidated=False)),
}
ARGUMENTS = {"words": ("phase",), "pivot": ("norm_growth",), "with_axes": ("seed", "norm_placement")}
NEEDS = {"grokking": "accuracy", "gradient_slopes": "mean_gradient_norm",  # variables that not every sweep has
         "scaling": "top_singular", "optimum": "final_valid_loss", "collapse": "final_valid_loss",
         "forces": "force_sum", "forces_at_boundary": "force_sum", "effective_rate": "forces",
         "weights": "no variable: it reads files"}


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory):
    """{name: path} of three sweeps; in the second one growth stops at a decay in the grid, and some runs have not
    ended in numbers."""
    found = {}
    for name, text in (("all", everything.SWEEP), ("axes", everything.OTHER_AXES), ("stacks", everything.STACKS)):
        found[name] = everything.trained(tmp_path_factory.mktemp(name), text)
    with open_sweep(found["axes"]) as ds:
        made = ds.load()
    rate = made.learning_rate * xr.where(made.norm_placement == "pre", 10, 30)
    made["norm_growth"] = ((rate / made.weight_decay) ** 0.5 + 0 * made.norm_growth).transpose(
        *made.norm_growth.dims).assign_attrs(made.norm_growth.attrs)
    made.outcome[0, 0, 0, 0], made.outcome[-1, -1, -1, -1] = PENDING, DIVERGED
    made.to_netcdf(found["axes"].with_name("axes.nc"))
    found["axes"] = found["axes"].with_name("axes.nc")
    return found


def write_store(dataset, path, consolidated=False, **more):
    """Without the warning of zarr 3.0 and 3.1 that format 3 has no specification for text."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*Zarr V3 specification")
        dataset.to_zarr(path, consolidated=consolidated, **more)


@pytest.fixture(scope="module")
def opened(sweeps):
    """opened(SWEEP, FORM) is the dataset in this form; FORM "" is the one that all others have to equal."""
    kept = {}

    def call(name, form):
        needed, opener = FORMS[form] if form else ((), lambda path, store: open_sweep(path))
        for module in needed:
            missing.module(module, "that datasets in this form give the same numbers and figures",
                           f"pip install {module}")
        path = sweeps[name]
        store = path.with_suffix(".zarr")
        if "zarr" in needed and not store.exists():
            with open_sweep(path) as ds:
                write_store(ds, store)
        if (name, form) not in kept:
            kept[name, form] = opener(path, store)
        return kept[name, form]
    yield call
    for dataset in kept.values():
        dataset.close()


def public():
    """The names of what an accessor has: (name, is a method)."""
    return [(name, inspect.isfunction(value)) for name, value in vars(Sweep).items()
            if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))]


def value_of(dataset, name, is_method):
    found = getattr(dataset.sweep, name)
    found = found(*ARGUMENTS.get(name, ())) if is_method else found
    return found[["norm_growth", "param_norm"]] if name == "with_axes" else found  # the rest depends on who opens it


def same(found, expected, what):
    if isinstance(expected, (xr.DataArray, xr.Dataset)):
        xr.testing.assert_equal(found.load(), expected)
        assert set(found.coords) == set(expected.coords), what
    elif isinstance(expected, pd.DataFrame):  # a store does not keep the order of variables
        pd.testing.assert_frame_equal(found, expected, check_like=True)
    elif isinstance(expected, dict):
        assert {key: set(found[key]) for key in found} == {key: set(expected[key]) for key in expected}, what
    else:
        assert found == expected, what
    return True


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["all", "axes", "stacks"])
def test_methods(opened, name, form):
    dataset, expected = opened(name, form), opened(name, "")
    assert dataset.sizes["learning_rate"] == 2
    tried = 0
    for one, is_method in public():
        if one in NEEDS and NEEDS[one] not in expected:
            continue
        if one == "title" and "xarray" in form:
            assert dataset.sweep.title
            continue
        assert same(value_of(dataset, one, is_method), value_of(expected, one, is_method), (one, form))
        tried += 1
    assert tried > 18


@pytest.mark.parametrize("form", FORMS)
def test_pieces_are_pieces(opened, form):
    """Otherwise these tests would say nothing of pieces."""
    dataset = opened("all", form)
    assert ("dask" in FORMS[form][0]) == (dataset.param_norm.chunks is not None)
    if form == "small pieces":
        assert dataset.param_norm.chunks[0] == (1, 1) and max(dataset.param_norm.chunks[-1]) == 2


@pytest.mark.parametrize("form", FORMS)
def test_comparing(opened, form):
    """Also one in this form with one in memory."""
    dataset, expected = opened("all", form), opened("all", "")
    for second in dataset, expected:
        found = compare(dataset.isel(learning_rate=0), second.isel(learning_rate=1))
        wanted = compare(expected.isel(learning_rate=0), expected.isel(learning_rate=1))
        xr.testing.assert_equal(found, wanted)
        assert not found.chunks and comparison_text(found) == comparison_text(wanted)


def contents(drawing):
    """All that is drawn, as texts and numbers, without its place on the page."""
    found = [drawing.name, drawing.caption]
    for artist in drawing.figure.findobj():
        if isinstance(artist, Text):
            found.append(artist.get_text())
        elif isinstance(artist, Line2D):
            found.append((artist.get_color(), np.asarray(artist.get_xydata(), float)))
        elif isinstance(artist, Collection):
            values = artist.get_array()
            found.append(None if values is None else np.ma.filled(np.ma.asarray(values, float), np.nan))
            found += [path.vertices for path in artist.get_paths()]
        elif isinstance(artist, Patch):
            found.append((artist.get_facecolor(), artist.get_hatch(), artist.get_path().vertices))
    return found


def same_contents(found, expected):
    for one, other in zip(found, expected):
        np.testing.assert_equal(one, other)
    return len(found) == len(expected)


@pytest.fixture(scope="module")
def drawn(opened):
    """drawn(SWEEP) is {name: contents} of all its figures, drawn from the dataset in memory."""
    @functools.lru_cache(maxsize=None)
    def call(name):
        return {one.name: contents(one) for one in figures.draw_all(opened(name, "").assign_attrs(sweep_title="Title"))}
    return call


@pytest.mark.parametrize("name, form", [
    ("all", "small pieces"), ("stacks", "small pieces"), ("all", "xarray's store in pieces"),
    ("axes", "xarray's store in pieces")])
def test_figures(opened, drawn, name, form):
    found = {one.name: contents(one) for one in figures.draw_all(opened(name, form).assign_attrs(sweep_title="Title"))}
    assert set(found) == set(drawn(name)) and len(found) > 5
    for one, expected in drawn(name).items():
        assert same_contents(found[one], expected), one


def test_all_figures_are_tried(opened):
    assert {figure.name for figure in table_of_figures.FIGURES} <= {
        one.removesuffix("-encoder") for name in ("all", "axes", "stacks")
        for one in figures.names(opened(name, ""), sure=True)}


@pytest.mark.parametrize("form", ["small pieces", "xarray's store in pieces"])
def test_figures_of_several_sweeps(opened, form):
    for name, draw in table_of_figures.TOGETHER.items():
        found, expected = (draw({"one": opened("all", one), "two": opened("axes", one)}) for one in (form, ""))
        assert same_contents(contents(found), contents(expected)), name


@pytest.mark.parametrize("form", ["pieces", "store"])
def test_reports(opened, form):
    """A store keeps no order of attributes."""
    found, expected = (sorted(report(opened("all", one)).split("<")) for one in (form, ""))
    assert found == expected


# ---- stores ----

@pytest.fixture
def stores(tmp_path):
    """Paths of a dataset and of its stores in each format that the library here knows, with and without the metadata
    of all arrays in one place."""
    zarr = missing.module("zarr", "that open_sweep opens a Zarr store", "pip install zarr")
    made_up().to_netcdf(tmp_path / "first.nc")
    formats = (2, 3) if int(zarr.__version__.partition(".")[0]) >= 3 else (2,)
    with open_sweep(tmp_path / "first.nc") as ds:
        for version in formats:
            for consolidated in (False, True) if version == 2 else (False,):
                more = {"zarr_format": version} if len(formats) > 1 else {}
                write_store(ds, tmp_path / f"{version}{'c' * consolidated}.zarr", consolidated, **more)
    return tmp_path / "first.nc", sorted(tmp_path.glob("*.zarr"))


@pytest.mark.filterwarnings("error")
def test_stores_are_opened(stores):
    path, found = stores
    assert len(found) >= 2
    with open_sweep(path) as expected:
        for store in [*found, f"{found[0]}/"]:
            with open_sweep(store) as ds:
                xr.testing.assert_equal(ds, expected)
                assert not ds.chunks and ds.sweep.title == expected.sweep.title
                assert same(ds.sweep.table(), expected.sweep.table(), store)


def test_scripts_take_stores(stores):
    """The order of columns is another one."""
    path, (store, *_) = stores
    first, second = (script("table", one).stdout.splitlines() for one in (path, store))
    assert len(first) == 61 and sorted(first[0].split(",")) == sorted(second[0].split(","))
    assert [sorted(line.split(",")) for line in first[1:]] == [sorted(line.split(",")) for line in second[1:]]


def test_stores_are_parts_of_a_sweep(stores, tmp_path):
    path, (store, *_) = stores
    with open_sweep(path) as ds:
        ds.isel(seed=[0]).to_netcdf(tmp_path / "0.nc")
        with open_sweep([tmp_path / "0.nc", store]) as whole:
            for name in "norm_growth", "host", "last_step":
                xr.testing.assert_equal(whole[name], ds[name].load())


def test_stores_without_the_library(tmp_path, monkeypatch):
    (tmp_path / "zarr.json").write_text("{}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="a Zarr store; no module zarr here: pip install zarr"):
        open_sweep(tmp_path)
