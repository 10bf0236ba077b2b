"""Refused sweep files: YAML, keys, values, --set."""

import os
import subprocess

import pytest

from refused import BASE, PROGRAM, TOGETHER, check, check_refused

LATIN1 = "is not UTF-8; if it is Latin-1, convert it with iconv -f latin1 -t utf-8"

NO_STATE_EARLY = ("save_weights: state keeps no more than true: every cell has stop_when phase, with which steps "
                  "cannot grow")
NO_STATE = ("save_weights: state keeps no more than true: no cell has steps, and a rate that at first does not depend "
            "on them")

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
    "half of a short word": (BASE + "clip: 1\n", "sweep.yaml:3:1: unknown key 'clip'; did you mean 'gradient_clip'?"),
    "another short word": (BASE + "sort: 1\n", "sweep.yaml:3:1: unknown key 'sort'"),
    "case": (BASE + "Layers: 1\n", "sweep.yaml:3:1: unknown key 'Layers'; did you mean 'layers'?"),
    "empty key": (
        BASE + ": 1\n",
        "sweep.yaml:3:1: YAML: did not find expected key, while parsing a block mapping",
    ),
    "long key": (
        BASE + "k" * 200 + ": 1\n",
        "sweep.yaml:3:1: unknown key 'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...'",
    ),
    "key with line break": (BASE + '"a\\nb\\e[31m": 1\n', "sweep.yaml:3:1: unknown key 'a\\nb\\x1b[31m'"),
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
    "list without brackets": (
        BASE + "weight_decay: 1e-3, 1e-2\n",
        "sweep.yaml:3:15: weight_decay: '1e-3, 1e-2' is not a number; write a list: [1e-3, 1e-2]",
    ),
    "integers without brackets": (
        BASE + "seed: 1,2,3\n", "sweep.yaml:3:7: seed: '1,2,3' is not an integer; write a list: [1,2,3]"),
    "words with a comma": (BASE + "weight_decay: 1, a\n", "sweep.yaml:3:15: weight_decay: '1, a' is not a number"),
    "empty item": (BASE + "weight_decay: 1, ,2\n", "sweep.yaml:3:15: weight_decay: '1, ,2' is not a number"),
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
        "sweep.yaml:1:9: corpus: 'wiki' is not one of text, bytes, markov, dyck, counter, tokens, "
        "pairs, modular",
    ),
    "no boolean": (BASE + "bias: yes\n", "sweep.yaml:3:7: bias: 'yes' is neither true nor false"),
    "one as a boolean": (BASE + "bias: 1\n", "sweep.yaml:3:7: bias: '1' is neither true nor false"),
    "a list for a text": (BASE + "title: [a]\n", "sweep.yaml:3:8: title: takes one value, not a list"),
    "a list for a single value": (
        "corpus: [markov, dyck]\nsteps: 1\n",
        "sweep.yaml:1:9: corpus: takes one value, not a list",
    ),
    "no state with epochs": ("corpus: markov\nepochs: 1\nsave_weights: state\n", "sweep.yaml:3:15: " + NO_STATE),
    "no state with linear": (BASE + "schedule: linear\nsave_weights: state\n", "sweep.yaml:4:15: " + NO_STATE),
    "no state with cosine": (
        BASE + "schedule: [linear, cosine]\nsave_weights: state\n",
        "sweep.yaml:4:15: " + NO_STATE,
    ),
    "no state with a long decay": (
        BASE + "schedule: wsd\nschedule_decay: 1\nsave_weights: state\n",
        "sweep.yaml:5:15: " + NO_STATE,
    ),
    "no state of runs that end early": (
        BASE + "stop_when: phase\nsave_weights: state\n",
        "sweep.yaml:4:15: " + NO_STATE_EARLY,
    ),
    "no state of the only runs that do not end early": (
        BASE + "schedule: [constant, linear]\nstop_when: [never, phase]\n"
        "skip: [{schedule: constant, stop_when: never}]\nsave_weights: state\n",
        "sweep.yaml:6:15: " + NO_STATE,
    ),
    "a start without a falling rate": (
        BASE + "schedule: [constant, wsd]\nschedule_start: 5\n",
        "sweep.yaml:4:17: schedule_start: has no effect: no cell has schedule linear, cosine or inverse_sqrt",
    ),
    "a word that is not a boolean": (
        BASE + "save_weights: Yes\n",
        "sweep.yaml:3:15: save_weights: 'Yes' is not one of false, true, state",
    ),
    "a boolean that is not a word": (
        BASE + "schedule: True\n",
        "sweep.yaml:3:11: schedule: 'True' is not one of constant, linear, inverse_sqrt, cosine, wsd",
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
        "--set steps: give either epochs or steps, at least 1, and set the other to 0",
        ["steps=null"],
    ),
    "set: removed text": (
        "corpus: text\ntrain_text: a.txt\nsteps: 10\n",
        "--set train_text: missing; corpus text needs one",
        ["train_text=null"],
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


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path):
    check_refused(tmp_path, *CASES[name])


def test_sweep_file_that_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    for name, options in (("pipe.yaml", {}), ("/dev/stdin", {"input": b"steps: 10\n"}), ("/dev/zero", {})):
        done = subprocess.run([PROGRAM, "check", name], cwd=tmp_path, capture_output=True, timeout=60, **options)
        assert done.stderr.decode() == f"{name}:1:1: not a regular file\n" and done.returncode == 2


def test_a_byte_order_mark_is_skipped(tmp_path):
    done = check(tmp_path, b"\xef\xbb\xbf" + BASE.encode())
    assert (done.stdout, done.stderr) == (b"sweep.yaml: valid: 1 cell\n", b"")
