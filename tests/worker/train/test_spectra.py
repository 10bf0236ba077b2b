"""The groups spectra and spectra_values against numpy's singular values of the same weights; when they are measured;
programs whose BLAS has no LAPACK."""
import subprocess

import numpy as np
import pytest
import xarray as xr

import reference_measures
from conftest import NORMSWEEP, run, sets, tiny, train_sweep
from parity import Run, difference
from replay import replay
from same import differences, read
from test_parity import BASE

pytestmark = pytest.mark.thorough("decomposes all matrices in numpy")

SMALL = BASE | {"steps": 4, "width": 12, "heads": 3, "feedforward": 20, "vocabulary": 7, "context": 5, "batch": 3,
                "corpus_tokens": 200, "learning_rate": 1e-2, "weight_decay": 0.1}
CASES = {
    "plain": {"bias": False},
    "one-head": {"heads": 1, "norm_placement": "post"},
    "narrow-feedforward": {"feedforward": 5, "norm_placement": "out"},
    "one-row": {"feedforward": 1, "heads": 12},
    "shared-keys": {"heads": 6, "kv_heads": 2, "gated": True, "activation": "silu"},
    "one-key": { "kv_heads": 1, "qk_norm": True, "positions": "rotary"},
    "zero-query-key": {"zero_query_key": True, "init": "xavier", "heads": 1},
    "encoder": {"network": "encoder", "objective": "masked", "tied": True},
    "encoder-decoder": {"network": "encoder_decoder", "objective": "spans", "layers": 1, "decoder_layers": 3,
                        "kv_heads": 1, "qk_norm": True, "gated": True},
    "wider-than-a-chunk": {"width": 300, "heads": 3, "feedforward": 520, "layers": 1, "steps": 1},
}
TOLERANCE = {"double": 1e-12, "float": 1e-6}


@pytest.fixture(scope="module", params=CASES)
def config(request):
    return SMALL | CASES[request.param]


@pytest.mark.parametrize("scalar", TOLERANCE)
def test_values_are_those_of_numpy(config, scalar):
    trained = Run(config, scalar, record=1, measure=2, equilibrium=1, spectra=1)
    steps = [int(step[0]) for step in trained.dump["step"]]
    assert steps[0] == 0 and steps[-1] == config["steps"]
    for i, step in enumerate(steps):
        got = {name: of_step[i] for name, of_step in trained.dump.items() if len(of_step) == len(steps)}
        want = reference_measures.spectral_measures(config, trained.weights(step))
        if config["width"] > 256 and 0 < step < config["steps"]:
            assert all(np.isnan(got[name]).all() for name in want)
            continue
        for name, values in want.items():
            bound = 0 if name.endswith("_rank") and "stable" not in name else TOLERANCE[scalar]
            if name == "singular_values":  # of a sum of squares: an error of rounding over the value itself
                error = np.abs(got[name] ** 2 - np.ravel(values) ** 2) / np.nanmax(values) ** 2
                assert not (np.isnan(error) != np.isnan(np.ravel(values))).any() and np.nanmax(error) <= 1e-14
            else:
                assert difference(name, got[name], values) <= bound, (step, name)
        check_other_metrics(got)


def check_other_metrics(got):
    """tensor_norm is of the same weights, and `dead` says what tensor_rms over rms_equilibrium is."""
    there = ~np.isnan(got["top_singular"])
    squares = np.nansum(got["singular_values"].reshape(len(there), -1) ** 2, 1)
    np.testing.assert_allclose(squares[there], got["tensor_norm"][there] ** 2, rtol=1e-13)
    assert (squares[~there] == 0).all()
    share = got["tensor_rms"] / got["rms_equilibrium"]
    np.testing.assert_array_equal(got["dead"], np.where(there & ~np.isnan(share), share < 0.25, np.nan))


def test_a_tensor_far_below_its_equilibrium_is_dead():
    """Equilibrium is at about sqrt(rate / (2 decay)), and initial weights are below 1."""
    config = SMALL | {"steps": 40, "optimiser": "adamw", "learning_rate": 0.1, "weight_decay": 1e-4}
    found = replay("double", **config, measure=40, spectra=1, equilibrium=1)
    ratio = found["tensor_rms"][0] / found["rms_equilibrium"][0]
    matrices = ~np.isnan(found["top_singular"][0])
    assert (ratio[matrices] < 0.25).all() and (found["dead"][0][matrices] == 1).all()
    assert np.isnan(found["dead"][0][~matrices]).all()
    config |= {"learning_rate": 1e-2, "weight_decay": 1}
    found = replay("double", **config, measure=40, spectra=1, equilibrium=1)
    assert (found["dead"][0][matrices] == 0).all()


def test_threads_change_nothing():
    one, four = (replay("float", **SMALL | {"width": 48, "threads": threads}, measure=2, spectra=1)
                 for threads in (1, 4))
    for name in (*reference_measures.SPECTRAL_MEASURES, *reference_measures.HEAD_MEASURES, "singular_values"):
        assert np.isfinite(one[name][0]).any()
        for a, b in zip(one[name], four[name]):
            np.testing.assert_array_equal(a, b)


SWEEP = tiny(vocabulary=16, corpus_tokens=2000, layers=[1, 2]) + """\
steps: 40
measure: {every: 10, metrics: [norms, spectra, spectra_values]}
"""


@pytest.mark.parametrize("settings, steps", [
    ([], [0, 10, 20, 30, 40]),
    (["spectra={every: auto}"], [0, 10, 20, 30, 40]),
    (["spectra={every: 20}"], [0, 20, 40]),
    (["spectra={every: start}"], [0]),
    (["spectra={every: ends}"], [0, 40]),
    (["width=258", "heads=2", "feedforward=8"], [0, 40])])
def test_steps_of_measurements(tmp_path, settings, steps):
    with xr.open_dataset(train_sweep(tmp_path, SWEEP, *sets(*settings))) as ds:
        there = ds["step"].isin(steps) & (ds["layer"] < ds["layers"])
        assert (ds.top_singular.sel(tensor="q").notnull() == there).all()
        assert (ds.qk_rank.isel(head=1).notnull() == there).all()
        assert (ds.singular_values.sel(tensor="w1").isel(singular=7).notnull() == there).all()
        assert ds.attrs["spectra"] == ((settings or [""])[0].partition("spectra=")[2] or "{every: auto}")


def test_runs_of_both_widths_measure_at_their_own_steps(tmp_path):
    with xr.open_dataset(train_sweep(tmp_path, SWEEP, *sets("width=[8, 258]"))) as ds:
        assert ds.sizes["singular"] == 258
        found = ds.top_singular.sel(tensor="q", layers=1, layer=0).notnull()
        assert found.sel(width=8).all() and found.sel(width=258).values.tolist() == [True, False, False, False, True]


def test_a_run_that_was_stopped_has_the_same(tmp_path):
    whole = train_sweep(tmp_path, SWEEP, *sets("steps=4000"), name="whole")
    (tmp_path / "stopped.yaml").write_text(SWEEP.replace("steps: 40", "steps: 4000"))
    stops = [subprocess.run(["timeout", "-s", "INT", "0.3", NORMSWEEP, "run", "stopped.yaml", "-j", "0"], cwd=tmp_path,
                            capture_output=True).returncode for _ in range(3)]
    assert 124 in stops
    run(NORMSWEEP, "run", "stopped.yaml", "-j", "0", cwd=tmp_path)
    assert differences(read(whole), read(tmp_path / "stopped.nc")) == []


@pytest.mark.parametrize("line, words", {
    "spectra: {every: 15}": "spectra.every: 15 is not a multiple of measure.every 10",
    "spectra: {every: often}": "spectra.every: 'often' is neither ends nor start nor auto nor an integer",
    "spectra: {width: 5}": "width",
    "hessian: {every: 20}": "hessian: without effect",
}.items())
def test_wrong_keys_are_refused(normsweep, tmp_path, line, words):
    (tmp_path / "sweep.yaml").write_text(SWEEP + line + "\n")
    refused = normsweep("check", "sweep.yaml", status=2).stderr
    assert refused.startswith("sweep.yaml:12:") and words in refused and refused.count("\n") == 1


@pytest.mark.parametrize("settings, words", [
    (["measure={metrics: [spectra_values]}"], "spectra_values needs spectra as well"),
    (["measure={steps: [3, 7], metrics: [spectra]}", "spectra={every: 5}"], "no step above 0 of measure.steps"),
    (["measure=null", "spectra={every: 10}"], "spectra: without effect")])
def test_groups_that_do_not_fit_are_refused(normsweep, tmp_path, settings, words):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    assert words in normsweep("check", "sweep.yaml", *sets(*settings), status=2).stderr


@pytest.fixture
def without_lapack(tmp_path):
    """The program with another name in place of dsyev_, which no library has: a weak reference, it stays NULL."""
    program, text = tmp_path / "normsweep", NORMSWEEP.read_bytes()
    assert b"\0dsyev_\0" in text
    program.write_bytes(text.replace(b"\0dsyev_\0", b"\0dsyex_\0"))
    program.chmod(0o755)
    return program


def test_without_lapack_the_group_alone_is_refused(without_lapack, tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    for command in (["check"], ["run", "-j", "0"], ["run", "-j", "2"]):
        refused = run(without_lapack, *command, "sweep.yaml", cwd=tmp_path, status=2).stderr
        assert refused.startswith("sweep.yaml:11:") and "spectra needs LAPACK's dsyev" in refused
        assert refused.count("\n") == 1
    run(without_lapack, "run", "sweep.yaml", "-j", "0", *sets("measure={metrics: [norms]}"), cwd=tmp_path)
