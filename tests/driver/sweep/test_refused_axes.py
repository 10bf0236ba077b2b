"""Refused sweep files: lists, conditions on several keys, together, skip."""

import pytest

from refused import BASE, TOGETHER, check_refused

# name: (text of sweep.yaml, the line, settings, other files)
CASES = {
    # lists
    "equal values": (
        BASE + "learning_rate: [1e-3, 1e-2, 0.001]\n",
        "sweep.yaml:3:29: learning_rate: 0.001 appears twice",
    ),
    "equal words": (
        BASE + "norm_placement: [pre, out, pre]\n",
        "sweep.yaml:3:28: norm_placement: pre appears twice",
    ),
    "equal booleans": (BASE + "bias: [true, True]\n", "sweep.yaml:3:14: bias: true appears twice"),
    "equal by plus": (BASE + "seed: {range: [0, 3], plus: [2]}\n", "sweep.yaml:3:7: seed: 2 appears twice"),
    "equal zeros": (BASE + "weight_decay: [0, -0.0]\n", "sweep.yaml:3:19: weight_decay: 0 appears twice"),
    "equal by rounding": (
        BASE + "weight_decay: {log: [1, 1.000000000001], points: 5}\n",
        "sweep.yaml:3:15: weight_decay: 1 appears twice",
    ),
    "empty list": (BASE + "seed: []\n", "sweep.yaml:3:7: seed: an empty list"),
    "empty map": (BASE + "seed: {}\n", "sweep.yaml:3:7: seed: give either range or log"),
    "unknown rule": (
        BASE + "seed: {rnge: [0, 1]}\n",
        "sweep.yaml:3:8: seed: 'rnge' is not one of range, log, points, plus; did you mean 'range'?",
    ),
    "range and log": (
        BASE + "seed: {range: [0, 1], log: [1, 2], points: 2}\n",
        "sweep.yaml:3:7: seed: give either range or log",
    ),
    "plus alone": (BASE + "seed: {plus: [0, 1]}\n", "sweep.yaml:3:7: seed: give either range or log"),
    "plus no list": (BASE + "seed: {range: [0, 1], plus: 3}\n", "sweep.yaml:3:29: seed: plus takes a list"),
    "range of one": (BASE + "seed: {range: [0]}\n", "sweep.yaml:3:15: seed: range takes [first, last]"),
    "range of a number": (BASE + "seed: {range: 3}\n", "sweep.yaml:3:15: seed: range takes [first, last]"),
    "range of fractions": (
        BASE + "weight_decay: {range: [0.5, 2.5]}\n",
        "sweep.yaml:3:24: weight_decay: range without points: 0.5 is not an integer",
    ),
    "range of integers to fractions": (
        BASE + "layers: {range: [1, 4], points: 3}\n",
        "sweep.yaml:3:17: layers: 2.5 is not an integer",
    ),
    "log without points": (
        BASE + "weight_decay: {log: [1, 2]}\n",
        "sweep.yaml:3:15: weight_decay: log needs points",
    ),
    "log of zero": (
        BASE + "weight_decay: {log: [0, 1], points: 3}\n",
        "sweep.yaml:3:22: weight_decay: log: 0 is not above 0; plus: [0] adds it",
    ),
    "one point": (
        BASE + "weight_decay: {log: [0.1, 1], points: 1}\n",
        "sweep.yaml:3:39: points: 1 is below 2",
    ),
    "range of words": (
        BASE + "norm_placement: {range: [0, 1]}\n",
        "sweep.yaml:3:17: norm_placement: range and log are for numbers only",
    ),
    "range out of bounds": (BASE + "layers: {range: [0, 3]}\n", "sweep.yaml:3:17: layers: 0 is below 1"),
    "huge range": (
        BASE + "seed: {range: [-9223372036854775808, 9223372036854775807]}\n",
        "sweep.yaml:3:15: seed: 1.8446744e+19 values; the limit is 10000000",
    ),
    "huge points": (
        BASE + "weight_decay: {range: [0, 1], points: 1000000000000}\n",
        "sweep.yaml:3:39: weight_decay: 1e+12 values; the limit is 10000000",
    ),
    "huge grid": (
        BASE + "seed: {range: [1, 10000]}\nlayers: {range: [1, 2000]}\n",
        "sweep.yaml:4:9: layers: with this axis the grid has 20000000 cells; the limit is 10000000",
    ),
    # steps and epochs
    "neither": (
        "corpus: markov\n",
        "sweep.yaml:1:1: steps: give either epochs or steps, at least 1, and set the other to 0",
    ),
    "both": (
        BASE + "epochs: 1\n",
        "sweep.yaml:2:8: steps: give either epochs or steps, at least 1, and set the other to 0",
    ),
    "both, one an axis": (
        BASE + "epochs: [1, 2]\n",
        "sweep.yaml:2:8: steps: give either epochs or steps, at least 1, and set the other to 0",
    ),
    "neither in a cell": (
        "corpus: markov\nsteps: [0, 10]\n",
        "sweep.yaml:2:9: steps: give either epochs or steps, at least 1, and set the other to 0",
    ),
    "both in together": (
        "corpus: markov\ntogether:\n  a:\n    x: {steps: 10, epochs: 0}\n    y: {steps: 10, epochs: 1}\n",
        "sweep.yaml:5:16: steps: give either epochs or steps, at least 1, and set the other to 0",
    ),
    # heads
    "heads": (BASE + "width: 66\nheads: 4\n", "sweep.yaml:4:8: heads: 4 does not divide width 66"),
    "default heads": (BASE + "width: 66\n", "sweep.yaml:3:8: heads: 4 does not divide width 66"),
    "heads in one cell": (
        BASE + "width: [64, 96]\nheads: [4, 64]\n",
        "sweep.yaml:4:12: heads: 64 does not divide width 96",
    ),
    "heads in together": (
        TOGETHER + "    large: {width: 256, heads: 7}\n",
        "sweep.yaml:6:32: heads: 7 does not divide width 256",
    ),
    "too many layers": (
        BASE + "layers: 131072\n",
        "sweep.yaml:3:9: layers: 131072 is above 131071",
    ),
    "a model too large": (
        BASE + "width: 2000000000\nheads: 1\n",
        "sweep.yaml:3:8: width: a model of 3.2e+19 parameters is too large",
    ),
    # together
    "together: a list": (BASE + "together: [a]\n", "sweep.yaml:3:11: together: takes {key: value, ...}"),
    "together: empty": (BASE + "together: {}\n", "sweep.yaml:3:11: together: empty"),
    "together: axis empty": (BASE + "together: {a: {}}\n", "sweep.yaml:3:15: a: empty"),
    "together: label empty": (BASE + "together: {a: {b: {}}}\n", "sweep.yaml:3:19: b: empty"),
    "together: label a number": (
        BASE + "together: {a: {b: 3}}\n",
        "sweep.yaml:3:19: b: takes {key: value, ...}",
    ),
    "together: like a parameter": (
        BASE + "together: {width: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'width' has the name of a key",
    ),
    "together: like a key": (
        BASE + "together: {title: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'title' has the name of a key",
    ),
    "together: like a metric": (
        BASE + "together: {param_norm: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'param_norm' has the name of a variable or dimension of the dataset",
    ),
    "together: like a variable": (
        BASE + "together: {outcome: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'outcome' has the name of a variable or dimension of the dataset",
    ),
    "together: like a dimension": (
        BASE + "together: {step: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'step' has the name of a variable or dimension of the dataset",
    ),
    "together: like an argument of sel": (
        BASE + "together: {method: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: axis 'method' has the name of an argument of xarray's sel, "
        "which could not select along it",
    ),
    "together: no name": (
        BASE + "together: {a b: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: 'a b' is not a name: use at most 64 letters, digits and "
        "underscores, a letter first",
    ),
    "together: name with a slash": (
        BASE + "together: {a/b: {a: {heads: 2}}}\n",
        "sweep.yaml:3:12: together: 'a/b' is not a name: use at most 64 letters, digits and "
        "underscores, a letter first",
    ),
    "together: another key": (
        TOGETHER + "    large: {width: 256, layers: 8}\n",
        "sweep.yaml:6:25: model: 'large' sets layers, which 'small' does not",
    ),
    "together: a key less": (
        TOGETHER + "    large: {width: 256}\n",
        "sweep.yaml:6:5: model: 'large' does not set heads, which 'small' sets",
    ),
    "together: a key more": (
        TOGETHER + "    large: {width: 256, heads: 8, layers: 3}\n",
        "sweep.yaml:6:35: model: 'large' sets layers, which 'small' does not",
    ),
    "together: unknown key": (
        TOGETHER + "    large: {widht: 256, heads: 8}\n",
        "sweep.yaml:6:13: unknown key 'widht'; did you mean 'width'?",
    ),
    "together: unknown key first": (
        BASE + "together: {a: {b: {widht: 3}}}\n",
        "sweep.yaml:3:20: unknown key 'widht'; did you mean 'width'?",
    ),
    "together: list as value": (
        BASE + "together: {a: {b: {width: [64, 128]}}}\n",
        "sweep.yaml:3:27: width: takes one value, not a list",
    ),
    "together: out of bounds": (
        BASE + "together: {a: {b: {width: 0}}}\n",
        "sweep.yaml:3:27: width: 0 is below 1",
    ),
    "together: no axis": (
        BASE + "together: {a: {b: {corpus_seed: 3}}}\n",
        "sweep.yaml:3:20: corpus_seed: has one value in a sweep and cannot be part of together",
    ),
    "together: train_text": (
        BASE + "together: {a: {b: {train_text: x}}}\n",
        "sweep.yaml:3:20: train_text: has one value in a sweep and cannot be part of together",
    ),
    "together: and on its own": (
        TOGETHER + "heads: 4\n",
        "sweep.yaml:6:8: heads: given both in together and on its own",
    ),
    "together: on its own before": (
        BASE + "heads: 2\n" + TOGETHER[len(BASE):],
        "sweep.yaml:6:32: heads: given both in together and on its own",
    ),
    "together: twice": (
        TOGETHER + "  other:\n    a: {heads: 2}\n",
        "sweep.yaml:7:16: heads: given in two axes of together",
    ),
    "together: equal labels": (
        TOGETHER + "    small: {width: 256, heads: 8}\n",
        "sweep.yaml:6:5: repeated key 'small'",
    ),
    "together: equal values": (
        TOGETHER + "    big: {width: 256, heads: 4}\n    also: {heads: 4, width: 128}\n",
        "sweep.yaml:7:5: model: 'small' and 'also' set the same values",
    ),
    "together: empty label": (
        BASE + 'together: {a: {"": {width: 64}}}\n',
        "sweep.yaml:3:16: a: an empty label",
    ),
    "together: long label": (
        BASE + "together: {a: {" + "l" * 300 + ": {width: 64}}}\n",
        "sweep.yaml:3:16: a: label 'llllllllllllllllllllllllllllllllllllllll...' is longer than 255 bytes",
    ),
    "together: label with a line break": (
        BASE + 'together: {a: {"x\\ny": {width: 64}}}\n',
        "sweep.yaml:3:16: a: a control character in label 'x\\ny'",
    ),
    # skip
    "skip: no list": (BASE + "skip: {seed: 1}\n", "sweep.yaml:3:7: skip: takes a list of {key: value, ...}"),
    "skip: no entry": (BASE + "skip: [seed]\n", "sweep.yaml:3:8: skip: an entry takes {key: value, ...}"),
    "skip: empty entry": (BASE + "skip: [{}]\n", "sweep.yaml:3:8: skip: an entry takes {key: value, ...}"),
    "skip: unknown key": (
        BASE + "seed: [1, 2]\nskip: [{sed: 1}]\n",
        "sweep.yaml:4:9: skip: 'sed' is neither an axis nor a parameter; did you mean 'seed'?",
    ),
    "skip: no match": (
        BASE + "seed: [1, 2]\nskip:\n  - {seed: 1}\n  - {seed: 3}\n",
        "sweep.yaml:6:5: skip: no cell matches this entry",
    ),
    "skip: no such label": (
        TOGETHER + "    large: {width: 256, heads: 8}\nskip: [{model: lrge}]\n",
        "sweep.yaml:7:16: model: 'lrge' is not one of small, large",
    ),
    "skip: parts match apart": (
        TOGETHER + "    large: {width: 256, heads: 8}\nskip: [{model: small, width: 256}]\n",
        "sweep.yaml:7:8: skip: no cell matches this entry",
    ),
    "skip: fixed value": (
        BASE + "seed: [1, 2]\nskip: [{layers: 7}]\n",
        "sweep.yaml:4:8: skip: no cell matches this entry",
    ),
    "skip: bad word": (
        BASE + "norm_placement: [pre, post]\nskip: [{norm_placement: pst}]\n",
        "sweep.yaml:4:25: norm_placement: 'pst' is not one of post, pre, out",
    ),
    "skip: all": (
        BASE + "seed: [1, 2]\nskip: [{seed: [1, 2]}]\n",
        "sweep.yaml:4:7: skip: leaves no cell to run",
    ),
    "skip: all without axes": (BASE + "skip: [{layers: 2}]\n", "sweep.yaml:3:7: skip: leaves no cell to run"),
    "skip: beyond 1e-9": (
        BASE + "weight_decay: [0.1, 0.2]\nskip: [{weight_decay: 0.1000000002}]\n",
        "sweep.yaml:4:8: skip: no cell matches this entry",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path):
    check_refused(tmp_path, *CASES[name])
