"""Initial weights, each of them: the draw of a generator in Python, in the place and of the size that the keys of the
initialisation give it. tests/model/core/test_random.c has the generator's own distribution."""
import math

import numpy as np
import pytest

import draws
import reference
import reference_rounding
from parity import Run
from test_parity import BASE

pytestmark = pytest.mark.thorough("draws initial weights of many networks")

INIT = {"width": 48, "heads": 4, "feedforward": 80, "layers": 3, "vocabulary": 150, "context": 60, "steps": 1,
        "corpus_tokens": 3000}
# The tensors whose draws are numbered densely: those outside the layers, then those of each layer in turn.
NUMBERED = ("token", "position", *reference.LAYER_TENSORS[:16], "final", "final_bias", "output", "output_bias")


def initial_weights(scalar, level, config):
    return {key: tensor.detach().numpy() for key, tensor in Run(config, scalar, level, record=1).weights(0).items()}


def units(config, name, layer, count):
    """Twice as many numbers of [0, 1) as a tensor has weights."""
    number = len(NUMBERED) * (layer + 1) + NUMBERED.index(name)
    words = reference_rounding.blocks(config["seed"], draws.INIT, count, number << 8)
    first, second = (words[i] << np.uint64(32) | words[i + 1] for i in (0, 2))
    return (first >> np.uint64(11)) / 2**53, (second >> np.uint64(11)) / 2**53


def expected(config, name, layer, shape):
    one, other = units(config, name, layer, math.prod(shape))
    normal = np.sqrt(-2 * np.log1p(-one)) * np.cos(2 * math.pi * other)
    if name in ("token", "position"):
        return normal.reshape(shape)
    if name.startswith(("ln", "final")):
        return np.full(shape, 0.0 if name.endswith("bias") else 1.0)
    inputs = config["feedforward"] if name.startswith("w2") else config["width"]
    is_bias, scale = name.endswith("_bias"), config["init_scale"] if name in reference.MATRICES else 1
    if config["zero_query_key"] and name[0] in "qk" or config["init"] == "xavier" and is_bias:
        return np.zeros(shape)
    if config["init"] == "torch":
        return (scale / math.sqrt(inputs) * (2 * one - 1)).reshape(shape)
    return (scale * math.sqrt(2 / (shape[0] + inputs)) * normal).reshape(shape)


CASES = [{"norm_placement": "post"}, {"norm_placement": "pre"}, {"norm_placement": "out", "seed": 7},
         {"init": "xavier"}, {"init_scale": 3.0}, {"init_scale": 3.0, "init": "xavier"}, {"zero_query_key": True},
         {"tied": True}, {"bias": False}, {"layers": 1, "seed": 12345}]


@pytest.mark.parametrize("scalar, level, rounding", [
    ("double", "", 1e-14), ("double", "baseline", 1e-14), ("float", "baseline", 2.0**-23), ("float", "avx2", 2.0**-23),
    ("float", "avx512", 2.0**-23)])
@pytest.mark.parametrize("keys", CASES, ids=str)
def test_every_weight_is_its_draw(scalar, level, rounding, keys):
    config = BASE | INIT | keys
    weights = initial_weights(scalar, level, config)
    assert ("output", -1) in weights or config["tied"]
    for (name, layer), found in weights.items():
        np.testing.assert_allclose(found, expected(config, name, layer, found.shape), rtol=rounding, atol=2e-14,
                                   err_msg=f"{name} of layer {layer}")


def test_init_is_the_same_at_every_level():
    """Bit for bit; a level that this processor lacks gives the best that it has."""
    for init in ("torch", "xavier", "normal"):
        first, *others = (initial_weights("float", level, BASE | INIT | {"init": init})
                          for level in ("baseline", "avx2", "avx512"))
        for other in others:
            assert all(np.array_equal(w, other[key]) for key, w in first.items()), init
