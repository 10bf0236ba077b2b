"""How norms grow, run by run: the exponent of their growth, and which recursion they follow."""

from .cells import over_plane


def dynamics(dataset):
    return over_plane(dataset, "dynamics", ["growth_exponent", "dynamics"],
                      "The exponent p of growth like t^p, and the class of growth that fits best; none where none "
                      "does, or two fit alike.",
                      {"growth_exponent": "growth exponent $p$", "dynamics": "class of growth"})


def final_losses(dataset):
    return over_plane(dataset, "final-losses", ["final_train_loss", "final_valid_loss"],
                      "The losses at the last step.")
