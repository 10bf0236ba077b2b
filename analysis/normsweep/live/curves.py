"""Losses and norms over the steps: runs under way, and a few of those that are done."""

import numpy as np
from matplotlib.colors import to_hex

from .. import look
from ..account import plain
from ..figures import runs
from ..names import REPEAT
from ..page import element, join
from ..words import grouped, number, several, value_text
from .plot import HEIGHT, UNITS, path, plot
from .survey import DONE, RUNNING, chosen, is_over_steps, row

CURVES = (("train_loss", "training loss"), ("param_norm", "norm of the parameters"), ("valid_loss", "validation loss"))
MOST_POINTS = 160  # of a line
LEVELS = 8  # colours of lines
WIDE = 0.98  # share of the values that a plot shows, if the others are far away
TICKS = 5


def curves(dataset, survey):
    """Plots of what was measured at several steps, and what their colours say; None without any."""
    outcome = survey.outcome
    under_way, done = chosen(outcome)
    if not under_way and not done:
        return None
    is_known = is_over_steps(dataset, "train_loss")
    reached = {run.cell: run.step if is_known else np.inf for run in survey.under_way}
    colours = Colours(dataset)
    plots = []
    for name, title in CURVES:
        if is_over_steps(dataset, name):
            drawn = one(dataset, name, title, reached, done, colours)
            plots += [drawn] if drawn else []
    if not plots:
        return None
    return join([element("div", *plots, class_="panels many"), colours.legend(),
                 element("p", note(under_way, done, outcome), class_="quiet")])


def note(under_way, done, outcome):
    texts = []
    if under_way:
        count = int((outcome == RUNNING).sum())
        some = f"{len(under_way)} of {grouped(count)}" if len(under_way) < count else str(count)
        texts.append(f"Thick: runs under way ({some}).")
    if done:
        count = int((outcome == DONE).sum())
        some = f"{len(done)} of {grouped(count)}, chosen at random" if len(done) < count else f"all {count}"
        texts.append(f"Thin: runs that are done ({some}).")
    return " ".join(texts)


class Colours:
    """Lines are coloured as in figures of many runs: by the learning rate, or else the longest axis."""

    def __init__(self, dataset):
        axes = [axis for axis in runs.axes_of(dataset) if axis != REPEAT]
        numbers = runs.numbers_of(dataset)
        self.axis = (numbers or sorted(axes, key=lambda axis: -dataset.sizes[axis]) or [None])[0]
        self.dataset, count = dataset, dataset.sizes[self.axis] if self.axis else 1
        values = dataset[self.axis].values if self.axis else np.zeros(1)
        self.order = np.argsort(values, kind="stable") if values.dtype.kind in "iuf" else np.arange(count)
        ranks = np.empty(count, int)
        ranks[self.order] = np.arange(count)
        self.levels = min(count, LEVELS)
        self.level = (ranks * self.levels) // max(count, 1)

    def of(self, cell):
        """The class of a cell's line."""
        if self.axis is None:
            return "level-0"
        place = np.unravel_index(cell, self.dataset.outcome.shape)[self.dataset.sweep.axes.index(self.axis)]
        return f"level-{self.place(int(self.level[place]))}"

    def place(self, level):
        """Fewer values use colours as far apart as possible."""
        return level * (LEVELS - 1) // max(self.levels - 1, 1)

    def legend(self):
        """A key for each value, or the first and the last of many."""
        if self.axis is None:
            return None
        keys = [element("i", class_=f"line level-{self.place(level)}") for level in range(self.levels)]
        if len(self.order) == self.levels:
            keys = [element("span", key, self.text(i), class_="key") for key, i in zip(keys, self.order)]
        else:
            keys = [element("span", self.text(self.order[0]), element("span", *keys, class_="steps"),
                            self.text(self.order[-1]), class_="key")]
        return element("div", element("span", runs.axis_name(self.axis), class_="key"), *keys, class_="keys")

    def text(self, place):
        value = plain(self.dataset[self.axis].values[place])
        return number(value) if isinstance(value, float) else value_text(value)


def palette():
    """Colours of lines, as rules of a style sheet: for light ground, and for dark ground without the darkest ones."""
    def rules(first, last):
        return "".join(f".level-{i}{{--line:{to_hex(look.ORDERED(first + (last - first) * i / (LEVELS - 1)))}}}"
                       for i in range(LEVELS))
    return rules(0, 0.95), rules(0.38, 1)


def one(dataset, name, title, reached, done, colours):
    """reached: {cell: the step that its run had reached}, because runs go on while this reads."""
    lines = []
    step = dataset.step.values
    for cell, kind in [*((cell, "ended") for cell in done), *((cell, "now") for cell in reached)]:
        values = row(dataset, name, cell)
        seen = np.flatnonzero(np.isfinite(values) & (step <= reached.get(cell, step[-1])))
        if len(seen):
            seen = seen[np.unique(np.linspace(0, len(seen) - 1, MOST_POINTS).astype(int))]
            lines.append((cell, kind, step[seen], values[seen]))
    if not lines or all(len(line[2]) < 2 for line in lines) and len(step) > 2:
        return None  # measured at the end alone, or not yet
    scale = Scale(np.concatenate([line[3] for line in lines]))
    ends = float(step[0]), float(max(step[-1], step[0] + 1))
    drawn = [element("path", d=points((x - ends[0]) / (ends[1] - ends[0]), scale.place(y)),
                     class_=f"line {kind} {colours.of(cell)}") for cell, kind, x, y in lines]
    told = f"{title} over the steps of {several(len(lines), 'run')}, from {number(scale.least)} to {number(scale.most)}"
    places = [((value - ends[0]) / (ends[1] - ends[0]), grouped(int(value))) for value in even(*ends)]
    return element("div", element("h3", title), plot([path(guides(scale), class_="guide"), *drawn], told, places,
                                                     scale.ticks(), "step", ""), class_="panel")


def points(x, y):
    if len(x) == 1:  # a short stroke, because a point has no length
        x, y = np.array([x[0], x[0] + 0.004]), np.array([y[0], y[0]])
    return "M" + "L".join(f"{UNITS * a:.0f} {HEIGHT * (1 - b):.0f}" for a, b in zip(x, y))


def guides(scale):
    return "".join(f"M0 {HEIGHT * (1 - place):.0f}H{UNITS}" for place, _ in scale.ticks())


class Scale:
    """From numbers to places from 0 to 1: logarithmic for a wide range; a few far values are cut."""

    def __init__(self, values):
        self.least, self.most = float(values.min()), float(values.max())
        low, high = self.least, self.most
        inner = np.quantile(values, [1 - WIDE, WIDE])
        self.is_log = bool(low > 0 and high > look.WIDE_RANGE * low)
        if inner[1] > inner[0] and high - inner[1] > 2 * (inner[1] - inner[0]) and not self.is_log:
            high = float(inner[1])
        if self.is_log:
            low, high = np.log10(low), np.log10(high)
        margin = 0.04 * (high - low) or 0.05 * abs(high) or 0.05
        self.low, self.high = low - margin, high + margin

    def place(self, values):
        values = np.log10(values) if self.is_log else np.asarray(values, float)
        return np.clip((values - self.low) / (self.high - self.low), -0.01, 1.01)

    def ticks(self):
        if self.is_log:
            decades = np.arange(np.ceil(self.low), np.floor(self.high) + 1)
            if len(decades) > 1:
                decades = decades[::len(decades) // TICKS + 1]
                return [(float(self.place(10.0 ** d)), look.power(10.0 ** d)) for d in decades]
            values = [10.0 ** (self.low + (self.high - self.low) * i / 4) for i in (0.5, 2, 3.5)]
            return [(float(self.place(value)), number(value, 2)) for value in values]
        return [(float(self.place(value)), number(float(f"{value:.6g}"))) for value in even(self.low, self.high)]


def even(low, high, most=TICKS):
    """Multiples of 1, 2 or 5 times a power of ten between two numbers."""
    rough = (high - low) / most
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    return [float(value) for value in np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step]
