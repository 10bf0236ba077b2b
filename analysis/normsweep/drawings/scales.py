"""Scales of axes and of colours, and the ticks on them. The label of a tick is plain text, with a real minus sign."""

import functools
import math

import numpy as np
from matplotlib.colors import LogNorm, Normalize, SymLogNorm
from matplotlib.ticker import AutoLocator, FixedLocator, Formatter, Locator, MaxNLocator, NullFormatter, NullLocator

from ..words import MINUS
from .colours import DIVERGING, ORDERED

WIDE_RANGE = 30  # largest over smallest value above which a scale is logarithmic
LEAST_TICKS, MOST_TICKS = 3, 7  # of an axis
BETWEEN = ((1, 2, 3, 5), (1, 2, 5), (1, 3))  # digits of ticks within a decade; the first within one alone
ROUND, LESS_ROUND = [1, 2, 2.5, 5, 10], [1, 1.5, 2, 2.5, 3, 4, 5, 6, 10]  # steps of a linear axis, times a power of ten
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

def logarithmic_ticks(low, high, most):
    """At most so many ticks between low and high, above 0: round numbers, and evenly spaced ones where the range has
    too few of these."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    decades = range(first, last + 1)
    choices = [within([digit * 10.0 ** decade for decade in decades for digit in digits], low, high)
               for digits in (BETWEEN[1:] if high > 10 * low else BETWEEN)]
    for each in range(1, last - first + 2):  # of the powers of ten so far apart, the most that have room
        found = [within([10.0 ** decade for decade in decades if decade % each == phase], low, high)
                 for phase in range(each)]
        choices.append(max(found, key=lambda ticks: len(ticks) if len(ticks) <= most else -1))
    found = next((ticks for ticks in choices if len(ticks) <= most), [])
    if len(found) >= LEAST_TICKS or len(found) > 1 and high > 10 * low:
        return found
    even = [tick for tick in linear_ticks(low, high, most) if tick > 0]
    return even if len(even) > len(found) else found


def within(ticks, low, high):
    room = 1e-9 * max(abs(low), abs(high))
    return [tick for tick in ticks if low - room <= tick <= high + room]


def signed_ticks(low, high, near, most, have_room=lambda ticks: True):
    """Ticks of a scale that is linear within `near` of 0 and logarithmic beyond: 0 and powers of ten on either side, as
    many as have room beside each other."""
    largest = math.floor(math.log10(max(abs(low), abs(high))) + 1e-9)
    smallest = min(math.ceil(math.log10(near) - 1e-9), largest)
    for each in range(1, largest - smallest + 2):
        sizes = [10.0 ** decade for decade in range(largest, smallest - 1, -each)]
        found = within([*(-size for size in sizes), 0.0, *sizes[::-1]], low, high)
        if len(found) <= most and have_room(found):
            break
    return found if len(found) > 1 else within(MaxNLocator(most, steps=ROUND).tick_values(low, high), low, high)


def linear_ticks(low, high, most, whole=False, fewest=LEAST_TICKS):
    """About so many ticks between low and high, at multiples of a round number. whole: integers only."""
    least = min(fewest, most)
    for steps in (ROUND, LESS_ROUND) if whole else (ROUND,):
        locator = MaxNLocator(most, steps=steps, integer=whole, min_n_ticks=1 if whole else least)
        found = within(locator.tick_values(low, high), low, high)
        if len(found) >= least:
            break
    return found


def is_whole(axes):
    """Are the lines of a panel drawn over integers, such as steps or layers?"""
    places = [finite([line.get_xdata()]) for line in axes.lines]
    places = np.concatenate(places) if places else np.zeros(0)
    return bool(len(places) and np.ptp(places) > 1 and (places == np.rint(places)).all())


class Ticks(Locator):
    """Ticks by a function of the ends of the view, and of how many have room along the axis as it is now."""

    def __init__(self, function):
        self.function, self.asked, self.found = function, None, None

    def __call__(self):
        return self.tick_values(*sorted(self.axis.get_view_interval()))

    def tick_values(self, low, high):
        asked = low, high, self.axis.get_tick_space()
        if asked != self.asked:  # a layout asks a dozen times
            most = int(np.clip(asked[2], LEAST_TICKS, MOST_TICKS))
            self.asked, self.found = asked, np.asarray(self.function(low, high, most))
        return self.found


class Words(Formatter):
    """Labels of all ticks together: logarithmic_words, or linear_words."""

    def __init__(self, function):
        self.function, self.words = function, {}

    def set_locs(self, locs):
        super().set_locs(locs)
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


def are_apart(axis, ticks):
    """Have the labels of these ticks room beside each other? They are close to each other around 0."""
    low, high, *places = axis.get_transform().transform([*sorted(axis.get_view_interval()), *ticks])
    return len(ticks) < 2 or np.diff(sorted(places)).min() * axis.get_tick_space() >= high - low


def tick(axis):
    """Gives an axis readable ticks, unless ticks are already set."""
    if isinstance(axis.get_major_locator(), (FixedLocator, NullLocator, Ticks)):
        return
    scale = axis.get_scale()
    if scale == "log":
        axis.set_major_locator(Ticks(lambda low, high, most: logarithmic_ticks(
            low, high, most) if low > 0 else []))
        axis.set_minor_locator(Ticks(between_ticks))
        axis.set_minor_formatter(NullFormatter())
    elif scale in ("symlog", "asinh"):
        near = getattr(axis.get_transform(), "linthresh", None) or axis.get_transform().linear_width
        have_room = functools.partial(are_apart, axis) if axis.axis_name == "x" else lambda ticks: True
        axis.set_major_locator(Ticks(lambda low, high, most: signed_ticks(low, high, near, most, have_room)))
        axis.set_minor_locator(NullLocator())
    elif scale == "linear":
        whole = axis.axis_name == "x" and is_whole(axis.axes)
        is_bar = axis.axes.get_label() == "<colorbar>"
        fewest = 2 if is_bar and axis.axis_name == "x" else LEAST_TICKS  # there is little room below a panel
        if not is_bar or isinstance(axis.get_major_locator(), AutoLocator):
            axis.set_major_locator(Ticks(lambda low, high, most: linear_ticks(low, high, most, whole, fewest)))
    axis.set_major_formatter(Words(linear_words if scale == "linear" else logarithmic_words))


def between_ticks(low, high, _most):
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
    return (low, high) if low < high else (low - 0.05 * abs(low), high + 0.05 * abs(high)) if low else (0.0, 1.0)


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
