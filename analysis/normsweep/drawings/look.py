"""How every figure looks: panels, legends, words, and how it is saved. Its size and its letters are those of the canvas
(canvas.py), its colours are in colours.py, its ticks in scales.py.

A figure is made to be read at half the width of a page: it is 4.5 inches wide with letters of 8 points, which are 5.6
points if it is printed at 8 cm. A label ends in its unit in brackets, (–) if the quantity has none.
Figures are made without pyplot, so that a program which uses these modules keeps its own settings.
"""

import functools
import math
import re
from dataclasses import dataclass

import numpy as np
from matplotlib import __version_info__, rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.textpath import text_to_path
from matplotlib.transforms import ScaledTranslation

from ..words import shown
from .canvas import HEAD, WIDTH, lay_out, now, place_axes, style
from .scales import tick

PRINTED = 8 / 2.54  # inches: half the width of a page
# Inches with letters of 8 points; canvas.em makes them those of others.
LINE = 0.135  # from one line of text to the next
BAR = 0.11  # the width of a colour bar
HANDLE, HANDLE_TIGHT = 0.42, 0.315  # of a legend's line and the room beside it
GAP = 0.08  # above a legend
BETWEEN = 0.2  # from the title beside a row to that of the next row
HINTED = 1.035 if __version_info__ >= (3, 11) else 1.0  # how much wider matplotlib draws lines on screens, at most
NO_UNIT = "–"
IN_NAME = re.compile(r"(.*\S) \(([^()]*)\)")  # a long name that has its unit: training loss (nats)


def em(inches_at_8=1.0):
    """Inches of what takes so many with letters of 8 points."""
    return inches_at_8 * now().em


def shows(word):
    """Is an overlay drawn, or left out with --without?"""
    return now().shows(word)


def sheet(rows, columns, height=1.6, **options):
    """A figure of rows x columns panels, `height` inches each at the usual width, and its panels as an array. Columns
    that have no room beside the others stand below them: the array is the same."""
    canvas = now()
    high, into = canvas.arrange(rows, columns, height), canvas.into
    canvas.before = tuple(into.figure.axes if isinstance(into, Axes) else into.axes if into else ())
    if isinstance(into, Axes):
        figure, panels = into.figure, np.array([[dressed(into)]])
    else:
        down, beside = canvas.shape
        figure = into or Figure(figsize=(canvas.width, down * high + em(HEAD)), layout="constrained")
        panels = (figure.subplots(rows, columns, squeeze=False, **options) if beside == columns else
                  folded(figure, rows, columns, beside, **options))
    for place in np.ndindex(rows, columns):
        fold, column = divmod(place[1], canvas.shape[1])
        canvas.places[panels[place]] = place[0] + rows * fold, column
    return figure, panels


def folded(figure, rows, columns, beside, sharex=False, sharey=False):
    """Panels in blocks of so many columns, one block below the other, whose axes are shared as those of `subplots`."""
    grid = figure.add_gridspec(-(-columns // beside) * rows, beside)
    panels = np.empty((rows, columns), object)

    def first(row, column, shared):
        """The panel with which one shares an axis."""
        place = {True: (0, 0), "all": (0, 0), "row": (row, 0), "col": (0, column)}.get(shared)
        return panels[place] if place else None

    for row, column in np.ndindex(rows, columns):
        fold, beside_it = divmod(column, beside)
        axes = figure.add_subplot(grid[row + rows * fold, beside_it], sharex=first(row, column, sharex),
                                  sharey=first(row, column, sharey))
        axes.tick_params(labelbottom=not (sharex in (True, "all", "col") and row + 1 < rows),
                         labelleft=not (sharey in (True, "all", "row") and beside_it))
        panels[row, column] = axes
    return panels


def dressed(axes):
    """An Axes of a user, with letters of the canvas."""
    size = now().settings
    axes.tick_params(axis="x", which="both", labelsize=size["xtick.labelsize"])
    axes.tick_params(axis="y", which="both", labelsize=size["ytick.labelsize"])
    for text, name in ((axes.title, "axes.titlesize"), (axes.xaxis.label, "axes.labelsize"),
                       (axes.yaxis.label, "axes.labelsize")):
        text.set(fontsize=size[name], fontfamily=size["font.family"])
    return axes


def place_of(axes):
    """(row, column) of a panel of the sheet, as it stands."""
    return now().places[axes]


def sheet_size():
    """The inches of the panels and the heading: (width, height)."""
    return now().sheet


def sheet_shape():
    """How many panels stand below and beside each other."""
    return now().shape


def fit(columns):
    """Of so many columns, how many have room beside each other."""
    return now().fit(columns)


def most_rows(count, columns):
    """Of so many rows with so many panels beside each other, how many a figure shows: fewer where the columns do not
    all have room beside each other, and where its height is given."""
    blocks = math.ceil(columns / fit(columns))
    return max(1, min(count, now().rows()) // blocks)


def most_panels(count, columns=3):
    """The same of panels of one kind (crowd)."""
    found = max(1, min(count * fit(columns) // columns, now().rows() * fit(columns)))
    return found if found > 6 else int(min(found, now().rows() * fit(2)))


def panel_width(columns):
    """Inches of one of so many panels beside each other, without its tick labels."""
    return 0.84 * now().width / fit(columns) - em(0.38)


def panel_height(height):
    """Inches that the label beside a panel may take, which is `height` at the usual width."""
    return height * now().stretch - em(0.5 if now().is_tight() else 0.1)


def is_tight():
    """Is there less room than usual?"""
    return now().is_tight()


def stretch():
    """The height of panels over that at the usual width."""
    return now().stretch


def crowd(count, columns=3):
    """(rows, columns) for `count` panels of one kind: two beside each other while they are few, so that they are wide;
    more in a wide figure.
    """
    wide = max(1.0, now().width / em(WIDTH))
    columns = now().fit(min(count, int(wide * (columns if count > 6 else 2))))
    return math.ceil(count / columns), columns


def name_axes(panels, used, x, y=""):
    """Labels the axes of the first `used` panels: x below the lowest panel of each column, y beside all rows."""
    columns = panels.shape[1]
    if y:
        name_rows(panels[0, 0].figure, y, panels[0, 0])
    share = 0.72 if now().is_tight() else 0.88  # beside a colour bar, too
    room = share * now().width / now().shape[1] if columns > 1 else now().width - em(0.6)
    for place, axes in enumerate(panels.ravel()[:used]):
        if place + columns >= used:
            axes.set_xlabel("\n".join(wrap(x, room)) if columns > 1 or inches(x) > room else x)
            axes.tick_params(labelbottom=True)


def name_rows(figure, y, only=None):
    """A label of the y axis for all rows of panels; that of the only panel if there is one row."""
    canvas = now()
    if isinstance(canvas.into, Axes):
        only = canvas.into
    if canvas.is_tight():
        y = "\n".join(wrap(y, canvas.sheet[1] - em(0.6)))
    if canvas.shape[0] == 1 and only is not None:
        only.set_ylabel(y)
    else:
        figure.supylabel(y, fontsize=canvas.settings["axes.labelsize"])


def clear_rest(panels, used):
    """Removes the panels after the first `used`."""
    for axes in panels.ravel()[used:]:
        axes.remove()


LEGEND = {"borderaxespad": 0, "borderpad": 0, "labelspacing": 0.3, "handletextpad": 0.5, "alignment": "left"}


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
    canvas = now()
    mine = [axes for axes in figure.axes if axes not in canvas.before or axes is canvas.into]
    for axes in mine:
        for axis in (axes.xaxis, axes.yaxis):
            tick(axis)
            keep_look(axis)
    width = canvas.width
    text = [line for note in (notes if canvas.has_notes() else ()) for line in wrap(note, width - 0.15)]
    heading = canvas.title(heading)
    head = wrap(plain(heading), width - 0.2, canvas.heading) if heading else []
    is_axes = isinstance(canvas.into, Axes)
    if is_axes and head:
        canvas.into.set_title("\n".join([*head, *filter(None, [canvas.into.get_title()])]))
    legends = [legend_of(canvas.into if is_axes and not canvas.twin else figure, *keys, width)
               for keys in groups_of(list(handles) if canvas.shows("legend") else [])]
    if is_axes and not canvas.twin:
        return below_axes(canvas.into, legends, text)
    highs = [legend.get_window_extent().height / figure.dpi + em(GAP) for legend in legends]
    foot = em(LINE) * len(text) + sum(highs) + 0.06 * bool(text) + 0.05 * bool(legends)
    canvas.foot = foot + em(LINE) * max(0, len(head) - 1)
    height = canvas.height or canvas.sheet[1] + canvas.foot
    if canvas.into is None:
        figure.set_size_inches(width, height)
        figure.get_layout_engine().set(rect=(0, foot / height, 1, 1 - foot / height))
        figure.align_ylabels()
        if figure._supylabel:  # beside the panels: above legend and notes, ticks and their label, below titles
            figure._supylabel.set_y((foot + em(0.4) + height - em(HEAD if head else 0.2)) / 2 / height)
    if head and not is_axes:
        figure.suptitle("\n".join(head))
    across = canvas.across(figure)
    if text:
        figure.text(0.06 / width, 0.05 / height, "\n".join(text), color="0.3", linespacing=1.2, va="bottom",
                    transform=across)
    below = 0.06 + em(LINE) * len(text)
    for legend, high in reversed(list(zip(legends, highs))):
        legend.set_bbox_to_anchor((0.06 / width, below / height), across)
        below += high
    if canvas.twin:
        canvas.place_like_twin(figure, mine)
    return figure


def keep_look(axis):
    """Ticks are made when a figure is drawn, and would then look as the rcParams of a user's program say."""
    for which in ("major", "minor"):
        axis.set_tick_params(which, **{part: rcParams[f"{axis.axis_name}tick.{which}.{part}"] for part in (
            "width", "size", "pad")})
    axis.set_tick_params(labelsize=rcParams[f"{axis.axis_name}tick.labelsize"])


def below_axes(axes, legends, text):
    """Puts legend and notes below an Axes of a user's figure, whose layout finds room for them."""
    root = axes.figure if isinstance(axes.figure, Figure) else axes.figure.figure
    place_axes(root)
    box, inside = axes.get_tightbbox(), axes.get_window_extent()
    left, down = (box.x0 - inside.x0) / root.dpi, (box.y0 - inside.y0) / root.dpi - em(GAP)
    for legend in legends:
        legend.set_bbox_to_anchor((0, 0), axes.transAxes + ScaledTranslation(left, down, root.dpi_scale_trans))
        down -= legend.get_window_extent().height / root.dpi + em(GAP)
    if text:
        axes.annotate("\n".join(text), (0, 0), (72 * left, 72 * down), xycoords="axes fraction", va="top", color="0.3",
                      textcoords="offset points", linespacing=1.2, annotation_clip=False)
    return axes


def groups_of(handles):
    """(handles, title) of each legend, from above: one for each Keys, and one for all others."""
    keys = [(one.handles, one.title) for one in handles if isinstance(one, Keys) and one.handles]
    others = [one for one in handles if not isinstance(one, Keys)]
    return [*keys, *([(others, None)] if others else [])]


def legend_of(parent, handles, title, width):
    """A legend of a figure or an Axes, at most as wide as the figure, in as few rows as it takes, and no more columns
    than these rows need."""
    line = em(HANDLE_TIGHT if now().is_tight() else HANDLE)
    labels = ["\n".join(wrap(label, width - line)) if inches(label) + line > width else label
              for label in (handle.get_label() for handle in handles)]
    wide = [max(map(inches, label.split("\n"))) + line for label in labels]
    columns = math.ceil(len(handles) / math.ceil(len(handles) / max(1, int((width - 0.1) / max(wide)))))
    if now().is_tight():  # columns are as wide as their labels
        columns = next((count for count in range(len(wide), 1, -1) if width - 0.02 > sum(
            max(column) for column in np.array_split(wide, count))), 1)
        columns = math.ceil(len(wide) / math.ceil(len(wide) / columns))
    options = {**LEGEND, "ncols": columns, "handlelength": 1.5 if now().is_tight() else 2.3,
               "columnspacing": 0.7 if now().is_tight() else 0.9,
               "title": "\n".join(wrap(title, width - 0.1)) if title else None}
    if not isinstance(parent, Axes):
        return parent.legend(handles=handles, labels=labels, loc="lower left", **options)
    legend = Legend(parent, handles, labels, loc="upper left", **options)
    parent.add_artist(legend).set_clip_on(False)  # it counts in the layout
    return legend


def name_bar(bar, words):
    """The label of a colour bar beside all rows of panels or below a column, in lines no longer than the bar."""
    (width, height), canvas = now().sheet, now()
    room = height - em(0.7) if bar.orientation == "vertical" else 0.84 * width / canvas.shape[1] - em(0.38)
    bar.set_label("\n".join(wrap(words, room)) if canvas.is_tight() else words)


def add_bar(figure, mappable, share=1, **options):
    """A colour bar beside the panels `ax`, as thin beside many rows as beside one. share: of the figure's height that
    these panels have."""
    height = share * (sheet_size()[1] - em(HEAD))
    across = options.get("location") in ("top", "bottom")
    return figure.colorbar(mappable, pad=0.02, aspect=20 if across else max(18, height / em(BAR)), **options)


def grid(axes, which="both"):
    """Faint lines behind what is drawn."""
    axes.grid(True, axis=which, color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)


REFERENCE = {"color": "black", "linewidth": 0.8, "linestyle": ":"}


def reference_line(axes, y):
    """A dotted line at y, which separates growth from shrinkage or one direction from the other."""
    if shows("reference"):
        axes.axhline(y, **REFERENCE)


def save(figure, path, options=None):
    """Writes PNG, SVG or PDF, by the ending of the name; SVG without a date, so that the same figure is the same file.
    """
    dated = str(path).lower().endswith((".svg", ".svgz"))
    with style(options):
        lay_out(figure)
        figure.savefig(path, metadata={"Date": None} if dated else None)


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


def title(text, columns=3, is_labelled=False, has_bar=False):
    """The title of a panel, in lines that fit above one of so many columns. is_labelled: each panel has tick labels of
    its own, which take some of its width; has_bar: so does a bar of colours beside them, in a narrow figure."""
    columns = now().fit(columns)
    room = -0.15 * (columns > 1) if is_labelled else 0.14 * (columns == 2)
    if has_bar and now().is_tight():
        return "\n".join(at_commas(text, (0.7 * now().width - em(0.4)) / columns))
    return "\n".join(at_commas(text, (0.8 * now().width - em(0.4)) / columns + em(room)))


def column_title(text, columns):
    """The title above a column of panels; broken between words."""
    return "\n".join(wrap(text, panel_width(columns)))


def side_titles(texts, height):
    """The titles beside rows of panels, `height` inches from one row to the next at the usual width, with room between
    them."""
    return ["\n".join(at_commas(text, height * now().stretch - em(BETWEEN))) for text in texts]


def inches(text, size=None):
    """The width of a line of text when it is drawn, in points of the canvas."""
    canvas = now()
    return _inches(text, size or canvas.size, tuple(canvas.settings["font.family"]))


@functools.lru_cache(maxsize=None)
def _inches(text, size, family):
    font = FontProperties(family=list(family), size=size)
    return HINTED * text_to_path.get_text_width_height_descent(text, font, text.count("$") > 1)[0] / 72


def wrap(text, width, size=None):
    """The text in lines of at most `width` inches, broken between words, and within a word that has no room alone, if
    possible after a +."""
    lines = []
    for paragraph in text.split("\n"):
        lines.append("")
        for word in paragraph.split():
            if lines[-1] and inches(f"{lines[-1]} {word}", size) > width:
                lines.append("")
            lines[-1] += f" {word}" if lines[-1] else word
            while inches(lines[-1], size) > width and len(lines[-1]) > 1 and "$" not in lines[-1]:
                fits = next(n for n in range(len(lines[-1]) - 1, 0, -1) if n == 1 or inches(
                    lines[-1][:n], size) <= width)
                fits = lines[-1].rfind("+", 0, fits) + 1 or fits  # attention+feedforward
                lines[-1:] = [lines[-1][:fits], lines[-1][fits:]]
    return lines


def at_commas(text, width, size=None):
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
