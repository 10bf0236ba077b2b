"""Sweeps as the program writes them, that have all that a figure or a method of `.sweep` needs, with few steps."""

from conftest import tiny, train_sweep
from normsweep.drawings import table

WORDS = "the lobster is a large crustacean , and <unk> knows it by its claws\n"
SWEEP = """
title: Everything
corpus: text
train_text: words.txt
valid_text: words.txt
sequences: lines
width: 8
heads: 2
layers: 2
context: 16
batch: 4
steps: 12
schedule: inverse_sqrt
schedule_start: 3
warmup_steps: 2
learning_rate: [1e-2, 1e-1]
weight_decay: [0, 0.1, 1]
seed: [0, 1]
measure:
  every: 2
  metrics: [norms, alignment, saturation, heads, attention, homogeneity, gradients, residual, lyapunov, hessian,
            hessian_layers, equilibrium, forces, sharpness, spectra, spectra_values]
hessian: {probes: 2, steps: 3, every: 4}
lyapunov_exponents: 4
validate: {every: 4, tokens: 256}
"""
OTHER_AXES = tiny(title="Other axes", vocabulary=9, corpus_tokens=1000, layers=None, width=None, heads=None,
                  feedforward=4, context=4, batch=2) + """\
steps: 4
norm_placement: [pre, post]
warmup_steps: [1, 3]
layers: [4, 5]
bias: [true, false]
together: {size: {small: {width: 4, heads: 1}, large: {width: 8, heads: 2}}}
learning_rate: [0.01, 0.1]
weight_decay: [0.1, 10]
measure: {every: 2, metrics: [norms, gradients]}
gradient_batches: 1
validate: {every: 2, tokens: 64}
"""
STACKS = tiny(title="Two stacks", vocabulary=40, corpus_tokens=2000, layers=2, width=4, heads=1, feedforward=4,
              batch=2) + """\
network: encoder_decoder
objective: spans
steps: 4
learning_rate: [0.01, 0.1]
weight_decay: [0, 1]
measure: {every: 2, metrics: [norms, alignment, saturation, heads, attention]}
"""


def trained(folder, sweep=SWEEP):
    """The path of the dataset of a sweep, which is trained in this folder."""
    (folder / "words.txt").write_text(WORDS * 60)
    return train_sweep(folder, sweep, name="all")


def few_of_each_module(made, most=2):
    """Names of figures, of which those of one module are put together from the same parts."""
    rows = {}
    for row in table.table(made):
        if row.fits(made):
            rows.setdefault(row.draw.__module__, []).append(row.name)
    return [name for names in rows.values() for name in names[:most]]
