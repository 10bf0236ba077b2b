"""The dataset as users see it: in xarray, in a CF checker, in `status` and `show`."""
import os
import shutil
import subprocess
import time

import netCDF4
import numpy as np
import pytest
import xarray as xr

from conftest import BUILD, run

thorough = pytest.mark.thorough("starts the program for every picture")


def sample(path, sweep=None, **environment):
    """Writes a made-up dataset, for the text of a sweep file if given."""
    if sweep is not None:
        file = path.with_suffix(".yaml")
        file.write_text(sweep)
        environment["NORMSWEEP_SAMPLE_SWEEP"] = str(file)
    run(BUILD / "tests-plain", "dataset_sample", env={**os.environ, "NORMSWEEP_SAMPLE": str(path), **environment})
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return sample(tmp_path_factory.mktemp("dataset") / "sample.nc")


@pytest.fixture
def ds(path):
    with xr.open_dataset(path) as dataset:
        yield dataset


GRID = ("learning_rate", "weight_decay", "norm_placement", "bias", "seed", "model")


def test_axes(ds):
    assert ds.norm_growth.dims == GRID
    assert ds.learning_rate.dtype == np.float64 and ds.seed.dtype == np.int64 and ds.bias.dtype == bool
    np.testing.assert_array_equal(ds.learning_rate, [1e-1, 0.0158489319246, 0.00251188643151, 0.000398107170553,
                                                     6.3095734448e-05, 1e-5])
    np.testing.assert_array_equal(ds.weight_decay, [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 0])
    assert list(ds.norm_placement.values) == ["out", "pre", "post"]
    assert list(ds.bias.values) == [True, False]
    assert list(ds.model.values) == ["small", "größer"]
    assert list(ds.width.values) == [8, 16] and ds.width.dims == ("model",)
    assert list(ds.optimiser.values) == ["adamw", "sgd"]
    assert {"width", "heads", "optimiser", "model", "tensor"} <= set(ds.coords)


def test_steps_layers_tensors(ds):
    np.testing.assert_array_equal(ds.step, [0, 10, 20])
    assert ds.train_loss.dims == GRID + ("step",)
    assert ds.layer_norm.dims == GRID + ("step", "layer")
    assert ds.tensor_norm.dims == GRID + ("step", "layer", "tensor")
    assert list(ds.tensor.values[:6]) == ["q", "k", "v", "o", "w1", "w2"]
    row = ds.tensor_norm.isel(learning_rate=3, weight_decay=2, norm_placement=0, bias=0, seed=0, model=1, step=0)
    np.testing.assert_array_equal(np.diff(row.values.ravel()), 1)
    assert float(row.sel(layer=1, tensor="q") - row.sel(layer=0, tensor="q")) == ds.sizes["tensor"]


def test_the_figure(ds):
    figure = ds.norm_growth.sel(norm_placement="pre", model="small").where(ds.weight_decay > 0, drop=True).mean("seed")
    assert figure.sel(bias=True).dims == ("learning_rate", "weight_decay")
    balance = figure.learning_rate / (figure.weight_decay + 1e-4)
    np.testing.assert_allclose(figure.sel(bias=True), 0.5 + 0.5 * balance ** 0.2 + 0.5e-3, rtol=1e-12)
    assert float(ds.norm_growth.sel(learning_rate=1e-3, method="nearest").isel(learning_rate=0, missing_dims="ignore")
                 .sel(weight_decay=1e-2, norm_placement="out", model="größer", seed=1, bias=False)) > 0


@thorough
def test_the_figure_draws(ds, tmp_path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    figure = ds.norm_growth.sel(norm_placement="pre", model="small", bias=True).where(ds.weight_decay > 0, drop=True)
    figure.mean("seed").plot(x="learning_rate", xscale="log", yscale="log")
    pyplot.savefig(tmp_path / "figure.png")
    pyplot.close()
    assert (tmp_path / "figure.png").stat().st_size > 1000


def test_outcomes(ds):
    for name, words in (("outcome", "pending running done diverged failed skipped"),
                        ("phase", "none growing shrinking diverged")):
        assert ds[name].dtype == np.int8 and "_FillValue" not in ds[name].encoding
        assert ds[name].attrs["flag_meanings"] == words
        np.testing.assert_array_equal(ds[name].attrs["flag_values"], range(len(words.split())))
    counts = np.bincount(ds.outcome.values.ravel(), minlength=6)
    assert (ds.outcome.sel(norm_placement="post", model="größer") == 5).sum() == counts[5] == 144
    assert counts[0] == counts[1] == counts[4] == 1 and counts.sum() == 864
    done = ds.outcome == 2
    growing = (ds.norm_growth > 1) & done
    assert ((ds.phase == 1) == growing).all() and ((ds.phase == 2) == (done & ~growing)).all()
    assert ((ds.phase == 3) == (ds.outcome == 3)).all() and ((ds.diverged_step == 13) == (ds.outcome == 3)).all()
    assert ds.reason.dtype == object and ds.reason.values.ravel()[1] == "the größte Anzahl died"
    assert set(np.unique(ds.reason)) == {"", "the größte Anzahl died"}
    assert set(np.unique(ds.host)) == {"", "node7", "node8"}
    assert ((ds.attempts == 1) == ~ds.outcome.isin([0, 5])).all() and ds.attempts.dtype == np.int64
    assert float(ds.tokens_per_second.max()) == 80 and ds.seconds.attrs["units"] == "s"


def test_nothing_is_nan_but_what_has_to_be(ds):
    measured = ds.outcome.isin([2, 3, 4])
    assert ds.train_loss.notnull().all("step").equals(measured.drop_vars([]))
    assert ds.alignment.sel(step=20).isnull().all()


def test_sessions(ds):
    session = ds.isel(sessions=0)
    assert str(session.session_version.values) == "1.2.3" and str(session.session_blas_kernel.values) == "a kernel"
    time.strptime(str(session.session_start.values), "%Y-%m-%dT%H:%M:%SZ")
    assert (ds.session_start[1:] == "").all()
    assert set(np.unique(ds.session.values[~np.isnan(ds.session.values)])) == {0}


def test_attributes(ds):
    assert ds.attrs["Conventions"] == "CF-1.10" and ds.attrs["title"] == "A sample, träumerisch"
    assert "Merrill" in ds.attrs["references"] and ds.attrs["source"] == "normsweep"
    assert "skip: [{norm_placement: post" in ds.attrs["sweep"]
    assert len(ds.attrs["configuration_digest"]) == 32 and len(ds.attrs["data_digest"]) == 32
    assert ds.attrs["layers"] == 2 and ds.attrs["beta1"] == 0.9 and ds.attrs["init"] == "torch"
    assert ds.attrs["measure"] == "{every: 10, metrics: [norms, alignment]}"
    assert not set(ds.attrs) & set(GRID) and "width" not in ds.attrs


def test_every_variable_is_described(path):
    with netCDF4.Dataset(path) as file:
        assert file.data_model == "NETCDF3_64BIT_DATA"
        assert not any(dimension.isunlimited() for dimension in file.dimensions.values())
        for name, variable in file.variables.items():
            assert variable.long_name and variable.units, name
            if variable.dtype == "S1":
                assert variable._Encoding == "utf-8" and variable.dimensions[-1] == f"string{variable.shape[-1]}"
            if variable.dimensions[:len(GRID)] == GRID:
                coordinates = "norm_placement model width heads optimiser"
                assert variable.coordinates == coordinates + " tensor" * ("tensor" in variable.dimensions), name


@thorough
def test_while_it_is_written(tmp_path):
    """Opened repeatedly during writes, the file is always complete, and a run that is done has its values."""
    path = tmp_path / "live.nc"
    environment = {**os.environ, "NORMSWEEP_SAMPLE": str(path), "NORMSWEEP_SAMPLE_FOREVER": "1"}
    writer = subprocess.Popen([BUILD / "tests-plain", "dataset_sample"], env=environment, stdin=subprocess.DEVNULL)
    seen = set()
    try:
        deadline = time.monotonic() + 600
        while len(seen) < 8 and time.monotonic() < deadline:
            assert writer.poll() is None
            if not path.exists():
                time.sleep(0.01)
                continue
            with xr.open_dataset(path) as ds:
                done = (ds.outcome == 2).values
                rows = ds.param_norm.values
                fresh = (ds.attempts == 1).values & done
                assert not np.isnan(rows[fresh]).any()
                seen.add(int(done.sum()))
    finally:
        writer.kill()
        writer.wait()
    assert len(seen) >= 8


def test_status(path, normsweep):
    report = normsweep("status", path).stdout
    for line in ("ended     718 of 720 runs, 99.7 %", "  diverged 20, 2.8 %", "  skipped  144, no runs",
                 "864 cells", f"intact, {path.stat().st_size} bytes",
                 "speed     80 tokens/s per run, in training steps alone",
                 "failed: learning_rate=0.1 weight_decay=0.1 norm_placement=out bias=true seed=0 model=größer: "
                 "the größte Anzahl died", "blas_kernel a kernel"):
        assert line in report, line


@thorough
def test_status_watches_until_the_end(tmp_path, normsweep):
    one = sample(tmp_path / "one.nc", "corpus: markov\nsteps: 20\nmeasure: {every: 10}\n")
    assert "ended     1 of 1 runs, 100.0 %" in normsweep("status", one, "--watch").stdout


@thorough
def test_status_of_a_stopped_sweep(path, normsweep):
    report = normsweep("status", path, "--watch", timeout=30).stdout
    assert "stopped   nothing runs; " in report and "running" not in report and "  pending  2, " in report


DIAGRAM = """\
weight_decay
   0.1 |-------- -------- -------- -------- -------- ########
  0.01 |-------- -------- -------- -------- ######## ########
 0.001 |-------- -------- -------- ######## ######## ########
0.0001 |-------- -------- ######## ######## ######## ########
 1e-05 |-------- -------- ######## ######## ######## ########
     0 |-------- -------- ######## ######## ######## !!!!!!!!
       +----+--------+--------+--------+--------+--------+----
          1e-05   6.31e-05 0.000398 0.00251   0.0158    0.1
                                                 learning_rate
# growing   - shrinking   ! diverged
cells: geometric mean of norm_growth over seed; diverged if most ended runs
diverged
"""
PART = ["--at", "norm_placement=out,bias=false,model=small"]


def test_show_the_diagram(path, normsweep):
    lines = normsweep("show", path, *PART).stdout.splitlines()
    assert lines[0].endswith("phase diagram at norm_placement=out, bias=false, model=small: A sample, träumerisch")
    assert [line.rstrip() for line in lines[1:]] == DIAGRAM.splitlines()


def drawn(shown):
    """The contents of the cells of a picture, in rows from the top."""
    return [line.partition("|")[2].split() for line in shown.splitlines() if "|" in line]


@thorough
def test_show_a_variable(path, ds, normsweep):
    shown = normsweep("show", path, "norm_growth", *PART).stdout
    rows = drawn(shown)
    kept = np.log(ds.norm_growth.where(ds.outcome != 3).sel(norm_placement="out", bias=False, model="small"))
    expected = np.exp(kept.mean("seed")).transpose("weight_decay", ...)
    expected = expected.sortby("learning_rate").sortby("weight_decay", ascending=False).values
    assert rows[-1][-1] == "!" and np.isnan(expected[-1, -1])
    rows[-1][-1] = "nan"
    np.testing.assert_allclose(np.array(rows, float), expected, rtol=1e-3)
    assert "geometric mean over seed, without" in shown
    assert "at the last step that has a value" in normsweep("show", path, "alignment").stdout


REST = "corpus: markov\nsteps: 20\nmeasure: {every: 10}\n"
DYNAMICS = ["none", "aligned", "misaligned", "relative", "adam_like"]


@thorough
@pytest.mark.parametrize("points, legend", [(3, False), (30, True)])
def test_show_the_most_frequent_class(tmp_path, normsweep, points, legend):
    path = sample(tmp_path / "classes.nc", REST + f"learning_rate: {{log: [1e-4, 1e-1], points: {points}}}\n"
                  "weight_decay: [0, 0.1]\nseed: {range: [1, 6]}\n")
    classes = np.random.default_rng(1).integers(0, len(DYNAMICS), (points, 2, 6))
    classes[1, 1] = [4, 3, 1, 1, 3, 4]
    classes[2, 0] = [2, 4, 4, 2, 1, 4]
    with netCDF4.Dataset(path, "r+") as file:
        file["dynamics"][:] = classes
    shown = normsweep("show", path, "dynamics").stdout
    lines = shown.splitlines()
    words = [2 * str(i) for i in range(len(DYNAMICS))] if legend else DYNAMICS
    counts = (classes.reshape(points, 2, 6, 1) == np.arange(len(DYNAMICS))).sum(axis=2)
    expected = [[words[k] for k in counts[:, j].argmax(axis=1)] for j in (1, 0)]
    assert expected[0][1] == words[1] and expected[1][2] == words[4]
    assert drawn(shown) == ([["".join(row)] for row in expected] if legend else expected)
    assert lines[-1] == "most frequent over seed"
    meaning = "   ".join(f"{i} {word}" for i, word in enumerate(DYNAMICS))
    assert lines.count(meaning) == int(legend) and not any("mean" in line for line in lines)


@thorough
def test_show_one_class(tmp_path, normsweep):
    path = sample(tmp_path / "one.nc", REST)
    assert [normsweep("show", path, name).stdout.splitlines()[1:] for name in ("outcome", "phase", "dynamics")] == \
        [["done"], ["shrinking"], ["none"]]


@thorough
def test_show_weight_decay_alone(tmp_path, normsweep):
    path = sample(tmp_path / "decay.nc", REST + "weight_decay: [0.1, 0.2, 0]\n")
    with netCDF4.Dataset(path, "r+") as file:
        file["norm_growth"][:] = [3.5, 1.5, 2.5]
    assert drawn(normsweep("show", path, "norm_growth").stdout) == [["2.5"], ["1.5"], ["3.5"]]


MANY = "learning_rate: {log: [1e-1, 1e-5], points: 80}\nweight_decay: {log: [1e-1, 1e-4], points: 61}\n"


@thorough
@pytest.mark.parametrize("axes", ["", "seed: [1, 2]\n", "learning_rate: [0.1, 0.01]\n",
                                  "norm_placement: [pre, out]\nbias: [true, false]\n", MANY])
def test_show_any_grid(tmp_path, normsweep, axes):
    path = sample(tmp_path / "grid.nc", REST + axes)
    for variable in ((), ("norm_growth",), ("train_loss",), ("tensor_norm",), ("step",), ("attempts",)):
        shown = normsweep("show", path, *variable).stdout.splitlines()
        assert all(len(line) <= 80 for line in shown[1:] if "mean" not in line), (axes, variable)
        assert 1 < len(shown) < 75
    if axes == MANY:
        assert "shown: 69 of 80 values of learning_rate, 60 of 61 values of weight_decay" in shown


MARKS = """\
weight_decay
0.1 |...... >>>>>> xxxxxx
  0 |       ###### !!!!!!
    +---+------+------+---
      0.0001  0.01   0.1
             learning_rate
# growing   ! diverged   x failed   > running   . pending   _ skipped (blank)
"""


@thorough
def test_show_marks_apart_without_colour(tmp_path, normsweep):
    sweep = (REST + "learning_rate: [0.1, 0.01, 1e-4]\nweight_decay: [0, 0.1]\n"
             "skip: [{learning_rate: 1e-4, weight_decay: 0}]\n")
    shown = normsweep("show", sample(tmp_path / "marks.nc", sweep)).stdout
    assert [line.rstrip() for line in shown.splitlines()[1:]] == MARKS.splitlines()


@thorough
def test_show_and_status_refuse(path, tmp_path, normsweep):
    (tmp_path / "a.nc").write_text("no dataset")
    for arguments, message in (
            (("show", path, "a\nb"), f"{path}: no variable a\\nb; see normsweep help metrics\n"),
            (("show", path, "reason"), f"{path}: reason is a text; analysis/table lists texts for each "
                                       "run, ncdump -v reason prints it\n"),
            (("show", path, "session_host"), f"{path}: session_host is a text; "),
            (("show", "a.nc"), "a.nc: is not a normsweep dataset"),
            (("status", "a.nc"), "a.nc: is not a normsweep dataset"),
            (("status", "b.nc"), "b.nc: No such file or directory"),
            (("status", "."), ".: is a folder; if it has parts of a sweep, status counts")):
        done = normsweep(*arguments, status=2)
        assert done.stderr.startswith(message) and done.stderr.count("\n") == 1 and done.stdout == ""


@thorough
def test_files_in_each_others_place(path, tmp_path, normsweep):
    shutil.copy(path, tmp_path / "a.nc")
    for name in "a.yaml", "a.yml", "b.yaml":
        (tmp_path / name).write_text("steps: 2\n")
    for command in "show", "status":
        for name in "a.yaml", "a.yml":
            done = normsweep(command, name, status=2)
            assert done.stderr == f"{name}: is not a normsweep dataset; its dataset is a.nc\n"
        assert normsweep(command, "b.yaml", status=2).stderr == (
            "b.yaml: is not a normsweep dataset; if it is a sweep file, give the dataset that run writes\n")
        assert "No such file" in normsweep(command, "c.yaml", status=2).stderr
    for command in "run", "plan", "check":
        assert normsweep(command, "a.nc", status=2).stderr == "a.nc: is a dataset; give its sweep file instead\n"
