"""Training in bfloat16 over 200 steps: the program at every vector level beside PyTorch, which rounds the same
factors."""
import functools
import re

import numpy as np
import pytest
from conftest import NORMSWEEP, run
from test_parity import BASE

import parity
import reference

pytestmark = pytest.mark.thorough("trains for hundreds of steps in PyTorch as well")

STEPS = 200
CONFIG = BASE | {"steps": STEPS, "corpus_tokens": 2000, "width": 36, "feedforward": 70, "context": 19,
                 "learning_rate": 1e-3}


@functools.cache
def levels():
    """As the program says of its own: {level: does this processor run it?}."""
    names = re.search(r"vectors +.* in use, of (.*)", run(NORMSWEEP, "--version").stdout)[1]
    return {name.split()[0]: "not on" not in name for name in names.split(", ")}


@functools.cache
def trained(scalar, precision, level=""):
    return parity.Run(CONFIG | {"precision": precision}, scalar, level, record=1)


@functools.cache
def of_pytorch(precision):
    """The losses of all steps and the first step's gradient, in float64."""
    run = trained("double", precision).reference()
    steps = [run.step(t)[:2] for t in range(1, STEPS + 1)]
    return np.array([float(loss) for loss, _ in steps]), reference.flat(steps[0][1].values())


def losses(run):
    return np.array([loss[0] for loss in run.dump["loss"]])


def test_double_is_pytorch():
    """Until a number lies so near the middle of two of bfloat16 that the last bits of double decide."""
    got, want = losses(trained("double", "bfloat16")), of_pytorch("bfloat16")[0]
    assert len(got) == STEPS
    assert np.max(np.abs(got / want - 1)[:50]) <= 1e-10
    assert np.max(np.abs(got / want - 1)) <= 1e-3


@pytest.mark.parametrize("level", ("baseline", "avx2", "avx512", "avx512_bf16", "amx"))
def test_float_is_near_pytorch(level):
    """The first gradient has PyTorch's roundings but for the few numbers near a middle; later these add up."""
    if not levels().get(level):
        pytest.skip(f"this processor or this build has no {level}, so its training in bfloat16 is not checked")
    run = trained("float", "bfloat16", level)
    want, gradient = of_pytorch("bfloat16")
    rounding = reference.norm(of_pytorch("float")[1] - gradient)
    assert rounding >= 1e-3 * reference.norm(gradient)
    assert reference.norm(run.dump["gradient"][0] - gradient) <= 0.1 * rounding
    off = losses(run) - want
    assert abs(off[0]) <= 2e-5 * want[0] and np.max(np.abs(off)) <= 3e-3 * want[-1]
    assert abs(np.mean(off)) <= 2e-4 * want[-1]
