"""The small sweeps that faults are injected into, and their undisturbed results."""

import os
import pathlib
import re
import subprocess
import time

import netCDF4

import same

PROJECT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("NORMSWEEP_BUILD", PROJECT / "build")).resolve() / "normsweep"
ROWS = 40  # measured rows per run
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}

COMMON = """\
vocabulary: 33
corpus_tokens: 4000
layers: 1
width: 16
heads: 2
feedforward: 16
context: 16
batch: 4
checkpoint_minutes: 0.002
steps: {steps}
"""
SWEEPS = {
    # Every kind of optimiser state; the last rate diverges within a few steps.
    "optimisers": COMMON + """\
corpus: markov
learning_rate: [1e-3, 1e-2, 1e3]
together:
  recipe:
    adamw: {{optimiser: adamw, momentum: 0}}
    adafactor: {{optimiser: adafactor, momentum: 0}}
    sgd: {{optimiser: sgd, momentum: 0.9}}
measure: {{every: {every}}}
validate: {{every: {often}, tokens: 128}}
save_weights: true
""",
    # Schedules and placements; where 1 - learning_rate * weight_decay is -2 the norms double until they
    # overflow. Runs of different lengths.
    "placements": COMMON + """\
corpus: dyck
activation: gelu
norm_placement: [pre, post, out]
learning_rate: 0.01
weight_decay: [0.1, 300]
schedule: linear
warmup_steps: 20
seed: [1, 2]
skip:
  - {{norm_placement: out, weight_decay: 300}}
measure: {{every: {every}, metrics: [norms, saturation, heads, attention, homogeneity]}}
validate: {{every: end, tokens: 128}}
""",
    # Measurements that take passes of their own, and ask between them: a run may stop, or its worker die, there.
    "probes": COMMON + """corpus: markov
norm_placement: [pre, post, out]
seed: [1, 2]
measure: {{every: {every}, metrics: [norms, gradients, hessian, hessian_layers, residual, lyapunov, equilibrium,
  forces, sharpness, spectra, spectra_values]}}
gradient_batches: 3
hessian: {{probes: 2, steps: 4, batches: 2, every: {often}}}
lyapunov_exponents: 4
lyapunov_sweeps: 2
save_weights: true
""",
    # Runs that carry on from each other's states; at the largest rate they diverge before they leave one.
    "trunks": COMMON + """\
corpus: markov
learning_rate: [1e-2, 1e3]
schedule: wsd
schedule_decay: [0.1, 0.4, 0.7]
seed: [1, 2]
measure: {{every: {every}}}
validate: {{every: {often}, tokens: 128}}
save_weights: true
""",
    # Which runs are trained follows from results; at the largest rate some of them diverge.
    "refined": COMMON + """\
corpus: markov
learning_rate: [0.01, 0.1, 1]
weight_decay: {{log: [0.001, 30], points: 24, plus: [0]}}
refine: {{axis: weight_decay}}
measure: {{every: {every}}}
validate: {{every: end, tokens: 128}}
""",
    # Several of a column at once, which may end early.
    "paired": COMMON + """\
corpus: markov
learning_rate: [0.01, 0.1]
weight_decay: {{log: [0.001, 30], points: 24}}
refine: {{axis: weight_decay, at_once: 3}}
stop_when: phase
measure: {{every: {every}}}
validate: {{every: end, tokens: 128}}
""",
    # How many seeds a cell has follows from results.
    "seeded": COMMON + """\
corpus: markov
norm_placement: [pre, post]
weight_decay: {{log: [0.01, 10], points: 9}}
seed: {{range: [1, 6]}}
refine: {{axis: weight_decay, seeds: {{width: 0.05, difference: norm_placement}}}}
measure: {{every: {every}}}
validate: {{every: end, tokens: 128}}
""",
    # A boundary in a plane.
    "halved": COMMON + """\
corpus: markov
learning_rate: {{log: [0.01, 0.1], points: 3}}
weight_decay: {{log: [0.01, 10], points: 17}}
refine: {{axes: [weight_decay, learning_rate], coarse: 8}}
measure: {{every: {every}}}
validate: {{every: end, tokens: 128}}
""",
}


def said(text):
    """The lines on stderr except those of progress, of a slow start and the remark on the sweep's own cells."""
    quiet = re.compile(r"(stopping, saving, )?\d+/(about )?\d+ done, |note: \S+\.yaml: in \d+ of \d+ cells .* is 1 or |"
                       r".*: mpirun was started \d+ s ago, and MPI_Init has not returned yet; ")
    return [line for line in text.splitlines() if line.strip() and not quiet.match(line)]


class Sweep:
    """A sweep file whose full runs take about `seconds` on this machine, and its results without faults."""

    def __init__(self, name, folder, seconds):
        self.name, self.folder, self.path = name, folder / name, folder / f"{name}.yaml"
        self.folder.mkdir()
        self.write(1000)
        self.command("-j", "0", "-o", "pace.nc")
        with netCDF4.Dataset(self.folder / "pace.nc") as dataset:
            done = dataset["outcome"][:] == same.DONE
            pace = float(dataset["tokens_per_second"][:][done].mean() / dataset.batch / dataset.context)
        self.write(max(1, round(seconds * pace / ROWS)) * ROWS)
        begin = time.monotonic()
        self.command("-j", "0", "-o", "whole.nc")
        self.life_here = time.monotonic() - begin
        begin = time.monotonic()
        self.command("-j", "2", "-o", "ranks.nc")
        self.life = time.monotonic() - begin
        self.whole, self.weights = same.read(self.folder / "whole.nc"), self.read_weights(self.folder / "whole.nc")
        self.runs = int((self.whole["outcome"].values != same.SKIPPED).sum())
        self.compare(self.folder / "ranks.nc")

    def write(self, steps):
        self.steps = steps
        self.path.write_text(SWEEPS[self.name].format(steps=steps, every=steps // ROWS, often=steps // ROWS * 5))

    def command(self, *arguments):
        done = subprocess.run([PROGRAM, "run", self.path, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=600, env={**os.environ, **ROOT})
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: status {done.returncode}: {done.stderr}")

    @staticmethod
    def read_weights(output):
        return {path.name: same.read(path) for path in pathlib.Path(f"{output}.d").glob("*.weights.nc")}

    def compare(self, output):
        """Raises unless dataset and weights equal those of the undisturbed sweep."""
        found = same.differences(same.read(output), self.whole)
        weights = self.read_weights(output)
        found += [f"{name}: weights of one of them alone" for name in weights.keys() ^ self.weights.keys()]
        for name in weights.keys() & self.weights.keys():
            found += [f"{name}: {line}" for line in same.differences(weights[name], self.weights[name])]
        if found:
            raise AssertionError("differs from the undisturbed sweep: " + "; ".join(found))
