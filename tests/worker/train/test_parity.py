"""Training and measuring against tests/reference.py, PyTorch in float64: every switch, twenty steps and more."""
import collections
import itertools
import random

import numpy as np
import pytest

import reference
import reference_measures
import reference_training
from parity import OF_TWO, Run, difference, sequences_of
from reference_optimisers import OPTIMISERS
from replay import replay

TOLERANCE = {"double": 1e-9, "float": 1e-4}
ROUNDED = {1e-9: 1e-13, 1e-4: 1e-6}  # |theta|^2 by rounding theta in a few steps, at these tolerances
STEPS = 22
EVERY = 2
RECORDED = {"record": 1, "measure": EVERY, "equilibrium": 1, "evaluate": 1, "validate": 64}

BASE = {
    "layers": 2, "width": 16, "heads": 2, "feedforward": 24, "norm_placement": "pre", "norm": "layernorm",
    "activation": "relu", "gated": False, "bias": True, "output_bias": True, "tied": False,
    "attention_mask": "causal", "residual_scale": 1.0,
    "init": "torch", "init_scale": 1.0, "zero_query_key": False,
    "corpus": "markov", "sequences": "stream", "vocabulary": 23, "corpus_tokens": 600, "context": 8, "batch": 4,
    "optimiser": "adamw", "learning_rate": 3e-3, "weight_decay": 1e-2, "decay": "fused", "beta1": 0.9, "beta2": 0.999,
    "epsilon": 1e-8, "momentum": 0.0, "gradient_clip": 0.0,
    "steps": STEPS, "schedule": "constant", "schedule_start": 0, "warmup_steps": 0, "seed": 3,
}

LINE_COUNT = 27
LONGEST_LINE = 12


def text_lines():
    """Sequences of 1 to 12 words; a line of one and a line of the context's length are among them."""
    draw = random.Random(5)
    lengths = [1, LONGEST_LINE, 8, 9] + [draw.randint(1, LONGEST_LINE) for _ in range(LINE_COUNT - 4)]
    return [[f"w{draw.randrange(18)}" for _ in range(length)] for length in lengths]


@pytest.fixture(scope="session")
def text(tmp_path_factory):
    """A text of those lines, with headings and empty lines between them that are no sequences."""
    path = tmp_path_factory.mktemp("text") / "train text.txt"
    lines = [" ".join(words) for words in text_lines()]
    path.write_text("\n".join([" = Heading = ", ""] + lines[:10] + ["", "  ", " = = Other = ="] + lines[10:]) + "\n")
    return path


def files_of(config, text):
    """The keys that name the files of a config of "text"."""
    return {"train_text": text, "valid_text": text} if config["corpus"] == "text" else {}


LINES = {"corpus": "text", "sequences": "lines"}


def cases():
    """{name: what differs from BASE}."""
    table = {}
    for placement, bias in itertools.product(("post", "pre", "out"), (True, False)):
        table[f"{placement}-{'bias' if bias else 'plain'}"] = {"norm_placement": placement, "bias": bias}
        table[f"{placement}-{'bias' if bias else 'plain'}-lines"] = (
            LINES | {"norm_placement": placement, "bias": bias, "learning_rate": 1e-2}
        )
    for optimiser, schedule in itertools.product(OPTIMISERS, ("constant", "linear", "inverse_sqrt", "cosine", "wsd")):
        keys = {"optimiser": optimiser, "schedule": schedule, "schedule_start": 5,
                "learning_rate": OPTIMISERS[optimiser].rate}
        table[f"{optimiser}-{schedule}"] = keys
    for placement in ("post", "pre", "out"):
        keys = {"norm_placement": placement, "attention_mask": "multiplicative"}
        table[f"multiplicative-{placement}"] = keys
        table[f"multiplicative-{placement}-lines"] = LINES | keys
    return table | {
        "gelu": {"activation": "gelu"},
        "gelu-post-lines": LINES | {"activation": "gelu", "norm_placement": "post"},
        "gelu-tanh": {"activation": "gelu_tanh"},
        "gelu-tanh-out-lines": LINES | {"activation": "gelu_tanh", "norm_placement": "out"},
        "rmsnorm-post": {"norm": "rmsnorm", "norm_placement": "post"},
        "rmsnorm-pre-lines": LINES | {"norm": "rmsnorm"},
        "rmsnorm-out-plain": {"norm": "rmsnorm", "norm_placement": "out", "bias": False},
        "rmsnorm-adafactor": {"norm": "rmsnorm", "optimiser": "adafactor", "learning_rate": 5e-3},
        "no-norm": {"norm": "none", "output_scale": 0.25, "learning_rate": 1e-3},
        "no-norm-post-tied-lines": LINES | {"norm": "none", "norm_placement": "post", "tied": True, "bias": False},
        "no-norm-out-held": {"norm": "none", "norm_placement": "out", "norm_rule": "fixed", "norm_target": 0.5},
        "output-scale-mup": {"output_scale": 3.0, "parametrization": "mup", "base_width": 4},
        "gated": {"gated": True},
        "gated-gelu-post-lines": LINES | {"gated": True, "activation": "gelu", "norm_placement": "post"},
        "gated-gelu-tanh-plain": {"gated": True, "activation": "gelu_tanh", "bias": False, "weight_decay": 0.1},
        "gated-rmsnorm-out": {"gated": True, "norm": "rmsnorm", "norm_placement": "out", "feedforward": 37},
        "tied": {"tied": True},
        "tied-out-lines": LINES | {"tied": True, "norm_placement": "out", "bias": False},
        "tied-adafactor": {"tied": True, "optimiser": "adafactor", "learning_rate": 0.02},
        "no-output-bias": {"output_bias": False},
        "no-output-bias-tied-lines": LINES | {"output_bias": False, "tied": True, "activation": "gelu"},
        "no-output-bias-adafactor": {"output_bias": False, "optimiser": "adafactor", "learning_rate": 0.02},
        "xavier": {"init": "xavier"},
        "scaled-post": {"residual_scale": 0.3, "norm_placement": "post"},
        "scaled-pre-lines": LINES | {"residual_scale": 2.5, "init_scale": 0.5},
        "scaled-out-gated-gelu": {"residual_scale": 0.7, "norm_placement": "out", "gated": True, "activation": "gelu"},
        "zero-query-key": {"init": "xavier", "zero_query_key": True, "heads": 1, "norm_placement": "post"},
        "clip-adamw": {"gradient_clip": 0.3},
        "clip-sgd": {"gradient_clip": 0.3, "optimiser": "sgd", "learning_rate": 0.1, "momentum": 0.9},
        "clip-never": {"gradient_clip": 1e6, "optimiser": "sgd", "learning_rate": 0.1},
        "clip-normalized-sgd": {"gradient_clip": 0.3, "optimiser": "normalized_sgd", "learning_rate": 0.02},
        "clip-adafactor": {"gradient_clip": 0.3, "optimiser": "adafactor", "learning_rate": 0.02},
        "momentum": {"optimiser": "sgd", "learning_rate": 0.05, "momentum": 0.9, "weight_decay": 0.1},
        "warm-up": {"warmup_steps": 10},
        "warm-up-linear": {"warmup_steps": 4, "schedule": "linear", "schedule_start": 8},
        "warm-up-inverse-sqrt": {"warmup_steps": 9, "schedule": "inverse_sqrt", "schedule_start": 3},
        "warm-up-past-the-end": {"warmup_steps": 400, "learning_rate": 0.1},
        "schedule-from-0": {"schedule": "inverse_sqrt", "schedule_start": 0},
        "schedule-after-the-end": {"schedule": "linear", "schedule_start": STEPS + 10},
        "no-decay": {"weight_decay": 0.0},
        "strong-decay": {"weight_decay": 30.0},
        "attention-and-biases-decay": {"decay_on": "attention+biases", "weight_decay": 0.5, "qk_norm": True},
        "other-kinds-decay": {"decay_on": "feedforward+gains+embeddings+output", "weight_decay": 0.5, "gated": True,
                              "optimiser": "lion", "learning_rate": 1e-3},
        "matrices-decay": {"decay_on": "matrices", "weight_decay": 0.5},
        "hidden-decay-sgd": {"decay_on": "hidden", "weight_decay": 0.5, "optimiser": "sgd", "learning_rate": 0.1},
        "independent-decay": {"decay_rule": "independent", "weight_decay": 1e-3, "schedule": "cosine"},
        "corrected-decay": {"decay_rule": "corrected", "weight_decay": 0.5, "schedule": "wsd", "warmup_steps": 4},
        "corrected-decay-sgd": {"decay_rule": "corrected", "weight_decay": 0.5, "schedule": "linear",
                                "optimiser": "sgd", "learning_rate": 0.1, "momentum": 0.9},
        "cautious-decay": {"decay_rule": "cautious", "weight_decay": 0.5},
        "cautious-decay-lion": {"decay_rule": "cautious", "weight_decay": 0.5, "optimiser": "lion"},
        "cautious-decay-muon": {"decay_rule": "cautious", "weight_decay": 0.5, "optimiser": "muon",
                                "decay_on": "matrices", "learning_rate": 5e-3},
        "cautious-decay-adafactor": {"decay_rule": "cautious", "weight_decay": 0.5, "optimiser": "adafactor",
                                     "learning_rate": 0.02},
        "fixed-norm": {"norm_rule": "fixed", "weight_decay": 0.5},
        "fixed-norm-muon-gated": {"norm_rule": "fixed", "optimiser": "muon", "gated": True, "kv_heads": 1},
        "hyperball": {"norm_rule": "hyperball", "weight_decay": 0.5},
        "hyperball-muon-gated": {"norm_rule": "hyperball", "optimiser": "muon", "gated": True, "learning_rate": 0.05},
        "hyperball-sgd-target": {"norm_rule": "hyperball", "optimiser": "sgd", "momentum": 0.9, "learning_rate": 0.02,
                                 "norm_target": 0.5, "weight_decay": 0.1},
        "hyperball-adafactor-cautious": {"norm_rule": "hyperball", "optimiser": "adafactor", "decay_rule": "cautious",
                                         "weight_decay": 0.5, "learning_rate": 0.02},
        "hyperball-mup-clip": {"norm_rule": "hyperball", "parametrization": "mup", "base_width": 4,
                               "gradient_clip": 0.3},
        "brake": {"norm_rule": "brake", "brake": 0.5, "learning_rate": 0.01},
        "brake-0-lion": {"norm_rule": "brake", "brake": 0.0, "optimiser": "lion", "learning_rate": 1e-3},
        "brake-cautious-adam": {"norm_rule": "brake", "brake": 0.3, "weight_decay": 0.5, "decay_rule": "cautious"},
        "brake-muon-zero": {"norm_rule": "brake", "brake": 0.7, "optimiser": "muon", "zero_query_key": True},
        "one-row-muon": {"optimiser": "muon", "feedforward": 1, "gated": True, "learning_rate": 5e-3},
        "one-row-mup": {"feedforward": 1, "parametrization": "mup", "base_width": 4, "activation": "gelu"},
        "one-row-adafactor": {"optimiser": "adafactor", "feedforward": 1, "learning_rate": 0.02},
        "one-row-keys": {"width": 6, "heads": 6, "kv_heads": 1, "norm_rule": "fixed", "decay_on": "matrices",
                         "weight_decay": 0.5},
        "bfloat16": {"weights": "bfloat16"},
        "bfloat16-lines-post": LINES | {"weights": "bfloat16", "norm_placement": "post", "learning_rate": 1e-2},
        "bfloat16-fixed-norm-muon": {"weights": "bfloat16", "norm_rule": "fixed", "optimiser": "muon"},
        "bfloat16-lost": {"weights": "bfloat16", "learning_rate": 1e-4},
        "stochastic": {"weights": "bfloat16_stochastic"},
        "stochastic-small": {"weights": "bfloat16_stochastic", "learning_rate": 1e-5, "weight_decay": 1.0},
        "stochastic-odd-sizes": {"weights": "bfloat16_stochastic", "width": 21, "heads": 3, "feedforward": 13,
                                 "context": 11, "vocabulary": 37, "batch": 3, "seed": 12345},
        "stochastic-adafactor": {"weights": "bfloat16_stochastic", "optimiser": "adafactor", "learning_rate": 0.02},
        "cosine-to-0": {"schedule": "cosine", "schedule_end": 0.0, "schedule_start": 3},
        "z-loss": {"z_loss": 1e-2},
        "z-loss-tied-lines": LINES | {"z_loss": 0.3, "tied": True, "norm_placement": "out"},
        "mup": {"parametrization": "mup", "base_width": 4},
        "mup-wider-base-tied-lines": LINES | {"parametrization": "mup", "base_width": 40, "tied": True, "z_loss": 0.1},
        "mup-adam-post": {"parametrization": "mup", "base_width": 5, "optimiser": "adam", "norm_placement": "post"},
        "mup-lion-independent": {"parametrization": "mup", "base_width": 4, "optimiser": "lion", "learning_rate": 1e-3,
                                 "decay_rule": "independent", "weight_decay": 1e-3, "schedule": "cosine"},
        "mup-cautious": {"parametrization": "mup", "base_width": 4, "decay_rule": "cautious", "weight_decay": 0.5},
        "mup-corrected": {"parametrization": "mup", "base_width": 4, "decay_rule": "corrected", "weight_decay": 0.5,
                          "schedule": "wsd", "norm_rule": "fixed"},
        "mup-factor": {"parametrization": "mup", "base_width": 4, "decay": "factor", "weight_decay": 0.5},
        "biases-back-at-0": {"width": 2, "heads": 1, "feedforward": 3, "init": "xavier", "optimiser": "lion",
                             "learning_rate": 1e-3, "beta1": 0.0, "weight_decay": 0.0, "seed": 5},
        "wsd-half": {"schedule": "wsd", "schedule_end": 0.0, "schedule_decay": 0.5},
        "wsd-to-0": {"schedule": "wsd", "schedule_end": 0.0, "schedule_decay": 0.3, "decay_rule": "corrected"},
        "factor": {"decay": "factor", "weight_decay": 0.5},
        "adam-betas": {"optimiser": "adam", "beta1": 0.8, "beta2": 0.98, "epsilon": 1e-3, "weight_decay": 0.1},
        "beta1-0": {"beta1": 0.0},
        "one-layer": {"layers": 1},
        "three-layers": {"layers": 3, "norm_placement": "out"},
        "odd-sizes": {"width": 21, "heads": 3, "feedforward": 13, "context": 11, "vocabulary": 37, "batch": 3},
        "odd-sizes-multiplicative": {"width": 15, "heads": 5, "feedforward": 19, "context": 13, "vocabulary": 17,
                                     "batch": 3, "attention_mask": "multiplicative"},
        "wider-than-a-vector": {"width": 36, "heads": 2, "feedforward": 70, "context": 35, "corpus_tokens": 2000},
        "heads-of-width-1": {"width": 6, "heads": 6, "norm_placement": "post"},
        "blocks-of-rows": {"width": 8, "layers": 1, "context": 44, "batch": 14, "corpus_tokens": 2000, "tied": True},
        "products-bfloat16": {"precision": "bfloat16"},
        "products-bfloat16-post-muon-lines": LINES | {"precision": "bfloat16", "norm_placement": "post",
                                                      "optimiser": "muon"},
        "context-1": {"context": 1, "batch": 7},
        "lines-batch-1": LINES | {"batch": 1},
    }


CASES = cases()

# make check compares each case in double with the reference, the thorough tests in float with the program's own run in
# double. test_combinations.py has the vector levels below the machine's own, and float beside the reference.
# In float, numbers near the middle of two of bfloat16 are rounded otherwise than in double (test_bfloat16.py and
# test_rounded_weights.py have them), and lion's steps have the signs of gradients, also of those near 0.
NOT_IN_FLOAT = {name for name, keys in CASES.items() if {"precision", "weights"} & set(keys)} | {"biases-back-at-0"}
# How much more than TOLERANCE forces may differ in float. With heads of width 1 a tensor has no gradient but rounding,
# and adamw makes steps of full size of it. The other differs by 1.05e-4 on a processor that has AVX2 alone.
ROOM_OF_FORCES = {"heads-of-width-1": 10, "pre-plain": 2}
FLOATS = [name for name in CASES if name not in NOT_IN_FLOAT]


class Recorded(reference_training.Run):
    """Keeps loss, gradient and new weights of each step."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.kept = []

    def step(self, t, observe=False):
        loss, gradient, direction = super().step(t, observe)
        self.kept.append((loss, gradient, self.theta()))
        return loss, gradient, direction


class Pair(Run):
    """One case, trained by the program and by the reference."""

    def __init__(self, name, scalar, text):
        config = BASE | CASES[name]
        super().__init__(config, scalar, **files_of(config, text), **RECORDED)
        self.name, self.tolerance = name, TOLERANCE[scalar]
        self.measured = sorted(set(range(0, self.last_step, EVERY)) | {self.last_step})

    def of_reference(self):
        """(loss, gradient and new weights of each step, {step: {metric: value}}, the last validation loss)."""
        run = self.reference(Recorded)
        rows = reference_measures.measure_run(run, set(self.measured))
        assert all({*OF_TWO} <= {*row} for row in rows.values())
        return run.kept, rows, validation_loss(self, run.weights)

    def of_program(self):
        """The same as of_reference(), from the program's own run."""
        kept = [(self.dump["loss"][t - 1][0], self.tensors(self.dump["gradient"][t - 1]), self.weights(t))
                for t in range(1, self.last_step + 1)]
        rows = {step: {name: row[name] for name in {*row} - {*ERRORS}} for step, row in self.rows().items()}
        return kept, rows, self.dump["final_valid_loss"][0]

    def compare(self, kept, want, valid_loss):
        """Losses, gradients and weights of every step; the rows of train(), which takes the same steps; what it says
        of the whole run."""
        assert self.last_step >= 20 and len(kept) == self.last_step
        for t, step in enumerate(kept, 1):
            self.check_step(t, *step)
        check_measurements(self, want, valid_loss)
        result = {name: int(self.dump[name][0][0]) for name in ("outcome", "result_last_step", "diverged_step")}
        assert result == {"outcome": 2, "result_last_step": self.last_step, "diverged_step": -1}
        tokens = sum(len(inputs) for batch in self.batches[: self.last_step] for inputs, _ in batch)
        assert self.dump["trained_tokens"][0][0] == tokens
        check_growth_fits(self)

    def check_step(self, t, loss, gradient, weights):
        got, want = self.dump["loss"][t - 1][0], loss
        assert abs(got - want) <= self.tolerance * abs(want), f"step {t}: loss {got}, reference {want}"
        got, want = self.dump["gradient"][t - 1], reference.flat(gradient.values())
        error = reference.norm(got - want) / reference.norm(want)
        assert error <= self.tolerance, f"step {t}: gradient off by {error:.3g}"
        for key, got in self.weights(t).items():
            want = reference.flat([weights[key]])
            error, scale = reference.norm(reference.flat([got]) - want), reference.norm(want)
            assert error <= self.tolerance * scale, f"step {t}: {key} off by {error:.3g} of {scale:.3g}"

    def rows(self):
        """{step: {metric: value}} as train() measured them."""
        dump, rows = self.dump, {}
        for i, step in enumerate(dump["step"]):
            rows[int(step[0])] = {name: dump[name][i] for name in ROW_METRICS}
        return rows


ROW_METRICS = ("train_loss", "param_norm", "embedding_norm", "output_norm", "total_norm", "direction_cosine")
ROW_METRICS += ("layer_norm", "layer_direction_cosine", "tensor_norm", "balance_error", "force_error")
ROW_METRICS += reference_measures.STEP_MEASURES + reference_measures.LAYER_STEP_MEASURES
ROW_METRICS += reference_measures.EQUILIBRIUM_MEASURES + reference_measures.FORCE_MEASURES
ERRORS = "balance_error", "force_error"  # 0 but for rounding


def check_value(step, name, got, want, tolerance):
    assert difference(name, got, want) <= tolerance, f"step {step}: {name} is {got}, reference {want}"


def validation_loss(pair, weights):
    sequences = [(tokens[:-1], tokens[1:]) for tokens in pair.dump["valid_tokens"]]
    lengths = [len(tokens) for tokens, _ in sequences]
    if pair.config["sequences"] == "stream":  # the windows that lie within 64 tokens
        assert lengths == [pair.config["context"]] * (63 // pair.config["context"])
    else:  # the lines until there are 64 predictions
        assert sum(lengths) >= 64 > sum(lengths[:-1])
    return reference.loss(pair.config, weights, sequences).item()


def check_measurements(pair, want, valid_loss):
    rows = pair.rows()
    assert list(rows) == pair.measured
    for step in pair.measured:
        assert {*want[step], *ERRORS, *OF_TWO} == {*ROW_METRICS, *OF_TWO}, "each is compared"
        for name in set(want[step]) - {*OF_TWO}:
            is_float_force = name == "tensor_forces" and pair.tolerance > 1e-6
            room = ROOM_OF_FORCES.get(pair.name, 1) if is_float_force else 1
            check_value(step, name, rows[step][name], want[step][name], pair.tolerance * room)
        assert step == pair.last_step or abs(rows[step]["balance_error"][0]) <= 1e-13
        there = ~np.isnan(np.ravel(want[step]["tensor_norm"]))
        known = not np.isnan(np.reshape(want[step]["force_sum"], (there.size, -1))[there, 0]).any()
        error = rows[step]["force_error"][0]
        assert abs(error) <= ROUNDED[pair.tolerance] if known else np.isnan(error)
    losses = {"final_train_loss": want[pair.last_step]["train_loss"], "final_valid_loss": valid_loss}
    for name, value in losses.items():
        check_value("end", name, pair.dump[name][0], value, pair.tolerance)


def check_growth_fits(pair):
    """From the norms that the program measured itself: their logarithms near step 0 would magnify its rounding."""
    norms = {step: row["param_norm"][0] for step, row in pair.rows().items()}
    for name, value in reference_measures.growth_measures(list(norms), list(norms.values()), pair.last_step).items():
        check_value("end", name, pair.dump[name][0], value, 1e-9)


@pytest.mark.parametrize("name", CASES)
def test_case(name, text):
    pair = Pair(name, "double", text)
    pair.compare(*pair.of_reference())


@pytest.mark.thorough("float differs from double in rounding alone")
@pytest.mark.parametrize("name", FLOATS)
def test_case_in_float(name, text):
    single, double = (Pair(name, scalar, text) for scalar in ("float", "double"))
    for plane in "start", "tokens", "target":
        assert len(single.dump[plane]) == len(double.dump[plane]) > 0
        assert all(map(np.array_equal, single.dump[plane], double.dump[plane]))
    single.compare(*double.of_program())


def test_lines_are_read_as_sequences(text):
    """The batches of an epoch are lines of the text, each at most once, cut to the context."""
    config = BASE | LINES
    dump = replay("double", **config, **files_of(config, text), record=1)
    order = list(dict.fromkeys(text.read_text().split())) + ["<eos>"]
    number = {token: i for i, token in enumerate(order)}
    assert len(order) == int(dump["vocabulary"][0][0])
    lines = collections.Counter()
    for line in text_lines():
        ids = [number[w] for w in line] + [number["<eos>"]]
        cut = min(len(line), BASE["context"])
        lines[tuple(ids[:cut]), tuple(ids[1 : cut + 1])] += 1
    per_epoch = LINE_COUNT // BASE["batch"]
    batches = sequences_of(dump)
    epochs = [batches[i : i + per_epoch] for i in range(0, STEPS, per_epoch)]
    for epoch in epochs:
        seen = collections.Counter((tuple(a), tuple(b)) for batch in epoch for a, b in batch)
        assert not seen - lines
    assert [str(e) for e in epochs[:1]] != [str(e) for e in epochs[1:2]]


# The boundary between growth and shrinking

WIDER = {"width": 32, "feedforward": 64, "batch": 8, "corpus_tokens": 20000, "steps": 300}


def boundary(scalar, **keys):
    """The weight decay at which |theta_end| = |theta_0|: |theta_end|^2 is straight in the decay at small rates."""
    growth = []
    for weight_decay in (0.0, 0.1):
        dump = replay(scalar, **BASE | WIDER | keys | {"weight_decay": weight_decay}, measure=300, validate=1)
        growth.append(dump["norm_growth"][0][0] ** 2 - 1)
    return 0.1 * growth[0] / (growth[0] - growth[1])


@pytest.mark.thorough("needs float as well")
@pytest.mark.parametrize("placement", ("post", "pre"))
@pytest.mark.parametrize("rate", (1e-4, 1e-5))
def test_boundaries_agree(placement, rate):
    """Float has the boundary of double, though rate times decay lies near the rounding of a float."""
    single, double = (boundary(s, norm_placement=placement, learning_rate=rate) for s in ("float", "double"))
    assert double > 0
    assert abs(single - double) <= 1e-3 * double


@pytest.mark.thorough("needs float as well")
def test_boundary_is_displaced_by_decay_as_a_factor():
    fused, factor = (boundary("float", learning_rate=1e-5, decay=decay) for decay in ("fused", "factor"))
    assert abs(fused - factor) >= 1e-2 * fused
