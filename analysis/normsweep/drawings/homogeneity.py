"""How homogeneous untrained models are: the cosine of their final states at each scale with those at scale 1000."""

import numpy as np
from matplotlib.lines import Line2D

from . import colours, look, runs, scales
from .drawing import finished

MOST = 8  # lines of the only panel
MOST_PANELS = 6
COLOURED = "norm_placement"  # has the colours, if it is an axis
DEGREES = {"homogeneity_degree": "states", "output_homogeneity_degree": "logits"}


def homogeneity(dataset):
    """One panel with a line for each kind of model; if there are many, a panel for each combination of those axes that
    neither colours nor dashes tell."""
    if not runs.is_measured(dataset, "homogeneity", "scale"):
        return None
    with look.style():
        values = dataset.homogeneity.where(np.isfinite(dataset.homogeneity))
        axes_left = [axis for axis in runs.axes_of(dataset) if axis != runs.REPEAT and matters(values, axis)]
        kinds = [at for at in runs.combinations(dataset, axes_left) if values.isel(at).notnull().any()]
        beside, dashed, coloured = roles(dataset, axes_left, len(kinds) > MOST)
        every = [at for at in runs.combinations(dataset, beside) if values.isel(at).notnull().any()]
        shown = runs.thinned_along(every, look.most_panels(MOST_PANELS, 2))
        shape = look.crowd(len(shown))
        figure, panels = look.sheet(*shape, height=2.6 if len(shown) == 1 else 2, sharex=True, sharey=True)
        handles = []
        for axes, panel in zip(panels.ravel(), shown):
            for at in kinds:
                if panel.items() <= at.items():
                    style = look_of(dataset, at, coloured, dashed)
                    draw_line(axes, dataset, values.isel(at), style)
                    words = [runs.text(dataset, {axis: at[axis] for axis in [*coloured, *dashed]}),
                             "" if beside else degree_text(dataset, at)]
                    handles.append(Line2D([], [], label=": ".join(filter(None, words)), **style))
            axes.set_title(look.title(runs.text(dataset, panel), shape[1]))
            look.grid(axes)
        look.name_axes(panels, len(shown), look.label(dataset.scale), "cosine with the states\n"
                       + look.with_unit("at scale 1000"))
        look.clear_rest(panels, len(shown))
        handles = {handle.get_label(): handle for handle in handles if handle.get_label()}
        bands = "; bands: standard deviation" * look.shows("bands")
        notes = [runs.counted(dataset, "homogeneity"), f"Lines: mean over all runs of the same model{bands}."
                 if runs.REPEAT in runs.axes_of(dataset) else "",
                 degrees_note(dataset) if beside else "", runs.left_out(dataset, shown, every)]
        return finished("homogeneity", "The cosine between the final states of an untrained model with every parameter "
                        "times a scale and with every parameter times 1000.", figure, dataset, handles.values(), notes)


def roles(dataset, axes, is_many):
    """(axes that panels tell, axes that dashes tell, those of colours)."""
    ordered = sorted(axes, key=lambda axis: (axis != COLOURED, dataset[axis].dtype.kind != "b", -dataset.sizes[axis]))
    if not is_many:
        return [], ordered[1:], ordered[:1]
    return ordered[2:], ordered[1:2], ordered[:1]


def look_of(dataset, at, coloured, dashed):
    """The style of a kind of model."""
    axis = next(iter(coloured), None)
    if axis is None:
        return colours.line(0)
    is_word = axis in dataset.sweep.word_axes
    place = colours.place(axis, str(dataset[axis].values[at[axis]]), at[axis]) if is_word else at[axis]
    dash = 0
    for name in dashed:
        dash = dash * dataset.sizes[name] + at[name]
    return {**colours.line(place), **({"linestyle": colours.DASHES[dash % len(colours.DASHES)]} if dashed else {})}


def degrees_note(dataset):
    """The range of the degrees of all models."""
    ranges = []
    for name, of in DEGREES.items():
        values = scales.finite([dataset[name].values]) if name in dataset else []
        if len(values):
            ranges.append(f"{values.min():.2f} to {values.max():.2f} ({of})")
    return f"Degrees of all models: {', '.join(ranges)}." if ranges else ""


def matters(values, axis):
    """Do values change along this axis? An untrained model does not depend on the learning rate, for example."""
    return bool((values.max(axis) > values.min(axis)).any())


def draw_line(axes, dataset, values, style):
    others = [dim for dim in values.dims if dim != "scale"]
    mean, spread = values.mean(others).values, values.std(others).values
    scale = dataset.scale.values
    axes.plot(scale, mean, **style)
    if len(others) and np.nanmax(spread, initial=0) > 0 and look.shows("bands"):
        axes.fill_between(scale, mean - spread, mean + spread, color=style["color"], alpha=0.15, linewidth=0)


def degree_text(dataset, at):
    """"degree 1.00 ± 0.01 (states), 2.01 ± 0.02 (logits)" over all runs of the same model."""
    words = []
    for name, of in DEGREES.items():
        values = scales.finite([dataset[name].isel(at).values]) if name in dataset else []
        if len(values):
            spread = f" ± {values.std():.2f}" if len(values) > 1 else ""
            words.append(f"{values.mean():.2f}{spread} ({of})")
    return "degree " + ", ".join(words) if words else ""
