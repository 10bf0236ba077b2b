"""How homogeneous untrained models are: the cosine of their final states at each scale with those at scale 1000."""

import numpy as np
from matplotlib.lines import Line2D

from .. import colours, look
from . import runs
from .drawing import finished

MOST = 8  # lines
DEGREES = {"homogeneity_degree": "states", "output_homogeneity_degree": "logits"}


def homogeneity(dataset):
    if not runs.is_measured(dataset, "homogeneity", "scale"):
        return None
    with look.style():
        values = dataset.homogeneity.where(np.isfinite(dataset.homogeneity))
        axes_left = [axis for axis in runs.axes_of(dataset) if axis != runs.REPEAT and matters(values, axis)]
        combinations = [at for at in runs.combinations(dataset, axes_left) if values.isel(at).notnull().any()]
        shown = runs.thinned(combinations, MOST)
        figure, panels = look.sheet(1, 1, height=2.6)
        axes, handles = panels[0, 0], []
        for i, at in enumerate(shown):
            style = colours.line(i)
            draw_line(axes, dataset, values.isel(at), style)
            words = [runs.text(dataset, at), degree_text(dataset, at)]
            handles.append(Line2D([], [], label=": ".join(word for word in words if word), **style))
        axes.set_xlabel(look.label(dataset.scale))
        axes.set_ylabel(f"homogeneity: cosine with\n{look.with_unit('the states at scale 1000')}")
        look.grid(axes)
        notes = [runs.counted(dataset, "homogeneity")]
        if runs.REPEAT in runs.axes_of(dataset):
            notes.append("Lines: mean over all runs of the same model; bands: standard deviation.")
        if len(shown) < len(combinations):
            notes.append(f"{len(shown)} of {len(combinations)} models are shown.")
        return finished("homogeneity", "The cosine between the final states of an untrained model with every parameter "
                        "times a scale and with every parameter times 1000.", figure, dataset,
                        [handle for handle in handles if handle.get_label()], notes)


def matters(values, axis):
    """Do values change along this axis? An untrained model does not depend on the learning rate, for example."""
    return bool((values.max(axis) > values.min(axis)).any())


def draw_line(axes, dataset, values, style):
    others = [dim for dim in values.dims if dim != "scale"]
    mean, spread = values.mean(others).values, values.std(others).values
    scale = dataset.scale.values
    axes.plot(scale, mean, **style)
    if len(others) and np.nanmax(spread, initial=0) > 0:
        axes.fill_between(scale, mean - spread, mean + spread, color=style["color"], alpha=0.15, linewidth=0)


def degree_text(dataset, at):
    """"degree 1.00 ± 0.01 (states), 2.01 ± 0.02 (logits)" over all runs of the same model."""
    words = []
    for name, of in DEGREES.items():
        values = look.finite([dataset[name].isel(at).values]) if name in dataset else []
        if len(values):
            spread = f" ± {values.std():.2f}" if len(values) > 1 else ""
            words.append(f"{values.mean():.2f}{spread} ({of})")
    return "degree " + ", ".join(words) if words else ""
