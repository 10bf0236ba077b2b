"""critical_sharpness against the same search in PyTorch in float64, along the reference's own updates, and against a
dense search there."""
import math

import numpy as np
import pytest
from parity import Run, difference
from test_parity import BASE

import reference
import reference_measures

KEYS = {"record": 1, "measure": 5, "sharpness": 1}
CONFIG = BASE | {"corpus_tokens": 3000, "steps": 30, "learning_rate": 0.01, "weight_decay": 0.1}
CASES = {
    "adamw": {"optimiser": "adamw", "norm_placement": "pre"},
    "warmup": {"optimiser": "adamw", "norm_placement": "post", "warmup_steps": 20, "gradient_clip": 0.5},
    "adam": {"optimiser": "adam", "norm_placement": "out"},
    "sgd": {"optimiser": "sgd", "learning_rate": 0.1, "momentum": 0.8},
    "plain": {"optimiser": "sgd", "learning_rate": 0.05, "momentum": 0, "weight_decay": 0},
    "lion": {"optimiser": "lion", "learning_rate": 0.001},
    "muon": {"optimiser": "muon", "learning_rate": 0.02},
    "adafactor": {"optimiser": "adafactor"},
    "normalized": {"optimiser": "normalized_sgd", "learning_rate": 0.1},
    "mup": {"optimiser": "adamw", "parametrization": "mup", "base_width": 8, "score_scale": "sqrt"},
    "z_loss": {"optimiser": "adamw", "z_loss": 0.01, "gated": True, "tied": True},
}


def search(loss, start, loss_at, reach):
    """By the definition: the exponents of a bracket, and how often loss_at was asked."""
    low, high, at = -math.inf, math.inf, 0.0
    for passes in range(9):
        between = math.isfinite(low) and math.isfinite(high)
        if high - low <= 1 / 16 or not between and abs(at) >= 20:
            return low, high, passes
        if between:
            at = (low + high) / 2
        elif passes:
            at, reach = at + (reach if math.isfinite(low) else -reach), 2 * reach
            at = max(-20.0, min(20.0, at))
        if loss_at(start * 2**at) <= loss:
            low = at
        else:
            high = at
    return low, high, 9


class Along:
    """The losses of a step's batch along its update."""

    def __init__(self, config, run, t):
        self.config, self.batch, self.theta = config, run.batches[t], run.theta()
        _, _, self.update = run.step(t + 1, True)

    def loss(self, rate=0.0):
        moved = {key: tensor - rate * self.update[key] for key, tensor in self.theta.items()}
        return reference.loss(self.config, moved, self.batch).item()


@pytest.mark.parametrize("case", CASES)
def test_is_the_search_of_the_definition(case):
    program = Run(CONFIG | CASES[case], **KEYS)
    config, run, before = program.config, program.reference(), math.nan
    steps = [int(step[0]) for step in program.dump["step"]]
    got = dict(zip(steps, np.ravel(program.dump["critical_sharpness"])))
    assert math.isnan(got.pop(steps[-1])) and len(got) == 6
    for t in range(program.last_step):
        if t not in got:
            run.step(t + 1)
            continue
        along, warm = Along(config, run, t), math.isfinite(before)
        start = 2 / before if warm else reference_measures.schedule_rate(config, t + 1, program.last_step)
        low, high, passes = search(along.loss(), start, along.loss, 0.25 if warm else 1)
        assert passes < 10
        before = 2 / (start * 2 ** ((low + high) / 2))
        assert difference("critical_sharpness", got[t], before) < 1e-6
        beside, here = (high - low) / 2 + 0.01, along.loss()  # nothing below raises the loss, something above does
        assert along.loss(2 / before * 2**beside) > here
        assert all(along.loss(2 / before * 2**exponent) <= here for exponent in np.linspace(-6, -beside, 40))


def test_near_the_eigenvalue_of_a_quadratic():
    """Along the gradient, with sgd and small steps: u.Hu / u.g, which is at most the largest eigenvalue."""
    config = CONFIG | CASES["plain"] | {"steps": 60, "learning_rate": 0.01}
    dump = Run(config, **KEYS | {"measure": 30, "hessian": 20}).dump
    sharp, eigenvalue = (np.ravel(dump[name]) for name in ("critical_sharpness", "hessian_preconditioned"))
    assert np.isfinite(sharp[:-1]).all() and (0.05 < sharp[:-1] / eigenvalue[:-1]).all()
    assert (sharp[:-1] < 1.1 * eigenvalue[:-1]).all()
