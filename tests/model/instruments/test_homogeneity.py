"""Homogeneity of fresh models against tests/reference_measures.py, PyTorch in float64."""
import itertools

import numpy as np
import pytest

import reference
import reference_measures
from replay import replay

pytestmark = pytest.mark.thorough("measures in PyTorch as well, for every architecture")

BASE = {
    "layers": 3,
    "width": 24,
    "heads": 3,
    "feedforward": 40,
    "activation": "relu",
    "tied": False,
    "attention_mask": "causal",
    "corpus": "markov",
    "vocabulary": 23,
    "corpus_tokens": 600,
    "context": 8,
    "batch": 4,
    "steps": 1,
    "seed": 3,
    "homogeneity": 1,
}
SHAPE = {"vocabulary": 10, "context": 10}
SEQUENCES = (10, 10)

CASES = {
    f"{placement}-{'bias' if bias else 'plain'}-seed-{seed}": {"norm_placement": placement, "bias": bias, "seed": seed}
    for placement, bias, seed in itertools.product(("post", "pre", "out"), (True, False), (3, 4))
} | {
    "gelu": {"norm_placement": "out", "bias": True, "activation": "gelu"},
    "tied": {"norm_placement": "pre", "bias": True, "tied": True},
    "multiplicative": {"norm_placement": "out", "bias": False, "attention_mask": "multiplicative"},
    "xavier": {"norm_placement": "post", "bias": True, "init": "xavier"},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scalar, tolerance", [("double", 1e-8), ("float", 1e-3)])
def test_homogeneity(name, scalar, tolerance):
    config = BASE | CASES[name]
    dump = replay(scalar, **config)
    weights = reference.weights_from(dump["homogeneity_weights"][0], config | SHAPE, SHAPE["vocabulary"])
    tokens = dump["homogeneity_tokens"][0].reshape(SEQUENCES)
    assert set(tokens.ravel()) == set(range(SHAPE["vocabulary"]))
    for name, want in reference_measures.homogeneity_measures(config | SHAPE, weights, tokens).items():
        got = dump[name][0] if np.ndim(want) else dump[name][0][0]
        assert np.shape(got) == np.shape(want)
        error = np.max(np.abs(np.subtract(got, want)))
        assert error <= tolerance, f"{name} is {got}, reference {want}"


def test_weights_are_those_of_a_run_of_that_shape():
    """A run on ten words of ten positions starts with the very model that is measured."""
    dump = replay("double", **BASE | SHAPE)
    np.testing.assert_array_equal(dump["homogeneity_weights"][0], dump["initial"][0])
