"""Figures of a few lines each: what is measured over the steps, or once in a run; and a plain plot of any variable, so
that a new metric can be seen before it has a figure of its own."""

import numpy as np
from matplotlib.lines import Line2D

from ..names import REPEAT
from . import look, runs, scales
from .cells import has_values, over_plane, plane_of
from .colours import LEVEL
from .lines import has_steps, over_steps

FORCE = "force"
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


# ---- steps of the optimiser ----

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


# ---- losses and predictions ----

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
        return sorted(set(scales.finite([self.dataset.unigram_loss.isel(run).values for run in shown])))

    def __call__(self, axes, variable, shown):
        if variable != "valid_loss" or not look.shows("unigram"):
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


# ---- one number for each run ----

EXPONENT = "p: |θ|² − |θ₀|² ~ t²ᵖ, so 1/2 is a random walk and 1 is growth like t."


DEVIATION = " Deviation: standard deviation over seeds."
SPREAD = "growth_exponent_spread"


def dynamics(dataset):
    ended = not (dataset.sweep.running | (dataset.outcome == 0)).any()
    spread = has_values(dataset, "growth_exponent") and len(plane_of(dataset)) == 2 and REPEAT in runs.axes_of(dataset)
    names = ["growth_exponent", *([SPREAD] if spread else []), "dynamics"]
    blank = "no fit: the norm is not above its start" + ("; of the deviation: fewer than two fits" if spread else "")
    return over_plane(with_spread(dataset) if spread else dataset, "dynamics", names,
                      "The exponent p of growth like t^p, and the law of steps whose norms fit best.",
                      {"growth_exponent": look.with_unit("growth exponent $p$"), "dynamics": "class of growth",
                       SPREAD: look.with_unit("deviation of $p$")},
                      blank=blank if ended else "", note=EXPONENT + DEVIATION * spread)


def with_spread(dataset):
    """The dataset with the standard deviation of the growth exponent over seeds; NaN where fewer than two runs that
    are done have one."""
    values = dataset.growth_exponent.where(dataset.sweep.done)
    count = values.count(REPEAT)
    spread = np.sqrt(((values - values.mean(REPEAT)) ** 2).sum(REPEAT) / (count - 1).where(count > 1))
    return dataset.assign({SPREAD: spread.broadcast_like(values).assign_attrs(units="1", nature="magnitude")})


def final_losses(dataset):
    return over_plane(dataset, "final-losses", ["final_train_loss", "final_valid_loss"],
                      "The losses at the last step.", alike=True)


# ---- any variable ----

def is_drawable(dataset, name):
    """True for numbers along the axes or the steps that are not all the same."""
    variable = dataset[name]
    if variable.dtype.kind not in "iuf" or not {*dataset.sweep.axes, "step"} & set(variable.dims):
        return False
    values = scales.finite([variable.values])
    return len(values) > 0 and values.min() < values.max()


def plain_plot(dataset, name):
    """Lines over the steps, or a map over the plane. Layers, heads and other dimensions are averaged, as the caption
    says."""
    variable = dataset[name]
    if FORCE in variable.dims:
        return of_forces(dataset, name)
    known = {*dataset.sweep.axes, "step"}
    others = [dim for dim in variable.dims if dim not in known]
    caption = str(variable.attrs.get("comment", "")) or look.label(variable)
    caption = f"{caption[0].upper()}{caption[1:]}{'' if caption.endswith('.') else '.'}"
    labels = {}
    if others:
        values = variable.where(np.isfinite(variable)).mean(others, keep_attrs=True)
        dataset = dataset.assign({name: values})
        caption += f" Mean over {runs.plurals(others)}."
        words, unit = look.name(values)
        labels = {name: look.with_unit(f"{words},\nmean over {runs.plurals(others)}", unit)}
    missing = [axis for axis in dataset.sweep.axes if axis not in dataset[name].dims]
    if missing:  # the variable has only some of the axes: it is the same along the others
        whole = dataset[name].broadcast_like(dataset.outcome).assign_attrs(variable.attrs)
        dataset = dataset.assign({name: whole})
    if has_steps(dataset, name):
        return over_steps(dataset, name, [name], caption, labels=labels)
    return over_plane(dataset, name, [name], caption, labels) if runs.axes_of(dataset) else None


def of_forces(dataset, name):
    """A panel for each force, which together would be the change of a norm, and no mean of them is anything."""
    variable = dataset[name]
    others = [dim for dim in variable.dims if dim not in {*dataset.sweep.axes, "step", FORCE}]
    words, unit = look.name(variable)
    each = {f"{name}_{word}": variable.sel({FORCE: word}, drop=True).mean(others, keep_attrs=True)
            for word in map(str, variable[FORCE].values)}
    caption = f"{words[0].upper()}{words[1:]}, each force by itself."
    if others:
        caption += f" Mean over {runs.plurals(others)}."
        words = f"mean over {runs.plurals(others)}"
    labels = {part: part.removeprefix(f"{name}_") for part in each}
    return over_steps(dataset.assign(each), name, list(each), caption, labels=labels, whole=look.with_unit(words, unit))
