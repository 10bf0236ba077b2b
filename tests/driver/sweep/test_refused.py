"""Every refused sweep file with its exact line: status 2, nothing on stdout, one line on stderr."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("NORMSWEEP_BUILD", ROOT / "build")).resolve() / "normsweep"

BASE = "corpus: markov\nsteps: 10\n"  # lines 1 and 2 of most cases; theirs begins at 3
TEXT = "train_text: t.txt\nsteps: 10\n"
LATIN1 = "is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8"
TOGETHER = BASE + "together:\n  model:\n    small: {width: 128, heads: 4}\n"


def words(count):
    return b"a b c d\n" * (count // 4)


# name: (text of sweep.yaml, the line, settings, other files)
CASES = {
    # YAML
    "empty": ("", "sweep.yaml:1:1: empty"),
    "comment only": ("# nothing\n", "sweep.yaml:1:1: empty"),
    "null document": ("---\n", "sweep.yaml:2:1: a sweep file holds lines of the form key: value"),
    "a list": ("- a\n", "sweep.yaml:1:1: a sweep file holds lines of the form key: value"),
    "a word": ("hello\n", "sweep.yaml:1:1: a sweep file holds lines of the form key: value"),
    "syntax": (
        BASE + "layers: [1, 2\nwidth: 3\n",
        "sweep.yaml:4:6: YAML: did not find expected ',' or ']', while parsing a flow sequence",
    ),
    "tab": (
        BASE + "\tlayers: 1\n",
        "sweep.yaml:3:1: YAML: found a tab character that violates indentation, while scanning a plain scalar; "
        "a tab: indent with spaces",
    ),
    "tab before a key": (
        BASE + "measure:\n\tevery: 2\n",
        "sweep.yaml:4:1: YAML: found character that cannot start any token, while scanning for the next token; "
        "a tab: indent with spaces",
    ),
    "no space after a colon": (
        BASE + "layers:1\nwidth: 8\n",
        "sweep.yaml:4:1: YAML: could not find expected ':', while scanning a simple key; a space must follow ':'",
    ),
    "no space after the first colon": (
        "layers:1\n" + BASE,
        "sweep.yaml:2:7: YAML: mapping values are not allowed in this context; a space must follow ':'",
    ),
    "an indented key": (
        BASE + "  layers: 1\n",
        "sweep.yaml:3:9: YAML: mapping values are not allowed in this context; "
        "indented differently from the lines above?",
    ),
    "a key that is not indented enough": (
        BASE + "measure:\n   every: 2\n  metrics: [norms]\n",
        "sweep.yaml:5:3: YAML: did not find expected key, while parsing a block mapping; "
        "indented differently from the lines above?",
    ),
    "two colons": (
        BASE + "title: a: b\n",
        "sweep.yaml:3:9: YAML: mapping values are not allowed in this context",
    ),
    "unclosed quote": (
        BASE + 'title: "abc\n',
        "sweep.yaml:4:1: YAML: found unexpected end of stream, while scanning a quoted scalar",
    ),
    "several documents": (BASE + "---\nlayers: 1\n", "sweep.yaml:3:1: several documents in one file"),
    "alias bomb": (
        BASE + "title: &a [x, x]\nskip: [*a, *a, *a]\n",
        "sweep.yaml:3:8: anchors and aliases are not supported; write the value out",
    ),
    "alias": (BASE + "title: *a\n", "sweep.yaml:3:8: anchors and aliases are not supported; write the value out"),
    "tag": (BASE + "layers: !!int 3\n", "sweep.yaml:3:9: tags are not supported"),
    "not UTF-8": (BASE.encode() + b"title: \xff\xfe\n", f"sweep.yaml:3:8: {LATIN1}"),
    "half a character": (BASE.encode() + b"title: \xc3\n", f"sweep.yaml:3:8: {LATIN1}"),
    "half a character at the end": (BASE.encode() + b"title: \xc3", f"sweep.yaml:3:8: {LATIN1}"),
    "Latin-1 after UTF-8": (BASE.encode() + b"title: \xc3\xbc f\xfcr\n", f"sweep.yaml:3:11: {LATIN1}"),
    "Latin-1 in a comment": (BASE.encode() + b"# gr\xfc\xdfe\n", f"sweep.yaml:3:5: {LATIN1}"),
    "a control character before Latin-1": (
        BASE.encode() + b"title: a\x01\xfc\n",
        "sweep.yaml:3:9: YAML: control characters are not allowed",
    ),
    "UTF-16": ("corpus: markov\n".encode("utf-16"), "sweep.yaml:1:1: is UTF-16 and not UTF-8; save it as UTF-8"),
    "UTF-16 without a mark": (
        "corpus: markov\n".encode("utf-16-le"),
        "sweep.yaml:1:1: is UTF-16 and not UTF-8; save it as UTF-8",
    ),
    "UTF-16 of the other order": (
        "# \u6f22\n".encode("utf-16-be"),
        "sweep.yaml:1:1: is UTF-16 and not UTF-8; save it as UTF-8",
    ),
    "UTF-8 with a mark": (
        b"\xef\xbb\xbfcorpus: markov\nstepz: 3\n",
        "sweep.yaml:2:1: unknown key 'stepz'; did you mean 'steps'?",
    ),
    "UTF-8 with a mark, line 1": (
        b"\xef\xbb\xbfcorpuz: markov\nsteps: 3\n",
        "sweep.yaml:1:1: unknown key 'corpuz'; did you mean 'corpus'?",
    ),
    "a mark alone": (b"\xef\xbb\xbf", "sweep.yaml:1:1: empty"),
    "NUL": (BASE.encode() + b"title: a\0b\n", "sweep.yaml:3:9: YAML: control characters are not allowed"),
    "escaped NUL": (BASE + 'title: "a\\0b"\n', "sweep.yaml:3:8: a NUL byte in a text"),
    "control character": (
        BASE.encode() + b"title: a\x01b\n",
        "sweep.yaml:3:9: YAML: control characters are not allowed",
    ),
    "too deep": (BASE + "skip: " + "[" * 20 + "]" * 20 + "\n", "sweep.yaml:3:22: nested too deeply"),
    "very deep": (BASE + "skip: " + "[" * 100000 + "\n", "sweep.yaml:3:22: nested too deeply"),
    "key is a list": (BASE + "? [a, b]\n: 3\n", "sweep.yaml:3:3: a key must be a word"),
    "too large": (BASE + "# " + "x" * (1 << 20) + "\n", "sweep.yaml:1:1: larger than 1048576 bytes"),
    "repeated key": (BASE + "layers: 1\nsteps: 3\n", "sweep.yaml:4:1: repeated key 'steps'"),
    "repeated key of three": (
        BASE + "layers: 1\ncorpus: dyck\nlayers: 2\n",
        "sweep.yaml:4:1: repeated key 'corpus'",
    ),
    "repeated together": (
        TOGETHER + "together: {a: {b: {bias: true}}}\n",
        "sweep.yaml:6:1: repeated key 'together'",
    ),
    "repeated inner key": (BASE + "measure: {every: 1, every: 2}\n", "sweep.yaml:3:21: repeated key 'every'"),
    # keys
    "unknown key": (
        BASE + "learning_rte: 0.1\n",
        "sweep.yaml:3:1: unknown key 'learning_rte'; did you mean 'learning_rate'?",
    ),
    "unknown key far from all": (BASE + "spaceship: 1\n", "sweep.yaml:3:1: unknown key 'spaceship'"),
    "American spelling": (
        BASE + "optimizer: adam\n",
        "sweep.yaml:3:1: unknown key 'optimizer'; did you mean 'optimiser'?",
    ),
    "swapped letters": (BASE + "sede: 1\n", "sweep.yaml:3:1: unknown key 'sede'; did you mean 'seed'?"),
    "case": (BASE + "Layers: 1\n", "sweep.yaml:3:1: unknown key 'Layers'; did you mean 'layers'?"),
    "empty key": (
        BASE + ": 1\n",
        "sweep.yaml:3:1: YAML: did not find expected key, while parsing a block mapping",
    ),
    "long key": (
        BASE + "k" * 200 + ": 1\n",
        "sweep.yaml:3:1: unknown key 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...'",
    ),
    "key with line break": (BASE + '"a\\nb\\e[31m": 1\n', "sweep.yaml:3:1: unknown key 'a?b?[31m'"),
    "merge key": (BASE + "<<: {a: 1}\n", "sweep.yaml:3:1: unknown key '<<'"),
    # values
    "below": (
        BASE + "learning_rate: 0.1\nweight_decay: -0.1\n",
        "sweep.yaml:4:15: weight_decay: -0.1 is below 0",
    ),
    "below in a list": (
        BASE + "weight_decay: [0.1, -0.1]\n",
        "sweep.yaml:3:21: weight_decay: -0.1 is below 0",
    ),
    "not above": (BASE + "learning_rate: 0\n", "sweep.yaml:3:16: learning_rate: 0 is not above 0"),
    "above": (BASE + "threads: 100000\n", "sweep.yaml:3:10: threads: 100000 is above 1024"),
    "not below": (BASE + "beta2: 1\n", "sweep.yaml:3:8: beta2: 1 is not below 1"),
    "zero layers": (BASE + "layers: 0\n", "sweep.yaml:3:9: layers: 0 is below 1"),
    "negative batch": (BASE + "batch: -1\n", "sweep.yaml:3:8: batch: -1 is below 1"),
    "NaN": (BASE + "learning_rate: .nan\n", "sweep.yaml:3:16: learning_rate: .nan is not finite"),
    "nan": (BASE + "learning_rate: nan\n", "sweep.yaml:3:16: learning_rate: nan is not finite"),
    "infinity": (BASE + "weight_decay: .inf\n", "sweep.yaml:3:15: weight_decay: .inf is not finite"),
    "minus infinity": (BASE + "weight_decay: -.INF\n", "sweep.yaml:3:15: weight_decay: -.INF is not finite"),
    "infinity in a list": (
        BASE + "weight_decay: [0.1, Infinity]\n",
        "sweep.yaml:3:21: weight_decay: Infinity is not finite",
    ),
    "NaN in log": (
        BASE + "weight_decay: {log: [.nan, 1], points: 3}\n",
        "sweep.yaml:3:22: weight_decay: .nan is not finite",
    ),
    "overflow": (BASE + "weight_decay: 1e400\n", "sweep.yaml:3:15: weight_decay: 1e400 is too large"),
    "underflow": (BASE + "weight_decay: 1e-400\n", "sweep.yaml:3:15: weight_decay: 1e-400 is too close to 0"),
    "no number": (BASE + "weight_decay: much\n", "sweep.yaml:3:15: weight_decay: 'much' is not a number"),
    "hexadecimal": (BASE + "weight_decay: 0x1p3\n", "sweep.yaml:3:15: weight_decay: '0x1p3' is not a number"),
    "comma": (BASE + "weight_decay: 0,1\n", "sweep.yaml:3:15: weight_decay: '0,1' is not a number"),
    "trailing letters": (BASE + "weight_decay: 0.1f\n", "sweep.yaml:3:15: weight_decay: '0.1f' is not a number"),
    "underscore": (BASE + "batch: 1_000\n", "sweep.yaml:3:8: batch: '1_000' is not an integer"),
    "octal": (BASE + "seed: 010\n", "sweep.yaml:3:7: seed: '010' is not an integer"),
    "sexagesimal": (BASE + "seed: 1:30\n", "sweep.yaml:3:7: seed: '1:30' is not an integer"),
    "quoted number": (
        BASE + 'weight_decay: "0.1"\n',
        "sweep.yaml:3:15: weight_decay: '0.1' is a text; write a number without quotes",
    ),
    "fraction": (BASE + "layers: 2.5\n", "sweep.yaml:3:9: layers: 2.5 is not an integer"),
    "integer too large": (
        BASE + "seed: 9223372036854775808\n",
        "sweep.yaml:3:7: seed: 9223372036854775808 is too large for 64 bits",
    ),
    "integer inexact": (BASE + "seed: 1e17\n", "sweep.yaml:3:7: seed: 1e17 is not an integer"),
    "no value": (BASE + "learning_rate:\n", "sweep.yaml:3:15: learning_rate: no value"),
    "null": (BASE + "learning_rate: null\n", "sweep.yaml:3:16: learning_rate: no value"),
    "tilde": (BASE + "title: ~\n", "sweep.yaml:3:8: title: no value"),
    "unknown word": (
        BASE + "norm_placement: pree\n",
        "sweep.yaml:3:17: norm_placement: 'pree' is not one of post, pre, out",
    ),
    "unknown corpus": (
        "corpus: wiki\nsteps: 1\n",
        "sweep.yaml:1:9: corpus: 'wiki' is not one of text, bytes, markov, dyck, counter",
    ),
    "no boolean": (BASE + "bias: yes\n", "sweep.yaml:3:7: bias: 'yes' is neither true nor false"),
    "one as a boolean": (BASE + "bias: 1\n", "sweep.yaml:3:7: bias: '1' is neither true nor false"),
    "a list for a text": (BASE + "title: [a]\n", "sweep.yaml:3:8: title: takes one value, not a list"),
    "a list for a single value": (
        "corpus: [markov, dyck]\nsteps: 1\n",
        "sweep.yaml:1:9: corpus: takes one value, not a list",
    ),
    "a list for save_weights": (
        BASE + "save_weights: [true, false]\n",
        "sweep.yaml:3:15: save_weights: takes one value, not a list",
    ),
    "a rule for a single value": (
        BASE + "corpus_seed: {range: [0, 2]}\n",
        "sweep.yaml:3:14: corpus_seed: takes one value, not a list",
    ),
    "a list in a list": (
        BASE + "seed: [1, [2, 3]]\n",
        "sweep.yaml:3:11: seed: takes one value, not a list",
    ),
    "a map in a list": (
        BASE + "seed: [1, {range: [2, 3]}]\n",
        "sweep.yaml:3:11: seed: takes one value, not a mapping",
    ),
    "empty output": (BASE + 'output: ""\n', "sweep.yaml:3:9: output: an empty path"),
    "checkpoint_minutes": (
        BASE + "checkpoint_minutes: 0\n",
        "sweep.yaml:3:21: checkpoint_minutes: 0 is not above 0",
    ),
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
        "sweep.yaml:3:22: weight_decay: log: 0 is not above 0",
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
        "sweep.yaml:1:1: epochs: give exactly one of epochs and steps, at least 1",
    ),
    "both": (BASE + "epochs: 1\n", "sweep.yaml:2:8: steps: give exactly one of epochs and steps, at least 1"),
    "both, one an axis": (
        BASE + "epochs: [1, 2]\n",
        "sweep.yaml:2:8: steps: give exactly one of epochs and steps, at least 1",
    ),
    "neither in a cell": (
        "corpus: markov\nsteps: [0, 10]\n",
        "sweep.yaml:2:9: epochs: give exactly one of epochs and steps, at least 1",
    ),
    "both in together": (
        "corpus: markov\ntogether:\n  a:\n    x: {steps: 10, epochs: 0}\n    y: {steps: 10, epochs: 1}\n",
        "sweep.yaml:5:16: steps: give exactly one of epochs and steps, at least 1",
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
        "sweep.yaml:3:16: a: a control character in label 'x?y'",
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
    # measure, validate
    "measure: a number": (
        BASE + "measure: 100\n",
        "sweep.yaml:3:10: measure: takes {every: N | steps: [N], metrics: [word]}",
    ),
    "measure: every 0": (BASE + "measure: {every: 0}\n", "sweep.yaml:3:18: measure.every: 0 is below 1"),
    "measure: every and steps": (
        BASE + "measure: {every: 5, steps: [1]}\n",
        "sweep.yaml:3:21: measure: give either every or steps",
    ),
    "measure: no key": (
        BASE + "measure: {~: 5}\n",
        "sweep.yaml:3:11: measure: '~' is not one of every, steps, metrics",
    ),
    "validate: no key": (
        BASE + "validate: {null: 5}\n",
        "sweep.yaml:3:12: validate: 'null' is not one of every, tokens",
    ),
    "measure: unknown": (
        BASE + "measure: {evry: 5}\n",
        "sweep.yaml:3:11: measure: 'evry' is not one of every, steps, metrics",
    ),
    "measure: unknown metrics": (
        BASE + "measure: {metrics: [nroms]}\n",
        "sweep.yaml:3:21: measure.metrics: 'nroms' is not one of norms, alignment, saturation, heads, homogeneity, "
        "gradients, hessian, hessian_layers, residual, lyapunov",
    ),
    "measure: metrics twice": (
        BASE + "measure: {metrics: [norms, norms]}\n",
        "sweep.yaml:3:28: measure.metrics: norms appears twice",
    ),
    "measure: metrics no list": (
        BASE + "measure: {metrics: norms}\n",
        "sweep.yaml:3:20: measure.metrics: takes a list",
    ),
    "measure: steps no list": (
        BASE + "measure: {steps: 3}\n",
        "sweep.yaml:3:18: measure.steps: takes a list",
    ),
    "measure: negative step": (
        BASE + "measure: {steps: [0, -1]}\n",
        "sweep.yaml:3:22: measure.steps: -1 is below 0",
    ),
    "measure: equal steps": (
        BASE + "measure: {steps: [0, 1, 1]}\n",
        "sweep.yaml:3:25: measure.steps: 1 appears twice",
    ),
    "measure: too many": (
        "corpus: markov\nsteps: 1e12\n",
        "sweep.yaml:2:8: measure: 1e+10 measured steps in 1000000000000; the limit is 10000000",
    ),
    "validate: a word": (
        BASE + "validate: end\n",
        "sweep.yaml:3:11: validate: takes {every: end | N, tokens: N | all}",
    ),
    "validate: every word": (
        BASE + "validate: {every: sometimes}\n",
        "sweep.yaml:3:19: validate.every: 'sometimes' is neither end nor an integer",
    ),
    "validate: every fraction": (
        BASE + "validate: {every: 1.5}\n",
        "sweep.yaml:3:19: validate.every: 1.5 is not an integer",
    ),
    "validate: tokens 0": (
        BASE + "validate: {tokens: 0}\n",
        "sweep.yaml:3:20: validate.tokens: 0 is below 1",
    ),
    "validate: unknown": (
        BASE + "validate: {steps: 0}\n",
        "sweep.yaml:3:12: validate: 'steps' is not one of every, tokens",
    ),
    "validate: tokens beyond all": (
        BASE + "validate: {tokens: 1e13}\n",
        "sweep.yaml:3:20: validate.tokens: 10000000000000 is above 1000000000000",
    ),
    "gradient_batches: 0": (
        BASE + "measure: {metrics: [gradients]}\ngradient_batches: 0\n",
        "sweep.yaml:4:19: gradient_batches: 0 is below 1",
    ),
    "gradient_batches: too many": (
        BASE + "measure: {metrics: [gradients]}\ngradient_batches: 1e6\n",
        "sweep.yaml:4:19: gradient_batches: 1000000 is above 100000",
    ),
    "gradient_batches: a list": (
        BASE + "measure: {metrics: [gradients]}\ngradient_batches: [1, 2]\n",
        "sweep.yaml:4:19: gradient_batches: takes one value, not a list",
    ),
    "gradient_batches: a word": (
        BASE + "measure: {metrics: [gradients]}\ngradient_batches: all\n",
        "sweep.yaml:4:19: gradient_batches: 'all' is not an integer",
    ),
    "gradient_batches: without gradients": (
        BASE + "gradient_batches: 5\n",
        "sweep.yaml:3:19: gradient_batches: without effect; measure.metrics lacks gradients",
    ),
    "lyapunov_exponents: 0": (
        BASE + "measure: {metrics: [lyapunov]}\nlyapunov_exponents: 0\n",
        "sweep.yaml:4:21: lyapunov_exponents: 0 is below 1",
    ),
    "lyapunov_sweeps: too many": (
        BASE + "measure: {metrics: [lyapunov]}\nlyapunov_sweeps: 1e5\n",
        "sweep.yaml:4:18: lyapunov_sweeps: 100000 is above 10000",
    ),
    "lyapunov_sweeps: without lyapunov": (
        BASE + "lyapunov_sweeps: 0\n",
        "sweep.yaml:3:18: lyapunov_sweeps: without effect; measure.metrics lacks lyapunov",
    ),
    "hessian.every: no multiple of measure.every": (
        BASE + "measure: {every: 4, metrics: [hessian]}\nhessian: {every: 6}\n",
        "sweep.yaml:4:10: hessian.every: 6 is not a multiple of measure.every 4",
    ),
    "hessian.every: meets no measured step": (
        BASE + "measure: {steps: [0, 2, 5], metrics: [hessian]}\nhessian: {every: 4}\n",
        "sweep.yaml:4:10: hessian.every: no step above 0 of measure.steps is a multiple of 4",
    ),
    # corpora
    "train_text missing": ("epochs: 1\n", "sweep.yaml:1:1: train_text: missing; corpus text needs one"),
    "train_text missing for bytes": (
        "corpus: bytes\nepochs: 1\n",
        "sweep.yaml:1:9: train_text: missing; corpus bytes needs one",
    ),
    "train_text with markov": (
        BASE + "train_text: t.txt\n",
        "sweep.yaml:3:13: train_text: corpus markov does not use it",
    ),
    "saturation without a valid_text": (
        TEXT + "measure: {metrics: [norms, saturation]}\n",
        "sweep.yaml:3:10: measure.metrics: saturation is measured on valid_text, which is missing",
    ),
    "valid_text with dyck": (
        "corpus: dyck\nsteps: 1\nvalid_text: t.txt\n",
        "sweep.yaml:3:13: valid_text: corpus dyck does not use it",
    ),
    "vocabulary with text": (
        TEXT + "vocabulary: 100\n",
        "sweep.yaml:3:13: vocabulary: corpus text does not use it",
    ),
    "vocabulary with counter": (
        "corpus: counter\nsteps: 1\nvocabulary: 100\n",
        "sweep.yaml:3:13: vocabulary: corpus counter does not use it",
    ),
    "corpus_tokens with text": (
        TEXT + "corpus_tokens: 100\n",
        "sweep.yaml:3:16: corpus_tokens: corpus text does not use it",
    ),
    "corpus_seed with bytes": (
        "corpus: bytes\n" + TEXT + "corpus_seed: 1\n",
        "sweep.yaml:4:14: corpus_seed: corpus bytes does not use it",
    ),
    "even dyck": (
        "corpus: dyck\nsteps: 1\nvocabulary: 4\n",
        "sweep.yaml:3:13: vocabulary: 4 is even; dyck has two words for each kind of bracket "
        "and one for the end of a line",
    ),
    "no such text": (
        "epochs: 1\ntrain_text: wiki.txt\n",
        "sweep.yaml:2:13: train_text: wiki.txt: No such file or directory",
    ),
    "no such valid_text": (
        TEXT + "valid_text: v.txt\n",
        "sweep.yaml:3:13: valid_text: v.txt: No such file or directory",
        [], {"t.txt": words(4000)},
    ),
    "a folder as text": ("epochs: 1\ntrain_text: .\n", "sweep.yaml:2:13: train_text: .: Is a directory"),
    "empty text": (TEXT, "sweep.yaml:1:13: train_text: t.txt: empty", [], {"t.txt": b""}),
    "text of blanks": (
        TEXT,
        "sweep.yaml:1:13: train_text: t.txt: only white space, no words",
        [], {"t.txt": b" \n \n"},
    ),
    "text with NUL": (
        TEXT,
        "sweep.yaml:1:13: train_text: t.txt:2: a NUL byte: this is not a text",
        [], {"t.txt": b"a b\nc \0 d\n"},
    ),
    "text shorter than a window": (
        TEXT,
        "sweep.yaml:1:13: train_text: t.txt: 0 sequences of 64 tokens, fewer than one batch of 16",
        [], {"t.txt": words(40)},
    ),
    "text shorter than a batch": (
        TEXT,
        "sweep.yaml:1:13: train_text: t.txt: 12 sequences of 64 tokens, fewer than one batch of 16",
        [], {"t.txt": words(640)},
    ),
    "lines fewer than a batch": (
        TEXT + "sequences: lines\n",
        "sweep.yaml:1:13: train_text: t.txt: 10 sequences of up to 64 tokens, fewer than one batch of 16",
        [], {"t.txt": words(40)},
    ),
    "text shorter in one cell": (
        TEXT + "batch: [16, 32]\n",
        "sweep.yaml:1:13: train_text: t.txt: 23 sequences of 64 tokens, fewer than one batch of 32",
        [], {"t.txt": words(1200)},
    ),
    "valid_text shorter than a window": (
        TEXT + "valid_text: v.txt\n",
        "sweep.yaml:3:13: valid_text: v.txt: 0 sequences of 64 tokens",
        [], {"t.txt": words(4000), "v.txt": words(40)},
    ),
    "word outside the vocabulary": (
        TEXT + "valid_text: v.txt\n",
        "sweep.yaml:3:13: valid_text: v.txt:2: 'x' is not in the vocabulary and there is no <unk>",
        [], {"t.txt": words(4000), "v.txt": b"a b\nc x\n"},
    ),
    "corpus_tokens too few": (
        BASE + "corpus_tokens: 100\n",
        "sweep.yaml:3:16: corpus_tokens: markov: 1 sequence of 64 tokens, fewer than one batch of 16",
    ),
    # --set
    "set: unknown key": (
        BASE,
        "--set: unknown key 'learning_rte'; did you mean 'learning_rate'?",
        ["learning_rte=0.1"],
    ),
    "set: no equals": (BASE, "--set learning_rate: takes key=value", ["learning_rate"]),
    "set: out of bounds": (BASE, "--set weight_decay: -0.1 is below 0", ["weight_decay=-0.1"]),
    "set: out of bounds in a list": (
        BASE,
        "--set weight_decay: -0.1 is below 0",
        ["weight_decay=[0.1, -0.1]"],
    ),
    "set: no YAML": (
        BASE,
        "--set weight_decay: YAML: did not find expected ',' or ']', while parsing a flow sequence",
        ["weight_decay=[0.1"],
    ),
    "set: empty key": (BASE, "--set: unknown key ''", ["=3"]),
    "set: removed unknown key": (BASE, "--set: unknown key 'stps'; did you mean 'steps'?", ["stps="]),
    "set: removed steps": (
        BASE,
        "sweep.yaml:1:1: epochs: give exactly one of epochs and steps, at least 1",
        ["steps="],
    ),
    "set: alias": (
        BASE,
        "--set weight_decay: anchors and aliases are not supported; write the value out",
        ["weight_decay=*a"],
    ),
    "set: documents": (BASE, "--set weight_decay: several documents in one file", ["weight_decay=1\n---\n2"]),
    "set: missing text": (
        "steps: 10\n",
        "--set train_text: none.txt: No such file or directory",
        ["train_text=none.txt"],
    ),
    "set: heads": (BASE + "width: 66\n", "--set heads: 5 does not divide width 66", ["heads=5"]),
    "set: in together too": (TOGETHER, "--set heads: given both in together and on its own", ["heads=2"]),
}


def case(text, line, settings=(), files=None):
    return text, line, settings, files


def check(folder, text, settings=(), files=None):
    (folder / "sweep.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, content in (files or {}).items():
        (folder / name).write_bytes(content)
    command = [PROGRAM, "check", "sweep.yaml"]
    for setting in settings:
        command += ["--set", setting]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=60, env={**os.environ, "LC_ALL": "C"})


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path):
    text, line, settings, files = case(*CASES[name])
    done = check(tmp_path, text, settings, files)
    assert done.stderr.decode() == line + "\n"
    assert done.stdout == b""
    assert done.returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["sweep.yaml", *(files or {})])


def test_sweep_file_that_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    for name, options in (("pipe.yaml", {}), ("/dev/stdin", {"input": b"steps: 10\n"}), ("/dev/zero", {})):
        done = subprocess.run([PROGRAM, "check", name], cwd=tmp_path, capture_output=True, timeout=60, **options)
        assert done.stderr.decode() == f"{name}:1:1: not a regular file\n" and done.returncode == 2


def test_an_every_that_meets_a_measured_step(tmp_path):
    done = check(tmp_path, BASE + "measure: {steps: [0, 2, 5, 8], metrics: [hessian]}\nhessian: {every: 4}\n")
    assert (done.stdout, done.stderr) == (b"sweep.yaml: valid: 1 cell\n", b"")


def test_a_byte_order_mark_is_skipped(tmp_path):
    done = check(tmp_path, b"\xef\xbb\xbf" + BASE.encode())
    assert (done.stdout, done.stderr) == (b"sweep.yaml: valid: 1 cell\n", b"")
