"""How the norm of each run grows: the exponent of its growth, and the recursion that it follows."""

from .. import look
from .cells import over_plane


def dynamics(dataset):
    return over_plane(dataset, "dynamics", ["growth_exponent", "dynamics"],
                      "The exponent p of growth like t^p, and the class of growth that fits best: none if no class "
                      "fits, or if two fit equally well.",
                      {"growth_exponent": look.with_unit("growth exponent $p$"), "dynamics": "class of growth"})


def final_losses(dataset):
    return over_plane(dataset, "final-losses", ["final_train_loss", "final_valid_loss"],
                      "The losses at the last step.", alike=True)
