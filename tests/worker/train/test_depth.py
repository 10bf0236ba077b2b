"""The groups residual and lyapunov: the residual stream through depth and its Jacobians against PyTorch in float64, and
where they are measured."""
import itertools

import numpy as np
import pytest
import xarray as xr

import reference
import reference_measures
from parity import sequences_of
from replay import replay
from test_parity import BASE, LINES, text, text_config

pytestmark = pytest.mark.thorough("computes Jacobians in PyTorch")

__all__ = ["text"]  # the fixture

STEPS = 4
DEPTH = BASE | {"layers": 4, "steps": STEPS, "corpus_tokens": 300}
TWO_STACKS = {"network": "encoder_decoder", "objective": "spans", "positions": "relative"}
CASES = {
    "post": {"norm_placement": "post"},
    "pre": {"norm_placement": "pre"},
    "out": {"norm_placement": "out", "bias": False},
    "pre-lines": LINES,
    "post-lines-gelu": LINES | {"norm_placement": "post", "activation": "gelu"},
    "gated-rmsnorm": {"gated": True, "norm": "rmsnorm", "optimiser": "sgd"},
    "scaled": {"residual_scale": 0.4, "init_scale": 2.0, "norm_placement": "post"},
    "multiplicative": {"attention_mask": "multiplicative", "norm_placement": "out"},
    "encoder": {"network": "encoder", "objective": "masked", "positions": "rotary", "context": 9},
    "encoder-decoder": TWO_STACKS | {"decoder_layers": 3, "kv_heads": 1, "qk_norm": True},
    "deeper-decoder-lines": LINES | TWO_STACKS | {"layers": 3, "decoder_layers": 5, "norm_placement": "post"},
}


@pytest.mark.parametrize("case", CASES)
def test_residual_against_the_reference(case, text):
    config = DEPTH | CASES[case]
    dump = replay("double", **text_config(config, text), record=1, measure=2, residual=1)
    vocabulary, batches = int(dump["vocabulary"][0][0]), sequences_of(dump)
    assert [int(step[0]) for step in dump["step"]] == [0, 2, 4]
    planes = [dump["initial"][0], *dump["weights"]]
    lengths = [stack.end - stack.begin for stack in reference.stacks(config)]
    values = {"residual_norm": sum(lengths) + len(lengths), "residual_cosine": sum(lengths)}
    for row, step in enumerate((0, 2, 4)):
        weights = reference.weights_from(planes[step], config, vocabulary)
        for name, want in reference_measures.residual_measures(config, weights, batches[step]).items():
            want = want.ravel()
            np.testing.assert_allclose(dump[name][row], want, rtol=1e-10, atol=1e-13, err_msg=f"{name} at {step}")
            assert np.isfinite(want).sum() == values.get(name, len(lengths))
        assert np.isfinite([dump["angle_exponent"][row], dump["gradient_exponent"][row]]).all()


def test_angle_exponent_does_not_end_at_the_rounding_of_floats():
    """The tokens' differences shrink by e^-1.3 in each of 24 blocks: to 1e-14 of what the tokens have in common."""
    config = DEPTH | {"norm_placement": "post", "attention_mask": "multiplicative", "bias": False, "layers": 24,
                      "width": 32, "heads": 4, "feedforward": 64, "context": 32, "init_scale": 2.0,
                      "residual_scale": 4.0, "steps": 1}
    single, double = (replay(scalar, **config, measure=1, residual=1)["angle_exponent"][0]
                      for scalar in ("float", "double"))
    assert double < -2.5
    np.testing.assert_allclose(single, double, rtol=1e-4)


SMALL = BASE | {"layers": 3, "width": 6, "heads": 2, "feedforward": 7, "context": 3, "activation": "gelu", "steps": 2}
LYAPUNOV = {
    "pre": {"norm_placement": "pre"},
    "out": {"norm_placement": "out"},
    "pre-lines-rmsnorm": LINES | {"norm": "rmsnorm"},
    "pre-scaled": {"residual_scale": 0.3, "init_scale": 2.0},
    "out-gated-multiplicative": {"norm_placement": "out", "gated": True, "attention_mask": "multiplicative"},
    "encoder": {"network": "encoder", "objective": "masked", "positions": "sinusoidal"},
    "encoder-decoder": TWO_STACKS | {"decoder_layers": 2, "norm_placement": "out", "kv_heads": 1},
}


@pytest.mark.parametrize("case", LYAPUNOV)
def test_all_exponents_are_the_singular_values_of_the_jacobian(case, text):
    config = SMALL | LYAPUNOV[case]
    dump = replay("double", **text_config(config, text), record=1, measure=2, lyapunov=18, sweeps=3000)
    batches = sequences_of(dump)
    for row, plane in enumerate((dump["initial"][0], dump["weights"][-1])):
        weights = reference.weights_from(plane, config, int(dump["vocabulary"][0][0]))
        stacks = reference_measures.lyapunov_exponents(config, weights, batches[2 * row][0])
        names = enumerate(("lyapunov", "lyapunov_angular"))
        for (i, spectra), (kind, name) in itertools.product(enumerate(stacks), names):
            got, want = dump[name][row].reshape(len(stacks), -1)[i], spectra[kind]
            assert np.isnan(got[len(want):]).all() and 0 < len(want) <= len(got)
            np.testing.assert_allclose(got[: len(want)], want, atol=1e-6, err_msg=f"{name} of row {row}, stack {i}")


def test_largest_exponents_of_blocks_with_norms_behind_them():
    """Under post the Jacobian is singular up to the eps of the norms: the largest ones alone."""
    config = SMALL | {"norm_placement": "post"}
    dump = replay("double", **config, record=1, measure=2, lyapunov=3, sweeps=2000)
    weights = reference.weights_from(dump["initial"][0], config, int(dump["vocabulary"][0][0]))
    (spectra,) = reference_measures.lyapunov_exponents(config, weights, sequences_of(dump)[0][0])
    for name, want in zip(("lyapunov", "lyapunov_angular"), spectra):
        np.testing.assert_allclose(dump[name][0], want[:3], atol=1e-6, err_msg=name)


SWEEP = """\
corpus: markov
vocabulary: 32
corpus_tokens: 4000
width: 16
feedforward: 16
layers: [4, 3]
batch: 4
context: 8
steps: 40
measure: {every: 20, metrics: [residual, lyapunov]}
lyapunov_exponents: 5
"""


def test_dataset_has_them_where_there_are_layers(normsweep, tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    normsweep("run", "sweep.yaml", "-j", "0")
    with xr.open_dataset(tmp_path / "sweep.nc") as ds:
        assert (ds.attrs["lyapunov_exponents"], ds.attrs["lyapunov_sweeps"]) == ("5", "10")
        assert ds.residual_norm.dims == ("layers", "step", "depth") and ds.sizes["depth"] == 5
        assert ds.lyapunov.dims == ("layers", "step", "exponent") and ds.sizes["exponent"] == 5
        there = (ds["depth"] <= ds["layers"]).broadcast_like(ds.residual_norm).transpose(*ds.residual_norm.dims)
        assert (ds.residual_norm.notnull() == there).all()
        assert (ds.residual_cosine.notnull() == there & (ds["depth"] > 0)).all()
        for name in ("lyapunov", "lyapunov_angular", "residual_growth", "angle_exponent", "gradient_exponent"):
            assert ds[name].notnull().all(), name
        assert (ds.lyapunov.isel(exponent=0) > ds.lyapunov.isel(exponent=4)).all()


def test_plan_prices_them(normsweep, tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)

    def parts(*options):
        lines = normsweep("plan", "sweep.yaml", "-j", "0", *options).stdout.splitlines()
        return next(line for line in lines if line.startswith("parts"))

    few, many = (float(parts("--set", f"lyapunov_exponents={n}").partition("Lyapunov exponents ")[2].split()[0])
                 for n in (1, 100))
    assert 0 < few < many and many > 50
    # Hours, of which a plan takes a short sample.
    hours = parts(*(word for key in ("context=64", "width=64", "lyapunov_exponents=2000", "lyapunov_sweeps=10000")
                    for word in ("--set", key)))
    assert "Lyapunov exponents 100.0 %" in hours
    assert "residual stream" in parts() and "residual" not in parts("--set", "measure={metrics: [lyapunov]}")
