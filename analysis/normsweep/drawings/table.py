"""The figures of a dataset: a table of them, and the functions that draw them.

A new figure is a row in FIGURES and a function from a dataset to a Drawing, or to None if the dataset lacks what the
figure needs; .ci/tables writes its lines into the documents and into figures.pyi. curves.plain_plot draws every
variable that no row names, under its own name, and any other that is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable

from ..memory import loaded, of_runs
from ..names import TIMES
from . import (
    attention, boundaries, curves, depth, equilibrium, exponents, fits, forces, gradients, grokking, heads, hessian,
    homogeneity, look, phase, runs, sharpness, spectra, stacks, states, warmup, workers)
from .canvas import COMMON, Options, drawn


@dataclass(frozen=True)
class Figure:
    """A row: the name of the drawing, what it shows in a line, the function that makes it, the variables that it shows;
    what else it needs, for those who ask for it in vain; and whether a dataset has that."""

    name: str
    about: str
    draw: Callable
    variables: tuple
    needs: str = "more runs that have ended, or more measured steps"
    fits: Callable = lambda dataset: True
    why_none: Callable = lambda dataset: ""  # why what it shows was measured, but has no value
    whole: str = ""  # the name of the row, where this is the part of one stack
    overlays: dict[str, str] = field(default_factory=dict)  # {what it can do without: what that is}


NORMS = "the group norms as well"

# What figures can do without, {name: what it is}, as --without takes it; look.shows says whether it is drawn.
REFERENCE = {"reference": "the dotted line"}
BANDS = {"bands": "the range over seeds"}
LINES = {**BANDS, "grey": "the lines of other values"}
RANGE = {"range": "the range over seeds"}
SUM = {"sum": "the sum of the forces"}
THEORY = {"theory": "the line of the theory"}
UNIGRAM = {"unigram": "the loss of predicting words with their frequencies"}
BOUNDARY = {"boundary": "the line of no growth"}
PLANE = {"zeros": "the lines at which exponents or growth are zero", "lowest": "the mark of the lowest loss"}

FIGURES = (
    Figure("phase", "growth or shrinkage of the norm over learning rate and weight decay, with the boundary",
           phase.phase, ("norm_growth", "phase", "outcome"), overlays=phase.OVERLAYS),
    Figure("boundaries", "the boundaries of growth of all kinds of runs in one panel",
           boundaries.boundaries, ("norm_growth",),
           "axes learning_rate and weight_decay (or timescale) and a third one, on which growth stops at two values",
           boundaries.has_lines, overlays=RANGE),
    Figure("norms", "norm of the parameters of the layers over the steps, relative to its start",
           curves.norms, ("param_norm",), overlays=LINES | REFERENCE),
    Figure("norms-parts", "norms of all parameters, of the embeddings and of the output",
           curves.parts, ("total_norm", "embedding_norm", "output_norm"), overlays=LINES | REFERENCE),
    Figure("norms-stack", "norm of each stack of an encoder-decoder",
           curves.stack, ("stack_norm",), overlays=LINES | REFERENCE),
    Figure("norms-by-layer", "norm of each layer over the steps",
           depth.norms, ("layer_norm",), overlays=BANDS | REFERENCE),
    Figure("norms-by-tensor", "norm of each kind of tensor over the steps",
           depth.tensors, ("tensor_norm",), overlays=REFERENCE),
    Figure("norms-fits", "the norm beside the laws of growth that are fitted to it",
           fits.laws, ("param_norm", "fit_aligned_norm", "fit_misaligned_norm", "fit_adam_like_norm")),
    Figure("fits", "how well the laws of growth fit",
           fits.quality, ("fit_sqrt_r2", "fit_linear_r2", "fit_fourth_root_r2", "fit_exponential_r2",
                         "fit_aligned_r2", "fit_misaligned_r2", "fit_adam_like_r2",
                         "growth_exponent_r2")),
    Figure("dynamics", "exponent of the growth of the norm, and the law that fits best",
           curves.dynamics, ("growth_exponent", "dynamics")),
    Figure("direction", "cosine between the parameters at successive measured steps",
           curves.direction, ("direction_cosine",), overlays=LINES),
    Figure("direction-stack", "the same of each stack of an encoder-decoder",
           curves.stack_direction, ("stack_direction_cosine",), overlays=LINES),
    Figure("direction-by-layer", "the same of each layer",
           depth.directions, ("layer_direction_cosine",), overlays=BANDS),
    Figure("alignment", "cosine of steps, updates and gradients with the parameters, and that of momentum alone",
           curves.alignment, ("alignment", "update_alignment", "update_alignment_null", "gradient_alignment"),
           overlays=LINES | REFERENCE),
    Figure("equilibrium", "rotation and size of each kind of tensor over those of the balance of decay and steps",
           equilibrium.by_tensor, ("rotation", "rotation_equilibrium", "tensor_rms", "rms_equilibrium"),
           overlays=REFERENCE),
    Figure("forces", "decay, injection, chance and pull: what each has added to the square of the norm, over the steps",
           forces.over_steps, ("force_sum", "forces", "tensor_forces"), NORMS, forces.has_norms,
           forces.why_none, overlays=SUM | REFERENCE),
    Figure("forces-by-tensor", "the same of each kind of tensor, over the whole run",
           forces.by_tensor, ("force_sum",), NORMS, forces.has_norms, forces.why_none, overlays=SUM | REFERENCE),
    Figure("forces-boundary", "the same as shares of decay, along the boundary of growth",
           forces.along_boundary, ("force_sum",),
           f"axes learning_rate and weight_decay (or timescale), on which growth stops, and {NORMS}", forces.has_norms,
           forces.why_none, overlays=RANGE | REFERENCE),
    Figure("forces-plane", "the force that has added most, over the axes of the grid",
           forces.largest, ("force_sum",), NORMS, forces.has_norms, forces.why_none, overlays=BOUNDARY),
    Figure("top-singular", "largest singular value of each kind of matrix over sqrt(learning rate / weight decay)",
           spectra.top_singular, (spectra.TOP, spectra.DEAD),
           "runs that have ended with several learning rates or weight decays above 0",
           overlays={"proportion": "the line of proportion"}),
    Figure("spectra", "stable rank, singular values in effect, the largest over that of noise, over the steps",
           spectra.ranks, spectra.RANKS, overlays=LINES),
    Figure("spectra-heads", "rank and imbalance of the products of each head's matrices, over the steps",
           spectra.heads, spectra.HEADS, overlays=LINES),
    Figure(spectra.VALUES, "all singular values of each kind of matrix at the last measured step",
           spectra.values, (spectra.VALUES,)),
    Figure("steps", "norms of steps, updates and gradients over the steps",
           curves.sizes, ("step_size", "update_norm", "grad_norm"), overlays=LINES),
    Figure("steps-by-layer", "norm of the step in each layer, and its cosine with the layer's parameters",
           depth.steps, ("layer_step_size", "layer_alignment", "layer_gradient_alignment"), overlays=BANDS),
    Figure("saturation", "cosine of the states with those of the saturated network, after each layer",
           states.saturation, ("saturation", "hard_saturation"), overlays={"hard": "the marks of hard attention"}),
    Figure("saturation-by-layer", "the same over the steps",
           states.saturation_over_time, ("saturation",), overlays=BANDS),
    Figure("saturation-final", "the same of the output layer's input, over the steps",
           states.saturation_final, ("saturation_final", "hard_saturation_final"), overlays=LINES),
    Figure("homogeneity", "how close the network is to a homogeneous function of its parameters",
           homogeneity.homogeneity, ("homogeneity", "homogeneity_degree", "output_homogeneity_degree"), overlays=BANDS),
    Figure("heads", "heads of the saturated network by the number of positions that they attend to",
           heads.histogram, ("heads_histogram",)),
    Figure("heads-by-layer", "the same for each head of each layer",
           heads.by_layer, ("positions_attended", "fraction_attended", "share_above_one")),
    Figure("heads-by-token", "the same for each head, over the tokens",
           heads.tokens, ("attended_histogram",)),
    Figure("attention", "share of heads with a sink, largest score, mean entropy, over the axes of the grid",
           attention.plane, attention.WHOLE, "several runs that have ended"),
    Figure("attention-steps", "the same over the steps",
           attention.steps, attention.WHOLE, overlays=LINES),
    Figure("attention-by-layer", "largest score, entropy and attention to the first position of each head",
           attention.by_layer, ("max_logit", "attention_entropy", "first_attention"), overlays=REFERENCE),
    Figure("activations", "root mean square of the residual stream after each block",
           attention.activations, ("activation_rms",)),
    Figure("activations-largest", "largest element of the residual stream over the median, after each block",
           attention.largest, ("activation_max",)),
    Figure("gradients", "gradients of untrained networks along the layers",
           gradients.by_layer, ("mean_gradient_norm", "gradient_depth_slope"), overlays=THEORY),
    Figure("gradients-last", "gradients of the last layer of untrained networks, over the number of layers",
           gradients.last, ("mean_gradient_norm",), overlays=THEORY),
    Figure("hessian", "spectral density of the loss's Hessian at the first and the last measured step",
           hessian.density, ("hessian_ritz", "hessian_weight")),
    Figure("hessian-edge", "largest eigenvalue over its bound at the edge of stability, over the steps",
           hessian.edge, hessian.EDGE, overlays=LINES | REFERENCE),
    Figure("hessian-steps", "largest and smallest eigenvalue of the Hessian, and its trace, over the steps",
           hessian.steps, hessian.BY_STEP, overlays=LINES),
    Figure("hessian-layers", "spectral density of each layer's block of the Hessian",
           hessian.layers, ("layer_hessian_ritz", "layer_hessian_weight")),
    Figure("hessian-ends", "largest and smallest eigenvalue of each layer's block",
           hessian.layer_ends, tuple(hessian.ENDS), overlays=REFERENCE),
    Figure("critical-sharpness", "critical sharpness beside the largest eigenvalue and the rate of the steps",
           sharpness.sharpness, ("critical_sharpness",), overlays={"limits": "what the values are compared with"}),
    Figure("residual", "norm of the residual stream after each block",
           states.norms, ("residual_norm",)),
    Figure("residual-cosine", "cosine of the residual stream before and after each block",
           states.cosines, ("residual_cosine",)),
    Figure("residual-growth", "growth per block of the stream, of gradients and of angles between tokens",
           states.growth, tuple(states.GROWTH), overlays=LINES | REFERENCE),
    Figure("lyapunov", "Lyapunov exponents at the first and the last measured step",
           exponents.spectra, exponents.KINDS, overlays=REFERENCE),
    Figure("lyapunov-plane", "the largest Lyapunov exponent over the axes of the grid",
           exponents.at_the_end, ("lyapunov",), overlays=PLANE),
    Figure("trainability", "loss at the end, and where the exponents of the untrained network are 0",
           exponents.trainability, ("angle_exponent", "gradient_exponent"), overlays=PLANE),
    Figure("losses", "training and validation loss over the steps",
           curves.losses, ("train_loss", "valid_loss", "unigram_loss"), overlays=LINES | UNIGRAM),
    Figure("final-losses", "losses at the end over the axes of the grid",
           curves.final_losses, ("final_train_loss", "final_valid_loss")),
    Figure("warmup", "loss at the end over the steps of warmup",
           warmup.warmup, ("final_valid_loss", "final_train_loss"), "an axis warmup_steps", warmup.has_axis,
           overlays=UNIGRAM),
    Figure("predictions", "accuracy and entropy of the predictions over the steps",
           curves.predictions, ("accuracy", "predicted_entropy"), overlays=LINES),
    Figure("grokking", "accuracy over the steps, and the steps from memory to generalisation",
           grokking.grokking, ("accuracy",),
           "accuracy over the steps of several weight decays, and a run that gets to 0.99",
           grokking.has_grokked, overlays=REFERENCE | {"others": "the grey marks of other rows"}),
    Figure("workers", "what each worker did, and how busy they were",
           workers.workers, TIMES, "a run that was begun", overlays={"sessions": "the starts of sessions"}),
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
    rows += [Figure(name, "", lambda dataset, name=name: curves.plain_plot(dataset, name), (name,))
             for name in dict.fromkeys([*undrawn(dataset), *plain])]
    found = []
    for figure in rows:
        found += [replace(figure, name=f"{figure.name}-{word}", draw=stacks.drawer(figure.draw, word),
                          whole=figure.name)
                  for word in stacks.of_figure(dataset, figure.variables)] or [figure]
    return found


def names(dataset, wanted=(), sure=False):
    """The names of the figures that a dataset may have, and of the variables in `wanted` that can be drawn. sure:
    without those for which there is nothing to draw."""
    return [figure.name for figure in table(dataset, wanted) if not sure or figure.fits(dataset)]


def of_stacks(dataset, wanted):
    """The names in `wanted`, where a figure that has one for each stack is these: forces-encoder, forces-decoder."""
    rows = table(dataset, wanted)
    found = [[figure.name for figure in rows if figure.whole == name] or [name] for name in wanted]
    return [name for names in found for name in names]


def draw(dataset, name, ax=None, options=Options()):
    """The Drawing of a figure or variable; ValueError if the dataset has nothing for it. ax: see canvas.drawn."""
    figure = next((figure for figure in table(dataset, [name]) if figure.name == name), None)
    if figure is None:
        raise ValueError(f"{name}: {why_missing(dataset, name)}")
    check_without(options, [figure])
    found = drawing_of(dataset, figure, ax, options)
    if found is None:
        raise ValueError(f"{name}: nothing to draw: {why_empty(dataset, name)}")
    return found


def why_missing(dataset, name):
    """Why a dataset has no figure of this name, in words."""
    stacks_of = of_stacks(dataset, [name])
    if stacks_of != [name]:
        return f"each stack has its own: {', '.join(stacks_of)}"
    known = next((figure for figure in FIGURES if figure.name == name), None)
    return f"it needs {' or '.join(known.variables)}" if known else "no figure of this name"


def check_without(options, rows):
    """ValueError if none of the rows has a part of this name to do without."""
    there = {word for figure in rows for word in figure.overlays} | set(COMMON)
    for word in options.without:
        if word not in there:
            raise ValueError(f"{', '.join(figure.name for figure in rows[:3])}: nothing of the name {word} to leave "
                             f"out, only {', '.join(sorted(there))}")


def drawing_of(dataset, figure, ax, options):
    dataset = loaded(dataset, of_runs(dataset))
    drawing = drawn(lambda: figure.draw(loaded(dataset, figure.variables)), options, ax)
    return drawing and replace(drawing, caption=f"{drawing.caption} {look.progress(dataset)}".strip())


def draw_all(dataset, only=None, failed=None, captioned=False, options=Options()):
    """Yields a Drawing for each figure that the dataset has data for, or for those whose names are in `only`; the name
    of a variable stands for a plain plot of it, that of a figure with one for each stack for all of these.
    captioned: its notes stand in the caption alone, otherwise in the image, too.

    A figure that fails does not stop the others: failed(name, exception) is called; without `failed`, NotDrawn is
    raised at the end and names all that failed.
    """
    lost = []
    options = replace(options, notes=False) if captioned else options
    for figure in table(dataset, only or ()):
        if only is not None and not {figure.name, figure.whole} & set(only):
            continue
        try:
            drawing = drawing_of(dataset, figure, None, options)
        except Exception as error:  # one broken figure must not stop the others
            lost.append(f"{figure.name}: {error or type(error).__name__}")
            if failed:
                failed(figure.name, error)
            continue
        if drawing is not None:
            yield drawing
    if lost and not failed:
        raise NotDrawn("; ".join(lost))
