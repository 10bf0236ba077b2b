"""What a valid sweep probably does not mean: one line each from check, plan and run, and no error."""

import pytest

from conftest import tiny

SWEEP = tiny(heads=1, feedforward=8, batch=2) + """\
steps: 4
measure: {every: 2}
"""
DECAY = ": the decay of one step makes weights 0 at 1, reverses their signs above 1, and enlarges them above 2"
CASES = [
    ("learning_rate: [0.1, 1]\nweight_decay: [0.9, 1, 10]\n",
     "in 3 of 6 cells learning_rate * weight_decay is 1 or more", DECAY),
    ("learning_rate: [0.1, 1]\nweight_decay: [0.9, 1, 10]\nskip: [{weight_decay: 10}]\n",
     "in 1 of 4 cells learning_rate * weight_decay is 1 or more", DECAY),
    ("learning_rate: [0.1, 1]\nweight_decay: [0.5, 1]\ndecay_rule: independent\n",
     "in 2 of 4 cells weight_decay with decay_rule independent is 1 or more", DECAY),
    ("learning_rate: 0.1\nweight_decay: 20\ndecay_rule: [scaled, independent, corrected, cautious]\n",
     "in 4 of 4 cells learning_rate * weight_decay or weight_decay with decay_rule independent is 1 or more", DECAY),
    ("learning_rate: 1\nweight_decay: 2\noptimiser: [adam, sgd]\n",
     "in 1 of 2 cells learning_rate * weight_decay is 1 or more", DECAY),
    ("warmup_steps: [4, 5, 6]\n", "in 2 of 3 cells warmup_steps is more than steps: the warm-up does not end", ""),
    ("momentum: 0.9\n", ":12:11: momentum: has no effect: no cell has optimiser sgd", ""),
    ("momentum: [0, 0.9]\noptimiser: adam\n", ":12:11: momentum: has no effect: no cell has optimiser sgd", ""),
    ("optimiser: sgd\nbeta1: 0.5\n",
     ":13:8: beta1: has no effect: no cell has optimiser adamw, adam, lion or muon", ""),
    ("optimiser: adafactor\nbeta2: 0.5\n", ":13:8: beta2: has no effect", ""),
    ("optimiser: lion\nepsilon: 1e-6\n",
     ":13:10: epsilon: has no effect: no cell has optimiser adamw, adam or muon", ""),
    ("optimiser: sgd\ndecay: factor\n", ":13:8: decay: has no effect: no cell has optimiser adamw with", ""),
    ("weight_decay: 0\ndecay: factor\n", ":13:8: decay: has no effect", ""),
]


@pytest.mark.parametrize("text, line, why", CASES)
def test_one_line(tmp_path, normsweep, text, line, why):
    (tmp_path / "s.yaml").write_text(SWEEP + text)
    checked = normsweep("check", "s.yaml")
    assert checked.stdout.startswith("s.yaml: valid: ") and checked.stderr.count("\n") == 1
    assert line in checked.stderr and why in checked.stderr and checked.stderr.startswith("note: s.yaml:")


@pytest.mark.parametrize("text", [
    "learning_rate: [0.1, 1]\nweight_decay: 0.999\n", "learning_rate: 1\nweight_decay: 30\noptimiser: adam\n",
    "learning_rate: 10\nweight_decay: 0.5\ndecay_rule: independent\n",
    "optimiser: [adamw, sgd]\nmomentum: 0.9\nbeta1: 0.5\nbeta2: 0.9\nepsilon: 1e-6\ndecay: factor\n",
    "optimiser: muon\nbeta1: 0.5\nepsilon: 1e-6\n", "optimiser: adafactor\nmomentum: 0\nbeta1: 0.9\n",
    "warmup_steps: 4\n"])
def test_nothing_to_say(tmp_path, normsweep, text):
    (tmp_path / "s.yaml").write_text(SWEEP + text)
    assert normsweep("check", "s.yaml").stderr == ""


def test_plan_and_run_say_it_too(tmp_path, normsweep, monkeypatch):
    """Once, whatever the number of ranks; keys of --set are named as such."""
    monkeypatch.setenv("NORMSWEEP_PLAN_SECONDS", "0.1")
    (tmp_path / "s.yaml").write_text(SWEEP)
    options = ["--set", "weight_decay=[1, 2000]", "--set", "momentum=0.5"]
    expected = normsweep("check", "s.yaml", *options).stderr
    assert expected.splitlines()[0] == "note: --set momentum: has no effect: no cell has optimiser sgd"
    assert expected.count("\n") == 2 and "in 1 of 2 cells" in expected
    assert normsweep("plan", "s.yaml", *options).stderr == expected
    for jobs in ("0", "1"):
        assert normsweep("run", "s.yaml", *options, "-j", jobs, "--fresh").stderr == expected
