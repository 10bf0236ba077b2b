"""What is refused of optimisers, decay and schedules."""

import pytest

from refused import BASE, check_refused

CASES = {
    "rule of decay with adam": (
        BASE + "optimiser: [adamw, adam]\ndecay_rule: [scaled, corrected]\n",
        "sweep.yaml:4:22: decay_rule: the decay of adam passes through its moments, where rule corrected has no "
        "meaning; adamw has all rules"),
    "cautious decay with adam": (
        BASE + "optimiser: adam\ndecay_rule: cautious\n",
        "sweep.yaml:4:13: decay_rule: the decay of adam passes through its moments, where rule cautious has no "
        "meaning; adamw has all rules"),
    "cautious decay with sgd": (
        BASE + "optimiser: sgd\ndecay_rule: cautious\n",
        "sweep.yaml:4:13: decay_rule: cautious needs an optimiser that decays the weights directly; sgd adds the decay "
        "to the gradient"),
    "cautious decay as a factor": (
        BASE + "decay: factor\ndecay_rule: cautious\n",
        "sweep.yaml:4:13: decay_rule: cautious chooses weight by weight; decay factor multiplies all of them"),
    "norms that stay at 0": (
        BASE + "zero_query_key: [false, true]\nfixed_norm: true\n",
        "sweep.yaml:4:13: fixed_norm: with zero_query_key, queries and keys start with norm 0, and would keep it; "
        "leave one of the two out"),
    "norms that stay at 0 in a cell": (
        BASE + "zero_query_key: true\nfixed_norm: [false, true]\n",
        "sweep.yaml:4:21: fixed_norm: with zero_query_key, queries and keys start with norm 0, and would keep it; "
        "leave one of the two out"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path):
    check_refused(tmp_path, *CASES[name])
