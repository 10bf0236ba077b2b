"""What is measured in every layer, over the steps of representative runs."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D

from ..plane import is_linear
from . import colours, look, runs, scales
from .drawing import finished
from .lines import draw_group, has_steps, seeds_note
from .curves import relative
from .panels import OWN_RANGES, same_scale

NAMED = 8  # layers with a line in the legend
OWN_PANELS = "Each panel has its own range."
CROSS = "cross_"  # before the name of their like in self-attention
LIKE = {"ln": "ln1"}  # cross_ln has this one


def layer_looks(count):
    """The line style of each layer, from the input (dark) to the output (pale)."""
    if count == 1:
        return [colours.line(0)]
    return [{"color": colours.OTHER_AXIS(i / (count - 1)),
             "linestyle": colours.DASHES[i % len(colours.DASHES)] if count <= NAMED else "-"} for i in range(count)]


def over_layers(dataset, name, variables, caption, prepare=None, labels=None, mark=None, count=6,
                shared=False):
    """A drawing of variables over the steps, one line for each layer, one row of panels for each optimiser or other
    word, or else for each learning rate; one column for each variable; None if nothing was measured.

    A line is the median over seeds, and a band their range. prepare(values) turns the values of one layer into the
    line. labels: {variable: label of its axis}. mark: y of a dotted line. count: at most so many rows for one variable,
    half of them for several. shared: all panels have the same y axis.
    """
    variables = [variable for variable in variables if has_steps(dataset, variable, "layer")]
    if not variables:
        return None
    with look.style():
        count = look.most_rows(count if len(variables) == 1 else count // 2, len(variables))
        rows, note = runs.one_each(dataset, variables[0], count)
        looks = layer_looks(dataset.sizes["layer"])
        figure, panels = look.sheet(len(rows), len(variables), height=1.2 if len(rows) > 1 else 2.3, sharex=True,
                                    sharey=shared)
        texts, common = runs.titles(dataset, [runs.without_seed(row[0]) for row in rows])
        if len(variables) > 1:
            texts = look.side_titles(texts, 1.1)
        for i, (row, text) in enumerate(zip(rows, texts)):
            for j, variable in enumerate(variables):
                draw_layers(panels[i, j], dataset, variable, row, looks, prepare)
                words = (labels or {}).get(variable) or look.label(dataset[variable])
                title(panels[i, j], text, words, j, i, len(variables), len(variables))
        for column, variable in zip(panels.T, variables):
            scale_alike(column, dataset[variable])
        for axes in panels.ravel() if mark is not None else ():
            look.reference_line(axes, mark)
        look.name_axes(panels, panels.size, look.label(dataset.step))
        handles = layer_legend(figure, panels.ravel().tolist(), dataset, looks)
        return finished(name, caption, figure, dataset, handles, [
            note, common, seeds_note([len(row) for row in rows]), "" if shared or panels.size == 1 else OWN_PANELS])


def scale_alike(panels, variable):
    """The same kind of scale for the panels of one variable: logarithmic for all if the numbers of one panel, or of
    all, range widely."""
    for axes in panels:
        scales.scale_y(axes, [line.get_ydata() for line in axes.lines], is_linear(variable))
    same_scale(panels)


def title(axes, run, words, column, row, variables, columns):
    """The name of the run: above the panel for one variable, beside the row of panels for several."""
    look.grid(axes)
    if variables == 1:
        axes.set_title(look.title(run, columns, is_labelled=True))
        if column == row == 0:
            look.name_rows(axes.figure, words, axes)
        return
    axes.set_title(look.column_title(words.replace("\n", " "), columns) if row == 0 else "")
    axes.set_ylabel(run if column == 0 else "")


def draw_layers(axes, dataset, variable, row, looks, prepare):
    """The lines of the layers of runs that differ in the seed alone."""
    values = [dataset[variable].isel(run).transpose("layer", "step").values for run in row]
    for lines, style in zip(zip(*values), looks):
        draw_group(axes, dataset.step.values, style, [prepare(line) if prepare else line for line in lines])


def layer_legend(figure, panels, dataset, looks):
    """Legend handles for few layers; for many, none but a colour bar beside the panels."""
    if len(looks) <= NAMED:
        return [Line2D([], [], label=f"layer {layer}", **style) for layer, style in zip(dataset.layer.values, looks)]
    bar = look.add_bar(figure, ScalarMappable(Normalize(0, len(looks) - 1), colours.OTHER_AXIS), ax=panels)
    look.name_bar(bar, look.label(dataset.layer))
    return []


def norms(dataset):
    return over_layers(dataset, "norms-by-layer", ["layer_norm"], "The norm of each layer relative to its start.",
                       relative, {"layer_norm": f"norm of a layer\n{look.with_unit('relative to its start')}"}, 1)


def directions(dataset):
    return over_layers(dataset, "direction-by-layer", ["layer_direction_cosine"],
                       "The cosine between each layer's parameters at successive measured steps.",
                       labels={"layer_direction_cosine": look.with_unit("cosine with θ before")})


def steps(dataset):
    return over_layers(dataset, "steps-by-layer", ["layer_step_size", "layer_alignment", "layer_gradient_alignment"],
                       "The optimiser's step in each layer: its norm, its cosine with the layer's parameters, and "
                       "the cosine of the descent direction with them.", count=10)


def tensors(dataset):
    """The norm of each kind of tensor relative to its start: one row for each run, one column for each of a few
    layers."""
    if not has_steps(dataset, "tensor_norm", "layer", "tensor"):
        return None
    with look.style():
        chosen, note = runs.representatives(dataset, "tensor_norm", look.most_rows(3, 2))
        layers = runs.thinned(range(dataset.sizes["layer"]), 2)
        looks = tensor_looks(dataset)
        kinds = [list(dataset.tensor.values).index(kind) for kind in looks]
        figure, panels = look.sheet(len(chosen), len(layers), height=1.6 if len(chosen) > 1 else 2.4, sharex=True,
                                    sharey="row")
        texts, common = runs.titles(dataset, chosen)
        for row, (run, text) in enumerate(zip(chosen, look.side_titles(texts, 1.6))):
            for column, layer in enumerate(layers):
                axes = panels[row, column]
                values = dataset.tensor_norm.isel(run).isel(layer=layer).transpose("tensor", "step").values[kinds]
                for line, style in zip(map(relative, values), looks.values()):
                    seen = np.isfinite(line)
                    axes.plot(dataset.step.values[seen], line[seen], **style)
                scales.scale_y(axes, [line.get_ydata() for line in axes.lines])
                title(axes, text, f"layer {dataset.layer.values[layer]}", column, row, 2, len(layers))
                axes.set_visible(bool(np.isfinite(values).any()))  # a run may have fewer layers
        same_scale([axes for axes in panels.ravel() if axes.get_visible()])
        for axes in panels.ravel():
            look.reference_line(axes, 1)
        look.name_axes(panels, panels.size, look.label(dataset.step))
        look.name_rows(figure, look.with_unit("norm relative to its start"))
        handles = [Line2D([], [], label=kind, **style) for kind, style in looks.items()]
        notes = [note, common, "Biases, which may start at 0, are left out.", OWN_RANGES if len(chosen) > 1 else ""]
        return finished("norms-by-tensor", "The norm of each kind of tensor.", figure, dataset, handles, notes)


def tensor_looks(dataset):
    """{kind of tensor: style}; those of cross-attention, if there are any, look like their like in self-attention, with
    points."""
    seen = dataset.tensor_norm.notnull().any([dim for dim in dataset.tensor_norm.dims if dim != "tensor"]).values
    kinds = [str(kind) for kind in dataset.tensor.values[seen] if not str(kind).endswith("_bias")]
    crossing = [kind for kind in kinds if kind.startswith(CROSS)]
    looks = {kind: colours.line_of("tensor", kind, i)
             for i, kind in enumerate(kind for kind in kinds if kind not in crossing)}
    for kind in crossing:
        like = kind.removeprefix(CROSS)
        like = LIKE.get(like, like)
        if like in looks:
            looks[kind] = {**looks[like], "marker": ".", "markersize": 3}
    return looks
