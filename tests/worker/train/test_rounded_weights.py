"""Weights in bfloat16 as the program keeps them in float, beside tests/reference_rounding.py; in double,
test_parity.py has whole runs."""
import numpy as np
import pytest

import parity
import reference_rounding
from parity import Follower
from replay import replay
from test_parity import BASE

pytestmark = pytest.mark.thorough("rounds in numpy as well, step by step")

WORDS = ("bfloat16", "bfloat16_stochastic")
OPTIMISERS = {"adamw": 3e-3, "sgd": 0.1, "adafactor": 0.02, "lion": 1e-3, "muon": 5e-3}


@pytest.mark.parametrize("scalar", ("float", "double"))
@pytest.mark.parametrize("word", WORDS)
def test_runs_begin_at_the_nearest(scalar, word):
    kept, = replay(scalar, **BASE | {"weights": word})["initial"]
    unrounded, = replay(scalar, **BASE)["initial"]
    assert np.array_equal(kept, reference_rounding.nearest(unrounded)) and not np.array_equal(kept, unrounded)


class Counter(Follower):
    """Counts the weights for which it takes another neighbour than the program."""
    seen = other = farther = 0

    def round_weights(self, t):
        super().round_weights(t)
        for key, got in self.followed.weights(t).items():
            got, want = got.detach().numpy(), self.weights[key].detach().numpy()
            unit = np.maximum(reference_rounding.units(want), reference_rounding.units(got))
            self.seen += want.size
            self.other += (want != got).sum()
            self.farther += (np.abs(want - got) > unit).sum()


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("word", WORDS)
def test_float_takes_the_neighbours_of_double(optimiser, word):
    """But where float's own rounding lies between the middle and the reference's double: fewer than 1 in 200."""
    config = BASE | {"optimiser": optimiser, "learning_rate": OPTIMISERS[optimiser], "weights": word}
    followed = parity.Run(config, "float", record=1)
    run = followed.reference(Counter)
    run.followed, run.found = followed, []
    for t in range(1, followed.last_step + 1):
        run.step(t)
    assert run.seen > 50000 and run.farther == 0
    assert run.other < run.seen / 200
