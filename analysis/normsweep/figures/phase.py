"""The phase diagram: norm growth over learning rate and weight decay, the boundary between growing and shrinking, and
what two kinds of dynamics predict of it."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, SymLogNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .. import look
from ..boundary import straight_line
from . import cells, runs
from .drawing import Drawing
from .lines import words_name

LINEAR_BELOW = 0.05  # of |log growth|: the colours are logarithmic beyond, so that weak growth shows beside strong
TICKS = (1e-9, 1e-6, 0.001, 0.01, 0.1, 0.5, 0.8, 0.95, 1, 1.05, 1.25, 2, 10, 100, 1000, 1e6, 1e9)
LABEL = "norm growth $|\\theta_{end}| / |\\theta_0|$"
MOST_PANELS = 12
BOUNDARY = {"color": "black", "linewidth": 1.5, "marker": "o", "markersize": 3}
PREDICTIONS = {  # slope of the boundary in the logs: how its line looks, its name
    0: ({"color": "#009e73", "linestyle": "--", "linewidth": 1.4}, "aligned"),
    1: ({"color": "#cc79a7", "linestyle": "-.", "linewidth": 1.4}, "misaligned"),
}
BAND = {"facecolor": "none", "edgecolor": "0.25", "hatch": "////", "linewidth": 0.4}
DEFAULT = {"marker": "*", "markersize": 11, "color": "white", "markeredgecolor": "black", "linestyle": "none"}
SOME = {"marker": "x", "markersize": 4, "color": "0.2", "markeredgewidth": 0.8, "linestyle": "none"}


def phase(dataset):
    """The map over two axes of numbers; over one the curve of norm growth, over words alone its dots."""
    if not runs.is_measured(dataset, "norm_growth") or not runs.axes_of(dataset):
        return None
    dataset = dataset.assign(norm_growth=dataset.norm_growth.where(dataset.sweep.done).assign_attrs(
        dataset.norm_growth.attrs))
    if len(cells.plane_of(dataset)) < 2:
        return cells.over_plane(dataset, "phase", ["norm_growth"], "Norm growth: above 1 parameters grow.",
                                {"norm_growth": LABEL}, mark_one)
    with look.style():
        return Phase(dataset).draw()


def mark_one(axes):
    axes.axhline(1, color="black", linewidth=0.8, linestyle=":")


class Phase:
    """One phase diagram: a panel for each combination of words; the legend names what occurs in any."""

    def __init__(self, dataset):
        self.dataset = dataset
        self.plane = cells.plane_of(dataset)
        self.is_paper = tuple(self.plane) == runs.PHASE_AXES
        words = runs.words_of(dataset)
        self.combinations = list(runs.combinations(dataset, words))
        self.shown = runs.thinned(self.combinations, MOST_PANELS)
        self.averaged = [axis for axis in runs.axes_of(dataset) if axis not in [*self.plane, *words]]
        self.legend = {}

    def draw(self):
        parts = [self.dataset.isel(at) for at in self.shown]
        maps = [log_growth(cells.map_of(part, "norm_growth", self.plane)) for part in parts]
        spread = colour_range(maps)
        normaliser = (SymLogNorm(linthresh=LINEAR_BELOW, vmin=-spread, vmax=spread) if spread > 2 * LINEAR_BELOW
                      else Normalize(-spread, spread))
        count = len(parts)
        rows, columns = look.crowd(count)
        figure, panels = look.sheet(rows, columns, height=4.2 if count == 1 else 2.8 if columns == 2 else 2.2,
                                    sharex=True, sharey=True)
        slopes = []
        for axes, at, part, values in zip(panels.ravel(), self.shown, parts, maps):
            slope = self.draw_panel(axes, part, values, normaliser)
            title = runs.text(self.dataset, at)
            axes.set_title("\n".join(text for text in (title, slope if count > 1 else "") if text))
            slopes.append(slope)
        look.clear_rest(panels, count)
        cells.name_axes(panels, count, self.dataset, self.plane)
        ends = look.bar_ends(*(any((sign * values > spread).any() for values in maps) for sign in (-1, 1)))
        self.add_bar(figure, panels.ravel()[:count].tolist(), normaliser, spread, ends)
        notes = self.notes(slopes if count == 1 else [])
        look.close(figure, self.dataset, self.legend.values(), notes)
        caption = f"Norm growth |θ_end| / |θ_0| over {words_name(self.plane[0])} and {words_name(self.plane[1])}."
        return Drawing("phase", " ".join([caption, *notes]), figure)

    def notes(self, slopes):
        notes = [f"{slope[0].upper()}{slope[1:]}." for slope in slopes if slope]
        if "no growth" in self.legend:
            notes.append("Black: at each learning rate the largest weight decay of no growth, straight in the logs "
                         "between a run that grows and the next that does not; none where all grow or all shrink.")
        if self.averaged:
            notes.append(f"Geometric mean over {' and '.join(map(words_name, self.averaged))}.")
        if "aligned" in self.legend:
            notes.append("Predictions go through the middle of the measured boundary: if steps point along the "
                         "parameters it is level, if across them it rises in proportion to the learning rate.")
        if len(self.shown) < len(self.combinations):
            notes.append(f"{len(self.shown)} of {len(self.combinations)} combinations of words.")
        return notes

    def draw_panel(self, axes, part, values, normaliser):
        """Cells, boundary, band, predictions, default. Returns what there is to say of the slope."""
        x, y = (cells.scale(values[axis]) for axis in self.plane)
        marks = cells.draw_map(axes, part, values, self.plane, normaliser, look.DIVERGING)
        for handle in cells.mark_handles(marks):
            self.legend.setdefault(handle.get_label(), handle)
        self.mark_partly_diverged(axes, part, x, y)
        if not self.is_paper:
            return ""
        slope = self.add_boundary(axes, part, x) if x.is_log and y.is_log else ""
        if x.is_log and y.is_log and all(np.log10(runs.PYTORCH_DEFAULT[axis]) >= places.edges[0]
                                         and np.log10(runs.PYTORCH_DEFAULT[axis]) <= places.edges[-1]
                                         for axis, places in zip(self.plane, (x, y))):
            axes.plot(*(np.log10(runs.PYTORCH_DEFAULT[axis]) for axis in self.plane), **DEFAULT)
            self.legend.setdefault("default", Line2D([], [], label="PyTorch's default", **DEFAULT))
        return slope

    def mark_partly_diverged(self, axes, part, x, y):
        """A small cross where some repeats diverged and others did not."""
        if not self.averaged:
            return
        order = list(self.plane[::-1])
        some = (part.sweep.diverged.any(self.averaged) & part.sweep.done.any(self.averaged)).transpose(*order)
        rows, columns = np.nonzero(some.sortby(order).values)
        if len(rows):
            axes.plot(x.centres[columns], y.centres[rows], **SOME)
            self.legend.setdefault("some", Line2D([], [], label="some diverged", **SOME))

    def add_boundary(self, axes, part, x):
        """The boundary, its range over the repeats, and the predictions through its middle."""
        each = part.sweep.phase_boundary().each.sortby("learning_rate")
        others = [dim for dim in each.dims if dim != "learning_rate"]
        rates, logs = np.log10(each.learning_rate.values), np.log10(each)
        middle = logs.mean(others).values
        known = np.isfinite(middle)
        if not known.any():
            return ""
        axes.plot(x.centres, middle, **BOUNDARY)  # broken where a learning rate has none
        self.legend.setdefault("no growth", Line2D([], [], label="no growth", **BOUNDARY))
        if others and int(each.notnull().sum(others).max()) > 1:
            axes.fill_between(x.centres, logs.min(others).values, logs.max(others).values, **BAND)
            words = " and ".join(map(words_name, others))
            self.legend.setdefault("band", Patch(label=f"range of the boundary over {words}", **BAND))
        slope, error, _, points = straight_line(rates, middle)
        if points < 2:
            return ""
        anchor = rates[known].mean(), middle[known].mean()
        for predicted, (style, name) in PREDICTIONS.items():
            ends = np.array(axes.get_xlim())
            axes.plot(ends, anchor[1] + predicted * (ends - anchor[0]), **style)
            self.legend.setdefault(name, Line2D([], [], label=f"{name}: slope {predicted}", **style))
        return f"measured slope {round(slope, 2) + 0:.2f}" + (f" ± {error:.2f}" if points > 2 else " from two points")

    def add_bar(self, figure, panels, normaliser, spread, ends):
        bar = figure.colorbar(ScalarMappable(normaliser, look.DIVERGING), ax=panels, extend=ends, aspect=30, pad=0.02)
        bar.set_label(LABEL)
        ticks = ([tick for tick in TICKS if abs(np.log(tick)) <= spread] if spread > 2 * LINEAR_BELOW
                 else 1 + np.linspace(-0.8 * spread, 0.8 * spread, 5))
        bar.set_ticks(np.log(ticks), labels=[f"{tick:.{max(3, int(2 - np.log10(spread)) + 1)}g}" for tick in ticks])
        bar.ax.minorticks_off()


def log_growth(growth):
    """ln of norm growth; a norm of 0 or beyond all numbers lies at the end of what floats can say."""
    with np.errstate(divide="ignore"):
        return np.log(growth).clip(-700, 700)


def colour_range(maps):
    """The |ln growth| at which colours end: nearly all cells lie inside."""
    size = np.abs(look.finite(maps))
    return max(float(np.quantile(size, 0.98)) if len(size) else 1.0, 1e-6)
