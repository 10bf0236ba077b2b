"""Norms of the parameters, and how their direction changes, over the steps."""

import numpy as np

from . import look
from .lines import over_steps

PARTS = {"total_norm": "all parameters", "embedding_norm": "embeddings", "output_norm": "output layer"}
BEFORE = "with θ at the measured step before"
RELATIVE = "$|\\theta_t| / |\\theta_0|$"


def relative(values):
    """A norm divided by its first value; not finite if that is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return values / values[0]


def mark_one(axes, _variable, _runs):
    look.reference_line(axes, 1)


def norms(dataset):
    return over_steps(dataset, "norms", ["param_norm"],
                      "The norm of the layers' parameters relative to its start.", prepare=relative, decorate=mark_one,
                      labels={"param_norm": look.with_unit(f"parameter norm {RELATIVE}")})


def stack(dataset):
    return over_steps(dataset, "norms-stack", ["stack_norm"], "The norm of a stack's parameters relative to its start.",
                      prepare=relative, decorate=mark_one,
                      labels={"stack_norm": look.with_unit(f"norm of the stack {RELATIVE}")})


def parts(dataset):
    return over_steps(dataset, "norms-parts", list(PARTS), "The norms of all parameters, of the embeddings and of the "
                      "output layer, relative to their starts.", prepare=relative, decorate=mark_one,
                      whole=look.with_unit("norm relative to its start"), labels=PARTS, alike=tuple(PARTS))


def direction(dataset):
    return over_steps(dataset, "direction", ["direction_cosine"],
                      "The cosine between the parameters at successive measured steps; 1 means that their direction "
                      "does not change.", labels={"direction_cosine": look.with_unit(f"cosine of θ {BEFORE}")})


def stack_direction(dataset):
    return over_steps(dataset, "direction-stack", ["stack_direction_cosine"],
                      "The cosine between a stack's parameters at successive measured steps.",
                      labels={"stack_direction_cosine": look.with_unit(f"cosine of a stack's θ {BEFORE}")})
