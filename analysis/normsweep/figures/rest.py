"""A plain plot of any variable, so that a new metric can be seen before it has a figure of its own."""

import numpy as np

from . import look, runs
from .cells import over_plane
from .lines import has_steps, over_steps


def is_drawable(dataset, name):
    """True for numbers along the axes or the steps that are not all the same."""
    variable = dataset[name]
    if variable.dtype.kind not in "iuf" or not {*dataset.sweep.axes, "step"} & set(variable.dims):
        return False
    values = look.finite([variable.values])
    return len(values) > 0 and values.min() < values.max()


def plot(dataset, name):
    """Lines over the steps, or a map over the plane. Layers, heads and other dimensions are averaged, as the caption
    says."""
    variable = dataset[name]
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
