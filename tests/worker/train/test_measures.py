"""Every group of metrics from end to end: what the dataset holds of them, whoever trains and however often it stops."""
import signal
import subprocess

import numpy as np
import pytest
import xarray as xr
from conftest import NORMSWEEP, sets, train_sweep
from same import differences, read

pytestmark = pytest.mark.thorough("trains whole sweeps")

SWEEP = """\
corpus: markov
vocabulary: 32
corpus_tokens: 4000
width: 16
feedforward: 16
batch: 4
steps: 300
learning_rate: 0.01
heads: [2, 4]
layers: [4, 1]
context: [5, 16]
bias: false
measure: {every: 100, metrics: [norms, alignment, saturation, heads, attention, homogeneity, equilibrium, residual,
  lyapunov, forces, gradients, hessian, hessian_layers, sharpness, spectra,
  spectra_values]}
lyapunov_exponents: 5
gradient_batches: 4
hessian: {probes: 2, steps: 5, every: 300}
validate: {every: 150, tokens: 600}
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return train_sweep(tmp_path_factory.mktemp("every_group"), SWEEP)


@pytest.fixture(scope="module")
def ds(path):
    with xr.open_dataset(path) as dataset:
        yield dataset.load()


def test_dimensions_are_as_long_as_the_longest_run_needs(ds):
    assert (ds.outcome == 2).all()
    assert ds["head"].values.tolist() == [0, 1, 2, 3] and ds["layer"].values.tolist() == [0, 1, 2, 3]
    assert ds["attended"].values.tolist() == [1, 2, 4, 8, 16]
    np.testing.assert_allclose(ds["scale"], np.linspace(1, 10, 20), rtol=1e-15)
    assert ds.attended_histogram.dims == ("heads", "layers", "context", "step", "layer", "head", "attended")
    assert ds.heads_histogram.dims == ("heads", "layers", "context", "step", "attended")
    assert ds.homogeneity.dims == ("heads", "layers", "context", "scale")
    lengths = {"residual_norm": ("depth", 5), "lyapunov": ("exponent", 5), "hessian_ritz": ("probe", 2),
               "layer_hessian_ritz": ("lanczos", 5), "mean_gradient_norm": ("layer", 4)}
    for name, (dimension, length) in lengths.items():
        assert dimension in ds[name].dims and ds.sizes[dimension] == length
    assert "tensor" in ds.gradient_depth_slope.encoding["coordinates"].split()


def test_attributes_say_how_it_was_measured(ds):
    assert ds.attrs["spectra"] == "{every: auto}"
    assert ds.attrs["hessian"] == "{probes: 2, steps: 5, batches: 1, every: 300}"
    found = {name: ds.attrs[name] for name in ("lyapunov_exponents", "lyapunov_sweeps", "gradient_batches")}
    assert found == {"lyapunov_exponents": "5", "lyapunov_sweeps": "10", "gradient_batches": "4"}


def test_measured_steps_have_values_and_no_others(ds):
    measured = ds.step.isin([0, 100, 200, 300])
    validated, probed = ds.step.isin([0, 150, 300]), ds.step.isin([0, 300])
    layer = ds["layer"] < ds["layers"]
    head = ds["head"] < ds["heads"]
    bins = ds["attended"] < 2 * ds["context"]
    matrix = ds["tensor"].isin(["q", "k", "v", "o", "w1", "w2"])
    for name, there in {"saturation": measured & layer, "hard_saturation": measured & layer,
                        "saturation_final": measured, "hard_saturation_final": measured,
                        "positions_attended": measured & layer & head, "fraction_attended": measured & layer & head,
                        "share_above_one": measured & layer & head,
                        "attended_histogram": measured & layer & head & bins, "heads_histogram": measured & bins,
                        "predicted_entropy": validated, "accuracy": validated, "valid_loss": validated,
                        "layer_step_size": measured & layer & (ds.step < 300),
                        "residual_norm": measured & (ds["depth"] <= ds["layers"]),
                        "residual_cosine": measured & (ds["depth"] <= ds["layers"]) & (ds["depth"] > 0),
                        "residual_growth": measured & (ds["layers"] >= 3), "angle_exponent": measured,
                        "gradient_exponent": measured, "lyapunov": measured, "lyapunov_angular": measured,
                        "hessian_ritz": probed, "layer_hessian_largest": probed & layer,
                        "top_singular": measured & layer & matrix, "stable_rank": measured & layer & matrix,
                        "top_over_noise": measured & layer & matrix, "dead": measured & layer & matrix,
                        "spectral_entropy": measured & layer & matrix, "qk_rank": measured & layer & head,
                        "ov_rank": measured & layer & head, "qk_imbalance": measured & layer & head,
                        "ov_imbalance": measured & layer & head, "singular_values": measured & layer & matrix,
                        "hessian_trace_error": probed, "hessian_stability": probed & (ds.step > 0),
                        "update_alignment_null": measured & (ds.step < 300)}.items():
        there = there.broadcast_like(ds[name]).transpose(*ds[name].dims)
        assert (ds[name].notnull() == there).all(), name
    for name in ["homogeneity", "homogeneity_degree", "homogeneity_degree_r2", "output_homogeneity_degree",
                 "output_homogeneity_degree_r2", "unigram_loss", "fit_aligned_k", "fit_misaligned_k",
                 "fit_adam_like_a"]:
        assert ds[name].notnull().all(), name


def test_values_hang_together(ds):
    measured = ds.sel(step=[0, 100, 200, 300])
    bins = measured.attended_histogram.sum("attended", min_count=1)
    np.testing.assert_allclose(bins.where(bins.notnull(), 1), 1, rtol=1e-12)
    heads = measured.heads_histogram.sum("attended")
    assert (heads == ds.heads * ds.layers).all()
    above = 1 - measured.attended_histogram.sel(attended=1)
    assert (abs(above - measured.share_above_one).fillna(0) < 1e-12).all()
    assert (measured.positions_attended.fillna(1) >= 1).all()
    assert (abs(measured.saturation.fillna(0)) <= 1 + 1e-12).all()
    assert (abs(ds.homogeneity) <= 1 + 1e-12).all()
    assert (ds.predicted_entropy.fillna(0) <= np.log(32)).all() and (ds.accuracy.fillna(0) <= 1).all()
    # What is learned here is more than words' frequencies.
    assert (ds.final_valid_loss < ds.unigram_loss).all() and (ds.unigram_loss < np.log(32)).all()


def test_values_of_depth_and_of_curvature_hang_together(ds):
    first, last = (ds.lyapunov.sel(step=[0, 100, 200, 300]).isel(exponent=i) for i in (0, 4))
    assert (first > last).all()
    assert (ds.hessian_ritz.diff("lanczos") > 0).where(ds.step.isin([0, 300]), True).all()
    w2 = ds.sel(tensor="w2", step=[0, 100, 200, 300])
    there = (ds["layer"] < ds["layers"]).broadcast_like(w2.mean_gradient_norm)
    assert (w2.mean_gradient_norm.notnull() == there).all()
    assert (w2.mean_gradient_norm < w2.batch_gradient_norm).where(there, True).all()
    slopes = ds.gradient_depth_slope.sel(step=[0, 100, 200, 300]).notnull().any("tensor")
    assert (slopes == (ds["layers"] >= 4)).all()


def test_layers_make_up_the_whole(ds):
    steps = ds.sel(step=[0, 100, 200])
    np.testing.assert_allclose((steps.layer_step_size ** 2).sum("layer"), steps.step_size ** 2, rtol=1e-12)
    along = (steps.layer_norm * steps.layer_step_size * steps.layer_alignment).sum("layer")
    np.testing.assert_allclose(along / (steps.param_norm * steps.step_size), steps.alignment, atol=1e-12)


def test_forces_make_up_the_change_of_each_norm(ds):
    """Over all steps between two measured ones, whoever counted them."""
    square = (ds.tensor_norm**2).sel(step=[0, 100, 200, 300])
    change, summed = square.diff("step"), ds.force_sum.sum("force", skipna=False).sel(step=[100, 200, 300])
    assert (summed.notnull() == change.notnull()).all() and change.notnull().any()
    np.testing.assert_allclose((summed / square).fillna(0), (change / square).fillna(0), atol=1e-6)
    assert ds.force_sum.sel(step=0).isnull().all() and (ds.force_error.sel(step=[100, 200, 300]) < 1e-6).all()
    steps = ds.sel(step=[0, 100, 200])
    change = steps.step_size**2 + 2 * steps.alignment * steps.param_norm * steps.step_size
    np.testing.assert_allclose(steps.forces.sum("force", skipna=False), change / steps.param_norm**2, atol=1e-7)
    whole = (steps.tensor_forces * steps.tensor_norm**2).sum(["layer", "tensor"])
    some = steps.tensor_norm.where(steps.tensor_norm > 0).notnull().equals(steps.tensor_norm.notnull())
    assert some, "nothing starts at 0 here"
    np.testing.assert_allclose(whole / steps.param_norm**2, steps.forces, atol=1e-12)


def test_rotation_and_size_are_of_each_tensor(ds):
    """A rotation needs a next step; an equilibrium, a tensor that decays. Sizes times elements make up the norms."""
    size = {"q": 16 * 16, "k": 16 * 16, "v": 16 * 16, "o": 16 * 16, "w1": 16 * 16, "w2": 16 * 16,
            "ln1": 16, "ln2": 16}
    layer = ds["layer"] < ds["layers"]
    ends = {"rotation": 300, "tensor_rms": 301, "rotation_equilibrium": 301, "rms_equilibrium": 301}
    for name, until in ends.items():
        there = ds.step.isin([0, 100, 200, 300]) & (ds.step < until) & layer & ds.tensor.isin(list(size))
        there = there.broadcast_like(ds[name]).transpose(*ds[name].dims)
        assert (ds[name].notnull() == there).all(), name
    for name, elements in size.items():
        of_tensor = ds.sel(tensor=name)
        np.testing.assert_allclose(of_tensor.tensor_rms, of_tensor.tensor_norm / elements**0.5, rtol=1e-12)
    decayed, memory = 0.01 * 0.01, 0.9 / (1 - 0.9 * (1 - 0.01 * 0.01))
    turn = np.sqrt((2 * decayed - decayed**2) / (1 + 2 * (1 - decayed) * memory))
    np.testing.assert_allclose(look_up(ds.rotation_equilibrium), turn, rtol=1e-12)
    np.testing.assert_allclose(look_up(ds.rms_equilibrium), 0.01 * np.sqrt(0.1 / 1.9) / turn, rtol=1e-12)


def look_up(values):
    return values.values[np.isfinite(values.values)]


def class_of(fits):
    """By the AIC and R^2 of the three fits."""
    relative = min(fits["aligned"], fits["misaligned"])
    if min(fits.values())[1] < 0.5 or abs(fits["adam_like"][0] - relative[0]) < 2:
        return "none"
    if fits["adam_like"] < relative:
        return "adam_like"
    if abs(fits["aligned"][0] - fits["misaligned"][0]) < 2:
        return "relative"
    return min(("aligned", "misaligned"), key=fits.get)


def test_class_of_growth_has_the_lowest_aic(ds):
    words = ds.dynamics.flag_meanings.split()
    assert words == ["none", "aligned", "misaligned", "relative", "adam_like"]
    for cell in np.ndindex(ds.dynamics.shape):
        fits = {name: (float(ds[f"fit_{name}_aic"].values[cell]), float(ds[f"fit_{name}_r2"].values[cell]))
                for name in ["aligned", "misaligned", "adam_like"]}
        assert words[int(ds.dynamics.values[cell])] == class_of(fits), fits


def test_numbers_depend_on_nothing_else(normsweep, sweep, path, tmp_path):
    normsweep("run", sweep, "-j", "3")
    assert differences(read(path), read(tmp_path / "sweep.nc")) == []


def test_stopped_and_carried_on(normsweep, sweep, tmp_path):
    """Stopped by a signal again and again, wherever it is, until it has ended."""
    options = ["-o", "a.nc", "-j", "0", *sets("steps=1500", "context=16")]
    stops = 0
    while True:
        process = subprocess.Popen([NORMSWEEP, "run", sweep, *options], cwd=tmp_path, stdout=subprocess.DEVNULL)
        try:
            process.wait(0.4)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 75, -signal.SIGINT)  # the last: before it could listen
        if process.returncode == 0:
            break
        stops += 1
        if stops == 10:  # a slow machine
            normsweep("run", sweep, *options)
            break
    assert stops > 0
    normsweep("run", sweep, *options[2:], "-o", "b.nc")
    assert differences(read(tmp_path / "a.nc"), read(tmp_path / "b.nc")) == []


def test_saturation_without_a_validation_text_is_refused(normsweep, tmp_path):
    (tmp_path / "t.txt").write_text("a b c d\n" * 100)
    (tmp_path / "s.yaml").write_text("train_text: t.txt\nsteps: 2\nmeasure: {metrics: [heads]}\n")
    done = normsweep("check", "s.yaml", status=2)
    assert done.stderr == "s.yaml:3:10: measure.metrics: heads is measured on valid_text, which is missing\n"


def test_a_dataset_is_continued_with_as_many_batches_only(normsweep, sweep):
    short = sets("layers=4", "heads=2", "context=5", "steps=2")
    normsweep("run", sweep, "-j", "0", *short)
    refused = normsweep("run", sweep, "-j", "0", *short, "--set", "gradient_batches=5", status=2)
    assert "gradient_batches is 4 in sweep.nc and 5 in " in refused.stderr
    normsweep("run", sweep, "-j", "0", *short, "--set", "seed=[0, 1]")


# Without a group, a key of its own is refused.
NO_KEYS = sets("lyapunov_exponents=null", "gradient_batches=null", "hessian=null")


@pytest.mark.parametrize("part, group, more, least", [
    ("saturation and heads", "saturation, heads", [], 0), ("residual stream", "residual", [], 0),
    ("Lyapunov exponents", "lyapunov", ["lyapunov_exponents=100"], 50),
    # Hours, of which a plan takes a short sample.
    ("Lyapunov exponents", "lyapunov", ["context=64", "width=64", "lyapunov_exponents=2000", "lyapunov_sweeps=10000"],
     99.95),
    ("gradients", "gradients", ["gradient_batches=2000"], 50),
    ("Hessian", "hessian", ["hessian={probes: 100, steps: 80, every: 100}"], 90)])
def test_plan_prices_each_group(normsweep, sweep, part, group, more, least):
    """The share of a group grows with what is asked of it, and the group is named only where it is measured."""
    def share(*settings):
        lines = normsweep("plan", sweep, "-j", "0", *NO_KEYS, *sets(*settings)).stdout.splitlines()
        parts = next(line for line in lines if line.startswith("parts"))
        return float(parts.partition(part + " ")[2].split()[0]) if part in parts else None

    few = share(f"measure={{every: 100, metrics: [{group}]}}")
    assert few > 0 and share("measure={every: 100}") is None
    assert not more or max(few, least) <= share(f"measure={{every: 100, metrics: [{group}]}}", *more)


def test_show_has_the_coordinates_of_metrics(normsweep, tmp_path):
    """Positions are powers of two and scales are not whole: what is drawn along them says so, and not how manieth."""
    train_sweep(tmp_path, SWEEP, *sets("heads=2", "layers=2", "context=16", "steps=1"), name="one")
    rows = normsweep("show", "one.nc", "heads_histogram").stdout.splitlines()
    assert [row.partition("|")[0].strip() for row in rows if "|" in row] == ["16", "8", "4", "2", "1"]
    odd, even = [line.split() for line in normsweep("show", "one.nc", "homogeneity").stdout.splitlines()[-4:-2]]
    assert odd[0] == "1" and even[0] == "1.47" and even[-1] == "10"


@pytest.mark.parametrize("optimiser, momentum, decays", [
    ("adamw", 0, True), ("sgd", 0, True), ("sgd", 0.9, True), ("normalized_sgd", 0, True), ("adafactor", 0, True),
    ("adam", 0, False)])
def test_recursions_have_the_optimisers_decay(tmp_path, optimiser, momentum, decays):
    """Where decay is all that moves the norm, the recursion with the right one needs no update to follow it."""
    keys = sets("heads=2", "layers=1", "context=5", f"optimiser={optimiser}", f"momentum={momentum}",
                f"weight_decay={100 * (1 - momentum)}", "learning_rate=3e-5", "measure={every: 20}")
    with xr.open_dataset(train_sweep(tmp_path, SWEEP, *keys, *NO_KEYS)) as ds:
        assert 0.3 < ds.norm_growth < 0.5 if decays else ds.norm_growth < 1
        assert (ds.fit_adam_like_r2 > 0.99) == decays
        assert abs(ds.fit_aligned_k) < 5 if decays else ds.fit_aligned_k < 0
