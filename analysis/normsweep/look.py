"""How every figure looks: sizes, fonts, colours, scales, and how it is saved.

A figure is 6.5 inches wide, the text width of a page, with letters of 8 points. Colours are safe for every kind of
colour vision: viridis for ordered values, PuOr for values around a middle, Okabe and Ito's for the rest.
Figures are made without pyplot, so that a program which uses these modules keeps its own settings.
"""

import contextlib
import contextvars
import math
import re
import textwrap

import matplotlib
import numpy as np
from matplotlib import colormaps
from matplotlib.colors import ListedColormap, LogNorm, Normalize, SymLogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

WIDTH = 6.5  # inches
DPI = 150
ORDERED = ListedColormap(colormaps["viridis"](np.linspace(0, 0.92, 256)), "viridis")  # without its palest end
DIVERGING = colormaps["PuOr_r"]
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#000000", "#8c8c8c")
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
BLANK = "0.93"  # grey of cells without a value
WIDE_RANGE = 30  # largest over smallest value above which a scale is logarithmic
LINE = 0.165  # inches from one line of text to the next
LETTER = 0.062  # inches: upper bound of a letter's mean width
NOTE_LETTER = 0.057  # the same in sentences

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

STYLE = {
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "xtick.labelsize": 8,
    "ytick.labelsize": 8, "legend.fontsize": 8, "legend.title_fontsize": 8, "figure.titlesize": 9.5,
    "axes.linewidth": 0.6, "lines.linewidth": 1.1, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "legend.frameon": False, "axes.formatter.useoffset": False, "axes.formatter.limits": (-3, 4),
    "hatch.linewidth": 0.6, "savefig.dpi": DPI,
    "svg.fonttype": "none",  # text stays text, so that it can be searched and copied
    "svg.hashsalt": "normsweep",  # the same figure gives the same file
}

CAPTIONED = contextvars.ContextVar("captioned", default=False)


@contextlib.contextmanager
def captioned(is_captioned=True):
    """A context in which figures are drawn without their notes, because a caption has them."""
    token = CAPTIONED.set(is_captioned)
    try:
        yield
    finally:
        CAPTIONED.reset(token)


def style():
    """A context in which figures are drawn and written."""
    return matplotlib.rc_context(STYLE)


def sheet(rows, columns, height=2.2, width=WIDTH, **options):
    """A figure of rows x columns panels, `height` inches each, and its panels as an array."""
    figure = Figure(figsize=(width, rows * height + 0.4), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def crowd(count, columns=3):
    """(rows, columns) for `count` panels of one kind."""
    columns = 2 if count == 4 else min(count, columns)
    return math.ceil(count / columns), columns


def name_axes(panels, used, x, y=""):
    """Labels the axes of the first `used` panels: x below the lowest panel of each column, y beside the first of each
    row."""
    columns = panels.shape[1]
    for place, axes in enumerate(panels.ravel()[:used]):
        if y and place % columns == 0:
            axes.set_ylabel(y)
        if place + columns >= used:
            axes.set_xlabel(x)
            axes.tick_params(labelbottom=True)


def clear_rest(panels, used):
    """Removes the panels after the first `used`."""
    for axes in panels.ravel()[used:]:
        axes.remove()


def close(figure, dataset, handles=(), notes=()):
    """Adds the sweep's title above the panels, the legend and the notes below them, in room of their own. If the sweep
    has not ended, a note says so."""
    notes = [*notes, progress(dataset)] if progress(dataset) else notes
    return frame(figure, dataset.sweep.title, handles, notes)


def frame(figure, heading, handles=(), notes=()):
    """The same for any heading; "" for none."""
    width, height = figure.get_size_inches()
    text = [line for note in (() if CAPTIONED.get() else notes)
            for line in textwrap.wrap(note, int(width / NOTE_LETTER))]
    legend, columns = legend_lines([handle.get_label() for handle in handles], width)
    foot = LINE * (legend + len(text)) + (0.12 if legend or text else 0)
    head = textwrap.fill(plain(heading), int(0.8 * width / LETTER))
    height += foot
    figure.set_size_inches(width, height)
    figure.get_layout_engine().set(rect=(0, foot / height, 1, 1 - foot / height))
    if head:
        figure.suptitle(head)
    if text:
        figure.text(0.06 / width, 0.05 / height, "\n".join(text), color="0.35", linespacing=1.25, va="bottom")
    if handles:
        figure.legend(handles=list(handles), ncols=columns, loc="lower left", borderaxespad=0, borderpad=0,
                      labelspacing=0.35, columnspacing=1.2, handlelength=2.2,
                      bbox_to_anchor=(0.06 / width, (0.08 + LINE * len(text)) / height))
    return figure


def legend_lines(labels, width):
    """(lines, columns) of a legend at most as wide as the figure."""
    if not labels:
        return 0, 1
    columns = max(1, min(len(labels), int((width - 0.1) / (max(map(len, labels)) * LETTER + 0.5))))
    return math.ceil(len(labels) / columns), columns


def grid(axes, which="both"):
    """Faint lines behind what is drawn."""
    axes.grid(True, axis=which, color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)


def reference_line(axes, y):
    """A dotted line at y, which separates growth from shrinkage or one direction from the other."""
    axes.axhline(y, color="black", linewidth=0.8, linestyle=":")


def save(figure, path):
    """Writes PNG, SVG or PDF, by the ending of the name; SVG without a date, so that the same figure is the same file.
    """
    dated = str(path).lower().endswith((".svg", ".svgz"))
    with style():
        figure.savefig(path, dpi=DPI, metadata={"Date": None} if dated else None)
    figure.set_layout_engine("none")  # the layout is done, for further formats too


# ---- words ----

def plain(text):
    """A text from the dataset as matplotlib shows it: $ does not start a formula, unprintable characters become ?."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", str(text)).replace("$", r"\$")


def label(variable, width=0):
    """The label of an axis: the long name and the unit, if any; wrapped to `width` letters unless 0."""
    name = str(variable.attrs.get("long_name", str(variable.name).replace("_", " ")))
    unit = variable.attrs.get("units", "1")
    text = name if unit in ("1", "") else f"{name} ({unit})"
    return textwrap.fill(text, width) if width else text


def plain_bar(bar):
    """Plain text for the ticks of a logarithmic colour bar."""
    axis = bar.ax.yaxis if bar.orientation == "vertical" else bar.ax.xaxis
    if isinstance(bar.norm, LogNorm):
        plain_ticks(axis)
    elif isinstance(bar.norm, SymLogNorm):
        axis.set_major_formatter(lambda value, _: power(value))


def power(value):
    """A tick of a logarithmic axis: 10⁻³, −10², 1, 0.5. Plain text is drawn much faster than formulas."""
    if value == 0 or not np.isclose(np.log10(abs(value)) % 1, [0, 1], atol=1e-9).any():
        return number(value)
    decade = round(np.log10(abs(value)))
    sign = "−" if value < 0 else ""
    return sign + {0: "1", 1: "10"}.get(decade, "10" + str(decade).translate(SUPERSCRIPT))


def multiple(value):
    """A tick of a logarithmic axis on which decades are powers of ten: 10³, 2·10³, 3."""
    decade = math.floor(math.log10(value) + 1e-9)
    factor = round(value / 10.0 ** decade)
    if factor == 1 or decade == 0:
        return power(value)
    return f"{factor}·{power(10.0 ** decade)}"


def lines(text, width):
    """Breaks a text at its commas into lines of at most `width` letters where possible."""
    found = []
    for part in text.split(", "):
        if found and len(found[-1]) + len(part) + 2 <= width:
            found[-1] += ", " + part
        else:
            found = [*found[:-1], found[-1] + ",", part] if found else [part]
    return "\n".join(found)


def title(text):
    """The title of a panel, at most a third of the page wide."""
    return lines(text, 25)


def column_title(text, columns):
    """The title above a column of panels, at most as wide as one of so many; broken between words."""
    return textwrap.fill(text, max(12, int(0.8 * WIDTH / columns / LETTER)), break_long_words=False)


def side_title(text):
    """The title beside a row of panels, at most as long as a panel is high."""
    return lines(text, 24)


def progress(dataset):
    """A sentence about a sweep that has not ended, else ""."""
    stands = dataset.sweep
    count, ended = int((~stands.skipped).sum()), int((stands.done | stands.diverged | stands.failed).sum())
    return f"{ended} of {count} runs have ended." if ended < count else ""


def number(value):
    """A number for a label."""
    text = f"{value:.3g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


# ---- scales ----

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
        plain_ticks(axes.yaxis)
    elif size.max() > 100 * np.median(size):
        axes.set_yscale("symlog", linthresh=float(np.median(size)))
        axes.yaxis.set_major_formatter(lambda value, _: power(value))
        axes.yaxis.set_minor_locator(NullLocator())


def plain_ticks(axis):
    """Ticks of a logarithmic axis: decades as plain text; if it spans fewer than two, also numbers between them."""
    low, high = axis.get_view_interval()
    if high >= 100 * low:
        axis.set_major_formatter(lambda value, _: power(value))
    else:
        axis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
        axis.set_major_formatter(lambda value, _: number(value))
    axis.set_minor_locator(NullLocator())


def few_ticks(axis):
    """Ticks of a logarithmic axis of a small panel, decades as powers of ten however many it spans; if they are fewer
    than two, also multiples between them, so few that their labels do not touch."""
    low, high = axis.get_view_interval()
    if high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1, 3) if high >= 10 * low else (1, 2, 5)))
    axis.set_major_formatter(lambda value, _: multiple(value))
    axis.set_minor_locator(NullLocator())


def apart(places, count):
    """Indices of ascending places: the first, and each that is at least 1 / count of the range after the last one."""
    kept = [0]
    for i, place in enumerate(places):
        if place - places[kept[-1]] >= (places[-1] - places[0]) / count and i:
            kept.append(i)
    return kept
