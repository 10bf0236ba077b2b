"""The optimiser's steps: their length, and their direction relative to the parameters."""

from . import look
from .lines import has_steps, over_steps


COSINES = ("alignment", "update_alignment", "update_alignment_null")  # with the parameters
UPDATE = "Update: the step without weight decay, over the learning rate."


def mark_zero(axes, _variable, _runs):
    look.reference_line(axes, 0)


def alignment(dataset):
    labels = {"alignment": "whole step", "update_alignment": "update", "update_alignment_null": "by chance",
              "gradient_alignment": "descent direction"}
    chance = ("By chance: the update's, if gradients were white noise; this formula can exceed 1 where updates are "
              "large against θ, as no cosine can.")
    return over_steps(dataset, "alignment", list(labels), "The cosine of the parameters with the whole step (decay "
                      "included), with the step without decay, what that is by chance, and with the descent direction "
                      "of the loss; 0 means orthogonal to the parameters.", decorate=mark_zero, alike=COSINES,
                      within=(-1, 1), whole=look.with_unit("cosine with the parameters"), labels=labels,
                      notes=(UPDATE, chance if has_steps(dataset, "update_alignment_null") else ""))


def sizes(dataset):
    return over_steps(dataset, "steps", ["step_size", "update_norm", "grad_norm"],
                      "The norms of the optimiser's step, of the step without decay and learning rate, and of the "
                      "gradient.", alike_scale=True, whole=look.with_unit("norm"), notes=(UPDATE,),
                      labels={"step_size": "whole step", "update_norm": "update", "grad_norm": "gradient"})
