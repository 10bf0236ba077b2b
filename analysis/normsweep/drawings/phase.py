"""The phase diagram: norm growth over learning rate and weight decay, the boundary between growing and shrinking, and
the slopes that two kinds of dynamics predict for it."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, SymLogNorm
from matplotlib.lines import Line2D
from matplotlib.patheffects import Normal, Stroke

from ..boundary import ALIGNED, ORTHOGONAL, rule, slope_if
from ..names import TIMESCALE
from ..plane import phase_axes
from ..predicted import key
from ..words import fixed
from . import cells, colours, look, runs, scales
from .drawing import finished

LINEAR_BELOW = 0.05  # |log growth| above which colours are logarithmic, so that weak growth shows beside strong growth
TICKS = (1e-9, 1e-6, 0.001, 0.01, 0.1, 0.5, 0.8, 0.95, 1, 1.05, 1.25, 2, 10, 100, 1000, 1e6, 1e9)
LABEL = look.with_unit("norm growth $|\\theta_{end}| / |\\theta_0|$")
MOST_PANELS = 18
BAR_GAP = 0.15  # inches from one label of the colour bar to the next
LONG = 0.04  # share of a panel's height below which a bar is hidden by the mark on it
CAP = 0.5  # of a column, at most so wide is the end of a range
HELD = ("fixed", "hyperball")  # words of norm_rule
ONE_SEED = ", one seed"  # behind a slope


def set_off(width):
    """A white edge, because a line crosses cells of all colours."""
    return {"linewidth": width, "path_effects": [Stroke(linewidth=width + 1.4, foreground="white"), Normal()]}


BOUNDARY = {"color": "black", "marker": "o", "markersize": 2.5, "zorder": 3, **set_off(1.5)}
BRACKET = {"color": "black", "linewidth": 3, "alpha": 0.4}
PREDICTED = {  # number of runs of a column from whose norms its boundary is predicted: style of the line, its name
    1: ({"color": colours.COLOURS[5], "linestyle": ":", "marker": "v", "markersize": 4.5, **set_off(1.1)},
        "predicted from one run"),
    2: ({"color": colours.COLOURS[2], "linestyle": ":", "marker": "^", "markersize": 4.5, **set_off(1.1)},
        "predicted from two runs"),
}
SLOPES = {  # dynamics: style of the line whose slope they have, their name
    dynamics: ({"color": colours.colour(colours.place("dynamics", name)), "linestyle": dash, **set_off(1.3)}, name)
    for dynamics, dash, name in ((ALIGNED, "--", "aligned"), (ORTHOGONAL, "-.", "misaligned"))}
RANGE = {"color": "black", "linestyle": "none", "zorder": 3.2}  # over repeats: a bar with an end on either side
DEFAULT, SOME = colours.DEFAULT, colours.SOME
OVERLAYS = {
    "boundary": "the line of no growth", "brackets": "the bars between the runs on either side of it",
    "range": "its range over seeds", "predicted": "the boundaries predicted from one run and from two",
    "slopes": "the slopes of aligned and misaligned steps", "defaults": "PyTorch's defaults",
    "diverged": "the crosses where some runs diverged"}


def phase(dataset):
    """Norm growth as a map over two axes of numbers, as a curve over one, or as dots over words."""
    if not runs.is_measured(dataset, "norm_growth") or not runs.axes_of(dataset):
        return None
    dataset = dataset.assign(norm_growth=dataset.norm_growth.where(dataset.sweep.done).assign_attrs(
        dataset.norm_growth.attrs))
    if len(cells.plane_of(dataset)) < 2:
        return cells.over_plane(dataset, "phase", ["norm_growth"], "Norm growth: the parameters grow where it is above "
                                "1.", {"norm_growth": LABEL}, lambda axes: look.reference_line(axes, 1))
    with look.style():
        return Phase(dataset).draw()


class Phase:
    """One phase diagram: a panel for each combination of the other axes, over whose seeds it averages; the legend
    explains what occurs in any of them."""

    def __init__(self, dataset):
        self.dataset = dataset
        self.plane = cells.plane_of(dataset)
        self.is_paper = tuple(self.plane) == phase_axes(dataset)
        self.is_timescale = TIMESCALE in self.plane
        self.combinations = list(runs.combinations(dataset, runs.others_of(dataset, *self.plane)))
        self.shown = runs.thinned_along(self.combinations, look.most_panels(MOST_PANELS))
        self.averaged = [axis for axis in runs.axes_of(dataset) if axis == runs.REPEAT]
        self.legend = {}
        self.has_one_seed = self.has_slopes = False

    def draw(self):
        parts = [runs.part(self.dataset, at) for at in self.shown]
        maps = [log_growth(cells.map_of(part, "norm_growth", self.plane)) for part in parts]
        spread = colour_range(maps)
        normaliser = (SymLogNorm(linthresh=LINEAR_BELOW, vmin=-spread, vmax=spread) if spread > 2 * LINEAR_BELOW
                      else Normalize(-spread, spread))
        count = len(parts)
        rows, columns = look.crowd(count)
        figure, panels = look.sheet(rows, columns, height=2.9 if count == 1 else 2.3 if columns == 2 else 1.6,
                                    sharex=True, sharey=True)
        slopes = []
        for axes, at, part, values in zip(panels.ravel(), self.shown, parts, maps):
            slope = self.draw_panel(axes, part, values, normaliser)
            title = look.title(runs.text(self.dataset, at), columns, has_bar=True)
            below = look.title(panel_text(slope, columns), columns, has_bar=True) if count > 1 else ""
            axes.set_title("\n".join(filter(None, (title, below))))
            slopes.append(slope)
        self.has_one_seed = any(ONE_SEED in slope for slope in slopes)
        look.clear_rest(panels, count)
        cells.name_axes(panels, count, self.dataset, self.plane)
        ends = scales.bar_ends(*(any((sign * values > spread).any() for values in maps) for sign in (-1, 1)))
        self.add_bar(figure, panels.ravel()[:count].tolist(), normaliser, spread, ends)
        caption = f"Norm growth |θ_end| / |θ_0| over {' and '.join(map(runs.axis_name, self.plane))}."
        return finished("phase", caption, figure, self.dataset, self.legend.values(),
                        self.notes(slopes), self.details())

    def details(self):
        """Sentences for the caption."""
        if "no growth" in self.legend:
            yield (f"Black: the {runs.decay_name(self.dataset)} at which growth stops, interpolated log-log between "
                   "the runs on either side; that of the strongest decay if there are several, none where all runs "
                   "grow or all shrink.")
        if any(name in self.legend for _, name in PREDICTED.values()):
            yield ("Predicted from one run: if the updates of each learning rate add the same at every weight decay as "
                   "at the smallest. From two runs: if what they add depends on the norm as it does in that run and "
                   "the one of the largest decay below the first prediction.")
        if self.has_slopes:
            yield "The predicted slopes are drawn through the middle of the measured boundary."

    def notes(self, slopes):
        notes = [" ".join([runs.counted(self.dataset, "norm_growth"),
                           *(f"{slope[0].upper()}{slope[1:]}." for slope in slopes if slope and len(slopes) == 1)])]
        if self.has_one_seed:
            notes.append("A slope of one seed has no interval: the spread between seeds is unknown.")
        if self.is_paper and not rule(self.dataset).stops:
            notes.append(f"The line of no growth is left out: the sweep looked for {rule(self.dataset)}, and its "
                         "runs may lie far from where growth stops.")
        notes.append(runs.timescale_note(self.dataset))
        if self.is_paper and any(is_held(runs.part(self.dataset, at)) for at in self.shown):
            notes.append("Where norm_rule holds the norms of matrices (fixed, hyperball), only those of gains and "
                         "biases grow or shrink.")
        if self.averaged:
            notes += [f"Geometric mean over {runs.plurals(self.averaged)}.", cells.fewer_note(self.dataset)]
        if self.has_slopes:
            notes.append("Aligned: if steps point along θ; misaligned: if across it.")
        notes.append(cells.thin_note(self.dataset, self.plane, self.legend))
        notes.append(runs.left_out(self.dataset, self.shown, self.combinations))
        return notes

    def draw_panel(self, axes, part, values, normaliser):
        """Draws the cells, the boundary, its band, the predictions, PyTorch's defaults. Returns a text on the slope."""
        x, y = (cells.scale(values[axis]) for axis in self.plane)
        sides = cells.implied_sides(part, self.plane)
        pending, handles = cells.draw_pending(axes, part, values, self.plane, normaliser, colours.DIVERGING)
        told = [mask for mask in (*(sides or {}).values(), pending) if mask is not None]
        marks = cells.draw_map(axes, part, values, self.plane, normaliser, colours.DIVERGING,
                               sum(told) > 0 if told else None)
        handles += [] if sides is None else cells.draw_implied(axes, sides, values, self.plane)
        for handle in [*handles, *cells.mark_handles(marks)]:
            self.legend.setdefault(handle.get_label(), handle)
        self.mark_partly_diverged(axes, part, x, y)
        if not self.is_paper:
            return ""
        slope = self.add_boundary(axes, part, x) if x.is_log and y.is_log and rule(part).stops else ""
        if self.is_timescale:
            return slope
        defaults = [np.log10(runs.PYTORCH_DEFAULT[axis]) for axis in self.plane]
        if x.is_log and y.is_log and all(
                is_inside(places, values[axis], default)
                for places, axis, default in zip((x, y), self.plane, defaults)) and look.shows("defaults"):
            axes.plot(*defaults, **DEFAULT)
            self.legend.setdefault("default", Line2D([], [], label="PyTorch's defaults", **DEFAULT))
        return slope

    def mark_partly_diverged(self, axes, part, x, y):
        """Draws a small cross where some repeats diverged and others did not."""
        if not self.averaged or not look.shows("diverged"):
            return
        order = list(self.plane[::-1])
        some = (part.sweep.diverged.any(self.averaged) & part.sweep.done.any(self.averaged)).transpose(*order)
        rows, columns = np.nonzero(some.sortby(order).values)
        if len(rows):
            axes.plot(x.centres[columns], y.centres[rows], **SOME)
            self.legend.setdefault("some", Line2D([], [], label="some diverged", **SOME))

    def add_boundary(self, axes, part, x):
        """Draws the boundary, its range over the repeats, and the predictions through its middle."""
        found = part.sweep.boundary().sortby("learning_rate")
        each = found.each
        others = [dim for dim in each.dims if dim != "learning_rate"]
        rates, logs = np.log10(each.learning_rate.values), np.log10(each)
        middle = logs.mean(others).values
        known = np.isfinite(middle)
        if not known.any():
            return ""
        if look.shows("boundary"):
            axes.plot(x.centres, middle, **{**BOUNDARY, "marker": ""})  # a gap at a learning rate without a boundary
            axes.plot(x.centres, middle, **{**BOUNDARY, "linestyle": "none", "zorder": 3.4})  # above the range
            self.legend.setdefault("no growth", Line2D([], [], label="no growth", **BOUNDARY))
        if look.shows("brackets"):
            self.add_brackets(axes, found, x)
        if look.shows("range") and others and int(each.notnull().sum(others).max()) > 1:
            self.add_range(axes, x, logs.where(each.notnull().sum(others) > 1), others)
        if look.shows("predicted"):
            self.add_predicted(axes, part, x)
        if found.slope_points < 2 or not look.shows("boundary"):
            return ""
        spread = ONE_SEED if found.slope_repeats < 2 else (
            f", 95 % interval {fixed(found.slope_low)} to {fixed(found.slope_high)}")
        text = f"measured slope {fixed(found.slope)}{spread}"
        if is_held(part) or not look.shows("slopes"):
            return text
        anchor = rates[known].mean(), middle[known].mean()
        self.has_slopes = True
        for dynamics, (style, name) in SLOPES.items():
            ends = np.array(axes.get_xlim())
            predicted = int(slope_if(dynamics, part, self.plane[1]))
            name = f"{name}: slope {predicted}".replace("-", "\N{MINUS SIGN}")
            axes.plot(ends, anchor[1] + predicted * (ends - anchor[0]), **style)
            self.legend.setdefault(name, Line2D([], [], label=name, **style))
        return text

    def add_range(self, axes, x, logs, others):
        """Draws the range over the repeats at each learning rate, where there are several."""
        low, middle, high = (part.values for part in (logs.min(others), logs.mean(others), logs.max(others)))
        column = 72 * axes.bbox.width / axes.figure.dpi * np.diff(x.edges).min() / np.ptp(x.edges)
        bars = axes.errorbar(x.centres, middle, [middle - low, high - middle], capsize=min(5, CAP * column / 2),
                             **RANGE, elinewidth=1.1, capthick=1.1)
        for part in (*bars[1], *bars[2]):
            part.set_path_effects(set_off(1.1)["path_effects"])
        bars.set_label(f"range over {runs.plurals(others)}")
        self.legend.setdefault("range", bars)

    def add_brackets(self, axes, found, x):
        """Draws a bar between the two runs beside each boundary; over repeats, between the geometric means."""
        others = [dim for dim in found.each.dims if dim != "learning_rate"]
        low, high = (np.log10(found[name].where(found.each.notnull())).mean(others).values
                     for name in ("before", "after"))
        axes.vlines(x.centres, low, high, **BRACKET)
        if np.nanmax(np.abs(high - low), initial=0) > LONG * np.ptp(axes.get_ylim()):
            self.legend.setdefault("bracket", Line2D([], [], label="runs on either side", **BRACKET))

    def add_predicted(self, axes, part, x):
        """Draws the boundaries that the norms of one run, and of two, of each column predict."""
        if not runs.is_measured(part, "param_norm", self.plane[1], "step"):
            return
        for count, (style, name) in PREDICTED.items():
            each = part.sweep.predicted_boundary(runs=count).each.sortby("learning_rate")
            middle = np.log10(each).mean([dim for dim in each.dims if dim != "learning_rate"]).values
            if np.isfinite(middle).any():
                axes.plot(x.centres, middle, **style)
                self.legend.setdefault(name, Line2D([], [], label=name, **style))

    def add_bar(self, figure, panels, normaliser, spread, ends):
        bar = look.add_bar(figure, ScalarMappable(normaliser, colours.DIVERGING), ax=panels, extend=ends)
        look.name_bar(bar, LABEL)
        ticks = ([tick for tick in TICKS if abs(np.log(tick)) <= spread] if spread > 2 * LINEAR_BELOW
                 else 1 + np.linspace(-0.8 * spread, 0.8 * spread, 5))
        ticks = with_room(np.asarray(ticks), normaliser, look.em(BAR_GAP) / (look.sheet_size()[1] - 1))
        digits = max(4, int(2 - np.log10(spread)) + 1)
        bar.set_ticks(np.log(ticks), labels=[scales.power(tick) if not 1e-3 <= tick <= 1e3 else f"{tick:.{digits}g}"
                                             for tick in ticks])
        bar.ax.minorticks_off()


def is_held(part):
    """Does a norm_rule hold the norms of the matrices? Then the dynamics of steps say nothing of the boundary."""
    return bool(key(part, "norm_rule").isin(HELD).any())


def with_room(ticks, normaliser, gap):
    """The ticks of the bar that have room: 1, and outwards from it each that is at least `gap` of its height from the
    last one."""
    places = np.asarray(normaliser(np.log(ticks)))
    middle = int(np.abs(ticks - 1).argmin())
    kept = [middle]
    for order in (range(middle + 1, len(ticks)), range(middle - 1, -1, -1)):
        last = middle
        for i in order:
            if abs(places[i] - places[last]) >= gap:
                kept.append(i)
                last = i
    return ticks[sorted(kept)]


def panel_text(slope, columns):
    """The text on the slope above one of several panels; shorter where there are three beside each other."""
    slope = slope.removeprefix("measured ")
    is_wide = columns < 3 and not (look.is_tight() and columns > 1)
    return slope if is_wide else slope.replace("95 % interval ", "").replace(ONE_SEED, "")


def is_inside(places, coordinate, position):
    """Does a position lie in the cell of a positive value? The cell of 0 is no part of the logarithmic scale."""
    first = int((coordinate.values == 0).sum())
    return bool(places.edges[first] <= position <= places.edges[-1])


def log_growth(growth):
    """ln of norm growth, clipped to what floats can represent: a growth of 0 or infinity has a colour, too."""
    with np.errstate(divide="ignore"):
        return np.log(growth).clip(-700, 700)


def colour_range(maps):
    """The |ln growth| at which colours end; nearly all cells lie within."""
    size = np.abs(scales.finite(maps))
    return max(float(np.quantile(size, 0.98)) if len(size) else 1.0, 1e-6)
