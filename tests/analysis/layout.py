"""What a reader meets in a figure: its texts and where they are, its axes with their labels and ticks."""

import itertools
import re

import numpy as np
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

SLACK = 1.5  # pixels
LETTER = 8 / 72  # inches
SPACE = 0.318 * LETTER  # the width of DejaVu's space
HYPHEN = re.compile(r"(?<![\w.·\])])-\d")  # before a number, where a minus sign belongs
UNIT = re.compile(r"\([^()]+\)(\)|$|\n)")  # at the end of a label, or of its first line


def drawn(found):
    """The figure after its layout is done."""
    found.figure.draw_without_rendering()
    return found.figure


def axes_of(figure):
    return [axes for axes in figure.axes if axes.get_visible()]


def panels_of(figure):
    return [axes for axes in axes_of(figure) if axes.get_label() != "<colorbar>"]


def tick_labels(axis):
    """[(place, label)] of the ticks within the view whose labels are drawn."""
    low, high = sorted(axis.get_view_interval())
    room = 1e-6 * (high - low)
    return [(place, label) for place, label in zip(axis.get_majorticklocs(), axis.get_majorticklabels())
            if low - room <= place <= high + room and label.get_visible() and label.get_text()]


def texts_of(figure):
    """Every text that is drawn."""
    found = [text for text in figure.texts if text.get_text()]
    found += [figure._suptitle] if figure._suptitle and figure._suptitle.get_text() else []
    found = list(dict.fromkeys(found))
    for axes in axes_of(figure):
        found += [text for text in (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts)
                  if text.get_visible() and text.get_text()]
        for axis in (axes.xaxis, axes.yaxis):
            found += [label for _, label in tick_labels(axis)]
            if axis.offsetText.get_text():
                found.append(axis.offsetText)
        if axes.get_legend():
            found += axes.get_legend().findobj(Text)
    for legend in figure.legends:
        found += legend.findobj(Text)
    return [text for text in dict.fromkeys(found) if text.get_text().strip()]


def boxes_of(figure):
    """[(words, box in pixels, slope)] of every text."""
    return [(text.get_text(), text.get_window_extent(), text.get_rotation() % 90) for text in texts_of(figure)]


def outside(figure):
    """The texts that leave the canvas."""
    width, height = figure.bbox.width, figure.bbox.height
    return [words for words, box, _ in boxes_of(figure)
            if box.x0 < -SLACK or box.y0 < -SLACK or box.x1 > width + SLACK or box.y1 > height + SLACK]


def overlapping(figure):
    """Pairs of texts that overlap. Of sloping ones the lines must be as far apart as they are high."""
    return [(one, other) for (one, a, slope), (other, b, other_slope) in itertools.combinations(boxes_of(figure), 2)
            if min(a.x1, b.x1) - max(a.x0, b.x0) > SLACK and min(a.y1, b.y1) - max(a.y0, b.y0) > SLACK
            and not (slope and slope == other_slope and abs(a.x1 - b.x1) * np.sin(np.radians(slope))
                     + abs(a.y1 - b.y1) * np.cos(np.radians(slope)) > 0.8 * LETTER * figure.dpi)]


def label_off_the_middle(figure):
    """The label of all rows, if it is not beside the middle of the panels."""
    boxes, label = [axes.get_window_extent() for axes in axes_of(figure)], figure._supylabel
    low, high = min(box.y0 for box in boxes), max(box.y1 for box in boxes)
    return [label.get_text() for box in ([label.get_window_extent()] if label else [])
            if not abs(box.y0 + box.y1 - low - high) / 2 < 0.1 * (high - low)]


def touching(figure):
    """Pairs of labels of ticks, of one panel or of neighbours, that stand in one line nearer than a space: 300 and 0
    read 3000."""
    boxes = [(label.get_text(), label.get_window_extent()) for axes in axes_of(figure)
             for _, label in tick_labels(axes.xaxis) if not label.get_rotation()]
    return [(one, other) for (one, a), (other, b) in itertools.combinations(boxes, 2)
            if abs(a.y0 - b.y0) < SLACK and max(a.x0, b.x0) - min(a.x1, b.x1) < SPACE * figure.dpi]


def few_ticks(figure):
    """The axes of numbers with fewer than two labels in view, where labels are drawn at all."""
    found = []
    for axes in axes_of(figure):
        for axis in (axes.xaxis, axes.yaxis):
            ticks = tick_labels(axis)
            if ticks and len(ticks) < 2 and axis.get_scale() != "linear":
                found.append((axes.get_title(), axis.axis_name, [label.get_text() for _, label in ticks]))
    return found


def label_of(figure, axes, name):
    """The label of an axis: its own, that of a panel with which it shares ticks, the figure's, or the column's title.
    """
    own = getattr(axes, f"get_{name}label")()
    if axes.get_label() == "<colorbar>":
        return own or axes.get_title() or next((panel.get_title() for panel in panels_of(figure)), "")
    shared = [other for other in panels_of(figure) if in_line(axes, other, name)]
    labels = [getattr(other, f"get_{name}label")() for other in shared]
    of_figure = getattr(figure, f"_sup{name}label", None)
    titles = [other.get_title() for other in panels_of(figure) if in_line(axes, other, "x")] if name == "y" else []
    return next(filter(None, [own, *labels, of_figure.get_text() if of_figure else "", *titles]), "")


def in_line(one, other, name):
    """Are two panels in one column (for x) or row (for y)?"""
    spans = [(axes.get_subplotspec().colspan if name == "x" else axes.get_subplotspec().rowspan)
             for axes in (one, other)]
    return spans[0].start == spans[1].start


def is_of_words(figure, axes, name):
    """Are the ticks words and not numbers, here or in a panel that shares them?"""
    siblings, there = getattr(axes, f"get_shared_{name}_axes")(), False
    shared = [axes, *(other for other in panels_of(figure) if other is not axes and siblings.joined(axes, other))]
    for other in shared:
        for _, label in tick_labels(getattr(other, f"{name}axis")):
            if re.match(r"[−\d]", label.get_text()):
                return False
            there = True
    return there


def without_unit(figure):
    """The labels of axes of numbers that say neither a unit nor that there is none."""
    found = []
    for axes in panels_of(figure):
        for axis in (axes.xaxis, axes.yaxis):
            label = label_of(figure, axes, axis.axis_name)
            if not is_of_words(figure, axes, axis.axis_name) and not UNIT.search(every_line(figure, axes, axis, label)):
                found.append((axis.axis_name, label))
    for axes in axes_of(figure):
        if axes.get_label() == "<colorbar>":
            labels = [axes.get_xlabel(), axes.get_ylabel(), *(panel.get_title() for panel in panels_of(figure))]
            if not any(UNIT.search(label) for label in labels):
                found.append(("bar", labels))
    return found


def every_line(figure, axes, axis, label):
    """A label with those that may say its quantity: beside the row, above the column, beside all rows."""
    more = [label]
    if axis.axis_name == "y":
        more += [other.get_title() for other in panels_of(figure) if in_line(axes, other, "x")]
        more += [figure._supylabel.get_text()] if getattr(figure, "_supylabel", None) else []
    return "\n".join(more)


def hyphens(figure):
    """The texts with a hyphen where a minus sign belongs."""
    return [text.get_text() for text in texts_of(figure) if HYPHEN.search(text.get_text().replace("--at", ""))]


def unseen_in_legend(figure):
    """The words of a legend's lines and patches that no panel shows."""
    lines = {look_of(line) for axes in panels_of(figure) for line in axes.lines
             if np.isfinite(np.asarray(line.get_ydata(), float)).any()}
    marks = {(colour, marker) for colour, _, marker in lines}
    strokes = {to_hex(colour) for axes in panels_of(figure) for painted in (*axes.collections, *axes.patches)
               for colour in np.atleast_2d(painted.get_edgecolor())}
    fills = {fill for axes in panels_of(figure) for fill in fills_of(axes)}
    found = []
    for legend in figure.legends:
        words = [text.get_text() for text in legend.get_texts()]
        handles = [*legend.legend_handles] if hasattr(legend, "legend_handles") else [*legend.legendHandles]
        for word, handle in zip(words, handles):
            if isinstance(handle, Line2D) and not is_seen(look_of(handle), lines, marks, strokes):
                found.append(word)
            if isinstance(handle, Patch) and (to_hex(handle.get_facecolor()), handle.get_hatch()) not in fills:
                found.append(word)
    return found


def is_seen(look, lines, marks, strokes):
    """Is a line drawn so; or its mark alone; or a contour or step of its colour; if it is grey, in any colour?"""
    colour, _, marker = look
    if np.ptp(to_rgb(colour)) < 0.01 and any(look[1:] == other[1:] for other in lines):
        return True
    return look in lines or (marker and (colour, marker) in marks) or (not marker and colour in strokes)


def look_of(line):
    """(colour, dashes, mark) of a line."""
    marker = str(line.get_marker())
    return to_hex(line.get_color()), line.get_linestyle(), "" if marker in ("None", " ") else marker


def fills_of(axes):
    """{(colour, hatch)} of what is painted in a panel."""
    for patch in axes.patches:
        yield to_hex(patch.get_facecolor()), patch.get_hatch()
    for painted in axes.collections:
        colours = painted.get_facecolor() if not isinstance(painted, QuadMesh) else painted.to_rgba(
            painted.get_array()).reshape(-1, 4)
        for colour in colours if len(colours) else [(0, 0, 0, 0)]:
            yield to_hex(colour), painted.get_hatch()
