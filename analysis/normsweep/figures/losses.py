"""Losses and predictions over the steps."""

from matplotlib.lines import Line2D

from .. import look
from .cells import over_plane
from .lines import over_steps


MOST = 1.5  # times the loss at the start, where all words are about as likely: what is beyond has gone astray


class UnigramLevel:
    """The loss of predicting each word as often as it stands in the text, as lines beside the validation loss."""

    def __init__(self, dataset):
        self.levels = sorted(set(look.finite([dataset.unigram_loss.values]))) if "unigram_loss" in dataset else []
        self.drawn = False

    def __call__(self, axes, variable, _runs):
        if variable != "valid_loss" or len(self.levels) > 3:
            return
        for level in self.levels:
            axes.axhline(level, color="black", linewidth=0.9, linestyle=(0, (1, 1)))
            self.drawn = True

    def legend(self):
        line = Line2D([], [], color="black", linewidth=0.9, linestyle=(0, (1, 1)),
                      label="unigram level")
        return [line] if self.drawn else []


def losses(dataset):
    return over_steps(dataset, "losses", ["train_loss", "valid_loss"],
                      "The loss on the training batches and on the validation text, whose unigram level is reached by "
                      "predicting each word as often as it occurs.", decorate=UnigramLevel(dataset), most=MOST)


def predictions(dataset):
    """Over the steps; where they were measured at the end alone, over the grid."""
    names = ["accuracy", "predicted_entropy"]
    what = ("The share of words predicted rightly, and the entropy of the predicted words: at 0 the model says one "
            "word whatever comes in.")
    drawing = over_steps(dataset, "predictions", names, what)
    return drawing or over_plane(dataset, "predictions", names, f"At the last step: {what[0].lower()}{what[1:]}")
