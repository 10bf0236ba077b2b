"""Second derivatives, Jacobians through depth and homogeneity of configurations drawn at random, small ones: what
tests/worker/train/test_combinations.py does not compare because it takes longer."""
import functools

import numpy as np
import pytest
import torch
from combinations import combinations
from parity import Run, write_files

import reference
import reference_measures
from replay import replay
from test_parity import BASE

pytestmark = pytest.mark.thorough("draws combinations of every two words")

SEED, COUNT, STEPS, VECTORS, WORDS = 2, 60, 2, 3, 10


def small(config):
    """The same words, and sizes so small that a whole Hessian is at hand."""
    shared = config["kv_heads"] not in (0, config["heads"])
    size = 4 if config["positions"] == "rotary" else 3
    sizes = {"layers": min(config["layers"], 2), "decoder_layers": min(config["decoder_layers"], 1), "heads": 2,
             "kv_heads": 1 if shared else 0, "width": 2 * size, "feedforward": 3, "context": 4, "batch": 2,
             "init_scale": 1.0, "steps": STEPS,
             "precision": "float"}  # products that round are not the functions whose Jacobians the reference has
    if config["corpus"] in ("markov", "dyck"):
        sizes["vocabulary"] = 5
    return config | sizes


@functools.cache
def drawn():
    """Bytes have too many words."""
    every = [(features, small(config)) for features, config in combinations(COUNT, SEED, STEPS)]
    return [(features["corpus"], config) for features, config in every if features["corpus"] != "bytes"]


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("files"))


def numbers(count, wanted=lambda config: True):
    """The first `count` places of drawn() whose configuration is wanted."""
    return [i for i, (_, config) in enumerate(drawn()) if wanted(config)][:count]


def trained(number, files, **keys):
    corpus, config = drawn()[number]
    return Run(config | files.get(corpus, {}), **keys)


@pytest.mark.parametrize("number", numbers(24))
def test_hessian(number, files):
    """Every product with a unit vector: the matrix, that of the trained loss, is symmetric, its products with random
    vectors are PyTorch's."""
    run = trained(number, files, record=1, products=1)
    weights = run.weights(-1)
    tensors = list(weights.values())
    loss, trained_loss = reference.losses(run.config, weights, run.batches[-1])
    np.testing.assert_allclose(np.hstack(run.dump["hessian_loss"]), loss.item(), rtol=1e-12)
    gradients = torch.autograd.grad(trained_loss, tensors, create_graph=True, allow_unused=True)
    gradient = torch.cat([torch.zeros(t.numel()) if g is None else g.ravel() for g, t in zip(gradients, tensors)])
    hessian = np.array(run.dump["hessian"])
    scale = np.abs(hessian).max()
    close = max(1e-12 * max(1, gradient.norm().item()), 1e-15 * scale)  # weights are rounded, too
    np.testing.assert_allclose(np.hstack(run.dump["hessian_slope"]), gradient.detach(), rtol=0, atol=close)
    np.testing.assert_allclose(hessian, hessian.T, rtol=0, atol=1e-11 * scale)
    for vector in np.random.default_rng(number).normal(size=(VECTORS, len(gradient))):
        along = gradient @ torch.from_numpy(vector)
        product = torch.autograd.grad(along, tensors, retain_graph=True, allow_unused=True)
        want = reference.flat(torch.zeros_like(t) if g is None else g for g, t in zip(product, tensors))
        np.testing.assert_allclose(hessian @ vector, want, rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("number", numbers(24, lambda config: config["norm_placement"] != "post"))
def test_volumes(number, files):
    """The exponents of all directions add up to ln |det J| / L, whichever these are. Behind a norm J is singular."""
    config = drawn()[number][1]
    run = trained(number, files, record=1, measure=STEPS, lyapunov=config["context"] * config["width"])
    for row, step in enumerate((0, STEPS)):
        spectra = reference_measures.lyapunov_exponents(run.config, run.weights(step), run.batches[step][0])
        for name, kind in ("lyapunov", 0), ("lyapunov_angular", 1):
            got = run.dump[name][row].reshape(len(spectra), -1)
            assert np.isfinite(got).sum(1).tolist() == [len(own[kind]) for own in spectra]
            want = [own[kind].sum() for own in spectra]
            np.testing.assert_allclose(np.nansum(got, 1), want, rtol=0, atol=1e-8, err_msg=f"{name} at {step}")


@pytest.mark.parametrize("number", numbers(24))
def test_homogeneity(number, files):
    corpus, config = drawn()[number]
    dump = replay("double", **config | files.get(corpus, {}), homogeneity=1)
    shape = config | {"context": WORDS}
    weights = reference.weights_from(dump["homogeneity_weights"][0], shape, WORDS)
    sides = [name for name in ("homogeneity_source_tokens", "homogeneity_tokens") if name in dump]
    assert len(sides) == len(reference.stacks(config))
    tokens = [dump[name][0].reshape(WORDS, WORDS) for name in sides]
    for name, want in reference_measures.homogeneity_measures(shape, weights, *tokens).items():
        np.testing.assert_allclose(dump[name][0], want, rtol=0, atol=1e-8, err_msg=name)


def test_homogeneity_is_of_the_weights_of_a_run_of_that_shape():
    """A run on ten words of ten positions starts with the very model that is measured."""
    config = BASE | {"vocabulary": WORDS, "context": WORDS, "steps": 1, "homogeneity": 1}
    dump = replay("double", **config)
    np.testing.assert_array_equal(dump["homogeneity_weights"][0], dump["initial"][0])
    assert set(dump["homogeneity_tokens"][0]) == set(range(WORDS))
