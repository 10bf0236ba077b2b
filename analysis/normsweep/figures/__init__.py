"""The figures of a dataset: a table of them, and the loop that draws them.

>>> from normsweep import figures, open_sweep
>>> from normsweep.figures import look
>>> for drawing in figures.draw_all(open_sweep("first.nc")):
...     look.save(drawing.figure, f"first-{drawing.name}.svg")

A new figure is a row in FIGURES and a function from a dataset to a Drawing, or to None if the dataset lacks what the
figure needs. curves.plain_plot draws every variable that no row names, under its own name, and any other that is asked
for.
"""

from dataclasses import dataclass, replace
from typing import Callable

from ..memory import loaded, of_runs
from ..names import TIMES
from . import (
    attention, boundaries, curves, depth, equilibrium, exponents, fits, forces, gradients, grokking, heads, hessian,
    homogeneity, look, phase, runs, sharpness, spectra, stacks, states, warmup, workers)
from .drawing import Drawing

__all__ = ["BOOKKEEPING", "FIGURES", "TOGETHER", "Drawing", "NotDrawn", "draw_all", "names", "undrawn"]


@dataclass(frozen=True)
class Figure:
    """A row: the name of the drawing, the function that makes it, the variables that it shows; what else it needs, for
    those who ask for it in vain; and whether a dataset has that."""

    name: str
    draw: Callable
    variables: tuple
    needs: str = "more runs that have ended, or more measured steps"
    fits: Callable = lambda dataset: True
    why_none: Callable = lambda dataset: ""  # why what it shows was measured, but has no value


NORMS = "the group norms as well"

FIGURES = (
    Figure("phase", phase.phase, ("norm_growth", "phase", "outcome")),
    Figure("boundaries", boundaries.boundaries, ("norm_growth",),
           "axes learning_rate and weight_decay and a third one, on which growth stops at two values",
           boundaries.has_lines),
    Figure("norms", curves.norms, ("param_norm",)),
    Figure("norms-parts", curves.parts, ("total_norm", "embedding_norm", "output_norm")),
    Figure("norms-stack", curves.stack, ("stack_norm",)),
    Figure("norms-by-layer", depth.norms, ("layer_norm",)),
    Figure("norms-by-tensor", depth.tensors, ("tensor_norm",)),
    Figure("norms-fits", fits.laws, (
        "param_norm", "fit_aligned_norm", "fit_misaligned_norm", "fit_adam_like_norm")),
    Figure("fits", fits.quality, (
        "fit_sqrt_r2", "fit_linear_r2", "fit_fourth_root_r2", "fit_exponential_r2", "fit_aligned_r2",
        "fit_misaligned_r2", "fit_adam_like_r2", "growth_exponent_r2")),
    Figure("dynamics", curves.dynamics, ("growth_exponent", "dynamics")),
    Figure("direction", curves.direction, ("direction_cosine",)),
    Figure("direction-stack", curves.stack_direction, ("stack_direction_cosine",)),
    Figure("direction-by-layer", depth.directions, ("layer_direction_cosine",)),
    Figure("alignment", curves.alignment, (
        "alignment", "update_alignment", "update_alignment_null", "gradient_alignment")),
    Figure("equilibrium", equilibrium.by_tensor, (
        "rotation", "rotation_equilibrium", "tensor_rms", "rms_equilibrium")),
    Figure("forces", forces.over_steps, ("force_sum", "forces", "tensor_forces"), NORMS, forces.has_norms,
           forces.why_none),
    Figure("forces-by-tensor", forces.by_tensor, ("force_sum",), NORMS, forces.has_norms, forces.why_none),
    Figure("forces-boundary", forces.along_boundary, ("force_sum",),
           f"axes learning_rate and weight_decay, on which growth stops, and {NORMS}", forces.has_norms,
           forces.why_none),
    Figure("forces-plane", forces.largest, ("force_sum",), NORMS, forces.has_norms, forces.why_none),
    Figure("top-singular", spectra.top_singular, (spectra.TOP, spectra.DEAD),
           "runs that have ended with several learning rates or weight decays above 0"),
    Figure("spectra", spectra.ranks, spectra.RANKS),
    Figure("spectra-heads", spectra.heads, spectra.HEADS),
    Figure(spectra.VALUES, spectra.values, (spectra.VALUES,)),
    Figure("steps", curves.sizes, ("step_size", "update_norm", "grad_norm")),
    Figure("steps-by-layer", depth.steps, ("layer_step_size", "layer_alignment", "layer_gradient_alignment")),
    Figure("saturation", states.saturation, ("saturation", "hard_saturation")),
    Figure("saturation-by-layer", states.saturation_over_time, ("saturation",)),
    Figure("saturation-final", states.saturation_final, ("saturation_final", "hard_saturation_final")),
    Figure("homogeneity", homogeneity.homogeneity, (
        "homogeneity", "homogeneity_degree", "output_homogeneity_degree")),
    Figure("heads", heads.histogram, ("heads_histogram",)),
    Figure("heads-by-layer", heads.by_layer, ("positions_attended", "fraction_attended", "share_above_one")),
    Figure("heads-by-token", heads.tokens, ("attended_histogram",)),
    Figure("attention", attention.plane, attention.WHOLE, "several runs that have ended"),
    Figure("attention-steps", attention.steps, attention.WHOLE),
    Figure("attention-by-layer", attention.by_layer, ("max_logit", "attention_entropy", "first_attention")),
    Figure("activations", attention.activations, ("activation_rms",)),
    Figure("activations-largest", attention.largest, ("activation_max",)),
    Figure("gradients", gradients.by_layer, ("mean_gradient_norm", "gradient_depth_slope")),
    Figure("gradients-last", gradients.last, ("mean_gradient_norm",)),
    Figure("hessian", hessian.density, ("hessian_ritz", "hessian_weight")),
    Figure("hessian-edge", hessian.edge, hessian.EDGE),
    Figure("hessian-steps", hessian.steps, hessian.BY_STEP),
    Figure("hessian-layers", hessian.layers, ("layer_hessian_ritz", "layer_hessian_weight")),
    Figure("hessian-ends", hessian.layer_ends, tuple(hessian.ENDS)),
    Figure("critical-sharpness", sharpness.sharpness, ("critical_sharpness",)),
    Figure("residual", states.norms, ("residual_norm",)),
    Figure("residual-cosine", states.cosines, ("residual_cosine",)),
    Figure("residual-growth", states.growth, tuple(states.GROWTH)),
    Figure("lyapunov", exponents.spectra, exponents.KINDS),
    Figure("lyapunov-plane", exponents.at_the_end, ("lyapunov",)),
    Figure("trainability", exponents.trainability, ("angle_exponent", "gradient_exponent")),
    Figure("losses", curves.losses, ("train_loss", "valid_loss", "unigram_loss")),
    Figure("final-losses", curves.final_losses, ("final_train_loss", "final_valid_loss")),
    Figure("warmup", warmup.warmup, ("final_valid_loss", "final_train_loss"), "an axis warmup_steps", warmup.has_axis),
    Figure("predictions", curves.predictions, ("accuracy", "predicted_entropy")),
    Figure("grokking", grokking.grokking, ("accuracy",),
           "accuracy over the steps of several weight decays, and a run that gets to 0.99",
           grokking.has_grokked),
    Figure("workers", workers.workers, TIMES, "a run that was begun"),
)

# Figures of several sweeps: from {name: dataset} to a Drawing or None.
TOGETHER = {"grokking": grokking.together}

# Variables for tables and reports, not for figures: about the program, or errors and noise of numbers that a figure
# shows.
BOOKKEEPING = frozenset((
    "attempts", "deaths", "session", "seconds", "tokens_per_second", "last_step", "diverged_step",
    "ended_early", "host", "reason",
    "rate_sum", "balance_error", "force_error", "growth_exponent_error", "fit_aligned_k", "fit_misaligned_k",
    "fit_adam_like_a",
    "fit_aligned_aic", "fit_misaligned_aic", "fit_adam_like_aic", "homogeneity_degree_r2",
    "output_homogeneity_degree_r2", "gradient_depth_slope_error", "gradient_depth_slope_theory",
    "batch_gradient_norm", "residual_growth_error", "hessian_trace_error", "hessian_bound", "layer_hessian_trace",
    "layer_hessian_trace_error", "layer_hessian_bound"))


def why_empty(dataset, name):
    """Why a figure that a dataset may have was not drawn, in words."""
    row = next(figure for figure in table(dataset, [name]) if figure.name == name)
    if not any(runs.is_measured(dataset, variable) for variable in row.variables):
        return row.why_none(dataset) or "nothing was measured yet"
    if not runs.axes_of(dataset):
        return "a single run is not enough for this figure"
    return f"it needs {row.needs}"


class NotDrawn(Exception):
    """Some figures failed; the others were drawn."""


def undrawn(dataset):
    """The numeric variables that no figure of the table draws."""
    drawn = {variable for figure in FIGURES for variable in figure.variables} | BOOKKEEPING
    return [name for name in map(str, dataset.data_vars) if name not in drawn and curves.is_drawable(dataset, name)]


def table(dataset, wanted=()):
    """The rows for a dataset, including one for each variable without a figure of its own or with a name in `wanted`,
    and one for each stack of encoder-decoders."""
    rows = [figure for figure in FIGURES if any(name in dataset for name in figure.variables)]
    named = {figure.name for figure in rows}
    plain = [name for name in wanted if name in dataset.data_vars and name not in named
             and curves.is_drawable(dataset, name)]
    rows += [Figure(name, lambda dataset, name=name: curves.plain_plot(dataset, name), (name,))
             for name in dict.fromkeys([*undrawn(dataset), *plain])]
    found = []
    for figure in rows:
        found += [replace(figure, name=f"{figure.name}-{word}", draw=stacks.drawer(figure.draw, word))
                  for word in stacks.of_figure(dataset, figure.variables)] or [figure]
    return found


def names(dataset, wanted=(), sure=False):
    """The names of the figures that a dataset may have, and of the variables in `wanted` that can be drawn. sure:
    without those for which there is nothing to draw."""
    return [figure.name for figure in table(dataset, wanted) if not sure or figure.fits(dataset)]


def draw_all(dataset, only=None, failed=None, captioned=False):
    """Yields a Drawing for each figure that the dataset has data for, or for those whose names are in `only`; the name
    of a variable stands for a plain plot of it.
    captioned: its notes stand in the caption alone, otherwise in the image, too.

    A figure that fails does not stop the others: failed(name, exception) is called; without `failed`, NotDrawn is
    raised at the end and names all that failed.
    """
    lost = []
    dataset = loaded(dataset, of_runs(dataset))
    for figure in table(dataset, only or ()):
        if only is not None and figure.name not in only:
            continue
        try:
            with look.captioned(captioned):
                drawing = figure.draw(loaded(dataset, figure.variables))
        except Exception as error:  # one broken figure must not stop the others
            lost.append(f"{figure.name}: {error or type(error).__name__}")
            if failed:
                failed(figure.name, error)
            continue
        if drawing is not None:
            yield replace(drawing, caption=f"{drawing.caption} {look.progress(dataset)}".strip())
    if lost and not failed:
        raise NotDrawn("; ".join(lost))
