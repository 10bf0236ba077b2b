"""The phase diagram of a sweep under way. Cells of one colour are one path, and neighbours in a row one rectangle, so
that ten thousand cells stay a small page."""

from dataclasses import dataclass

import numpy as np
from matplotlib.colors import Normalize, SymLogNorm, to_hex

from .. import look
from ..account import plain
from ..boundary_variables import is_of_growth
from ..figures import cells, phase, runs
from ..names import PHASE_AXES, REPEAT
from ..page import element, join
from ..words import grouped, number, several, value_text
from .plot import HEIGHT, UNITS, fraction, path, plot
from .survey import DIVERGED, DONE, FAILED, RUNNING, SKIPPED

SHADES = 48  # colours of a diagram
DASH = 40  # of UNITS: the boundary of a learning rate whose neighbours have none
STEADY = 1.25  # the range of colours grows by this factor, so that few rewrites change all colours
FAINT = {1: 0.15, 2: -0.15}  # share of the colours' range for cells that a search skipped, by phase
MOST_ROWS = 60  # of combinations of words
MOST_TOLD = 3000  # cells above which a diagram does not say each number


@dataclass(frozen=True)
class Panel:
    title: str
    at: dict  # {axis: index} of the other axes; empty for rows of words
    index: np.ndarray  # [ny, nx, repeats] of cells in the order of the grid


@dataclass(frozen=True)
class Side:
    """An axis of a diagram."""

    label: str
    edges: np.ndarray  # [n + 1], from 0 to 1
    ticks: list  # (place from 0 to 1, text)
    values: list  # texts


@dataclass(frozen=True)
class Plane:
    x: Side
    y: Side
    panels: list
    left_out: str  # a sentence on the combinations that are not shown; "" if all are
    axes: tuple  # their names, () if one is made of several


def plane_of(dataset):
    """The panels of a sweep: over its first two axes of numbers, or one and the combinations of words, or words alone;
    None for a single run."""
    several_valued = runs.axes_of(dataset)
    if not several_valued:
        return None
    numbers = cells.plane_of(dataset)
    if len(numbers) == 2:
        others = runs.others_of(dataset, *numbers)
        combinations = list(runs.combinations(dataset, others))
        shown = runs.thinned_along(combinations, phase.MOST_PANELS)
        return Plane(*(side_of(dataset, axis) for axis in numbers),
                     [Panel(told(dataset, at), at, index_of(dataset, at, numbers)) for at in shown],
                     runs.left_out(dataset, shown, combinations), tuple(numbers))
    words = [axis for axis in several_valued if axis not in numbers and axis != REPEAT]
    first = numbers[0] if numbers else max(words, key=lambda axis: dataset.sizes[axis], default=REPEAT)
    others = [axis for axis in words if axis != first]
    combinations = list(runs.combinations(dataset, others))
    rows = runs.thinned_along(combinations, MOST_ROWS)
    index = np.stack([index_of(dataset, at, [first])[0] for at in reversed(rows)])
    return Plane(side_of(dataset, first), side_of_rows(dataset, others, rows[::-1]), [Panel("", {}, index)],
                 runs.left_out(dataset, rows, combinations), ())


def told(dataset, at):
    return runs.text(dataset, at).replace("\\$", "$")


def index_of(dataset, at, axes):
    """Places in the grid of the cells of a panel: [y, x, repeats]; y is 1 for one axis."""
    grid = np.arange(dataset.outcome.size).reshape(dataset.outcome.shape)
    names = list(dataset.sweep.axes)
    grid = grid[tuple(at.get(name, slice(None)) for name in names)]
    names = [name for name in names if name not in at]
    grid = np.moveaxis(grid, [names.index(axis) for axis in axes[::-1]], range(len(axes)))
    for place, axis in enumerate(axes[::-1]):
        grid = np.take(grid, order_of(dataset, axis), axis=place)
    shape = grid.shape[:len(axes)] if len(axes) == 2 else (1, grid.shape[0])
    return grid.reshape(*shape, -1)


def order_of(dataset, axis):
    """Numbers ascend; words stand as in the sweep file."""
    values = dataset[axis].values
    return np.argsort(values, kind="stable") if values.dtype.kind in "iuf" else np.arange(len(values))


def side_of(dataset, axis):
    values = dataset[axis].values[order_of(dataset, axis)]
    texts = [number(value) if isinstance(value, float) else value_text(value) for value in map(plain, values)]
    if values.dtype.kind not in "iuf":
        return side_of_texts(runs.axis_name(axis), texts)
    scale = cells.scale(dataset[axis].sortby(axis))
    return Side(look.label(dataset[axis]), fraction(scale.edges, scale.edges), ticks_of(scale), texts)


def ticks_of(scale):
    return sorted((float(fraction(place, scale.edges)), str(text)) for place, text in zip(scale.ticks, scale.words))


def side_of_texts(label, texts):
    edges = np.arange(len(texts) + 1) / len(texts)
    return Side(label, edges, [(float(edges[i] + edges[i + 1]) / 2, texts[i]) for i in range(len(texts))], texts)


def side_of_rows(dataset, axes, rows):
    if not axes:
        return side_of_texts("", [""])
    return side_of_texts(runs.names_text(axes), [told(dataset, at) for at in rows])


# ---- one picture ----

def diagram(dataset, survey):
    """(the diagram with its legend, a note on what it leaves out or ""); (None, "") for a single run."""
    plane = plane_of(dataset)
    if plane is None:
        return None, ""
    state = State(dataset, survey, plane)
    boundaries = Boundaries(dataset, plane)
    panels = [element("div", element("h3", panel.title) if panel.title else None,
                      draw(panel, plane, state, boundaries), class_="panel") for panel in plane.panels]
    many = " many" if len(panels) > 1 else ""
    return join([element("div", *panels, class_="panels" + many), state.legend(boundaries.found)]), plane.left_out


class State:
    """What is known of the cells, and how it is coloured. Seeds become one cell: the geometric mean of those done."""

    def __init__(self, dataset, survey, plane):
        self.outcome = survey.outcome
        axes = dataset.sweep.axes
        self.measured = "norm_growth" in dataset
        growth = dataset.norm_growth.transpose(*axes).values.ravel() if self.measured else np.full(
            self.outcome.shape, np.nan)
        self.growth = phase.log_growth(np.where(self.outcome == DONE, growth, np.nan))
        self.implied = dataset.phase.transpose(*axes).values.ravel() if "phase" in dataset else np.zeros(
            self.outcome.shape)
        shown = [self.mean(panel) for panel in plane.panels]
        spread = phase.colour_range(shown)
        self.spread = STEADY ** np.ceil(np.log(spread) / np.log(STEADY)) if np.isfinite(spread) else 1.0
        self.normaliser = SymLogNorm(phase.LINEAR_BELOW, vmin=-self.spread, vmax=self.spread) if (
            self.spread > 2 * phase.LINEAR_BELOW) else Normalize(-self.spread, self.spread)
        self.colours = [to_hex(look.DIVERGING(i / (SHADES - 1))) for i in range(SHADES)]
        self.marks = []

    def mean(self, panel):
        values = self.growth[panel.index]
        known = np.isfinite(values)
        with np.errstate(invalid="ignore"):
            return np.where(known, values, 0).sum(2) / known.sum(2)

    def shades(self, panel):
        """The number of each cell's colour; -1 for none."""
        mean = self.mean(panel)
        place = np.clip(np.asarray(self.normaliser(np.nan_to_num(mean))), 0, 1)
        return np.where(np.isfinite(mean), np.rint(place * (SHADES - 1)), -1).astype(int)

    def count(self, panel, outcome):
        return (self.outcome[panel.index] == outcome).sum(2)

    def mark(self, word):
        if word not in self.marks:
            self.marks.append(word)

    def legend(self, with_boundary):
        keys = [element("span", element("i", class_=f"key-{word.split(',')[0].replace(' ', '-')}"), word, class_="key")
                for word in [*self.marks, *(["no growth"] if with_boundary else [])]]
        return element("div", self.bar() if self.measured else None, element("div", *keys, class_="keys"),
                       class_="legend")

    def bar(self):
        """The scale of colours, which `norm growth` has beside its ticks."""
        ticks = [tick for tick in phase.TICKS if abs(np.log(tick)) <= self.spread]
        if len(ticks) < 3:
            ticks = np.exp(np.linspace(-0.8 * self.spread, 0.8 * self.spread, 3))
        places = [(float(self.normaliser(np.log(tick))), number(float(tick), 3)) for tick in ticks]
        stops = ",".join(self.colours)
        shown = far_apart(places)
        return element("div", element("span", "norm growth |θ| / |θ₀|"),
                       element("div", style=f"background:linear-gradient(90deg,{stops})", class_="ramp"),
                       element("div", *(element("span", text, style=f"left:{100 * place:.4g}%")
                                        for place, text in shown), class_="below"), class_="bar")


def far_apart(places, least=0.09):
    """The ticks of a bar with room between them; 1 stays, and those nearest to it are asked first."""
    kept = []
    for place, text in sorted(places, key=lambda one: abs(one[0] - 0.5)):
        if all(abs(place - other) >= least for other, _ in kept):
            kept.append((place, text))
    return sorted(kept)


class Boundaries:
    """Where growth stops, as the figure `phase` draws it, over the runs that are done."""

    def __init__(self, dataset, plane):
        self.lines, self.found = {}, False
        if plane.axes != PHASE_AXES or not is_of_growth(dataset) or "norm_growth" not in dataset:
            return
        scales = [cells.scale(dataset[axis].sortby(axis)) for axis in PHASE_AXES]
        if not all(scale.is_log for scale in scales):
            return
        each = np.log10(dataset.sweep.phase_boundary().each.sortby("learning_rate"))
        middle = each.mean([dim for dim in each.dims if dim == REPEAT])
        x = fraction(scales[0].centres, scales[0].edges)
        for panel in plane.panels:
            y = fraction(middle.isel(panel.at).values.ravel(), scales[1].edges)
            self.lines[id(panel)] = polyline(x, y)
        self.found = any(self.lines.values())

    def of(self, panel):
        return self.lines.get(id(panel), "")


def polyline(x, y):
    """A path through the points; it has gaps where y is NaN, and a dash for a point between two gaps."""
    words, known = [], np.isfinite([np.nan, *y, np.nan])
    for i, (place, value) in enumerate(zip(x, y)):
        before, here, after = known[i:i + 3]
        if here:
            words.append(f"{'L' if before else 'M'}{UNITS * place:.0f} {HEIGHT * (1 - value):.0f}")
        if here and not before and not after:
            words.append(f"m-{DASH // 2} 0h{DASH}")
    return "".join(words)


def draw(panel, plane, state, boundaries):
    x, y = np.rint(UNITS * plane.x.edges).astype(int), np.rint(HEIGHT * (1 - plane.y.edges)).astype(int)
    done, running = state.count(panel, DONE), state.count(panel, RUNNING)
    diverged, failed, skipped = (state.count(panel, outcome) for outcome in (DIVERGED, FAILED, SKIPPED))
    runs_of = panel.index.shape[2] - skipped
    share = (done + diverged + failed) / np.maximum(runs_of, 1)
    shades = state.shades(panel)
    drawn = [path(rectangles(shades == shade, x, y, share), fill=colour)
             for shade, colour in enumerate(state.colours) if (shades == shade).any()]
    plain = (done > 0) & (shades < 0)
    implied = implied_phases(state.implied[panel.index], runs_of == 0)
    for code, place in FAINT.items():
        drawn.append(path(rectangles(implied == code, x, y), fill=state.colours[round((0.5 + place) * (SHADES - 1))],
                          opacity=0.6))
    blank = (done == 0) & (runs_of > 0)
    marks = {"diverged": blank & (diverged > 0), "failed": blank & (diverged == 0) & (failed > 0),
             "done, no norms measured": plain, "implied by the search": (implied > 0),
             "skipped": (runs_of == 0) & (implied == 0)}
    for word, mask in marks.items():
        if not mask.any():
            continue
        state.mark(word)
        if word != "implied by the search":
            drawn.append(path(rectangles(mask, x, y, share if runs_of.any() and word != "skipped" else None),
                              class_=f"is-{word.split(',')[0]}"))
    if running.any():
        state.mark("running")
        drawn.append(path(rectangles(running > 0, x, y, merge=False), class_="is-running"))
    if ((done + diverged + failed + running) < runs_of).any():
        state.mark("pending")
    drawn += [path(boundaries.of(panel), class_=kind) for kind in ("boundary under", "boundary")]
    return plot(drawn, told_of(panel, done, diverged, failed, running, state), plane.x.ticks, plane.y.ticks,
                plane.x.label, plane.y.label, **readings(panel, plane, state))


def implied_phases(phases, is_skipped):
    """[y, x] of phases [y, x, repeats]: that which a search implies for all repeats of a cell without a run; 0 where
    it is none of FAINT."""
    first = phases[..., 0]
    return np.where(is_skipped & (phases == first[..., np.newaxis]).all(2) & np.isin(first, list(FAINT)), first, 0)


def told_of(panel, done, diverged, failed, running, state):
    """A panel in words."""
    mean = state.mean(panel)
    counts = [several(int(count.sum()), "run") + f" {word}" for word, count in
              (("done", done), ("diverged", diverged), ("failed", failed), ("under way", running)) if count.sum()]
    if state.measured:
        grow, shrink = int((mean > 0).sum()), int((mean <= 0).sum())
        counts.append(f"{several(grow, 'cell')} {'grows' if grow == 1 else 'grow'}, {grouped(shrink)} "
                      f"{'does' if shrink == 1 else 'do'} not")
    return "; ".join(filter(None, [panel.title, *counts])) or "no run has begun"


def rectangles(mask, x, y, share=None, merge=True):
    """One path for the cells of a mask. share: how much of each cell is filled, from below."""
    words = []
    for row in np.flatnonzero(mask.any(1)):
        columns, filled = np.flatnonzero(mask[row]), None if share is None else share[row]
        i = 0
        while i < len(columns):
            first = last = columns[i]
            while merge and i + 1 < len(columns) and columns[i + 1] == last + 1 and (
                    filled is None or filled[columns[i + 1]] == filled[first]):
                i, last = i + 1, columns[i + 1]
            height = int(round((y[row] - y[row + 1]) * (1 if filled is None else filled[first])))
            words.append(f"M{x[first]} {y[row]}H{x[last + 1]}v-{height}H{x[first]}z")
            i += 1
    return "".join(words)


def readings(panel, plane, state):
    """Attributes of a panel's area from which a tap reads one cell: the edges and values of both axes, and for each
    cell its growth and how many of its runs have ended."""
    if panel.index[..., 0].size > MOST_TOLD:
        return {}
    mean = state.mean(panel)
    ended = np.isin(state.outcome[panel.index], (DONE, DIVERGED, FAILED)).sum(2)
    diverged = state.count(panel, DIVERGED)
    runs_of = panel.index.shape[2] - state.count(panel, SKIPPED)
    texts = [f"{np.exp(m):.3g}/{e}/{d}/{r}" if m == m else f"/{e}/{d}/{r}" for m, e, d, r in zip(
        mean.ravel(), ended.ravel(), diverged.ravel(), runs_of.ravel())]
    x_name, y_name = (side.label.removesuffix(f" {look.NO_UNIT_MARK}") for side in (plane.x, plane.y))
    return {"data_x": " ".join(f"{edge:.4g}" for edge in plane.x.edges),
            "data_y": " ".join(f"{edge:.4g}" for edge in plane.y.edges),
            "data_x_values": "\n".join(plane.x.values), "data_y_values": "\n".join(plane.y.values),
            "data_x_label": x_name, "data_y_label": y_name, "data_cells": " ".join(texts)}
