"""Initial weights: their distributions, and what they depend on."""
import itertools
import math

import numpy as np
import pytest

import draws
import reference
from replay import replay
from test_parity import BASE

pytestmark = pytest.mark.thorough("draws initial weights of many networks")

INIT = {"width": 48, "heads": 4, "feedforward": 80, "layers": 3, "vocabulary": 150, "context": 60, "steps": 1}


def initial_weights(scalar="double", level="", **keys):
    """{(name, layer): array}."""
    config = BASE | INIT | {"corpus_tokens": 3000} | keys
    dump = replay(scalar, level, **config)
    vocabulary = int(dump["vocabulary"][0][0])
    weights = reference.weights_from(dump["initial"][0], config, vocabulary)
    return {key: tensor.detach().numpy() for key, tensor in weights.items()}


def kolmogorov(values, distribution):
    """sqrt(n) times the largest distance between the distribution and the empirical one."""
    x = np.sort(values.ravel())
    f, n = np.array([distribution(v) for v in x]), len(x)
    return math.sqrt(n) * max(np.max(np.arange(1, n + 1) / n - f), np.max(f - np.arange(n) / n))


def normal(x):
    """Of N(0, 1)."""
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def uniform(x):
    """Of U(-1, 1)."""
    return min(max((x + 1) / 2, 0), 1)


def fan_in(name):
    return INIT["feedforward"] if name.startswith("w2") else INIT["width"]


KOLMOGOROV = 2.0  # exceeded once in 1500 draws of the right distribution


def check_embeddings_and_norms(weights):
    for (name, layer), w in weights.items():
        if name in ("token", "position"):
            assert kolmogorov(w, normal) < KOLMOGOROV, name
        if name.startswith(("ln", "final")):
            assert (w == (0 if name.endswith("bias") else 1)).all(), (name, layer)


@pytest.mark.parametrize("placement", ("post", "pre", "out"))
def test_init_torch(placement):
    weights, units = initial_weights(norm_placement=placement), []
    check_embeddings_and_norms(weights)
    for (name, layer), w in weights.items():
        if name.startswith(("q", "k", "v", "o", "w")):
            unit = w * math.sqrt(fan_in(name))
            assert np.abs(unit).max() <= 1, (name, layer)
            assert kolmogorov(unit, uniform) < KOLMOGOROV, (name, layer)
            units.append(unit.ravel())
    assert kolmogorov(np.concatenate(units), uniform) < KOLMOGOROV


def test_init_xavier():
    weights, units = initial_weights(init="xavier"), []
    check_embeddings_and_norms(weights)
    for (name, layer), w in weights.items():
        if name.endswith("_bias"):
            assert (w == 0).all(), (name, layer)
        elif name.startswith(("q", "k", "v", "o", "w")):
            unit = w / math.sqrt(2 / sum(w.shape))
            assert kolmogorov(unit, normal) < KOLMOGOROV, (name, layer)
            units.append(unit.ravel())
    assert kolmogorov(np.concatenate(units), normal) < KOLMOGOROV


@pytest.mark.parametrize("init", ("torch", "xavier"))
def test_init_scale_multiplies_the_matrices_of_the_layers(init):
    plain, scaled = initial_weights(init=init), initial_weights(init=init, init_scale=3.0)
    for (name, layer), w in plain.items():
        factor = 3 if name in reference.MATRICES else 1
        np.testing.assert_allclose(scaled[name, layer], factor * w, rtol=1e-6, err_msg=name)


def test_init_zero_query_key():
    weights = initial_weights(zero_query_key=True)
    for (name, layer), w in weights.items():
        if name in ("q", "k"):
            assert (w == 0).all(), (name, layer)
        elif name in ("v", "o", "w1", "w2"):
            assert (w != 0).all(), (name, layer)


def test_init_tied():
    weights = initial_weights(tied=True)
    assert ("output", -1) not in weights
    check_embeddings_and_norms(weights)


@pytest.mark.parametrize("init", ("torch", "xavier"))
def test_init_draws_are_unrelated(init):
    """Tensors of equal shape, of any kind and layer, are uncorrelated."""
    weights = initial_weights(init=init)
    random_ones = {key: w for key, w in weights.items() if np.ptp(w) > 0}
    for (a, x), (b, y) in itertools.combinations(random_ones.items(), 2):
        if x.size == y.size:
            assert abs(np.corrcoef(x.ravel(), y.ravel())[0, 1]) * math.sqrt(x.size) < 4.5, (a, b)


def test_init_depends_on_the_seed():
    a, b = initial_weights(seed=1), initial_weights(seed=2)
    for key, x in a.items():
        if np.ptp(x) > 0:
            assert not np.isclose(x, b[key]).all(), key
            assert abs(np.corrcoef(x.ravel(), b[key].ravel())[0, 1]) * math.sqrt(x.size) < 4.5, key


def test_init_does_not_depend_on_depth():
    """Added layers leave the first ones as they were."""
    a, b = initial_weights(layers=2), initial_weights(layers=3)
    assert all((w == b[key]).all() for key, w in a.items())


TOKEN, W1 = 0, 22 + 6  # numbers of the tensors `token` and, in the first layer, `w1`


@pytest.mark.parametrize("scalar, rounding", (("double", 1e-15), ("float", 2.0**-24)))
@pytest.mark.parametrize("level", ("baseline", "avx2", "avx512"))
def test_init_by_a_generator_in_python(scalar, rounding, level):
    """At every level, and beyond the draws that are computed together."""
    weights, seed = initial_weights(scalar, level, seed=7), 7
    token, w1 = weights["token", -1].ravel(), weights["w1", 0].ravel()
    bound = 1 / math.sqrt(INIT["width"])
    for i in itertools.chain(range(200), range(len(w1) - 100, len(w1))):
        expected = draws.normal(seed, draws.INIT, TOKEN << 40 | i)
        assert abs(token[i] - expected) <= rounding * abs(expected) + 8e-15, i
        expected = bound * (2 * draws.unit(draws.bits(seed, draws.INIT, W1 << 40 | i)) - 1)
        assert abs(w1[i] - expected) <= rounding * abs(expected), i
