"""How the norm of each run grows: the exponent of its growth, and the recursion that it follows."""

from . import look
from .cells import over_plane

EXPONENT = "p: |θ|² − |θ₀|² ~ t²ᵖ, so 1/2 is a random walk and 1 is growth like t."


def dynamics(dataset):
    ended = not (dataset.sweep.running | (dataset.outcome == 0)).any()
    return over_plane(dataset, "dynamics", ["growth_exponent", "dynamics"],
                      "The exponent p of growth like t^p, and the law of steps whose norms fit best.",
                      {"growth_exponent": look.with_unit("growth exponent $p$"), "dynamics": "class of growth"},
                      blank="no fit: the norm is not above its start" if ended else "", note=EXPONENT)


def final_losses(dataset):
    return over_plane(dataset, "final-losses", ["final_train_loss", "final_valid_loss"],
                      "The losses at the last step.", alike=True)
