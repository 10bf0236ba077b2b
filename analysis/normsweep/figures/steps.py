"""The optimiser's steps: how long they are, and how they point beside the parameters."""

from .lines import over_steps


def mark_zero(axes, _variable, _runs):
    axes.axhline(0, color="black", linewidth=0.8, linestyle=":")


def alignment(dataset):
    return over_steps(dataset, "alignment", ["alignment", "update_alignment", "gradient_alignment"],
                      "The cosine between the parameters and the whole step (decay included), the step without its "
                      "decay, and the descent direction of the loss: at 0 they are orthogonal to the parameters.",
                      decorate=mark_zero, medians=True)


def sizes(dataset):
    return over_steps(dataset, "steps", ["step_size", "update_norm", "grad_norm"],
                      "The lengths of the optimiser's step, of the same without decay and learning rate, and of the "
                      "gradient.", medians=True)
