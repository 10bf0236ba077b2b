"""Losses and predictions over the steps."""

from matplotlib.lines import Line2D

from . import look
from .cells import over_plane
from .colours import LEVEL
from .lines import has_steps, over_steps

# Times the loss at the start, where all words are about equally likely: a larger loss is that of a run gone wrong.
MOST = 1.5


class UnigramLevel:
    """The loss of predicting each word with its frequency in the text, as lines in the panel of the validation loss."""

    def __init__(self, dataset):
        self.dataset = dataset
        self.drawn = False

    def levels_of(self, shown):
        """Those of the runs of a panel."""
        if "unigram_loss" not in self.dataset:
            return []
        return sorted(set(look.finite([self.dataset.unigram_loss.isel(run).values for run in shown])))

    def __call__(self, axes, variable, shown):
        if variable != "valid_loss":
            return
        levels = self.levels_of(shown)
        for level in levels if len(levels) <= 3 else ():
            axes.axhline(level, **LEVEL)
            self.drawn = True

    def legend(self):
        return [Line2D([], [], label="unigram level", **LEVEL)] if self.drawn else []


def losses(dataset):
    return over_steps(dataset, "losses", ["train_loss", "valid_loss"],
                      "The loss on the training batches and on the validation text. The unigram level is the loss of "
                      "predicting each word with its frequency.", decorate=UnigramLevel(dataset), most=MOST,
                      alike=("train_loss", "valid_loss"), **common(dataset))


def common(dataset):
    """Titles of the two panels, and the label that they share; nothing if only one was measured, or in another unit."""
    both = [name for name in ("train_loss", "valid_loss") if has_steps(dataset, name)]
    units = {look.name(dataset[name])[1] for name in both}
    if len(both) < 2 or len(units) > 1:
        return {}
    return {"whole": look.with_unit("loss", units.pop()),
            "labels": {"train_loss": "training batches", "valid_loss": "validation text"}}


def predictions(dataset):
    """Over the steps; over the grid if they were measured at the last step only."""
    names = ["accuracy", "predicted_entropy"]
    what = ("The share of words predicted correctly, and the entropy of the predicted words; an entropy of 0 means "
            "that the model always predicts the same word.")
    drawing = over_steps(dataset, "predictions", names, what)
    return drawing or over_plane(dataset, "predictions", names, f"At the last step: {what[0].lower()}{what[1:]}")
