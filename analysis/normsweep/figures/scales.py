"""Scales of axes and of colours, and the ticks on them. The label of a tick is plain text, with a real minus sign."""

import functools
import math
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.colors import LogNorm, Normalize, SymLogNorm
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import AutoLocator, FixedLocator, Formatter, Locator, MaxNLocator, NullFormatter, NullLocator

from ..words import MINUS
from .colours import DIVERGING, ORDERED
from .letters import inches

WIDE_RANGE = 30  # largest over smallest value above which a scale is logarithmic
LEAST_TICKS = 3  # that an axis should have
BETWEEN = ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 5, 7), (1, 2, 5), (1, 3))  # digits of ticks within a decade
MANY_DECADES = 4  # above so many, ticks are decades only
OPEN_END = 0.25  # share of a logarithmic axis that should not be without a label
GAP, HEIGHT = 0.09, 0.17  # inches between labels beside each other, from one to the next above each other
# Steps between the ticks of a linear axis, times a power of ten.
ROUND, LESS_ROUND = [1, 2, 2.5, 5, 10], [1, 1.5, 2, 2.5, 3, 4, 5, 6, 10]
LEAST_ROUND = sorted({*LESS_ROUND, 1.2, 8})
CLOSER = 1.25  # times as much room that ticks may be given where there would be too few
ROOM = {"x": 0.48, "y": 0.26}  # inches from one label to the next
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PLAIN = (1e-3, 1e4)  # numbers from here to there are written in full


# ---- numbers ----

def number(value):
    """A number for a label: 0.00316, 1000, 3.16·10⁻⁵."""
    if value == 0 or not math.isfinite(value) or PLAIN[0] <= abs(value) < 1000:
        return f"{value:.3g}".replace("-", MINUS)
    if 1000 <= abs(value) < 10 * PLAIN[1]:
        return f"{round(value)}".replace("-", MINUS)
    mantissa, exponent = f"{value:.2e}".split("e")
    return in_powers(float(mantissa), int(exponent))


def in_powers(mantissa, exponent):
    """3.16·10⁻⁵, −10²; 1 and 10 without an exponent."""
    sign, digits = (MINUS if mantissa < 0 else ""), f"{abs(mantissa):.3g}"
    if exponent == 0:
        return sign + digits
    base = "10" + (str(exponent).translate(SUPERSCRIPT) if exponent != 1 else "")
    return sign + (base if digits == "1" else f"{digits}·{base}")


def power(value):
    """A tick of a logarithmic axis whose ticks are powers of ten: 10⁻³, −10², 3·10⁴, 1."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    return in_powers(float(f"{value / 10.0 ** exponent:.3g}"), exponent)


def logarithmic_words(ticks):
    """The labels of the ticks of a logarithmic axis: all in full if none is very small or large, else all as powers."""
    sizes = np.abs([tick for tick in ticks if tick != 0])
    is_plain = len(sizes) and PLAIN[0] * 0.999 <= sizes.min() and sizes.max() <= PLAIN[1] * 1.001
    return [f"{tick:.12g}".replace("-", MINUS) if is_plain else power(tick) for tick in ticks]


# ---- ticks ----

@dataclass(frozen=True)
class Room:
    """The room for the labels of an axis."""

    size: float  # inches
    is_wide: bool  # do labels stand beside each other?
    most: int = 7

    def fits(self, ticks, low, high, is_log=True):
        """Do the labels of these ticks have room beside each other?"""
        if len(ticks) > self.most:
            return False
        places = [self.size * (math.log(tick / low) / math.log(high / low) if is_log else (tick - low) / (high - low))
                  for tick in ticks]
        words = logarithmic_words(ticks) if is_log else linear_words(ticks)
        needs = [inches(word) + GAP if self.is_wide else HEIGHT for word in words]
        return all(other - one >= (a + b) / 2 for one, other, a, b in zip(places, places[1:], needs, needs[1:]))


def logarithmic_ticks(low, high, room):
    """Ticks between low and high, above 0: as many round numbers as there is room for, and evenly spaced ones where the
    range has too few round numbers."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    decades = range(first, last + 1)
    choices = [within([digit * 10.0 ** decade for decade in decades for digit in digits], low, high)
               for digits in BETWEEN] if last - first < 2 * room.most else []
    choices += [within([10.0 ** decade for decade in decades if decade % each == 0], low, high)
                for each in (1, *range(2, last - first + 2))]
    found = with_ends(next((ticks for ticks in choices if room.fits(ticks, low, high)), []), low, high, room)
    if len(found) >= LEAST_TICKS:
        return found
    for count in range(room.most - 1, 1, -1):
        even = within(MaxNLocator(count, steps=ROUND).tick_values(low, high), low, high)
        if even and even[0] > 0 and room.fits(even, low, high):
            return even if len(even) > len(found) else found
    return found


def with_ends(ticks, low, high, room):
    """The same with a round number near an end that has no tick in the last part of the axis."""
    size = math.log(high / low)
    if size > MANY_DECADES * math.log(10):
        return ticks
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if high > WIDE_RANGE * low else (1, 1.5, 2, 3, 5, 7)
    more = within([digit * 10.0 ** decade for decade in decades for digit in digits], low, high)
    for is_high in (True, False):
        end = ticks[-1 if is_high else 0] if ticks else (low if is_high else high)
        if abs(math.log((high if is_high else low) / end)) < OPEN_END * size:
            continue
        beyond = [tick for tick in more if (tick > end if is_high else tick < end)]
        for tick in reversed(beyond) if is_high else beyond:
            if room.fits(sorted({*ticks, tick}), low, high):
                ticks = sorted({*ticks, tick})
                break
    return ticks


def within(ticks, low, high):
    room = 1e-9 * max(abs(low), abs(high))
    return [tick for tick in ticks if low - room <= tick <= high + room]


def signed_ticks(low, high, near, most):
    """Ticks of a scale that is linear within `near` of 0 and logarithmic beyond: 0 and powers of ten on either side."""
    largest = math.floor(math.log10(max(abs(low), abs(high))) + 1e-9)
    smallest = min(math.ceil(math.log10(near) - 1e-9), largest)
    for each in range(1, largest - smallest + 2):
        sizes = [10.0 ** decade for decade in range(largest, smallest - 1, -each)]
        found = within([*(-size for size in sizes), 0.0, *sizes[::-1]], low, high)
        if len(found) <= most:
            break
    return found if len(found) > 1 else within(MaxNLocator(most, steps=ROUND).tick_values(low, high), low, high)


@functools.lru_cache(maxsize=256)  # each axis asks several times while a figure is laid out
def linear_ticks(low, high, room, is_whole):
    """Ticks between low and high at multiples of a round number, as many as there is room for; of a less round one, or
    closer to each other, if there would be fewer than LEAST_TICKS. is_whole: integers only."""
    found = []
    for steps, closer in ((ROUND, 1), (LESS_ROUND, 1), (ROUND, CLOSER), (LEAST_ROUND, CLOSER)):
        wide = replace(room, size=closer * room.size)
        for count in range(room.most - 1, 0, -1):
            locator = MaxNLocator(count, steps=steps, integer=is_whole, min_n_ticks=1)
            ticks = within(locator.tick_values(low, high), low, high)
            if wide.fits(ticks, low, high, is_log=False):
                found = max(found, ticks, key=len)
                break
        if len(found) >= LEAST_TICKS:
            break
    return found


def is_whole(axes):
    """Are the lines of a panel drawn over integers, such as steps or layers?"""
    places = [finite([line.get_xdata()]) for line in axes.lines]
    places = np.concatenate(places) if places else np.zeros(0)
    return bool(len(places) and np.ptp(places) > 1 and (places == np.rint(places)).all())


class Ticks(Locator):
    """Ticks by a function of the ends of the view."""

    def __init__(self, function):
        self.function = function

    def __call__(self):
        return self.tick_values(*sorted(self.axis.get_view_interval()))

    def tick_values(self, low, high):
        return np.asarray(self.function(low, high))


class PanelTicks(Ticks):
    """linear_ticks by the room that a panel has; once `room` is set, by that."""

    def __init__(self, axis, whole):
        super().__init__(lambda low, high: linear_ticks(low, high, self.room or drawn_room(axis), whole))
        self.panel, self.room = axis, None


class Layout(ConstrainedLayoutEngine):
    """A constrained layout around the ticks that are drawn.

    Which ticks have room depends on the places of the panels, and these depend on how far labels reach beyond them. So
    the ticks are chosen after a first layout, and stay while a second one makes room for their labels.
    """

    def execute(self, fig):
        super().execute(fig)
        free = [ticks for axes in fig.axes for axis in (axes.xaxis, axes.yaxis)
                if isinstance(ticks := axis.get_major_locator(), PanelTicks) and ticks.room is None]
        for ticks in free:
            ticks.room = drawn_room(ticks.panel)
        if free:
            super().execute(fig)


class Words(Formatter):
    """Labels of all ticks together: logarithmic_words, or linear_words."""

    def __init__(self, function):
        self.function, self.words = function, {}

    def set_locs(self, locs):
        self.locs = locs
        self.words = dict(zip(map(float, locs), self.function(list(map(float, locs)))))

    def __call__(self, value, pos=None):
        return self.words.get(float(value), number(value))


def linear_words(ticks):
    """Labels of evenly spaced ticks: all with the same digits after the point, or all in powers of ten."""
    size = max(map(abs, ticks), default=0)
    if size == 0 or size < PLAIN[0] or size >= 10 * PLAIN[1]:
        return [number(tick) if abs(tick) > 1e-9 * size else "0" for tick in ticks]
    step = min(np.diff(sorted(set(ticks))), default=size)
    digits = next((digits for digits in range(12) if all(
        abs(tick * 10 ** digits - round(tick * 10 ** digits)) < 0.01 * step * 10 ** digits for tick in ticks)), 6)
    return [f"{round(tick, digits) + 0.0:.{digits}f}".replace("-", MINUS) for tick in ticks]


def room_of(axis):
    """The room for the labels of an axis, by the share of its figure that its panel has."""
    width, height = axis.axes.figure.get_size_inches()
    is_wide = axis.axis_name == "x"
    if axis.axes.get_label() == "<colorbar>":
        return Room(0.3 * width if is_wide else height - 1, is_wide, 3 if is_wide else 7)
    rows, columns = axis.axes.get_gridspec().get_geometry()
    return Room(max(0.5, 0.8 * width / columns - 0.4 if is_wide else (height - 0.4) / rows - 0.4), is_wide)


def drawn_room(axis):
    """The room for the labels of an axis of a panel that has its place."""
    box, is_wide = axis.axes.bbox, axis.axis_name == "x"
    size = (box.width if is_wide else box.height) / axis.axes.figure.dpi
    return Room(size, is_wide, 7 if is_wide else int(np.clip(size / ROOM["y"] + 2, LEAST_TICKS + 1, 7)))


def has_room(axis, words):
    """Do these labels have room, evenly spaced along the axis?"""
    needs = [inches(word) + GAP if axis.axis_name == "x" else HEIGHT for word in words]
    return max(needs) * len(words) <= room_of(axis).size + max(needs)


def tick(axis, room=None):
    """Gives an axis readable ticks, unless ticks are already set. room: for its labels."""
    if isinstance(axis.get_major_locator(), (FixedLocator, NullLocator, Ticks)):
        return
    room, scale = room or room_of(axis), axis.get_scale()
    most = int(np.clip(room.size / ROOM[axis.axis_name] + 1, 2, room.most))
    if scale == "log":
        axis.set_major_locator(Ticks(lambda low, high: logarithmic_ticks(low, high, room) if low > 0 else []))
        axis.set_major_formatter(Words(logarithmic_words))
        axis.set_minor_locator(Ticks(between_ticks))
        axis.set_minor_formatter(NullFormatter())
    elif scale in ("symlog", "asinh"):
        near = getattr(axis.get_transform(), "linthresh", None) or axis.get_transform().linear_width
        axis.set_major_locator(Ticks(lambda low, high: signed_ticks(low, high, near, most)))
        axis.set_major_formatter(Words(logarithmic_words))
        axis.set_minor_locator(NullLocator())
    elif scale == "linear":
        if axis.axes.get_label() == "<colorbar>":
            if isinstance(axis.get_major_locator(), AutoLocator):
                axis.set_major_locator(MaxNLocator(max(2, most - 1), steps=ROUND, min_n_ticks=LEAST_TICKS))
        else:
            whole = room.is_wide and is_whole(axis.axes)
            axis.set_major_locator(PanelTicks(axis, whole))
        axis.set_major_formatter(Words(linear_words))


def between_ticks(low, high):
    """Ticks without labels, which show that an axis of few decades is logarithmic."""
    if low <= 0 or high > 1e5 * low or high < 2 * low:
        return []
    return within([digit * 10.0 ** decade for decade in range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
                   for digit in range(2, 10)], low, high)


# ---- the scale of numbers ----

def finite(arrays):
    """All finite numbers of some arrays, as one array."""
    values = np.concatenate([np.ravel(np.asarray(array, dtype=float)) for array in arrays]) if len(arrays) else []
    return np.asarray(values, dtype=float)[np.isfinite(values)]


def bounds(values):
    """The range that shows most values: all, unless outliers would leave a single colour for the rest."""
    low, high = values.min(), values.max()
    inner = np.quantile(values, [0.05, 0.95])
    if inner[1] > inner[0] and high - low > 3 * (inner[1] - inner[0]):
        low, high = inner
    return (low, high) if low < high else (low - 0.05 * abs(low) - 1e-12, high + 0.05 * abs(high) + 1e-12)


def colour_scale(arrays, linear=False):
    """(normaliser, colour map, `extend` of the colour bar) for numbers of any kind; None without a finite number."""
    values = finite(arrays)
    if not len(values):
        return None
    low, high = values.min(), values.max()
    if low < 0 < high:
        size = np.abs(values)
        limit = np.quantile(size, 0.98) or size.max()
        usual = np.median(size[size > 0])
        normaliser = Normalize(-limit, limit) if limit < WIDE_RANGE * usual else SymLogNorm(usual, vmin=-limit,
                                                                                             vmax=limit)
        colours = DIVERGING
    elif low > 0 and high > WIDE_RANGE * low and not linear:
        inner = np.exp(bounds(np.log(values)))
        normaliser, colours = LogNorm(*inner), ORDERED
    else:
        normaliser, colours = Normalize(*bounds(values)), ORDERED
    return normaliser, colours, bar_ends(low < normaliser.vmin, high > normaliser.vmax)


def bar_ends(below, above):
    """The `extend` of a colour bar with values below or above its range."""
    return {(True, True): "both", (True, False): "min", (False, True): "max"}.get((bool(below), bool(above)), "neither")


def scale_y(axes, arrays, linear=False):
    """Sets the scale of the y axis by its numbers: logarithmic for a wide range, unless `linear`."""
    if linear:
        return
    values = finite(arrays)
    size = np.abs(values[values != 0])
    if not len(size) or size.max() <= WIDE_RANGE * np.quantile(size, 0.02):
        return
    if values.min() > 0:
        axes.set_yscale("log")
    elif size.max() > 100 * np.median(size):
        axes.set_yscale("symlog", linthresh=10.0 ** math.floor(math.log10(np.median(size))))


def apart(places, count):
    """Indices of ascending places: the first, and each that is at least 1 / count of the range after the last one."""
    kept = [0]
    for i, place in enumerate(places):
        if place - places[kept[-1]] >= (places[-1] - places[0]) / count and i:
            kept.append(i)
    return kept
