"""The runs of a sweep as figures need them: which have something to show, what they are called, which stand for the
others where there is no room for all."""

import itertools

import numpy as np

from .. import look
from ..names import PHASE_AXES, REPEAT

PYTORCH_DEFAULT = {"learning_rate": 1e-3, "weight_decay": 1e-2}


def axes_of(dataset):
    """The axes with more than one value."""
    return [axis for axis in dataset.sweep.axes if dataset.sizes[axis] > 1]


def words_of(dataset):
    """Those of them whose values are words."""
    return [axis for axis in axes_of(dataset) if axis in dataset.sweep.word_axes]


def numbers_of(dataset):
    """Those whose values are numbers, without the seed: learning rate and weight decay first, then the longest."""
    numbers = [axis for axis in axes_of(dataset) if axis not in dataset.sweep.word_axes and axis != REPEAT]
    return ([axis for axis in PHASE_AXES if axis in numbers]
            + sorted((axis for axis in numbers if axis not in PHASE_AXES), key=lambda axis: -dataset.sizes[axis]))


def combinations(dataset, axes):
    """{axis: index} for each combination of values along some axes."""
    for indices in itertools.product(*(range(dataset.sizes[axis]) for axis in axes)):
        yield dict(zip(axes, indices))


def value_text(dataset, axis, index):
    """A value as it stands in a legend: words that speak for themselves alone, numbers with their axis."""
    value = dataset[axis].values[index]
    if dataset[axis].dtype.kind in "OSTU":
        return look.plain(value)
    name = look.label(dataset[axis])
    return f"{name} {'yes' if value else 'no'}" if dataset[axis].dtype.kind == "b" else f"{name} {look.number(value)}"


def text(dataset, at):
    """What a run, or a panel, is called."""
    return ", ".join(value_text(dataset, axis, index) for axis, index in at.items() if dataset.sizes[axis] > 1)


def measured(dataset, variable):
    """Mask over the axes: which runs have a number of this variable. Diverged ones count where there are no others,
    as theirs would hide the rest."""
    values = dataset[variable]
    others = [dim for dim in values.dims if dim not in dataset.sweep.axes]
    has = np.isfinite(values).any(others).transpose(*dataset.sweep.axes)
    calm = has & (dataset.sweep.running | dataset.sweep.done)
    return calm if calm.any() else has


def is_measured(dataset, variable, *dims):
    """Is it there, along these dimensions, with any finite number?"""
    if variable not in dataset or not set(dims) <= set(dataset[variable].dims):
        return False
    return dataset[variable].dtype.kind in "iuf" and bool(np.isfinite(dataset[variable]).any())


def once(mask):
    """The mask without repeats: the first seed alone, if that has any run."""
    if REPEAT not in mask.dims:
        return mask
    first = mask & (mask[REPEAT] == mask[REPEAT][0])
    return first if first.any() else mask


def listed(mask):
    """The runs of a mask as {axis: index}, in the order of the grid."""
    return [dict(zip(map(str, mask.dims), map(int, place))) for place in np.argwhere(mask.values)]


def thinned(items, count):
    """So many of the items, evenly spaced, the first and the last among them."""
    if len(items) <= count:
        return list(items)
    return [items[i] for i in np.linspace(0, len(items) - 1, count).round().astype(int)]


def representatives(dataset, variable, count=6):
    """(at most `count` runs that show how different runs are, a note that says which they are).

    One combination of the words after the other; in each from the one that shrinks most to the one that grows most.
    """
    mask = measured(dataset, variable)
    runs = listed(mask)
    if len(runs) <= count:
        return runs, ""
    words, groups = words_of(dataset), {}
    for run in listed(once(mask)):
        groups.setdefault(tuple(run[axis] for axis in words), []).append(run)
    kept = thinned(list(groups.values()), count)
    each = max(1, count // len(kept))
    chosen = [run for group in kept for run in spread_by_growth(dataset, group, each)]
    if len(chosen) == len(runs):
        return chosen, ""
    if each > 1:
        how = "evenly from the most shrinking to the most growing" + " of each kind" * (len(groups) > 1)
    elif len(groups) > 1 and set(PHASE_AXES) & set(numbers_of(dataset)):
        how = "of a kind the one nearest to PyTorch's default"
    else:
        how = "each of another kind"
    return chosen, f"{len(chosen)} of {len(runs)} runs, {how}."


def spread_by_growth(dataset, group, count):
    """So many runs of a group, from the most shrinking to the most growing; a single one as near to PyTorch's
    default as any."""
    if count == 1:
        return [min(group, key=lambda run: from_default(dataset, run))]
    growth = dataset.norm_growth.transpose(*dataset.sweep.axes).values if "norm_growth" in dataset else None
    if growth is not None:
        places = [growth[tuple(run.values())] for run in group]
        group = [group[i] for i in np.argsort(np.where(np.isfinite(places), places, np.inf), kind="stable")]
    return thinned(group, count)


def from_default(dataset, run):
    """How many decades a run lies from PyTorch's default."""
    distance = 0.0
    for axis, default in PYTORCH_DEFAULT.items():
        if axis in run:
            value = float(dataset[axis].values[run[axis]])
            distance += abs(np.log10(value / default)) if value > 0 else 10.0
    return distance
