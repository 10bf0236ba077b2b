"""Runs of the program (tests/replay.c) against runs of tests/reference_training.py: the differences of everything that
both compute.

    parity.py [-n COUNT] [-s SEED] [-f]    draws configurations, prints the worst difference of each quantity;
                                           -f: of the program in float
"""
import argparse
import collections
import math
import pathlib
import random
import tempfile

import numpy as np
import torch

import reference
import reference_measures
import reference_training
from combinations import WORDS, combinations
from replay import replay

STEPS, EVERY = 4, 2
MEASURED = {"record": 1, "measure": EVERY, "gradients": 2, "residual": 1, "equilibrium": 1, "saturation": 1,
            "attention": 1, "evaluate": 1, "validate": 64}

# Of these, values below 1 count as 1: logarithms and cosines, which may be near 0.
NEAR_0 = ("loss", "max_logit", "entropy", "first_attention", "alignment", "alignment_null", "cosine", "growth",
          "growth_error", "slope", "slope_error", "saturation", "saturation_final", "_r2")

LEVELS = ("", "", "avx2", "baseline")  # of vectors, "" being the machine's own
# Relative errors of weights that gradients are tried with; how much larger those of gradients usually are.
ROUNDING, USUAL = 1e-14, 100
OF_TWO = ("stack_norm", "stack_direction_cosine")  # measured in networks of two stacks alone


def sequences_of(dump, prefix=""):
    """The batches of a dump, unpacked: the sequences of each, with a source if the network has one."""
    def cut(start, plane):
        return [plane[a:b] for a, b in zip(start[:-1], start[1:])]

    sides = [("start", "tokens"), ("start", "target")]
    if prefix + "source_start" in dump:
        sides.insert(0, ("source_start", "source_tokens"))
    planes = [(dump[prefix + start], dump[prefix + plane]) for start, plane in sides]
    return [list(zip(*(cut(start[i], plane[i]) for start, plane in planes))) for i in range(len(planes[0][0]))]


def difference(name, got, want):
    """The largest difference, over the largest value; infinite where one side alone is NaN."""
    got, want = np.ravel(got), np.ravel(want)
    if got.shape != want.shape or (np.isnan(got) != np.isnan(want)).any():
        return math.inf
    there = ~np.isnan(want)
    error, scale = (np.max(np.abs(values[there]), initial=0) for values in (got - want, want))
    scale = max(scale, 1) if name.endswith(NEAR_0) else scale
    return error / scale if scale > 0 else error


def condition(config, weights, batch):
    """How much larger relative errors of the gradient of a batch are than those of the weights that cause them."""
    def gradient(of):
        reference.backward(config, of, batch)
        return reference.flat(tensor.grad for tensor in of.values())

    draw = np.random.default_rng(1)
    near = {key: (tensor * (1 + ROUNDING * torch.from_numpy(draw.normal(size=tensor.shape)))).detach().requires_grad_()
            for key, tensor in weights.items()}
    here = {key: tensor.detach().clone().requires_grad_() for key, tensor in weights.items()}
    want, got = gradient(here), gradient(near)
    return reference.norm(got - want) / (reference.norm(want) or 1) / ROUNDING


class Run:
    """A run by the program, and one by the reference from the same start on the same batches."""

    def __init__(self, config, scalar="double", level="", **keys):
        self.config, self.suspect = config, {"double": 1e-11, "float": 1e-5}[scalar]
        self.dump = replay(scalar, level, **config, **keys)
        self.vocabulary = int(self.dump["vocabulary"][0][0])
        self.last_step = int(self.dump["last_step"][0][0])
        self.batches = sequences_of(self.dump)
        self.planes = [self.dump["initial"][0], *self.dump["weights"]]

    def of_gradient(self, error, weights, *batches):
        """An error of gradients; over their condition if it is large for rounding: softmaxes that are nearly decided,
        and norms of what is nearly 0, magnify it."""
        if error <= self.suspect:
            return error
        return error / max(1, *(condition(self.config, weights, batch) / USUAL for batch in batches))

    def reference(self, kind=reference_training.Run):
        return kind(self.config, self.vocabulary, self.planes[0], self.batches, self.last_step)

    def tensors(self, plane):
        return reference.weights_from(plane, self.config, self.vocabulary)

    def weights(self, step):
        return self.tensors(self.planes[step])

    def row_differences(self):
        """(quantity, difference) of all steps, and of what train() measured along them."""
        measured, run = [int(step[0]) for step in self.dump["step"]], self.reference(Follower)
        run.followed, run.found = self, []
        rows = reference_measures.measure_run(run, set(measured))
        for i, step in enumerate(measured):
            run.found += [(name, difference(name, self.dump[name][i], want)) for name, want in rows[step].items()
                          if name not in OF_TWO or len(reference.stacks(self.config)) == 2]
        return run.found

    def probe_differences(self, gradients):
        """Of what train() measured at its own weights: gradients over that many batches, the residual stream; slopes,
        which are of logarithms, of the norms that it measured."""
        for i, step in enumerate(int(step[0]) for step in self.dump["step"]):
            weights, batches = self.weights(step), self.batches[step : step + gradients]
            want = reference_measures.gradient_measures(self.config, weights, batches)
            want |= reference_measures.residual_measures(self.config, self.weights(step), self.batches[step])
            want |= reference_measures.slope_measures(self.config, self.dump["mean_gradient_norm"][i])
            least = min(reference.loss(self.config, weights, batch).item() for batch in batches)
            for name, value in want.items():
                error = difference(name, self.dump[name][i], value)
                if "gradient" in name:  # as in Follower; of a loss that is 0 in float there is none
                    error = self.of_gradient(error * min(least, 1), weights, *batches) if least > 1e-30 else 0
                yield name, error

    def validation_differences(self, tied):
        """Of what train() measured on the validation: attention, at the end its loss, and, if `tied`, of the saturated
        network."""
        sequences = sum(sequences_of(self.dump, "validated_"), [])
        for i, step in enumerate(int(step[0]) for step in self.dump["step"]):
            weights = self.weights(step)
            want = reference_measures.attention_measures(self.config, weights, sequences)
            if step == self.last_step:
                want |= reference_measures.validation_measures(self.config, weights, sequences)
            if tied:
                want |= reference_measures.saturation_measures(self.config, weights, sequences)
            for name, value in want.items():
                yield name, difference(name, self.dump[name][i], value)


class Follower(reference_training.Run):
    """The reference, but it goes on from the program's gradient and weights when they have been compared. So rounding
    does not add up, and an optimiser that divides by small gradients does not magnify it."""
    followed, found = None, []

    def gradient(self, t):
        value, want = super().gradient(t)
        got = self.followed.tensors(self.followed.dump["gradient"][t - 1])
        # With a loss near 0 it is made of differences between 1 and probabilities near 1.
        whole = reference.norm(reference.flat(want.values())) / (min(value, 1) or 1) or 1
        self.found.append(("loss", difference("loss", self.followed.dump["loss"][t - 1], value)))
        unseen = reference.unseen_tensors(self.config)
        # What is 0 in exact mathematics must be 0 in the program, too.
        exact = not any(got[key].any() for key in unseen if key in got)
        off = reference.norm(reference.flat([got[key] - want[key] for key in want])) / whole
        off = self.followed.of_gradient(off, self.theta(), self.batches[t - 1])
        self.found.append(("gradient", off if exact else math.inf))
        for key, tensor in self.weights.items():
            tensor.grad.copy_(got[key].detach())
        return value, {key: tensor.grad.clone() for key, tensor in self.weights.items()}

    def step(self, t, observe=False):
        taken, after = super().step(t, observe), self.followed.weights(t)
        for key, tensor in self.weights.items():
            got, want = reference.flat([after[key]]), reference.flat([tensor])
            self.found.append(("weights", reference.norm(got - want) / (reference.norm(want) or 1)))
            tensor.data.copy_(after[key])
        return taken


def differences(config, scalar="double", level="", files=None):
    """{quantity: the worst difference} of one configuration; files: the keys that name those of its corpus."""
    if scalar == "float":  # some lie on the other side of a middle than the reference's doubles
        config = config | {"weights": "float"}
    run, worst = Run(config | (files or {}), scalar, level, **MEASURED), collections.Counter()
    parts = [run.row_differences(), run.probe_differences(MEASURED["gradients"]),
             run.validation_differences(tied=scalar == "double")]  # floats settle ties between rounded scores by chance
    for part in parts:
        for name, value in part:
            worst[name] = max(worst[name], math.inf if math.isnan(value) else value)
    return worst


# The files of corpora that are read


def lines(seed, count, longest):
    """Lines of 1 to `longest` words, the shortest and the longest among them."""
    draw = random.Random(seed)
    lengths = [1, longest] + [draw.randint(1, longest) for _ in range(count - 2)]
    return [[f"w{draw.randrange(WORDS)}" for _ in range(length)] for length in lengths]


def write_files(folder):
    """{corpus: the keys that name its files}"""
    text, translated, tokens = (pathlib.Path(folder) / name for name in ("text", "translated", "tokens"))
    for path, of in (text, lines(5, 120, 40)), (translated, lines(6, 120, 25)):
        path.write_text("\n".join(" ".join(words) for words in of) + "\n")
    draw = random.Random(7)
    np.array([draw.randrange(WORDS) for _ in range(3000)], "<u2").tofile(tokens)
    both = {"train_text": text, "valid_text": text}
    return {"text": both, "bytes": both, "tokens": {"train_text": tokens, "valid_text": tokens},
            "pairs": both | {"train_source": translated, "valid_source": translated}}


def table(count, seed, scalar):
    """[(quantity, the worst difference, the number of its configuration)] of so many configurations, at one vector
    level after the other."""
    worst = {}
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(folder)
        for number, (features, config) in enumerate(combinations(count, seed, STEPS)):
            level = LEVELS[number % len(LEVELS)]
            for name, value in differences(config, scalar, level, files.get(features["corpus"])).items():
                worst[name] = max(worst.get(name, (0, number)), (value, number))
    return [(name, *where) for name, where in worst.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=100, metavar="COUNT")
    parser.add_argument("-s", type=int, default=1, metavar="SEED")
    parser.add_argument("-f", action="store_true")
    options = parser.parse_args()
    rows = table(options.n, options.s, "float" if options.f else "double")
    print(f"{options.n} configurations drawn from seed {options.s}; worst differences and where they are:")
    for name, value, number in rows:
        print(f"{name:28} {value:8.1e}  number {number}")


if __name__ == "__main__":
    main()
