"""Small models learn what can be known of the built-in corpora, and no more than that."""
import math

import numpy as np
import pytest

from replay import replay

pytestmark = pytest.mark.thorough("trains until the networks have learned")

SMALL = {
    "layers": 1,
    "width": 32,
    "heads": 4,
    "feedforward": 64,
    "batch": 16,
    "steps": 1000,
    "learning_rate": 3e-3,
    "schedule": "linear",
    "warmup_steps": 50,
    "evaluate": 1,
}


def mean_and_error(x):
    return x.mean(), x.std(ddof=1) / math.sqrt(len(x))


def markov_excess(**keys):
    """The validation loss above the source's own on the same tokens, and the standard error of the difference."""
    config = SMALL | {"corpus": "markov", "vocabulary": 33, "corpus_tokens": 1000000, "context": 32} | keys
    dump = replay("float", **config)
    model, source = np.concatenate(dump["model_loss"]), np.concatenate(dump["source_loss"])
    assert len(model) > 20000 and np.isfinite(source).all()
    return mean_and_error(model - source)


@pytest.mark.parametrize("placement", ("post", "pre", "out"))
def test_markov_comes_near_its_source_and_not_below(placement):
    excess, error = markov_excess(norm_placement=placement)
    assert excess >= -4 * error
    assert excess <= 0.06


def test_markov_shows_a_model_that_sees_the_future():
    excess, error = markov_excess(attention_mask="multiplicative")
    assert excess < -4 * error


COUNTER_MOST = 16  # n of a^n b^n c^n is uniform on 1 .. 16


def best_counter_loss():
    """{n: the best model's loss on a line}: a line counts for the mean of its 3n predictions, so as 1/n."""
    harmonic = sum(1 / n for n in range(1, COUNTER_MOST + 1))
    return {n: math.log(n * harmonic) / (3 * n) for n in range(1, COUNTER_MOST + 1)}


def test_counter_is_learned():
    """b^n tells where c^n begins and ends: that takes counting, the word before alone gives 1 in 8.5."""
    keys = {"corpus": "counter", "sequences": "lines", "corpus_tokens": 200000, "context": 3 * COUNTER_MOST}
    dump = replay("float", **SMALL | keys, weight_decay=1e-2)
    probability = {(1, 2): [], (2, 3): []}  # of the first c, of the end of the line
    best, excess = best_counter_loss(), []
    for tokens, loss in zip(dump["valid_tokens"], dump["model_loss"]):
        for word, following, nats in zip(tokens, tokens[1:], loss):
            if (word, following) in probability:
                probability[word, following].append(math.exp(-nats))
        excess.append(loss.mean() - best[len(loss) // 3])
    for values in probability.values():
        assert len(values) > 1000
        assert np.mean(np.array(values) > 0.9) > 0.98
    mean, error = mean_and_error(np.array(excess))
    assert -4 * error <= mean <= 0.01
