"""Refused sweep files: what is measured, and the corpora."""

import pytest

from refused import BASE, check, check_refused

TEXT = "train_text: t.txt\nsteps: 10\n"


def words(count):
    return b"a b c d\n" * (count // 4)


# name: (text of sweep.yaml, the line, settings, other files)
CASES = {
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
        "gradients, hessian, hessian_layers, residual, lyapunov, equilibrium",
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
        "sweep.yaml:3:13: valid_text: v.txt:2: 'x' is not in the training text, which has no <unk>; "
        "set min_count: 2 to make rare words <unk>",
        [], {"t.txt": words(4000), "v.txt": b"a b\nc x\n"},
    ),
    "corpus_tokens too few": (
        BASE + "corpus_tokens: 100\n",
        "sweep.yaml:3:16: corpus_tokens: markov: 1 sequence of 64 tokens, fewer than one batch of 16",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path):
    check_refused(tmp_path, *CASES[name])


def test_an_every_that_meets_a_measured_step(tmp_path):
    done = check(tmp_path, BASE + "measure: {steps: [0, 2, 5, 8], metrics: [hessian]}\nhessian: {every: 4}\n")
    assert (done.stdout, done.stderr) == (b"sweep.yaml: valid: 1 cell\n", b"")
