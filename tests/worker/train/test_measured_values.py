"""Every value of the dataset in its own place: those of the last step against PyTorch on the weights that the runs have
left, the fits against their recursions, homogeneity against what the instrument says by itself."""
import math
import random

import numpy as np
import pytest
import xarray as xr

import exported
import reference_measures
from conftest import BUILD, train_sweep
from replay import replay

pytestmark = pytest.mark.thorough("trains in double as well")

HEADS, LAYERS, WIDTH, CONTEXT, TOKENS, LAST = 3, 2, 12, 9, 150, 40
SWEEP = f"""\
corpus: text
train_text: train.txt
valid_text: valid.txt
sequences: lines
context: {CONTEXT}
layers: {LAYERS}
width: {WIDTH}
heads: {HEADS}
feedforward: 20
batch: 3
steps: {LAST}
learning_rate: 1e-2
weight_decay: 0.3
schedule: inverse_sqrt
norm_placement: [post, pre, out]
attention_mask: [causal, multiplicative]
bias: [true, false]
save_weights: true
measure: {{every: 2, metrics: [norms, saturation, heads, attention, homogeneity]}}
validate: {{every: end, tokens: {TOKENS}}}
"""
AXES = ("norm_placement", "attention_mask", "bias")


def write_text(path, lines, seed):
    """Lines of all lengths, with headings and empty lines between."""
    draw = random.Random(seed)
    text = [[draw.choice("abcdefghijklmnopq") for _ in range(draw.randint(0, CONTEXT + 4))] for _ in range(lines)]
    text[:0] = [["=", "a", "="], list("abcdefghijklmnopq")]
    path.write_text("".join(" ".join(line) + "\n" for line in text))
    return text


def validated(train, valid):
    """[(tokens, targets)] of the first TOKENS tokens of validation, and the size of the vocabulary."""
    words = list(dict.fromkeys(word for line in train for word in line)) + ["<eos>"]
    sequences = []
    for line in valid:
        if line and line[0] != "=" and sum(len(tokens) for tokens, _ in sequences) < TOKENS:
            ids = [words.index(word) for word in line + ["<eos>"]]
            sequences.append((ids[:-1][:CONTEXT], ids[1:][:CONTEXT]))
    return sequences, len(words)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The dataset, the validation's sequences, and each run's configuration and weights by its places on AXES."""
    folder = tmp_path_factory.mktemp("trained")
    sequences, _ = validated(*(write_text(folder / f"{name}.txt", 60, i) for i, name in enumerate(("train", "valid"))))
    dataset, weights = train_sweep(folder, SWEEP, program=BUILD / "normsweep-double"), {}
    for path in (folder / "sweep.nc.d").glob("*.weights.nc"):
        config, tensors = exported.read_run(path)
        weights[tuple(config[name] for name in AXES)] = tensors
    with xr.open_dataset(dataset) as ds:
        assert len(weights) == ds.outcome.size and (ds.outcome == 2).all()
        yield ds.load(), sequences, weights


def cells(trained):
    ds, _, weights = trained
    for places, tensors in weights.items():
        of_run = dict(zip(AXES, places))
        config = {"layers": LAYERS, "width": WIDTH, "heads": HEADS, "context": CONTEXT, "activation": "relu",
                  "tied": False} | of_run
        yield ds.sel(of_run), config, tensors


def test_saturation_and_heads(trained):
    for cell, config, weights in cells(trained):
        want = reference_measures.saturation_measures(config, weights, trained[1])
        assert len(want) == 9
        for name, value in want.items():
            got = cell[name].sel(step=LAST)
            np.testing.assert_allclose(np.ravel(got), np.ravel(value), rtol=0, atol=1e-9, err_msg=f"{name} of {config}")


def test_attention(trained):
    """In text whose lines have different lengths, packed several to a batch."""
    for cell, config, weights in cells(trained):
        want = reference_measures.attention_measures(config, weights, trained[1])
        assert len(want) == 6 and (cell.attention_entropy.sel(step=LAST) > 0).all()
        for name, value in want.items():
            got = cell[name].sel(step=LAST)
            np.testing.assert_allclose(np.ravel(got), np.ravel(value), 1e-9, 1e-9, err_msg=f"{name} of {config}")


def test_validation(trained):
    for cell, config, weights in cells(trained):
        for name, value in reference_measures.validation_measures(config, weights, trained[1]).items():
            assert abs(cell[name].sel(step=LAST) - value) < 1e-9, name


RECURSIONS = {
    "aligned": ("k", lambda n, eta, decay, k: (1 - eta * decay + k * eta) * n),
    "misaligned": ("k", lambda n, eta, decay, k: math.sqrt((1 - eta * decay) ** 2 + (k * eta) ** 2) * n),
    "adam_like": ("a", lambda n, eta, decay, a: math.sqrt((1 - eta * decay) ** 2 * n**2 + a * eta**2)),
}


@pytest.mark.parametrize("name", RECURSIONS)
def test_fits_are_of_their_recursions(trained, name):
    """The parameter gives the norms that R^2 and AIC are of."""
    letter, next_norm = RECURSIONS[name]
    for cell, _, _ in cells(trained):
        norms = cell.param_norm.dropna("step")
        parameter, follow = float(cell[f"fit_{name}_{letter}"]), [float(norms[0])]
        for step in range(1, LAST + 1):
            follow.append(next_norm(follow[-1], 1e-2 / math.sqrt(step), 0.3, parameter))
        rest = ((np.array(follow)[norms.step.values] - norms.values) ** 2).sum()
        spread = ((norms - norms.mean()) ** 2).sum()
        points = norms.size - 1
        np.testing.assert_allclose(cell[f"fit_{name}_r2"], 1 - rest / spread, rtol=1e-6)
        np.testing.assert_allclose(cell[f"fit_{name}_aic"], points * math.log(rest / points) + 4, rtol=1e-6)


def test_homogeneity(trained):
    for cell, config, _ in cells(trained):
        keys = {"feedforward": 20, "corpus": "markov", "vocabulary": 20, "corpus_tokens": 600, "batch": 2,
                "steps": 1, "homogeneity": 1}
        dump = replay("double", **config | keys)
        np.testing.assert_array_equal(cell.homogeneity, dump["homogeneity"][0])
        for name, of in {"homogeneity_degree": "degree", "homogeneity_degree_r2": "degree_r2",
                         "output_homogeneity_degree": "output_degree",
                         "output_homogeneity_degree_r2": "output_degree_r2"}.items():
            assert cell[name] == dump[of][0][0], name
