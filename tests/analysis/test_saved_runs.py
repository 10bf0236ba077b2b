"""The saved weights of a run, found by the values of its axes: `ds.sweep.weights` and `weights export --at`."""

import json
import os

import netCDF4
import numpy as np
import pytest
from conftest import NORMSWEEP, run, script, tiny
from normsweep import open_sweep
from normsweep.tensor_files import Refused

SWEEP = tiny(width=None, feedforward=None) + """\
steps: 8
output_bias: false
bias: [true, false]
together: {model: {"small, flat": {width: 8, feedforward: 16}, deep: {width: 12, feedforward: 8}}}
learning_rate: [0.01, 0.001]
weight_decay: [0.1]
norm_placement: [pre, post]
measure: {every: 4}
save_weights: true
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    (folder / "sweep.yaml").write_text(SWEEP)
    run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", cwd=folder)
    return folder


def cells(ds):
    for place in np.ndindex(ds.outcome.shape):
        at = dict(zip(ds.outcome.dims, place))
        yield {name: ds[name][i].item() for name, i in at.items()}, ds.isel(at)


def test_each_run_has_its_own(trained):
    """Their norm is the one that was measured at the last step; no two runs have the same."""
    norms = set()
    with open_sweep(trained / "sweep.nc") as ds:
        for at, one in cells(ds):
            found = ds.sweep.weights(at)
            norm = float(np.sqrt(sum(np.sum(values.astype(float) ** 2) for values in found.values())))
            assert norm == pytest.approx(float(one.total_norm.dropna("step")[-1]), rel=1e-6)
            norms.add(norm)
            assert found["q"].shape == (1, int(one.width), int(one.width)) and ("q_bias" in found) == at["bias"]
            again = one.sweep.weights()
            assert found.keys() == again.keys() and all((found[name] == again[name]).all() for name in found)
        assert len(norms) == ds.outcome.size == 16


def test_a_folder_of_parts(trained, tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    for part in ("1/2", "2/2"):
        run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", "--part", part, cwd=tmp_path)
    with open_sweep(tmp_path / "sweep.parts") as parts, open_sweep(trained / "sweep.nc") as whole:
        for at, _ in cells(whole):
            ours, theirs = parts.sweep.weights(at), whole.sweep.weights(at)
            assert all((ours[name] == theirs[name]).all() for name in theirs)


def test_what_is_not_there(trained, tmp_path):
    with open_sweep(trained / "sweep.nc") as ds:
        for values, line in (({"learning_rate": 0.5}, "learning_rate: no value 0.5; it has 0.01, 0.001"),
                             ({"learning_rate": 0.01, "model": "deep"},
                              "4 runs have these values; add a value of bias, norm_placement"),
                             ({"steps": 8}, "steps: not a dimension; the dimensions are ")):
            with pytest.raises(KeyError) as error:
                ds.sweep.weights(**values)
            assert error.value.args[0].startswith(line)
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("save_weights: true", "save_weights: false"))
    run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", "--only", "learning_rate=0.01", cwd=tmp_path)
    with open_sweep(tmp_path / "sweep.nc") as ds, pytest.raises(FileNotFoundError, match="no weights of bias=true "):
        ds.isel({name: 0 for name in ds.outcome.dims}).sweep.weights()


def test_a_damaged_file(trained, tmp_path):
    run("cp", "-r", trained / "sweep.nc", trained / "sweep.nc.d", tmp_path)
    for path in (tmp_path / "sweep.nc.d").iterdir():
        with netCDF4.Dataset(path, "a") as file:
            file["token"][0, 0] += 1
    with open_sweep(tmp_path / "sweep.nc") as ds, pytest.raises(Refused, match="damaged"):
        ds.isel({name: 0 for name in ds.outcome.dims}).sweep.weights()


def test_export_takes_values(trained, tmp_path):
    at = ["--at", "bias=true,model=small, flat", "--at", "learning_rate=1e-2,norm_placement=pre"]
    assert script("weights", "export", "sweep.nc", *at, "-o", tmp_path / "out", cwd=trained).stdout.startswith(
        f"{tmp_path / 'out'}: GPT2LMHeadModel, ")
    assert json.loads((tmp_path / "out" / "config.json").read_text())["n_embd"] == 8
    for text, line in (
            ("model=flat", "model: no value flat; it has small, flat, deep"),
            ("model=deep", "8 runs have these values; add a value of bias, learning_rate, norm_placement"),
            ("steps=8", "steps is not an axis: it is 8 in all runs; the axes are bias, model, learning_rate, "
                        "weight_decay, norm_placement"),
            ("bias=true,bias=false", "bias=false: bias is selected twice")):
        said = script("weights", "export", "sweep.nc", "--at", text, "-o", tmp_path / "no", cwd=trained, status=1)
        assert said.stderr == f"weights: sweep.nc: {line}\n"
    assert os.listdir(tmp_path) == ["out"]
