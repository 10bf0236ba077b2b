"""The second implementation by itself: what must hold whatever the weights are."""
import functools
import itertools
import math
import random

import numpy as np
import pytest
import torch

import reference
from combinations import FEATURES, combinations

pytestmark = pytest.mark.thorough("tests the reference itself")

VOCABULARY, COUNT = 11, 80


@functools.cache
def drawn():
    """[(configuration, weights, sequences)] with sequences of different lengths, of 3 tokens at least."""
    return [made(config, i) for i, (_, config) in enumerate(combinations(COUNT, 3, steps=1))]


def made(config, seed):
    # Products that round are not the functions whose derivatives these are.
    draw, config = random.Random(seed), config | {"context": max(config["context"], 9), "precision": "float"}
    size = sum(math.prod(shape) for _, _, shape in reference.layout(config, VOCABULARY))
    plane = np.random.default_rng(seed).normal(0, 0.3, size)  # larger ones saturate softmaxes, and gradients vanish
    weights = reference.weights_from(plane, config, VOCABULARY)

    def tokens(length):
        return [draw.randrange(VOCABULARY) for _ in range(length)]

    def sequence():
        source, length = [tokens(draw.randint(3, 9))], draw.randint(3, 9)
        targets = [draw.choice((reference.NO_TARGET, *range(VOCABULARY))) for _ in range(length - 1)] + tokens(1)
        return (*source[: len(reference.stacks(config)) - 1], tokens(length), targets)

    return config, weights, [sequence() for _ in range(4)]


@pytest.mark.parametrize("number", range(COUNT))
def test_gradients_that_are_zero_are_those_that_nothing_sees(number, monkeypatch):
    """All of `unseen`, and none besides: autograd leaves rounding noise of the former, and more of all others."""
    config, weights, sequences = drawn()[number]
    unseen = reference.unseen_tensors(config)
    monkeypatch.setattr(reference, "unseen_tensors", lambda config: set())
    reference.backward(config, weights, sequences)
    whole = reference.norm(reference.flat(tensor.grad for tensor in weights.values()))
    size = {key: tensor.grad.norm().item() / whole for key, tensor in weights.items()}
    assert {key for key, value in size.items() if not value > 1e-14} == unseen & set(weights), size


@pytest.mark.parametrize("number", range(COUNT))
def test_padding_has_no_effect(number):
    config, weights, sequences = drawn()[number]
    alone = [reference.loss(config, weights, [sequence]).item() for sequence in sequences]
    assert reference.loss(config, weights, sequences).item() == pytest.approx(np.mean(alone), rel=1e-13)


@pytest.mark.parametrize("number", range(COUNT))
def test_who_sees_what(number):
    """Which outputs change with one token of the middle: those from there on in a causal decoder, else all."""
    config, weights, sequences = drawn()[number]
    *source, tokens, _ = sequences[0]
    at = len(tokens) // 2

    def outputs(*inputs):
        with torch.no_grad():
            rows = [reference.Sequences(*reference.padded([row])) for row in inputs]
            return reference.logits(config, weights, rows)[0]

    def other(row, place):
        return [(token + (i == place)) % VOCABULARY for i, token in enumerate(row)]

    here = outputs(*source, tokens)
    differs = ((outputs(*source, other(tokens, at)) - here).abs() > 1e-12).any(1).tolist()
    causal = config["network"] != "encoder" and config["attention_mask"] == "causal"
    assert differs == [not causal or i >= at for i in range(len(tokens))]
    if source:
        assert ((outputs(other(source[0], 0), tokens) - here).abs() > 1e-12).any(1).all()


def test_buckets_of_relative_positions():
    """Where a new bucket begins: at each distance up to half of them, then by the logarithm, at 128 the last."""
    def begins(row):
        return [i for i, (a, b) in enumerate(itertools.pairwise([-1] + row.tolist())) if a != b]

    one, two = (reference.relative_buckets(400, both) for both in (False, True))
    logarithms = [math.ceil(16 * 8 ** (k / 16)) for k in range(1, 16)]
    assert begins(one[-1].flip(0)) == [*range(17), *logarithms] and one[-1, 0] == 31
    assert begins(two[0][1:]) == [*range(8), 11, 15, 22, 31, 45, 63, 90]
    assert begins(two[:, 0]) == [*range(9), 12, 16, 23, 32, 46, 64, 91] and (two[0, 1:] - two[1:, 0] == 16).all()
    assert (one.triu(1) == 0).all()


def test_rotary_scores_depend_on_distances_alone():
    draw = np.random.default_rng(1)
    q, k = (torch.from_numpy(np.broadcast_to(draw.normal(size=6), (50, 6)).copy()) for _ in range(2))
    scores = reference.turned(q) @ reference.turned(k).T
    for distance in range(-49, 50):
        assert scores.diagonal(distance).std(unbiased=False) < 1e-13
    assert torch.allclose(reference.turned(q).norm(dim=1), q.norm(dim=1), rtol=1e-14)
    assert (scores[0] - scores[0, 0]).abs()[1:].min() > 1e-3


def test_sinusoids():
    table = reference.sinusoids(30, 7)
    for position, element in itertools.product((0, 1, 29), range(7)):
        angle = position / 10000 ** (2 * (element // 2) / 7)
        assert table[position, element] == pytest.approx((math.sin, math.cos)[element % 2](angle), abs=1e-14)


def test_every_word_of_the_networks_is_drawn():
    for key in ("network", "positions", "norm", "qk_norm", "norm_placement", "attention_mask", "score_scale", "bias"):
        assert {config[key] for config, _, _ in drawn()} == set(FEATURES[key])
