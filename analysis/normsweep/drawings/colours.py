"""The colours, dashes, marks and hatches of things, each once, so that a thing looks the same in every figure.

COLOURS is a list for things that have an order only in their list. Any two of its colours differ by at least 15 in
CIEDE2000 for full colour vision and for each kind of dichromatic vision (tests/analysis/test_colours.py simulates
them); lines have dashes or marks in addition. Numbers have scales whose lightness rises for every kind of vision.
"""

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import ListedColormap

COLOURS = ("#00487a", "#d00000", "#048463", "#d9a350", "#8470a0", "#90b8ff", "#000000", "#b4b4b4")
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DIVERGING = colormaps["PuOr_r"]  # around a middle: violet below, orange above


def part_of(name, low, high):
    """A matplotlib scale without its ends that are hard to see on white."""
    return ListedColormap(colormaps[name](np.linspace(low, high, 256)), name)


ORDERED = part_of("viridis", 0, 0.92)  # values in maps
AXES = {  # the numbers of an axis, in lines and dots
    "learning_rate": part_of("viridis", 0, 0.86), "weight_decay": part_of("magma", 0.1, 0.85)}
OTHER_AXIS = part_of("cividis", 0, 0.86)  # of any other axis, and of layers

OUTCOMES = {  # cells without a value
    "diverged": {"facecolor": "0.85", "edgecolor": "0.4", "hatch": "xxxxx", "linewidth": 0},
    "failed": {"facecolor": "0.85", "edgecolor": "0.4", "hatch": "|||||", "linewidth": 0},
    "skipped": {"facecolor": "white", "edgecolor": "0.6", "hatch": ".....", "linewidth": 0},
    "running": {"facecolor": "white", "edgecolor": "0.6", "hatch": "-----", "linewidth": 0},
    "no value": {"facecolor": "white", "edgecolor": "0.75", "hatch": "/////", "linewidth": 0},
}
PENDING = {"facecolor": "none", "edgecolor": "0.45", "hatch": "....", "linewidth": 0}  # over a pale colour
NO_CLASS = "0.62"  # a run that was classified, as of no class
PHASES = {  # cells and lines on either side of the boundary; pale where the side is implied and not measured
    "growing": {"strong": DIVERGING(0.85), "pale": DIVERGING(0.57)},
    "shrinking": {"strong": DIVERGING(0.15), "pale": DIVERGING(0.43)},
}

# Words of a dataset that keep their place in COLOURS wherever they stand; any other word has the place of its position.
PLACES = {
    "tensor": ("q", "k", "v", "o", "w1", "w2", "ln1", "ln2", "w3", "q_norm", "k_norm"),
    "dynamics": ("aligned", "misaligned", "adam_like", "relative"),  # also laws of growth, and slopes of the boundary
    "largest_force": ("injection", "pull", "chance"),
    "law": ("sqrt", "fourth_root", "linear", "exponential"),
    "optimiser": ("adamw", "adam", "sgd", "normalized_sgd", "adafactor", "lion", "muon"),
    "norm_placement": ("post", "pre", "out"),
    "norm": ("layernorm", "rmsnorm", "none"),
    "attention_mask": ("causal", "multiplicative"),
    "schedule": ("constant", "linear", "inverse_sqrt", "cosine", "wsd"),
}


def scale_of(axis):
    """The scale of an axis of numbers."""
    return AXES.get(axis, OTHER_AXIS)


def place(kind, word, position=0):
    """The place in COLOURS of a word, which stands at this position of its axis."""
    known = PLACES.get(kind, ())
    return known.index(word) if word in known else position


def colour(place):
    return COLOURS[place % len(COLOURS)]


def dash(place):
    """Things of the same colour differ in their dashes, and so do neighbours."""
    return DASHES[(place + place // len(COLOURS)) % len(DASHES)]


def line(place):
    """The style of the line of a thing."""
    return {"color": colour(place), "linestyle": dash(place)}


def marked(place, size=4):
    """The style of a line with points."""
    return {**line(place), "marker": MARKERS[(place + 3 * (place // len(COLOURS))) % len(MARKERS)],
            "markersize": size}


def line_of(kind, word, position=0):
    return line(place(kind, word, position))


# What is measured twice, at the first and at the last step; on hard attention; predicted.
LAST = {"color": COLOURS[0], "marker": "o", "markersize": 4, "linestyle": "-"}
FIRST = {**LAST, "markerfacecolor": "white", "linestyle": ":"}
HARD = {"color": COLOURS[1], "marker": "x", "markersize": 6, "linestyle": "none"}
LEVEL = {"color": "black", "linewidth": 0.9, "linestyle": (0, (1, 1))}  # a loss to compare with
# A cell of which some runs diverged.
SOME = {"marker": "x", "markersize": 4, "color": "0.2", "markeredgewidth": 0.8, "linestyle": "none"}
THEORY = {"color": "black", "linewidth": 1.0, "linestyle": "--"}
DEFAULT = {"marker": "*", "markersize": 10, "color": "white", "markeredgecolor": "black", "linestyle": "none"}
