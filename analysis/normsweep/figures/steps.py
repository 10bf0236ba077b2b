"""The optimiser's steps: their length, and their direction relative to the parameters."""

from .. import look
from .lines import over_steps


COSINES = ("alignment", "update_alignment", "update_alignment_null")  # with the parameters


def mark_zero(axes, _variable, _runs):
    look.reference_line(axes, 0)


def alignment(dataset):
    return over_steps(dataset, "alignment", [
        "alignment", "update_alignment", "update_alignment_null", "gradient_alignment"],
                      "The cosine of the parameters with the whole step (decay included), with the step without decay, "
                      "what that is by chance if gradients are white noise, and with the descent direction of the "
                      "loss; 0 means orthogonal to the parameters.",
                      decorate=mark_zero, alike=COSINES, within=(-1, 1))


def sizes(dataset):
    return over_steps(dataset, "steps", ["step_size", "update_norm", "grad_norm"],
                      "The norms of the optimiser's step, of the step without decay and learning rate, and of the "
                      "gradient.", alike_scale=True)
