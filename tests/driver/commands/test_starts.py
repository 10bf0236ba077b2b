"""Runs that start from a weights file: what they start from, the same bits however they are trained and interrupted,
the first losses of an imported GPT-2 beside an implementation in PyTorch and float64, and what is refused."""

import json
import signal
import subprocess
import time

import netCDF4
import numpy as np
import pytest
import xarray as xr

import same
from conftest import BUILD, run_until, sets, tiny, train_sweep

SOURCE = tiny(layers=2) + """\
steps: 30
learning_rate: [1e-3, 3e-2]
save_weights: true
measure: {every: 10}
"""
CONTINUED = tiny(layers=2) + """\
steps: 40
optimiser: adam
learning_rate: [1e-3, 1e-2]
together:
  start:
    fresh: {initial_weights: none}
    slow: {initial_weights: slow.weights.nc}
    fast: {initial_weights: fast.weights.nc}
measure: {every: 10}
"""


@pytest.fixture
def place(tmp_path, trained):
    """A folder with weights of two trained networks, as slow.weights.nc and fast.weights.nc."""
    for name in ("slow", "fast"):
        (tmp_path / f"{name}.weights.nc").write_bytes(trained[name])
    return tmp_path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = train_sweep(tmp_path_factory.mktemp("source"), SOURCE, name="source")
    found = {"path": path}
    for saved in path.with_name("source.nc.d").glob("*.weights.nc"):
        with netCDF4.Dataset(saved) as file:
            found["slow" if file.learning_rate < 1e-2 else "fast"] = saved.read_bytes()
    return found


def test_steps_0_measures(place, trained):
    """The norms of the last row of the run that saved the weights, tensor by tensor, in the same bits."""
    text = CONTINUED.replace("steps: 40", "steps: 0").replace("[1e-3, 1e-2]", "1e-3")
    path = train_sweep(place, text.replace("    fresh: {initial_weights: none}\n", ""))
    with xr.open_dataset(path) as found, xr.open_dataset(trained["path"]) as source:
        last = source.isel(step=-1)
        assert found.sizes["step"] == 1 and (found.outcome == source.outcome[0]).all()
        for name in ("param_norm", "tensor_norm", "layer_norm"):
            wanted = last[name].transpose("learning_rate", ...).values
            np.testing.assert_array_equal(found[name].isel(step=0).values, wanted)
            assert np.isfinite(wanted).any() and (wanted[0] != wanted[1]).any()
        assert (found.norm_growth == 1).all() and len(set(found.initial_weights.values.tolist())) == 2


def test_weights_of_a_start_are_that_start(place):
    """A run from the initial weights of another, as a rate of almost 0 leaves them, takes its steps."""
    still = sets("learning_rate=1e-300", "save_weights=true", "optimiser=sgd")
    train_sweep(place, tiny(layers=2) + "steps: 1\nseed: 3\nmeasure: {every: 1}\n", *still, name="still")
    (place / "still.nc.d").rename(place / "kept")
    saved, = (place / "kept").glob("*.weights.nc")
    text = tiny(layers=2) + "steps: 20\nlearning_rate: 1e-2\nmeasure: {every: 5}\n"
    plain = train_sweep(place, text + "seed: 3\n", name="plain")
    begun = train_sweep(place, text + f"seed: 3\ninitial_weights: kept/{saved.name}\n", name="begun")
    assert same.differences(same.read(plain), same.read(begun)) == []


@pytest.mark.thorough("trains whole sweeps, twice")
@pytest.mark.parametrize("norm_rule, ranks", [("free", 2), ("fixed", 0)])
def test_the_same_bits_for_any_ranks_and_interruptions(place, norm_rule, ranks):
    """fixed, as its norms are those of the start, also in a run that is resumed."""
    more = f"norm_rule: {norm_rule}\nsteps: 10000\ncheckpoint_minutes: 0.0005\n"
    text = CONTINUED.replace("steps: 40\n", more)
    whole = same.read(train_sweep(place, text, name="whole"))
    (place / "killed.yaml").write_text(text)
    done = run_until(lambda: any((place / "killed.nc.d").glob("*.nc")), signal.SIGKILL, BUILD / "normsweep", "run",
                     "killed.yaml", "-j", ranks, cwd=place)
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 600
    while subprocess.run([BUILD / "normsweep", "run", "killed.yaml", "-j", "2"], cwd=place, stdin=subprocess.DEVNULL,
                         capture_output=True).returncode == 3:  # workers of the killed one are still there
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert same.differences(same.read(place / "killed.nc"), whole) == []
    with xr.open_dataset(place / "killed.nc") as found:
        assert found.session.values.max() == 1


def test_the_name_is_that_of_the_values(place, normsweep):
    """A copy elsewhere continues the same sweep; other values are another sweep."""
    train_sweep(place, CONTINUED)
    (place / "slow.weights.nc").rename(place / "copied.nc")
    text = CONTINUED.replace("slow.weights.nc", "copied.nc")
    (place / "sweep.yaml").write_text(text)
    assert "6 of 6 have ended" in normsweep("plan", "sweep.yaml").stdout
    (place / "copied.nc").write_bytes((place / "fast.weights.nc").read_bytes())
    (place / "sweep.yaml").write_text(text.replace("    fast: {initial_weights: fast.weights.nc}\n", ""))
    told = normsweep("run", "sweep.yaml", status=2).stderr
    assert "initial_weights" in told and len(told.splitlines()) == 1, told


def test_check_says_which_file_a_name_is_of(place, normsweep):
    with xr.open_dataset(train_sweep(place, CONTINUED)) as found:
        expected = dict(zip(found.start.values.tolist(), found.initial_weights.values.tolist()))
    lines = normsweep("check", "sweep.yaml").stdout.splitlines()[1:]
    assert lines == [f"sweep.yaml: initial_weights {expected[name]}: {name}.weights.nc" for name in ("slow", "fast")]


def test_initial_values_beside_drawn_weights(place, normsweep):
    """They are not refused where some run is drawn, or where homogeneity is measured, which is of drawn weights."""
    for lines in ("initial_weights: [none, slow.weights.nc]\n",
                  "initial_weights: slow.weights.nc\nmeasure: {metrics: [homogeneity]}\n"):
        (place / "sweep.yaml").write_text(tiny(layers=2) + "steps: 4\ninit: normal\n" + lines)
        assert normsweep("check", "sweep.yaml").stdout.startswith("sweep.yaml: valid: ")


REFUSED = {
    "layers: 3": "another network: layers is 2 there and 3 here",
    "width: 16": "another network: width is 8 there and 16 here",
    "layers: 3\ntied: true": "layers is 2 there and 3 here, tied is false there and true here",
    "norm: rmsnorm": "another network: norm is layernorm there and rmsnorm here",
    "vocabulary: 34": "another network: vocabulary is 33 there and 34 here",
    "norm_placement: post": "another network: ",
    "initial_weights: nowhere.nc": "initial_weights: nowhere.nc: No such file or directory",
    "initial_weights: sweep.yaml": "initial_weights: sweep.yaml: not a weights file",
    "initial_weights: damaged.nc": "damaged",
    "initial_weights: ''": "initial_weights: an empty path",
    "initial_weights: [slow.weights.nc, slow.weights.nc]": "initial_weights: a file of the weights ",
    "steps: 0\ninitial_weights: none": "give either steps or epochs",
    "steps: 0\ninitial_weights: [slow.weights.nc, none]": "initial_weights: with steps: 0 there is nothing to do for",
    "init: normal": "init: has no effect: no cell has drawn weights (initial_weights none)",
    "init_scale: 2": "init_scale: has no effect: no cell has drawn weights",
    "zero_query_key: true": "zero_query_key: has no effect: no cell has drawn weights",
    "steps: 0\ntimescale: [1, 2]": "timescale: is a share of steps, and steps is 0",
    "output_scale: 2": "another network: output_scale is 1 there and 2 here",
}


@pytest.mark.parametrize("lines", REFUSED)
def test_refused(place, normsweep, lines):
    content = bytearray((place / "slow.weights.nc").read_bytes())
    content[-9] ^= 1
    (place / "damaged.nc").write_bytes(content)
    keys = [line.partition(":")[0] for line in lines.splitlines()]
    given = [line for line in (tiny(layers=2) + "steps: 4\ninitial_weights: slow.weights.nc\n").splitlines()
             if line.partition(":")[0] not in keys]
    (place / "sweep.yaml").write_text("\n".join([*given, lines]) + "\n")
    for command in ("run", "plan"):
        told = normsweep(command, "sweep.yaml", status=2).stderr
        assert told.startswith("sweep.yaml:") and REFUSED[lines] in told and len(told.splitlines()) == 1, told
    assert not (place / "sweep.nc").exists()


def test_a_file_that_changes_while_the_sweep_runs(place, trained):
    """The run that begins with it fails, with the reason; the one under way is trained."""
    text = CONTINUED.replace("[1e-3, 1e-2]", "1e-3").replace("    fresh: {initial_weights: none}\n", "")
    (place / "sweep.yaml").write_text(text.replace("steps: 40", "steps: 5000\ncheckpoint_minutes: 0.0005"))
    command = [BUILD / "normsweep", "run", "sweep.yaml", "-j", "0"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while not any((place / "sweep.nc.d").glob("*.nc")):
            assert process.poll() is None
            time.sleep(0.001)
        for name in ("slow", "fast"):  # as editors and rsync do, so that a reader has one or the other
            (place / "new").write_bytes(trained["slow" if name == "fast" else "fast"])
            (place / "new").rename(place / f"{name}.weights.nc")
        process.communicate(timeout=600)
    assert process.returncode == 1
    with xr.open_dataset(place / "sweep.nc") as found:
        reasons = sorted(str(reason) for reason in found.reason.values)
    assert reasons[0] == "" and reasons[1].startswith("initial_weights: ")
    assert reasons[1].endswith(".weights.nc: has changed since the sweep began")


@pytest.mark.thorough("trains an imported GPT-2 beside PyTorch")
@pytest.mark.parametrize("program, tolerance", [("normsweep-double", 1e-11), ("normsweep", 2e-5)])
@pytest.mark.parametrize("tied", [True, False])
def test_an_imported_gpt2_beside_pytorch(tmp_path, program, tolerance, tied):
    """Every step takes the whole corpus, so the order of sequences does not matter."""
    import gpt2
    import reference
    import torch

    count, context, heads = 6, 12, 2
    weights = gpt2.random_weights(tied=tied, embedded=0.3, context=context)
    entries, data, rounded = gpt2.entries_of(weights, "F64" if program.endswith("double") else "F32", "transformer.")
    (tmp_path / "model.safetensors").write_bytes(gpt2.pack(entries, data))
    (tmp_path / "config.json").write_text(json.dumps({
        "n_head": heads, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05, "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"], "tie_word_embeddings": tied}))
    gpt2.imported(tmp_path)
    ids = np.random.default_rng(3).integers(0, 40, count * context + 1)
    ids.astype("<u2").tofile(tmp_path / "train.bin")
    path = train_sweep(tmp_path, f"""\
corpus: tokens
vocabulary: 40
train_text: train.bin
layers: 3
width: 16
heads: {heads}
feedforward: 24
context: {context}
batch: {count}
norm_placement: pre
positions: learned
activation: gelu_tanh
bias: true
output_bias: false
tied: {str(tied).lower()}
initial_weights: net.weights.nc
steps: 8
optimiser: adamw
learning_rate: 1e-2
weight_decay: 0.1
beta1: 0.9
beta2: 0.95
decay_on: all
schedule: constant
measure: {{every: 1}}
""", program=BUILD / program)
    config, theta = gpt2.as_reference(rounded, heads)
    theta = {key: tensor.clone().requires_grad_() for key, tensor in theta.items()}
    sequences = [(ids[at : at + context], ids[at + 1 : at + 1 + context]) for at in range(0, count * context, context)]
    with xr.open_dataset(path) as found:
        optimiser = torch.optim.AdamW(list(theta.values()), lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1,
                                      eps=found.attrs["epsilon"])
        losses = []
        for step in range(found.sizes["step"]):
            optimiser.zero_grad()
            loss = reference.loss(config, theta, sequences)
            loss.backward()
            losses.append(loss.item())
            optimiser.step()
        np.testing.assert_allclose(found.train_loss.values, losses, rtol=tolerance)
        assert losses[0] - losses[-1] > 0.5
