"""The group gradients: gradients over several batches against PyTorch in float64, their slopes over depth and what the
theory says of them, and where they are measured."""
import math

import numpy as np
import pytest
import xarray as xr

import reference
import reference_measures
from parity import sequences_of
from replay import replay
from test_parity import BASE, LINES, text, text_config

pytestmark = pytest.mark.thorough("computes gradients of many batches in PyTorch")

__all__ = ["text"]  # the fixture

STEPS, BATCHES = 4, 3
DEPTH = BASE | {"layers": 5, "steps": STEPS, "corpus_tokens": 300}
TWO_STACKS = {"network": "encoder_decoder", "objective": "spans", "positions": "relative", "norm_placement": "post"}
THEORY = {"init": "xavier", "zero_query_key": True, "heads": 1, "feedforward": BASE["width"]}
CASES = {
    "post": {"norm_placement": "post"},
    "pre": {"norm_placement": "pre"},
    "out": {"norm_placement": "out"},
    "post-theory": THEORY | {"norm_placement": "post"},
    "pre-theory-lines": LINES | THEORY | {"norm_placement": "pre"},
    "out-theory-plain": THEORY | {"norm_placement": "out", "bias": False},
    "gated-rmsnorm": {"gated": True, "norm": "rmsnorm", "norm_placement": "post", "optimiser": "sgd"},
    "multiplicative": {"attention_mask": "multiplicative", "norm_placement": "post"},
    "too-shallow": {"layers": 3},
    "encoder": {"network": "encoder", "objective": "masked", "norm": "rmsnorm"},
    "encoder-decoder": TWO_STACKS | {"layers": 4},
    "shallow-decoder-lines": LINES | TWO_STACKS | {"decoder_layers": 2, "qk_norm": True, "kv_heads": 1},
}


@pytest.mark.parametrize("case", CASES)
def test_against_the_reference(case, text):
    config = DEPTH | CASES[case]
    dump = replay("double", **text_config(config, text), record=1, measure=2, gradients=BATCHES)
    vocabulary, batches = int(dump["vocabulary"][0][0]), sequences_of(dump)
    assert len(batches) == STEPS + BATCHES and [int(step[0]) for step in dump["step"]] == [0, 2, 4]
    planes = [dump["initial"][0], *dump["weights"]]
    for row, step in enumerate((0, 2, 4)):
        weights = reference.weights_from(planes[step], config, vocabulary)
        want = reference_measures.gradient_measures(config, weights, batches[step : step + BATCHES])
        want |= reference_measures.slope_measures(config, want["mean_gradient_norm"])
        for name, values in want.items():
            np.testing.assert_allclose(dump[name][row], values.ravel(), rtol=1e-10, err_msg=f"{name} at {step}")
        assert np.isfinite(want["mean_gradient_norm"]).any()
        assert np.isfinite(want["gradient_depth_slope"]).any() == (config["layers"] >= 4)


@pytest.mark.parametrize("placement, slope", [("post", math.log(1.5) / 2), ("pre", 0), ("out", math.nan)])
def test_theory_is_of_w2_of_a_fresh_model_in_its_setting(placement, slope):
    w2 = reference.LAYER_TENSORS.index("w2")

    def theory(**keys):
        config = DEPTH | THEORY | {"norm_placement": placement} | keys
        return replay("double", **config, measure=2, gradients=1)["gradient_depth_slope_theory"]

    fresh, *trained = theory()
    np.testing.assert_allclose(fresh[w2], slope, rtol=1e-15)
    assert np.isnan(np.delete(fresh, w2)).all() and np.isnan(trained).all()
    for other in ({"init": "torch"}, {"zero_query_key": False}, {"norm": "rmsnorm"}, {"activation": "gelu"},
                  {"gated": True}, {"feedforward": 2 * BASE["width"]}, {"init_scale": 3.0}, {"residual_scale": 0.1}):
        assert np.isnan(theory(**other)).all(), other


SWEEP = """\
corpus: markov
vocabulary: 32
corpus_tokens: 4000
width: 16
feedforward: 16
layers: [5, 4]
batch: 4
context: 8
steps: 300
measure: {every: 150, metrics: [gradients]}
gradient_batches: 4
"""


def test_dataset_has_them_where_there_are_layers(normsweep, tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    normsweep("run", "sweep.yaml", "-j", "0")
    with xr.open_dataset(tmp_path / "sweep.nc") as ds:
        assert ds.attrs["gradient_batches"] == "4"
        assert ds.mean_gradient_norm.dims == ("layers", "step", "layer", "tensor")
        assert ds.gradient_depth_slope.dims == ("layers", "step", "tensor")
        assert "tensor" in ds.gradient_depth_slope.encoding["coordinates"].split()
        w2 = ds.isel(tensor=reference.LAYER_TENSORS.index("w2"))
        norm = w2.mean_gradient_norm
        there = (ds["layer"] < ds["layers"]).broadcast_like(norm).transpose(*norm.dims)
        assert (norm.notnull() == there).all()
        assert (norm < w2.batch_gradient_norm).where(there, True).all()
        assert ds.gradient_depth_slope.notnull().any("tensor").all()


def test_dataset_is_continued_with_as_many_batches_only(normsweep, tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    short = ("--set", "layers=4", "--set", "steps=2")
    normsweep("run", "sweep.yaml", "-j", "0", *short)
    refused = normsweep("run", "sweep.yaml", "-j", "0", *short, "--set", "gradient_batches=5", status=2)
    assert "gradient_batches is 4 in sweep.nc and 5 in sweep.yaml" in refused.stderr
    normsweep("run", "sweep.yaml", "-j", "0", *short, "--set", "seed=[0, 1]")


def test_plan_prices_them(normsweep, tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    parts = [next(line for line in normsweep("plan", "sweep.yaml", "-j", "0", *options).stdout.splitlines()
                  if line.startswith("parts")) for options in ((), ("--set", "gradient_batches=2000"))]
    few, many = (float(line.partition("gradients ")[2].split()[0]) for line in parts)
    assert 0 < few < many and many > 50
    without = normsweep("plan", "sweep.yaml", "-j", "0", "--set", "measure=null", "--set", "gradient_batches=null")
    assert "gradients" not in without.stdout
