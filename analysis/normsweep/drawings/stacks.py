"""The stacks of encoder-decoders: a figure of a variable that tells them apart is drawn once for each stack."""

from dataclasses import replace

import numpy as np

STACK = "stack"
BOTH = "encoder_decoder"
COUNTED = ("layer", "depth")  # dimensions that each stack counts by itself


def of_figure(dataset, variables):
    """The words of the stacks that a figure of these variables tells apart; () if it tells none apart."""
    apart = STACK in dataset.dims and any(STACK in dataset[name].dims for name in variables if name in dataset)
    return tuple(map(str, dataset[STACK].values)) if apart else ()


def drawer(draw, word):
    """The function of a figure for one stack."""
    def drawn(dataset):
        drawing = draw(part(dataset, word))
        return drawing and replace(drawing, name=f"{drawing.name}-{word}",
                                   caption=f"{drawing.caption} Of the {word}, from its own input on.")
    return drawn


def part(dataset, word):
    """One stack of a dataset: without the networks that lack it, and with its own layers and depths only."""
    if "network" in dataset.coords:
        axis, = dataset["network"].dims
        dataset = dataset.isel({axis: np.flatnonzero(np.isin(dataset["network"].values, (word, BOTH)))})
    title = f"{dataset.sweep.title}: {word}"
    dataset = dataset.sel({STACK: word}).drop_vars(STACK)
    for name in COUNTED:
        dataset = shortened(dataset, name)
    return dataset.assign_attrs(sweep_title=title)


def shortened(dataset, name):
    """Without the ends of a dimension at which nothing was measured, as its smallest variable has it: the other stack
    may be longer."""
    variables = [variable for variable in dataset.data_vars.values() if name in variable.dims]
    if not variables:
        return dataset
    smallest = min(variables, key=lambda variable: variable.size)
    seen = np.flatnonzero(smallest.notnull().any([dim for dim in smallest.dims if dim != name]).values)
    return dataset.isel({name: slice(seen[-1] + 1)}) if len(seen) else dataset
