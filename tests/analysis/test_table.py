"""analysis/table: what comes back from a table is what the dataset has, to the last bit."""

import csv
import os
import subprocess
import sys

import missing
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import PROJECT, run, script, train_sweep
from drawn import dataset, near
from made_up import made_up
from normsweep import compare as compare_sweeps

pytestmark = pytest.mark.thorough("writes tables in every format")

# As the tests are run: the script alone would look for a Python by itself.
COMMAND = [sys.executable, PROJECT / "analysis" / "table"]

AXES = ["learning_rate", "weight_decay", "norm_placement", "seed"]
COLUMNS = [*AXES, "outcome", "phase", "last_step", "seconds", "tokens_per_second", "attempts", "deaths", "session",
           "diverged_step", "norm_growth", "host", "reason", "worker", "begin", "end", "rate_sum_last",
           "param_norm_last"]


def same(found, expected):
    """Equal to the last bit, NaN in the same places."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.tobytes() == np.where(np.isnan(expected), np.nan, expected).tobytes()


@pytest.fixture
def path(tmp_path):
    """With cells left out, runs under way, numbers that no short decimal tells, and texts that CSV has to quote."""
    ds = made_up()
    outcome, reason = ds.outcome.values, ds.reason.values.copy()
    outcome[1, 3], outcome[0, 2, 0, 1], outcome[0, 3, 0, 1] = 5, 4, 1
    reason[0, 2, 0, 1] = 'größer, "quoted"\nand <long>'
    ds = made_up(outcome=outcome, reason=reason)
    ds["seconds"][:] = np.random.default_rng(1).normal(size=ds.seconds.shape) * 1e-7
    ds["seconds"][1, 0, 0] = [np.inf, 5e-324]
    ds["param_norm"][..., -1] = np.where(ds.seed == 0, ds.param_norm[..., -1], np.nan)
    ds.to_netcdf(tmp_path / "made up.nc")
    return tmp_path / "made up.nc"


def rows(ds, name):
    return ds[name].values.ravel()[ds.outcome.values.ravel() != 5]


def compare(frame, ds):
    assert list(frame.columns) == COLUMNS and len(frame) == 56
    for name in ("seconds", "norm_growth", "last_step", "attempts"):
        same(frame[name].astype(float), rows(ds, name))
    for number, axis in enumerate(AXES):
        expected = np.meshgrid(*(ds[name].values for name in AXES), indexing="ij")[number]
        assert list(frame[axis]) == list(expected.ravel()[ds.outcome.values.ravel() != 5])
    for name in ("outcome", "phase"):
        meanings = ds[name].attrs["flag_meanings"].split()
        assert list(frame[name]) == [meanings[code] for code in rows(ds, name)]
    assert list(frame.reason.fillna("")) == list(rows(ds, "reason"))
    last = np.where(ds.seed == 0, ds.param_norm[..., -1], ds.param_norm[..., 1])
    same(frame.param_norm_last, last.ravel()[ds.outcome.values.ravel() != 5])


@pytest.mark.filterwarnings("ignore:The 'float_precision' argument is deprecated")  # the default once it is gone
def test_csv_through_pandas(path):
    script("table", path, "-o", path.with_suffix(".csv"))
    with xr.open_dataset(path) as ds:
        compare(pd.read_csv(path.with_suffix(".csv"), float_precision="round_trip"), ds)
    assert sorted(os.listdir(path.parent)) == ["made up.csv", "made up.nc"]


def test_csv_through_csv(path):
    lines = list(csv.DictReader(script("table", path).stdout.splitlines(keepends=True)))
    with xr.open_dataset(path) as ds:
        same([float(line["seconds"]) for line in lines], rows(ds, "seconds"))
        for name, kind in (("norm_growth", float), ("last_step", int)):
            expected = ["" if np.isnan(value) else kind(value) for value in rows(ds, name)]
            assert [kind(line[name]) if line[name] else "" for line in lines] == expected
        assert [line["reason"] for line in lines] == list(rows(ds, "reason"))


def test_parquet(path):
    missing.module("pyarrow", "tables in Parquet; those in CSV are", "pip install pyarrow")
    script("table", path, "-o", path.with_suffix(".parquet"))
    frame = pd.read_parquet(path.with_suffix(".parquet"))
    with xr.open_dataset(path) as ds:
        compare(frame, ds)
    assert frame.last_step.isna().sum() == (frame.outcome == "running").sum() + (frame.outcome != "done").sum() - 3


def with_parts():
    """Forces, and scores and entropies of heads, whose last step was not measured in one run."""
    def of_force(rate, seed, step, force):
        names = ["decay", "injection", "chance", "pull"]
        value = 100 * rate + 10 * seed + step + sum(0.1 * i * (force == name) for i, name in enumerate(names))
        return np.where((step == 2) & (seed == 1), np.nan, value)

    def of_head(rate, seed, step, layer, head):
        return rate * (1 + seed) * (1 + step) * (1 + 2 * layer + head)

    return dataset({"learning_rate": [0.1, 1.0], "seed": [0, 1]}, None, [0, 1, 2],
                   {"layer": [0, 1], "head": [0, 1], "force": ["decay", "injection", "chance", "pull"]},
                   forces=(["step", "force"], of_force), max_logit=(["step", "layer", "head"], of_head),
                   attention_entropy=(["step", "layer", "head"], of_head))


def test_forces_and_heads_have_columns():
    frame = with_parts().sweep.table()
    for i, name in enumerate(["decay", "injection", "chance", "pull"]):
        near(frame[f"forces_{name}_last"], [12 + 0.1 * i, 21 + 0.1 * i, 102 + 0.1 * i, 111 + 0.1 * i])
    near(frame.max_logit_last, [1.2, 2.4, 12, 24])
    near(frame.attention_entropy_last, [0.75, 1.5, 7.5, 15])
    assert not {"max_logit", "attention_entropy", "forces_last"} & set(frame)


def test_columns_of_the_table_are_compared():
    ds = with_parts()
    found = compare_sweeps(ds.isel(learning_rate=[0]), ds.isel(learning_rate=[0]), "max_logit_last")
    near(found.max_logit_last_a, [1.8])
    found = compare_sweeps(ds.isel(learning_rate=[0]), ds.isel(learning_rate=[0]), ["forces_pull_last"])
    near(found.forces_pull_last_b, [(12.3 + 21.3) / 2])


def test_parquet_without_its_module(path, tmp_path):
    """The modules hidden behind broken ones of the same names."""
    for name in ("pyarrow", "fastparquet"):
        (tmp_path / f"{name}.py").write_text("raise ImportError\n")
    done = run(*COMMAND, path, "-o", "a.parquet", status=1, cwd=tmp_path, env={**os.environ, "PYTHONPATH": tmp_path})
    assert done.stderr == "table: a.parquet: Parquet needs pyarrow or fastparquet: pip install pyarrow\n"
    assert not [name for name in os.listdir(tmp_path) if name.endswith("parquet")]


def test_keys_of_a_together_axis_and_truth_values(tmp_path):
    path = train_sweep(
        tmp_path, "corpus: markov\ncorpus_tokens: 4000\nsteps: 3\nmeasure: {every: 1}\nbias: [true, false]\n"
        "together: {model: {small: {width: 8, heads: 2}, large: {width: 12, heads: 3}}}\n")
    lines = list(csv.DictReader(script("table", path).stdout.splitlines(keepends=True)))
    assert [tuple(list(line.items())[:5]) for line in lines] == [
        (("bias", bias), ("model", model), ("width", width), ("heads", heads), ("outcome", "done"))
        for bias in ("true", "false") for model, width, heads in (("small", "8", "2"), ("large", "12", "3"))]
    with xr.open_dataset(path) as ds:
        same([float(line["train_loss_last"]) for line in lines], ds.final_train_loss.values.ravel())
        same([float(line["alignment_last"]) for line in lines], ds.alignment.values[..., -2].ravel())
        assert not {"layer_norm_last", "tensor_norm_last", "session_host", "step"} & set(lines[0])
        assert {"param_norm_last", "host", "session", "unigram_loss"} < set(lines[0])


def test_means_over_seeds(path):
    """A row for each cell without the seed; runs that are not done do not count."""
    lines = list(csv.DictReader(script("table", path, "--over", "seed").stdout.splitlines()))
    with xr.open_dataset(path) as ds:
        kept = (ds.outcome != 5).any("seed").values.ravel()
        assert len(lines) == kept.sum() == 28
        assert list(lines[0])[:6] == ["learning_rate", "weight_decay", "norm_placement", "done", "diverged", "failed"]
        for word, code in (("done", 2), ("diverged", 3), ("failed", 4)):
            assert [int(line[word]) for line in lines] == (ds.outcome == code).sum("seed").values.ravel()[kept].tolist()
        for name, values in (("norm_growth", ds.norm_growth), ("param_norm_last", ds.param_norm.isel(step=[1, -1]))):
            found = values.where(ds.outcome == 2)
            if name.endswith("_last"):
                found = xr.where(ds.seed == 0, found[..., 1], found[..., 0])
            rows_ = found.transpose(..., "seed").values.reshape(-1, 2)[kept]
            for line, row in zip(lines, rows_):
                known = row[~np.isnan(row)]
                expected = [known.mean() if len(known) else np.nan,
                            np.std(known, ddof=1) / np.sqrt(2) if len(known) == 2 else np.nan]
                assert int(line[f"{name}_n"]) == len(known)
                assert near([float(line[f"{name}_{word}"] or "nan") for word in ("mean", "se")], expected)
    assert not [name for name in lines[0] if name.startswith(("seed", "phase", "host", "last_step", "outcome"))]


def test_chosen_columns(path):
    names = script("table", path, "--columns", "outcome,norm_growth,param_norm").stdout.splitlines()[0].split(",")
    assert names == [*AXES, "outcome", "norm_growth", "param_norm_last"]
    names = script("table", path, "--over", "seed", "--columns", "param_norm_last").stdout.splitlines()[0].split(",")
    assert names[3:] == ["done", "diverged", "failed", *(f"param_norm_last_{of}" for of in ("n", "mean", "se"))]
    for arguments, line in (
            (["--columns", "norm_grwth"], "no column norm_grwth; did you mean norm_growth?"),
            (["--over", "sead"], "sead: not an axis; the axes are learning_rate, weight_decay, norm_placement, seed")):
        assert script("table", path, *arguments, status=1).stderr == f"table: {path}: {line}\n"


def test_one_run(tmp_path):
    made_up().isel(learning_rate=0, weight_decay=1, norm_placement=0, seed=0).to_netcdf(tmp_path / "one.nc")
    lines = list(csv.DictReader(script("table", tmp_path / "one.nc").stdout.splitlines()))
    assert len(lines) == 1 and lines[0]["outcome"] == "done"
    assert lines[0]["seconds"] == "0.3333333333333333" and "learning_rate" not in lines[0]


def test_errors_are_one_line(path, tmp_path):
    (tmp_path / "folder").mkdir()
    for arguments, message in (([path, "-o", path], f"{path}: the name must end in .csv or .parquet"),
                               ([path, "-o", "folder"], "folder: is a folder"),
                               ([path, "-o", f"{path}/a.csv"], f"{path}: is a file, not a folder")):
        assert script("table", *arguments, status=1, cwd=tmp_path).stderr == f"table: {message}\n"
    assert script("table", path, "-o", "new/folder/a.csv", cwd=tmp_path).stdout == "new/folder/a.csv\n"
    assert (tmp_path / "new/folder/a.csv").read_text() == script("table", path).stdout


def test_a_reader_that_goes_away(path):
    process = subprocess.Popen(COMMAND + [path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b"" and process.wait() == 0
