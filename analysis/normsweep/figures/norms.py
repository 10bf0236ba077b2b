"""Norms of the parameters, and how their direction turns, over the steps."""

import numpy as np

from .. import look
from .lines import over_steps

RELATIVE = "$|\\theta_t| / |\\theta_0|$"


def relative(values):
    """A norm over its first value; nothing where that is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return values / values[0]


def mark_one(axes, _variable, _runs):
    axes.axhline(1, color="black", linewidth=0.8, linestyle=":")


def norms(dataset):
    return over_steps(dataset, "norms", ["param_norm"],
                      "The norm of the layers' parameters over its start, one line a run.", relative,
                      {"param_norm": f"parameter norm {RELATIVE}"}, mark_one)


def parts(dataset):
    names = ["total_norm", "embedding_norm", "output_norm"]
    labels = {name: f"{look.label(dataset[name])}\nover its start" for name in names if name in dataset}
    return over_steps(dataset, "norms-parts", names,
                      "The norms of all parameters, of the embeddings and of the output layer over their starts.",
                      relative, labels, mark_one)


def direction(dataset):
    return over_steps(dataset, "direction", ["direction_cosine"],
                      "The cosine between the parameters of successive measured steps: at 1 their direction rests.",
                      medians=True)
