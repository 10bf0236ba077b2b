"""open_sweep of several files, of parts of one sweep; saving what it opens; keywords of xarray; sessions."""

import glob
import importlib.util
import os
import shutil
import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import names_in, run, sets, tables, train_sweep
from made_up import made_up

import missing
from normsweep import DifferentSweeps, NotASweep, Sweep, names, open_sweep, sweep_of
from normsweep.join import FREE, OF_ONE_TRAINING

pytestmark = pytest.mark.thorough("opens datasets in every way that xarray has")

TINY = ("title: Tiny\ncorpus: markov\nvocabulary: 9\nlayers: 1\nwidth: 4\nheads: 1\nfeedforward: 4\ncontext: 4\n"
        "batch: 1\nsteps: 2\nmeasure: {every: 1}\nlearning_rate: [0.1, 0.01]\nweight_decay: [0, 1]\n")


NO_SIZES = "width=null", "heads=null"  # they are in `together` instead


@pytest.fixture
def tiny(tmp_path):
    """tiny(NAME, KEY=VALUE...) trains a sweep of four runs, or more, and returns its path."""
    return lambda name, *settings: train_sweep(tmp_path, TINY, *sets(*settings), name=name.removesuffix(".nc"))


@pytest.fixture
def parts(tmp_path):
    """Two files, one for each seed."""
    for seed in (0, 1):
        made_up().isel(seed=[seed]).to_netcdf(tmp_path / f"{seed}.nc")
    return [tmp_path / "0.nc", tmp_path / "1.nc"]


def same_runs(found, expected):
    """Equal in all that does not depend on when and where a run was trained."""
    left = [name for name in expected.data_vars if name in OF_ONE_TRAINING or name.startswith(names.SESSION)]
    assert set(found.variables) == set(expected.variables)
    found, expected = (ds.drop_vars(left).assign_attrs({name: "" for name in FREE}) for ds in (found, expected))
    xr.testing.assert_identical(found, expected)
    for name in expected.variables:
        assert found[name].dtype == expected[name].dtype
    for name in expected.data_vars:
        assert all((key in found[name].encoding) == (key in expected[name].encoding)
                   for key in ("dtype", "_FillValue")), name
    return True


def test_parts_are_the_whole(tiny):
    """Axes of one value, keys fixed, several values out of order: together all that one sweep would have."""
    settings = "seed=[0, 1, 2, 3]", "bias=[true, false]"
    one = tiny("one.nc", "seed=3", "bias=[true, false]")
    two = tiny("two.nc", "seed=[2, 0]", "bias=[true, false]")
    three = tiny("three.nc", "seed=[1]", "bias=true")
    four = tiny("four.nc", "seed=[1]", "bias=[false]")
    with open_sweep([one, str(two), three, four]) as found, open_sweep(tiny("whole.nc", *settings)) as whole:
        assert set(found.sweep.axes) == set(whole.sweep.axes) and found.sweep.done.all()
        assert found.seed.values.tolist() == [3, 2, 1, 0] and found.bias.values.tolist() == [True, False]
        assert same_runs(found.transpose(*whole.sweep.axes, ...).sel(seed=whole.seed), whole)
        assert found.sizes["sessions"] == 4
        assert set(np.unique(found.session)) == {0, 1, 2, 3} and (found.session.sel(seed=3) == 0).all()
        assert found.sweep.title == "Tiny" and found.sweep.sweep_file.count("steps: 2") == 4


def test_one_key_that_is_fixed_everywhere_becomes_an_axis(tiny):
    fixed = [tiny(f"{rate}.nc", f"learning_rate={rate}", "weight_decay=1") for rate in (0.1, 0.01)]
    with open_sweep(fixed) as found, open_sweep(tiny("whole.nc", "weight_decay=1")) as whole:
        assert found.sweep.axes == ("learning_rate",) and found.learning_rate.values.tolist() == [0.01, 0.1]
        assert set(whole.learning_rate.values) == {0.1, 0.01}
        part = found.sel(learning_rate=whole.learning_rate).drop_vars("learning_rate")
        assert same_runs(part, whole.drop_vars("learning_rate"))


def test_truth_values_that_are_fixed_stay_truth_values(tiny):
    """An attribute of netCDF has 0 and 1 for them."""
    no, yes = (tiny(f"{word}.nc", f"bias={word}") for word in ("false", "true"))
    axis = tiny("axis.nc", "bias=[false]")
    for files, values in (([no, yes], [False, True]), ([yes, axis], [True, False]), ([axis, yes], [False, True])):
        with open_sweep(files) as found:
            assert found.bias.dtype == bool and found.bias.values.tolist() == values
            assert "bias" in found.sweep.word_axes and found.sweep.done.all()
    with pytest.raises(DifferentSweeps, match="bias is true, not false, .*seed is 1, not 0"):
        open_sweep([no, tiny("other.nc", "bias=true", "seed=1")])


def test_of_another_sweep(tiny):
    """What numbers depend on has to agree; what they do not depend on need not."""
    first = tiny("first.nc", "seed=0")
    never, one = "; that cannot be an axis", "; at most one such key becomes an axis"
    for settings, message in ((["width=8", "heads=2"], "width is 8, not 4, heads is 2, not 1, seed is 1, not 0" + one),
                              (["vocabulary=7"], "vocabulary is 7, not 9" + never),
                              (["corpus_seed=1"], "corpus_seed is 1, not 0" + never),
                              (["measure={every: 2}"], "measure is {every: 2.*}, not {every: 1.*}" + never)):
        with pytest.raises(DifferentSweeps, match=rf"other.nc: of another sweep than .*first.nc: {message}$"):
            open_sweep([first, tiny("other.nc", "seed=1", "learning_rate=[0.1, 0.01]", *settings)])
        (first.parent / "other.nc").unlink()
    with open_sweep([first, tiny("other.nc", "seed=1", "title=Others", "save_weights=true")]) as found:
        assert found.sweep.title == "Tiny and Others" and found.sizes["seed"] == 2
    together = tiny("together.nc", "seed=1", *NO_SIZES,
                    "together={model: {a: {width: 4, heads: 1}, b: {width: 8, heads: 2}}}")
    with pytest.raises(DifferentSweeps, match="first.nc: of another sweep: it has no model, which is an axis"):
        open_sweep([together, first])


def test_only_keys_that_are_in_the_way_are_named(parts):
    """A digest follows from other keys; a corpus of texts has no vocabulary of its own; files may differ in others."""
    keys = {"corpus": "text", "data_digest": "beef", "vocabulary": 9, "optimiser": "adamw", "momentum": 0.0}
    for path, changes, named in (
            (parts[1], {"data_digest": "dead"}, "data_digest is dead, not beef; that cannot be an axis"),
            (parts[1], {"data_digest": "dead", "vocabulary": 7}, "data_digest is dead, not beef; that cannot"),
            (parts[1], {"data_digest": "dead", "corpus": "bytes"}, "corpus is bytes, not text; that cannot be an axis"),
            (parts[1], {"data_digest": "dead", "corpus": "markov", "vocabulary": 7},
             "corpus is markov, not text, vocabulary is 7, not 9; that cannot"),
            (parts[1], {"optimiser": "sgd", "momentum": 0.9},
             "optimiser is sgd, not adamw, momentum is 0.9, not 0; at most one such key becomes an axis")):
        for name, more in ((parts[0], {}), (path, changes)):
            part = made_up().isel(seed=[parts.index(name)])
            part.assign_attrs(dict(sorted({**keys, **more}.items()))).to_netcdf(name)
        with pytest.raises(DifferentSweeps) as raised:
            open_sweep(parts)
        assert str(raised.value).startswith(f"{path}: of another sweep than {parts[0]}: {named}"), raised.value


def test_two_keys_of_two_files(parts, tmp_path):
    made_up().assign_attrs(steps=30).to_netcdf(tmp_path / "a.nc")
    made_up().assign_attrs(batch=2).to_netcdf(tmp_path / "b.nc")
    made_up().assign_attrs(batch=1).to_netcdf(tmp_path / "0.nc")
    message = rf"a.nc: .*: steps is 30, not 20, batch is 2, not 1 \({tmp_path}/b.nc\);"
    with pytest.raises(DifferentSweeps, match=message):
        open_sweep([tmp_path / name for name in ("0.nc", "a.nc", "b.nc")])


def test_a_new_axis_of_words_keeps_what_all_files_say(tiny):
    """Titles, notes, sweep files; numbers that only one file has are missing in the other."""
    both = "weight_decay=[0, 1]", "seed=[0, 1]"
    one = tiny("adamw.nc", "optimiser=adamw", "title=AdamW", "notes=The plain one.", *both)
    two = tiny("sgd.nc", "optimiser=sgd", "title=SGD", "notes=Without moments.",
               "weight_decay=[1, 2]", "seed=[0, 1]")
    with open_sweep([one, two]) as found:
        assert found.sweep.axes[-1] == "optimiser" and found.optimiser.values.tolist() == ["adamw", "sgd"]
        assert found.sweep.word_axes == ("optimiser",) and "optimiser" not in found.attrs
        assert found.sweep.title == "AdamW and SGD"
        assert found.sweep.notes == "AdamW: The plain one.\n\nSGD: Without moments."
        assert found.sweep.done.sel(optimiser="sgd").sum("seed").values.tolist() == [[0, 2, 2]] * 2
        for path, word in ((one, "adamw"), (two, "sgd")):
            with open_sweep(path) as part:
                mine = found.sel(optimiser=word).sel({axis: part[axis] for axis in part.sweep.axes})
                xr.testing.assert_equal(mine.norm_growth.drop_vars("optimiser"), part.norm_growth)
        found.to_netcdf(one.with_name("both.nc"))
        with open_sweep(one.with_name("both.nc")) as again:
            assert again.sweep.title == found.sweep.title and again.sweep.notes == found.sweep.notes


def test_titles_of_many_files(parts, tmp_path):
    names = [tmp_path / f"{seed}.nc" for seed in range(6)]
    for seed, name in enumerate(names):
        part = made_up().isel(seed=[0]).assign_coords(seed=[seed])
        part.assign_attrs(sweep_title=f"Part {seed}" if seed % 2 else "").to_netcdf(name)
    with open_sweep(names) as found:
        assert found.sweep.title == "0.nc, Part 1, 2.nc and 3 more"
    with open_sweep(names[::2][:2]) as found:
        assert found.sweep.title == "0.nc and 2.nc" and found.sweep.notes == ""


def test_patterns(parts, tmp_path, monkeypatch):
    with open_sweep(tmp_path / "*.nc") as found, open_sweep(parts) as expected:
        assert found.identical(expected)
    monkeypatch.chdir(tmp_path)
    with open_sweep("[1].nc") as found:
        assert found.seed.values.tolist() == [1] and found.encoding["source"].endswith("1.nc")
    with pytest.raises(FileNotFoundError, match=r"No file has such a name: 'no\*.nc'"):
        open_sweep("no*.nc")
    parts[0].rename("what?.nc")
    with open_sweep("what?.nc") as found:
        assert found.seed.values.tolist() == [0]


def test_labels_of_together_axes(tiny):
    one = tiny("one.nc", *NO_SIZES, "together={model: {a: {width: 4, heads: 1}, b: {width: 8, heads: 2}}}")
    two = tiny("two.nc", *NO_SIZES, "together={model: {c: {width: 8, heads: 4}, a: {width: 4, heads: 1}}}")
    with open_sweep([one, two]) as found:
        assert found.model.values.tolist() == ["a", "b", "c"] and found.sweep.together == {"model": ("width", "heads")}
        assert found.width.values.tolist() == [4, 8, 8] and found.heads.values.tolist() == [1, 2, 4]
        assert found.width.dtype == found.heads.dtype == np.int64 and found.sweep.done.all()
    two = tiny("three.nc", *NO_SIZES, "together={model: {b: {width: 8, heads: 1}}}")
    with pytest.raises(DifferentSweeps, match="three.nc: of another sweep than .*one.nc: heads of model b is 1, not 2"):
        open_sweep([one, two])


def test_cells_that_no_file_has_are_pending(parts, tmp_path):
    whole = made_up()
    whole.isel(seed=[1], weight_decay=slice(2)).to_netcdf(tmp_path / "1.nc")
    with open_sweep(parts) as found:
        assert found.sweep.axes == whole.sweep.axes and found.outcome.dtype == np.int8
        at = {"seed": 1, "weight_decay": whole.weight_decay.values[2:]}
        assert found.sweep.pending.sel(at).all() and found.norm_growth.sel(at).isnull().all()
        assert (found.reason.sel(at) == "").all() and (found.phase.sel(at) == 0).all()
        part = found.sel(seed=0, weight_decay=whole.weight_decay)
        for name in ("outcome", "norm_growth", "phase", "last_step", "param_norm", "host", "attempts"):
            assert part[name].identical(whole[name].sel(seed=0)), name
        assert len(found.sweep.table()) == 60


def test_the_run_that_got_furthest_counts(parts, tmp_path):
    """Of a run in two files; equal ones agree, with NaN in the same places."""
    whole = made_up()
    outcome = whole.outcome.values.copy()
    outcome[0] = np.where(outcome[0] == 2, 0, outcome[0])  # not yet begun
    outcome[1] = 4  # failed
    outcome[2, :2] = 5  # left out
    earlier = made_up(outcome=outcome, norm_growth=np.where(outcome == 2, whole.norm_growth, np.nan))
    for order in ((whole, earlier), (earlier, whole)):
        for name, ds in zip(("a.nc", "b.nc"), order):
            ds.to_netcdf(tmp_path / name)
        with open_sweep([tmp_path / "a.nc", tmp_path / "b.nc"]) as found:
            assert found.outcome.sel(weight_decay=whole.weight_decay).identical(whole.outcome)
            assert found.norm_growth.sel(weight_decay=whole.weight_decay).identical(whole.norm_growth)


def test_runs_that_disagree(parts, tmp_path):
    changed = made_up()
    changed["norm_growth"][1, 2, 0, 0] = 1.5
    changed["seconds"] += 1
    changed.to_netcdf(tmp_path / "changed.nc")
    message = (r"changed.nc: norm_growth of the run learning_rate 0.01, weight_decay 0.1, norm_placement pre, seed 0 "
               r"differs from that in .*0.nc; leave one of the files, or these runs, out$")
    with pytest.raises(DifferentSweeps, match=message):
        open_sweep([*parts, tmp_path / "changed.nc"])
    changed["norm_growth"][1, 2, 0, 0] = made_up().norm_growth[1, 2, 0, 0]
    changed.to_netcdf(tmp_path / "slower.nc")
    with open_sweep([*parts, tmp_path / "slower.nc"]) as found:
        assert (found.seconds.max() < changed.seconds.max()).item()


def test_values_that_differ_in_their_last_digit_are_one(parts, tmp_path):
    part = made_up().isel(seed=[1])
    part.assign_coords(learning_rate=part.learning_rate * (1 + 1e-12)).to_netcdf(tmp_path / "1.nc")
    with open_sweep(parts) as found:
        assert found.sizes["learning_rate"] == 3 and found.sweep.done.sum() == made_up().sweep.done.sum()


def test_parts_that_were_selected_and_saved(tmp_path, tiny):
    """Their axes are coordinates of one value, with the keys that change along them."""
    path = tiny("a.nc", *NO_SIZES, "seed=[0, 1]",
                "together={model: {a: {width: 4, heads: 1}, b: {width: 8, heads: 2}}}")
    with open_sweep(path) as whole:
        for seed in 0, 1:
            whole.sel(seed=seed).to_netcdf(tmp_path / f"seed{seed}.nc")
        for model in "ba":
            whole.sel(model=model).to_netcdf(tmp_path / f"model{model}.nc")
        for files in (["seed0.nc", "seed1.nc"], ["seed1.nc", "a.nc"], ["a.nc", "modelb.nc", "seed0.nc"]):
            with open_sweep([tmp_path / name for name in files]) as found:
                assert same_runs(found.transpose(*whole.sweep.axes, ...), whole), files
                assert found.sweep.together == whole.sweep.together
        with pytest.raises(DifferentSweeps, match="model is b, not a, width is 8, not 4"):  # what goes together?
            open_sweep([tmp_path / "modela.nc", tmp_path / "modelb.nc"])
        whole.sel(model="a", seed=0).assign_attrs(steps=3, batch=2).to_netcdf(tmp_path / "other.nc")
        with pytest.raises(DifferentSweeps, match="other.nc: of another sweep than .*: batch is 2, not 1, steps is 3"):
            open_sweep([path, tmp_path / "other.nc"])


def test_what_cannot_be_opened(parts, tmp_path):
    (tmp_path / "text.nc").write_text("no dataset")
    for paths, error in (([*parts, tmp_path / "text.nc"], NotASweep), ([*parts, "none.nc"], FileNotFoundError),
                         ([], ValueError)):
        with pytest.raises(error):
            open_sweep(paths)
    for keyword in ("decode_cf", "concat_characters"):
        with pytest.raises(TypeError, match=f"{keyword}: open_sweep decodes"):
            open_sweep(parts[0], **{keyword: False})
    for keyword in ("chunks", "engine"):  # a mistake of the caller's, not of the file
        with pytest.raises(ValueError, match="bogus") as raised:
            open_sweep(parts[0], **{keyword: "bogus"})
        assert not isinstance(raised.value, NotASweep), keyword
    assert issubclass(DifferentSweeps, ValueError)


def test_keywords_of_xarray(parts):
    with open_sweep(parts, drop_variables=["param_norm", "seconds"]) as found:
        assert not {"param_norm", "seconds"} & set(found.variables) and found.sizes["seed"] == 2
    with open_sweep(parts[0]) as found:
        assert not found.chunks and isinstance(sweep_of(found), Sweep) and sweep_of(found) is found.sweep
    with open_sweep(path for path in parts) as found:
        assert not found.chunks and found.sizes["seed"] == 2


def test_chunks(parts):
    missing.module("dask", "that chunks= gives datasets in pieces", "pip install dask")
    with open_sweep(parts[0], chunks={"learning_rate": 1}) as found:
        assert found.norm_growth.chunks[0] == (1, 1, 1)
    with open_sweep(parts, chunks={}) as found, open_sweep(parts) as expected:
        assert found.norm_growth.chunks and found.load().identical(expected)


def test_sessions_are_those_that_were(tiny):
    path = tiny("a.nc")
    with xr.open_dataset(path) as plain, open_sweep(path) as found:
        assert plain.sizes["sessions"] > 1 and found.sizes["sessions"] == 1
        assert found.session_start.values.tolist() == plain.session_start.values[:1].tolist() != [""]
    tiny("a.nc", "seed=[0, 1]")
    with open_sweep(path) as found:
        assert found.sizes["sessions"] == 2 and found.sel(seed=1).session.values.ravel().tolist() == [1.0] * 4


def test_files_are_closed(parts, tmp_path):
    def opened():
        return [link for link in map(os.path.realpath, glob.glob("/proc/self/fd/*")) if link.startswith(str(tmp_path))]
    if not os.path.exists("/proc/self/fd"):
        missing.skip("There is no /proc", "that closed datasets leave no file open", "run make check on Linux")
    for path in (parts[0], parts):
        found = open_sweep(path)
        found.norm_growth.load()
        assert opened()
        found.close()
        assert not opened()
    (tmp_path / "text.nc").write_text("no dataset")
    with pytest.raises(NotASweep):
        open_sweep([*parts, tmp_path / "text.nc"])
    assert not opened()


def rounds(part, folder):
    """What comes back from each format that is here: (name, dataset)."""
    part.to_netcdf(folder / "saved.nc")
    yield "netCDF-4", xr.open_dataset(folder / "saved.nc", engine="netcdf4")
    yield "open_sweep", open_sweep(folder / "saved.nc")
    if importlib.util.find_spec("zarr"):
        import zarr
        newer = zarr.__version__.partition(".")[0] >= "3"
        for version in (2, 3) if newer else (2,):
            shutil.rmtree(folder / "saved.zarr", ignore_errors=True)
            part.to_zarr(folder / "saved.zarr", consolidated=False, **({"zarr_format": version} if newer else {}))
            yield f"zarr {version}", xr.open_zarr(folder / "saved.zarr", chunks=None, consolidated=False)


def test_what_was_opened_can_be_saved_without_a_warning(tiny, tmp_path):
    """Texts of all lengths, which share a dimension of characters in a file, truth values, integers with missing
    values; of a dataset, a copy of it, several files."""
    path = tiny("a.nc", "bias=[true, false]", "norm_placement=[pre, post]", "seed=[0, 1]")
    paths = [path]
    if shutil.which("nccopy"):
        run("nccopy", "-4", "-d", "5", path, tmp_path / "copy.nc")
        paths.append(tmp_path / "copy.nc")
    for opened in [*paths, [path, tiny("b.nc", "bias=true", "norm_placement=[pre, post]", "seed=[2]")]]:
        with open_sweep(opened) as ds:
            for part in (ds, ds.isel(seed=0), ds.isel(seed=[1], bias=[0])):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    for name, again in rounds(part, tmp_path):
                        with again:
                            xr.testing.assert_identical(again, part)
                            kinds = {one: again[one].dtype.kind for one in part.variables}
                            assert all(kind == part[one].dtype.kind or {kind, part[one].dtype.kind} <= set("OTU")
                                       for one, kind in kinds.items()), name


def test_keys_that_cannot_be_axes_are_the_programs():
    params = tables()["parameters"]
    never = {row["name"] for row in params if not row["axis"]}
    assert never == {row["name"] for row in params if row["name"] in names.FIXED} | {"save_weights"}
    assert tuple(row["name"] for row in params if row["kind"] == "boolean") == names.TRUTHS
    assert {*names_in("attributes")} <= {*names.FIXED, *FREE}


# ---- axes of single values ----

def test_keys_of_all_runs_become_axes():
    """Selected values and attributes; what has been an axis is as it was, but for the order."""
    made = made_up()
    found = made.sel(seed=1, weight_decay=0.1).sweep.with_axes("weight_decay", "bias", "seed", "learning_rate")
    assert found.sweep.axes == ("learning_rate", "norm_placement", "weight_decay", "bias", "seed")
    assert found.bias.values.tolist() == [True] and "bias" not in found.attrs and made.attrs["bias"] == 1
    xr.testing.assert_identical(found.isel(bias=0, drop=True).norm_growth.transpose(*made.norm_growth.dims),
                                made.sel(seed=[1], weight_decay=[0.1]).norm_growth)
    xr.testing.assert_identical(made.sweep.with_axes("seed"), made)


def test_one_run_has_a_boundary_without_a_number():
    one = made_up().sel(learning_rate=0.01, weight_decay=0.001, norm_placement="pre", seed=0)
    found = one.sweep.with_axes("learning_rate", "weight_decay").sweep.boundary()
    assert found.boundary.isnull().all() and found.side.values.tolist() == ["above"]
    assert found.expand_dims("sweep").slope.isnull().all() and found.slope.ndim == 0


def test_what_cannot_be_an_axis():
    with pytest.raises(KeyError, match="depth: not a key of this sweep"):
        made_up().sweep.with_axes("seed", "depth")
    together = made_up().assign_coords(heads=("norm_placement", [1, 2]))
    with pytest.raises(KeyError, match="heads: changes along norm_placement, so it is not an axis"):
        together.sweep.with_axes("heads")
