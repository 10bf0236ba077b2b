"""weight_decay: {timescale: ...}: the decay of each cell, what the dataset says of it, searches along timescales."""

import netCDF4
import numpy as np
import pytest
import xarray as xr
from normsweep import open_sweep

from conftest import NORMSWEEP, run, script, sets, tiny, train_sweep
from drawn import drawing, words

KEYS = tiny(feedforward=8, width=None) + "measure: {every: 5}\n"
SWEEP = KEYS + """\
width: 8
steps: [10, 20]
learning_rate: [0.1, 0.3]
weight_decay: {timescale: [0.5, 2, 8]}
seed: [1, 2]
"""
DECAYS = 1 / (np.array([0.5, 2, 8]) * np.array([[0.1], [0.3]]) * np.array([[[10]], [[20]]]))


def read(path, *names):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        return [file[name][:] for name in names]


def test_a_run_has_the_decay_that_the_coordinate_says(tmp_path):
    path = train_sweep(tmp_path, SWEEP)
    decay, growth = read(path, "weight_decay", "norm_growth")
    np.testing.assert_array_equal(decay, DECAYS)
    with netCDF4.Dataset(path) as file:
        assert file["weight_decay"].dimensions == ("steps", "learning_rate", "timescale")
        assert file["norm_growth"].coordinates == "weight_decay" and "weight_decay" not in file.ncattrs()
    given = KEYS + f"width: 8\nsteps: 20\nlearning_rate: 0.3\nweight_decay: {float(DECAYS[1, 1, 2])!r}\nseed: [1, 2]\n"
    np.testing.assert_array_equal(read(train_sweep(tmp_path, given, name="given"), "norm_growth")[0], growth[1, 1, 2])
    assert "timescale" in run(NORMSWEEP, "show", path).stdout


@pytest.mark.parametrize("rule, dimensions, decay", [
    ("decay_rule: independent\nlearning_rate: 0.1\nwidth: 8\n", ("timescale",), [1 / (2 * 10), 1 / (8 * 10)]),
    ("decay_rule: corrected\nlearning_rate: 0.1\nwidth: 8\ntimescale: 2\n", (), 1 / (2 * 0.1 * 10)),
    ("together: {m: {a: {learning_rate: 0.1, width: 8}, b: {learning_rate: 0.5, width: 4}}}\ntimescale: 2\n", ("m",),
     [1 / (2 * 0.1 * 10), 1 / (2 * 0.5 * 10)])])
def test_the_coordinate_is_over_what_it_depends_on(tmp_path, rule, dimensions, decay):
    text = KEYS + f"steps: 10\n{rule}" + ("" if "timescale" in rule else "weight_decay: {timescale: [2, 8]}\n")
    path = train_sweep(tmp_path, text)
    with netCDF4.Dataset(path) as file:
        assert file["weight_decay"].dimensions == dimensions
    np.testing.assert_array_equal(read(path, "weight_decay")[0], decay)
    attempts = read(path, "attempts")[0]
    run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", cwd=tmp_path)  # finds nothing to do
    np.testing.assert_array_equal(read(path, "attempts")[0], attempts)


def test_a_sweep_grows_by_timescales_but_not_by_steps(sweep, tmp_path):
    go = [NORMSWEEP, "run", sweep, "-j", "0", "-o", "x.nc"]
    few = sets("weight_decay={timescale: 2}", "steps=10")
    run(*go, *few, cwd=tmp_path)
    begin = read(tmp_path / "x.nc", "norm_growth", "begin")
    run(*go, cwd=tmp_path)
    decay, growth, begins = read(tmp_path / "x.nc", "weight_decay", "norm_growth", "begin")
    np.testing.assert_array_equal(decay, DECAYS)
    np.testing.assert_array_equal(growth[0, :, 1], begin[0])
    np.testing.assert_array_equal(begins[0, :, 1], begin[1])
    run(*go[:-1], "y.nc", *few, *sets("save_weights=true"), cwd=tmp_path)
    refused = run(*go[:-1], "y.nc", *few, *sets("save_weights=true", "steps=20"), cwd=tmp_path, status=2).stderr
    assert "with a timescale steps cannot grow: weight_decay depends on them" in refused
    refused = run(*go, *few, *sets("weight_decay=0.5"), cwd=tmp_path, status=2).stderr
    assert "timescale" in refused and "holds another sweep" in refused


def test_parts_have_the_decays_of_the_whole(sweep, tmp_path):
    run(NORMSWEEP, "run", sweep, "-j", "0", "-o", "whole.nc", cwd=tmp_path)
    for name, setting in (("a", "weight_decay={timescale: [0.5, 8]}"), ("b", "weight_decay={timescale: 2}")):
        run(NORMSWEEP, "run", sweep, *sets(setting), "-j", "0", "-o", f"{name}.nc", cwd=tmp_path)
    for part in ("1/2", "2/2"):
        run(NORMSWEEP, "run", sweep, "--part", part, "-j", "0", "-o", "p.nc", cwd=tmp_path)
    with open_sweep(tmp_path / "whole.nc") as whole:
        for paths in ([tmp_path / "a.nc", tmp_path / "b.nc"], [tmp_path / "b.nc", tmp_path / "a.nc"],
                      tmp_path / "p.parts"):
            joined = open_sweep(paths)
            for name in ("weight_decay", "norm_growth"):
                xr.testing.assert_identical(joined[name].transpose(*whole[name].dims).variable, whole[name].variable)
        assert whole.sweep.plane == ("learning_rate", "timescale") and whole.sweep.together == {}


def test_figures_show_the_timescale(sweep, tmp_path):
    wide = sets("steps=20", "learning_rate={log: [0.01, 0.3], points: 4}",
                "weight_decay={timescale: {log: [0.01, 100], points: 9}}")
    run(NORMSWEEP, "run", sweep, *wide, "-j", "0", "-o", "x.nc", cwd=tmp_path)
    script("figures", "x.nc", "-o", "drawn", "--only", "phase", cwd=tmp_path)
    drawn = (tmp_path / "drawn" / "x-phase.svg").read_text()
    assert "timescale" in drawn
    with open_sweep(tmp_path / "x.nc") as ds:
        assert (ds.sweep.boundary().side == "crosses").all() and not drawing(ds, "phase") is None
        assert "slope −2" in words(drawing(ds, "phase"))


def test_an_altered_decay_is_told(sweep, tmp_path):
    run(NORMSWEEP, "run", sweep, "-j", "0", "-o", "x.nc", cwd=tmp_path)
    with netCDF4.Dataset(tmp_path / "x.nc", "a") as file:
        file["weight_decay"][1, 0, 2] = 1
    refused = run(NORMSWEEP, "run", sweep, "-j", "0", "-o", "x.nc", cwd=tmp_path, status=2).stderr
    assert "weight_decay is 1 at place 8 and not 0.0625" in refused


@pytest.mark.parametrize("refine", ["axis: timescale", "axes: [learning_rate, timescale], coarse: 4"])
def test_a_search_finds_what_the_whole_grid_shows(sweep, tmp_path, refine):
    grid = sets("weight_decay={timescale: {log: [0.01, 100], points: 33}}", "learning_rate=[0.03, 0.1, 0.3]",
                "steps=40", "seed=1")
    run(NORMSWEEP, "run", sweep, *grid, "-j", "0", "-o", "whole.nc", cwd=tmp_path)
    said = run(NORMSWEEP, "run", sweep, *grid, *sets(f"refine={{{refine}}}"), "-j", "0", "-o", "x.nc", cwd=tmp_path)
    (whole,), (growth, outcome) = read(tmp_path / "whole.nc", "norm_growth"), read(
        tmp_path / "x.nc", "norm_growth", "outcome")
    assert (outcome == 2).sum() < (20 if "axis:" in refine else 60) and "failed" in said.stdout + said.stderr
    for row, found in zip(whole, growth):
        crosses = [i for i in range(32) if (row[i] > 1) != (row[i + 1] > 1)]
        assert len(crosses) == 1
        np.testing.assert_array_equal(found[crosses[0]:crosses[0] + 2], row[crosses[0]:crosses[0] + 2])
