"""How every figure looks: sizes, fonts, words, and how it is saved. Its colours are in colours.py, its ticks in
scales.py.

A figure is made to be read at half the width of a page: it is 4.5 inches wide with letters of 8 points, which are 5.6
points if it is printed at 8 cm. A label ends in its unit in brackets, (–) if the quantity has none.
Figures are made without pyplot, so that a program which uses these modules keeps its own settings.
"""

import contextlib
import contextvars
import functools
import math
import re
from dataclasses import dataclass

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Bbox

from ..words import shown
from .scales import tick

WIDTH = 4.5  # inches
PRINTED = 8 / 2.54  # inches: half the width of a page
DPI = 220
SIZE = 8  # points of all letters
HEADING = 9
HEAD = 0.35  # inches above the panels for the heading's first line
LINE = 0.135  # inches from one line of text to the next
BAR = 0.11  # inches: the width of a colour bar
HANDLE = 0.42  # inches of a legend's line and the room beside it
GAP = 0.08  # inches above a legend
BETWEEN = 0.2  # inches from the title beside a row to that of the next row
FAMILY = "DejaVu Sans"  # comes with matplotlib
NO_UNIT = "–"
IN_NAME = re.compile(r"(.*\S) \(([^()]*)\)")  # a long name that has its unit: training loss (nats)

STYLE = {
    "font.family": FAMILY, "font.size": SIZE, "axes.titlesize": SIZE, "axes.labelsize": SIZE,
    "xtick.labelsize": SIZE, "ytick.labelsize": SIZE, "legend.fontsize": SIZE, "legend.title_fontsize": SIZE,
    "figure.titlesize": HEADING, "axes.linewidth": 0.6, "lines.linewidth": 1.1, "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "xtick.minor.size": 1.5, "ytick.minor.size": 1.5, "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4, "xtick.major.pad": 2.5, "ytick.major.pad": 2.5, "axes.labelpad": 3, "axes.titlepad": 4,
    "legend.frameon": False, "axes.formatter.useoffset": False, "axes.unicode_minus": True,
    "hatch.linewidth": 0.5, "savefig.dpi": DPI,
    "svg.fonttype": "none",  # text stays text, so that it can be searched and copied
    "svg.hashsalt": "normsweep",  # the same figure gives the same file
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
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


def sheet(rows, columns, height=1.6, width=WIDTH, **options):
    """A figure of rows x columns panels, `height` inches each, and its panels as an array."""
    figure = Figure(figsize=(width, rows * height + HEAD), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def crowd(count, columns=3):
    """(rows, columns) for `count` panels of one kind: two beside each other while they are few, so that they are wide.
    """
    columns = min(count, columns if count > 6 else 2)
    return math.ceil(count / columns), columns


def name_axes(panels, used, x, y=""):
    """Labels the axes of the first `used` panels: x below the lowest panel of each column, y beside all rows."""
    columns = panels.shape[1]
    if y:
        name_rows(panels[0, 0].figure, y, math.ceil(used / columns), panels[0, 0])
    for place, axes in enumerate(panels.ravel()[:used]):
        if place + columns >= used:
            axes.set_xlabel("\n".join(wrap(x, 0.88 * WIDTH / columns)) if columns > 1 else x)
            axes.tick_params(labelbottom=True)


def name_rows(figure, y, rows, only=None):
    """A label of the y axis for all rows of panels; that of the only panel if there is one row."""
    if rows == 1 and only is not None:
        only.set_ylabel(y)
    else:
        figure.supylabel(y, fontsize=SIZE)


def clear_rest(panels, used):
    """Removes the panels after the first `used`."""
    for axes in panels.ravel()[used:]:
        axes.remove()


@dataclass(frozen=True)
class Keys:
    """Handles of a legend that belong together, below a title: the values of an axis."""

    title: str
    handles: list


def close(figure, dataset, handles=(), notes=()):
    """Adds the sweep's title above the panels, the legend and the notes below them, in room of their own. handles: of
    the legend, or Keys. If the sweep has not ended, a note says so."""
    notes = [*notes, progress(dataset)] if progress(dataset) else notes
    return frame(figure, dataset.sweep.title, handles, notes)


def frame(figure, heading, handles=(), notes=()):
    """The same for any heading; "" for none. Also gives all axes readable ticks."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            tick(axis)
    width, height = figure.get_size_inches()
    text = [line for note in (() if CAPTIONED.get() else notes) for line in wrap(note, width - 0.15)]
    head = wrap(plain(heading), width - 0.2, HEADING) if heading else []
    legends = add_legends(figure, list(handles), width)
    highs = [legend.get_window_extent().height / figure.dpi + GAP for legend in legends]
    foot = LINE * len(text) + sum(highs) + 0.06 * bool(text) + 0.05 * bool(legends)
    height += foot + LINE * max(0, len(head) - 1)
    figure.set_size_inches(width, height)
    figure.get_layout_engine().set(rect=(0, foot / height, 1, 1 - foot / height))
    figure.align_ylabels()
    if head:
        figure.suptitle("\n".join(head))
    if text:
        figure.text(0.06 / width, 0.05 / height, "\n".join(text), color="0.3", linespacing=1.2, va="bottom")
    below = 0.06 + LINE * len(text)
    for legend, high in reversed(list(zip(legends, highs))):
        legend.set_bbox_to_anchor((0.06 / width, below / height), figure.transFigure)
        below += high
    return figure


def add_legends(figure, handles, width):
    """A legend for the handles of each Keys, and one for all others, from above."""
    keys = [one for one in handles if isinstance(one, Keys) and one.handles]
    others = [one for one in handles if not isinstance(one, Keys)]
    return [add_legend(figure, one.handles, width, one.title) for one in keys] + (
        [add_legend(figure, others, width)] if others else [])


def add_legend(figure, handles, width, heading=None):
    """A legend at most as wide as the figure, in as few rows as it takes, and no more columns than these rows need."""
    widest = max(inches(handle.get_label()) for handle in handles) + HANDLE
    rows = math.ceil(len(handles) / max(1, int((width - 0.1) / widest)))
    return figure.legend(handles=handles, ncols=math.ceil(len(handles) / rows), loc="lower left", borderaxespad=0,
                         borderpad=0, labelspacing=0.3, columnspacing=0.9, handlelength=2.3, handletextpad=0.5,
                         title=heading, alignment="left")


def add_bar(figure, mappable, share=1, **options):
    """A colour bar beside the panels `ax`, as thin beside many rows as beside one. share: of the figure's height that
    these panels have."""
    height = share * (figure.get_size_inches()[1] - HEAD)
    across = options.get("location") in ("top", "bottom")
    return figure.colorbar(mappable, pad=0.02, aspect=20 if across else max(20, height / BAR), **options)


def grid(axes, which="both"):
    """Faint lines behind what is drawn."""
    axes.grid(True, axis=which, color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)


REFERENCE = {"color": "black", "linewidth": 0.8, "linestyle": ":"}


def reference_line(axes, y):
    """A dotted line at y, which separates growth from shrinkage or one direction from the other."""
    axes.axhline(y, **REFERENCE)


def save(figure, path):
    """Writes PNG, SVG or PDF, by the ending of the name; SVG without a date, so that the same figure is the same file.
    """
    dated = str(path).lower().endswith((".svg", ".svgz"))
    with style():
        lay_out(figure)
        figure.savefig(path, dpi=DPI, metadata={"Date": None} if dated else None)


def lay_out(figure):
    """Places the panels, once for all formats. The solver's last digits depend on where objects lie in memory."""
    if figure.get_layout_engine() is None:
        return
    figure.set_dpi(DPI)  # lines of text are spaced in whole pixels
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(6)), which="original")


# ---- words ----

def plain(text):
    """A text from the dataset as matplotlib shows it: $ does not start a formula, hidden letters become escapes."""
    return shown(text, kept="").replace("$", r"\$")


def name(variable):
    """(the long name of a variable, its unit; "" if it has none)."""
    words = str(variable.attrs.get("long_name", str(variable.name).replace("_", " ")))
    unit = str(variable.attrs.get("units", "1"))
    return parts(words) if unit in ("1", "") else (words, unit)


def parts(words):
    """(name, unit) of a long name that may have its unit in brackets."""
    inside = IN_NAME.fullmatch(words)
    return inside.groups() if inside else (words, "")


def with_unit(words, unit=""):
    return f"{words} ({unit or NO_UNIT})"


def label(variable, width=0):
    """The label of an axis: the long name and the unit, (–) for none; in lines of at most `width` inches unless 0."""
    text = with_unit(*name(variable))
    return "\n".join(wrap(text, width)) if width else text


def title(text, columns=3, is_labelled=False):
    """The title of a panel, in lines that fit above one of so many columns. is_labelled: each panel has tick labels of
    its own, which take some of its width."""
    room = -0.15 * (columns > 1) if is_labelled else 0.14 * (columns == 2)
    return "\n".join(at_commas(text, (0.8 * WIDTH - 0.4) / columns + room))


def column_title(text, columns):
    """The title above a column of panels; broken between words."""
    return "\n".join(wrap(text, 0.84 * WIDTH / columns - 0.38))


def side_titles(texts, height):
    """The titles beside rows of panels, `height` inches from one row to the next, with room between them."""
    return ["\n".join(at_commas(text, height - BETWEEN)) for text in texts]


@functools.lru_cache(maxsize=None)
def inches(text, size=SIZE):
    """The width of a line of text when it is drawn."""
    font = FontProperties(family=FAMILY, size=size)
    return text_to_path.get_text_width_height_descent(text, font, text.count("$") > 1)[0] / 72


def wrap(text, width, size=SIZE):
    """The text in lines of at most `width` inches, broken between words, and within a word that has no room alone, if
    possible after a +."""
    lines = []
    for paragraph in text.split("\n"):
        lines.append("")
        for word in paragraph.split():
            if lines[-1] and inches(f"{lines[-1]} {word}", size) > width:
                lines.append("")
            lines[-1] += f" {word}" if lines[-1] else word
            while inches(lines[-1], size) > width and len(lines[-1]) > 1:
                fits = next(n for n in range(len(lines[-1]) - 1, 0, -1) if n == 1 or inches(
                    lines[-1][:n], size) <= width)
                fits = lines[-1].rfind("+", 0, fits) + 1 or fits  # attention+feedforward
                lines[-1:] = [lines[-1][:fits], lines[-1][fits:]]
    return lines


def at_commas(text, width, size=SIZE):
    """The text in lines that end at its commas where possible, and between words where that is not enough."""
    found = []
    for part in text.split(", "):
        if found and inches(f"{found[-1]}, {part}", size) <= width:
            found[-1] += ", " + part
        else:
            found = [*found[:-1], found[-1] + ",", part] if found else [part]
    return [line for part in found for line in wrap(part, width, size)]


def progress(dataset):
    """A sentence about a sweep that has not ended, else ""."""
    stands = dataset.sweep
    count, ended = int((~stands.skipped).sum()), int((stands.done | stands.diverged | stands.failed).sum())
    return f"{ended} of {count} runs have ended." if ended < count else ""
