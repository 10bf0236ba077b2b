"""The Hessian of whole models, product by product, against PyTorch's autograd in float64 on tests/reference.py."""
import itertools

import numpy as np
import pytest
import torch

import reference
from replay import replay

pytestmark = pytest.mark.thorough("computes whole Hessians in PyTorch")

BASE = {
    "layers": 1,
    "width": 4,
    "heads": 2,
    "feedforward": 3,
    "norm": "layernorm",
    "bias": True,
    "init": "torch",
    "corpus": "markov",
    "sequences": "stream",
    "vocabulary": 5,
    "corpus_tokens": 200,
    "context": 4,
    "batch": 2,
    "steps": 3,
    "optimiser": "sgd",
    "learning_rate": 0.3,
    "seed": 4,
}
PLACEMENTS, ACTIVATIONS, MASKS = ("post", "pre", "out"), ("relu", "gelu"), ("causal", "multiplicative")
ARRANGEMENTS = list(itertools.product(PLACEMENTS, ACTIVATIONS, (False, True), MASKS, (False, True)))
NAMES = ("norm_placement", "activation", "gated", "attention_mask", "tied")
OTHERS = {
    "gelu-tanh": {"activation": "gelu_tanh", "gated": True},
    "rmsnorm-pre": {"norm": "rmsnorm", "activation": "gelu"},
    "rmsnorm-out": {"norm": "rmsnorm", "norm_placement": "out", "gated": True},
    "rmsnorm-post": {"norm": "rmsnorm", "norm_placement": "post"},
    "plain": {"bias": False, "activation": "gelu"},
    "two-layers": {"layers": 2, "feedforward": 2, "activation": "gelu", "norm_placement": "post"},
    "z-loss": {"z_loss": 0.2, "activation": "gelu"},
    "z-loss-tied-out": {"z_loss": 3.0, "tied": True, "norm_placement": "out", "learning_rate": 1e-3},
    "mup": {"parametrization": "mup", "base_width": 10, "optimiser": "adam", "learning_rate": 0.05},
    "mup-z-loss-tied": {"parametrization": "mup", "base_width": 3, "optimiser": "adamw", "learning_rate": 0.05,
                        "z_loss": 0.5, "tied": True, "activation": "gelu"},
}


def sequences_of(dump):
    start, tokens, target = dump["start"][-1], dump["tokens"][-1], dump["target"][-1]
    return [(tokens[a:b], target[a:b]) for a, b in zip(start, start[1:])]


def loss_and_derivatives(config, weights, sequences):
    """The loss, and the gradient and the Hessian of the trained loss, by differentiating every element of the gradient
    again."""
    tensors = list(weights.values())
    loss, trained = reference.losses(config, weights, sequences)
    gradients = torch.autograd.grad(trained, tensors, create_graph=True, allow_unused=True)
    gradient = torch.cat([torch.zeros(t.numel()) if g is None else g.ravel() for g, t in zip(gradients, tensors)])
    rows = []
    for element in gradient:
        row = torch.autograd.grad(element, tensors, retain_graph=True, allow_unused=True)
        rows.append(reference.flat(torch.zeros_like(t) if g is None else g for g, t in zip(row, tensors)))
    return loss.item(), gradient.detach().numpy(), np.array(rows)


def check(scalar, changes):
    """In double to 1e-12; in float, whose weights are what the reference starts from, to its rounding."""
    config = BASE | dict(zip(NAMES, ("pre", "relu", False, "causal", False))) | changes
    dump = replay(scalar, record=1, products=1, **config)
    weights = reference.weights_from(dump["weights"][-1], config, config["vocabulary"])
    loss, gradient, expected = loss_and_derivatives(config, weights, sequences_of(dump))
    hessian = np.array(dump["hessian"]).T
    scale = abs(expected).max()
    most = {"double": 1e-12, "float": 1e-5}[scalar]
    np.testing.assert_allclose(np.hstack(dump["hessian_loss"]), loss, rtol=most)
    np.testing.assert_allclose(np.hstack(dump["hessian_slope"]), gradient, rtol=0, atol=most)
    np.testing.assert_allclose(hessian, expected, rtol=0, atol=most * scale)
    np.testing.assert_allclose(hessian, hessian.T, rtol=0, atol=most * scale)
    np.testing.assert_allclose(np.linalg.eigvalsh(hessian), np.linalg.eigvalsh(expected), rtol=0, atol=most * scale)


@pytest.mark.parametrize("arrangement", ARRANGEMENTS, ids=lambda words: "-".join(map(str, words)))
def test_every_arrangement(arrangement):
    check("double", dict(zip(NAMES, arrangement)))


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("scalar", ["double", "float"])
def test_others(scalar, name):
    check(scalar, OTHERS[name])
