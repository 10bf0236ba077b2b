"""What depth does: Jacobians of the group lyapunov against PyTorch in float64, the group residual's exponent of angles,
and what the theory says of the slopes of the group gradients. test_combinations.py compares the residual stream and
gradients with PyTorch, test_measures.py has where they are measured."""
import itertools
import math

import numpy as np
import pytest

import reference
import reference_measures
from parity import Run
from replay import replay
from test_parity import BASE, LINES, files_of, text

pytestmark = pytest.mark.thorough("computes Jacobians in PyTorch")

__all__ = ["text"]  # the fixture

TWO_STACKS = {"network": "encoder_decoder", "objective": "spans", "positions": "relative"}


def test_angle_exponent_does_not_end_at_the_rounding_of_floats():
    """The tokens' differences shrink by e^-1.3 in each of 24 blocks: to 1e-14 of what the tokens have in common."""
    config = BASE | {"corpus_tokens": 300, "norm_placement": "post", "attention_mask": "multiplicative",
                     "bias": False, "layers": 24, "width": 32, "heads": 4, "feedforward": 64,
                     "context": 32, "init_scale": 2.0, "residual_scale": 4.0, "steps": 1}
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
    run = Run(config, **files_of(config, text), record=1, measure=2, lyapunov=18, sweeps=1000)
    for row in range(2):
        step = 2 * row
        stacks = reference_measures.lyapunov_exponents(config, run.weights(step), run.batches[step][0])
        names = enumerate(("lyapunov", "lyapunov_angular"))
        for (i, spectra), (kind, name) in itertools.product(enumerate(stacks), names):
            got, want = run.dump[name][row].reshape(len(stacks), -1)[i], spectra[kind]
            assert np.isnan(got[len(want):]).all() and 0 < len(want) <= len(got)
            np.testing.assert_allclose(got[: len(want)], want, atol=1e-6, err_msg=f"{name} of row {row}, stack {i}")


def test_largest_exponents_of_blocks_with_norms_behind_them():
    """Under post the Jacobian is singular up to the eps of the norms: the largest ones alone."""
    config = SMALL | {"norm_placement": "post"}
    run = Run(config, record=1, measure=2, lyapunov=3, sweeps=2000)
    spectra, = reference_measures.lyapunov_exponents(config, run.weights(0), run.batches[0][0])
    for name, want in zip(("lyapunov", "lyapunov_angular"), spectra):
        np.testing.assert_allclose(run.dump[name][0], want[:3], atol=1e-6, err_msg=name)


THEORY = {"init": "xavier", "zero_query_key": True, "heads": 1, "feedforward": BASE["width"]}


@pytest.mark.parametrize("placement, slope", [("post", math.log(1.5) / 2), ("pre", 0), ("out", math.nan)])
def test_theory_is_of_w2_of_a_fresh_model_in_its_setting(placement, slope):
    w2 = reference.LAYER_TENSORS.index("w2")

    def theory(**keys):
        config = BASE | THEORY | {"layers": 5, "steps": 4, "corpus_tokens": 300, "norm_placement": placement} | keys
        return replay("double", **config, measure=2, gradients=1)["gradient_depth_slope_theory"]

    fresh, *trained = theory()
    np.testing.assert_allclose(fresh[w2], slope, rtol=1e-15)
    assert np.isnan(np.delete(fresh, w2)).all() and np.isnan(trained).all()
    for other in ({"init": "torch"}, {"zero_query_key": False}, {"norm": "rmsnorm"}, {"activation": "gelu"},
                  {"gated": True}, {"feedforward": 2 * BASE["width"]}, {"init_scale": 3.0}, {"residual_scale": 0.1}):
        assert np.isnan(theory(**other)).all(), other
