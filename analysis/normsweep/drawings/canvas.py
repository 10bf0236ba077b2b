"""What a figure is drawn on: how wide it is, how large its letters are, what it leaves out, and whether it is a picture
of its own or stands in a user's figure.

drawn(draw, options, ax) calls draw() with a canvas, once or several times: look.sheet and look.frame ask it for its
measures, and tell it how much room legend and notes take. A figure of a given height is drawn a second time, with
panels that fill what is left. One in a user's figure is first drawn as a picture of that size, from which the places of
its panels are taken: the layout of the user's figure stays as it is.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import logging
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.gridspec import GridSpec
from matplotlib.transforms import Bbox, BboxTransformTo, TransformedBbox

WIDTH = 4.5  # inches
SIZE = 8  # points of all letters
HEADING = 9
HEAD = 0.35  # inches above the panels for the heading's first line
DPI = 220
FAMILY = "DejaVu Sans"  # comes with matplotlib
NARROW = 1.25  # inches that a panel has at least, beside others, in figures narrower than WIDTH
LEAST_WIDTH, LEAST_PANEL = 1.9, 0.85  # inches of a figure, and from one row of panels to the next
TALLER = (0.85, 1.25)  # the least and the greatest height of panels, over that at the usual width
BOUNDS = {"width": (1, 100, "inches"), "height": (1, 100, "inches"), "font_size": (2, 72, "points")}
COMMON = {"legend": "the legend", "notes": "the sentences below the panels"}  # what each figure can do without

SIZES = ("font.size", "axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize",
         "legend.title_fontsize")
LOOK = {
    "font.family": FAMILY, **dict.fromkeys(SIZES, SIZE), "figure.titlesize": HEADING, "axes.linewidth": 0.6,
    "lines.linewidth": 1.1, "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "xtick.minor.size": 1.5, "ytick.minor.size": 1.5, "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4, "xtick.major.pad": 2.5, "ytick.major.pad": 2.5, "axes.labelpad": 3, "axes.titlepad": 4,
    "legend.frameon": False, "axes.formatter.useoffset": False, "axes.unicode_minus": True,
    "hatch.linewidth": 0.5, "savefig.dpi": DPI,
    "svg.fonttype": "none",  # text stays text, so that it can be searched and copied
    "svg.hashsalt": "normsweep",  # the same figure gives the same file
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3
}
# Whatever a style says: letters are matplotlib's own, files are as large as was asked for, grids are drawn where they
# help.
ALWAYS = {"text.usetex": False, "savefig.bbox": "standard", "axes.grid": False,
          "figure.autolayout": False, "figure.constrained_layout.use": False,  # a figure is laid out once (lay_out)
          **{name: LOOK[name] for name in ("svg.fonttype", "svg.hashsalt", "pdf.fonttype")}}
NOT_OF_STYLES = ("backend", "interactive", "toolbar", "timezone", "webagg", "tk", "docstring", "date", "figure.hooks")


@dataclass(frozen=True)
class Options:
    """What users may ask of a figure, by the same names in the command and in Python; None: as it is by itself."""

    width: float | None = None  # inches
    height: float | None = None
    font_size: float | None = None  # points
    style: object = None  # the name or the file of a matplotlib style, or a dict of rcParams
    title: str | None = None  # "" for none
    without: tuple = ()  # names of Figure.overlays and of COMMON
    notes: bool | None = None  # None: not in a user's figure

    def __post_init__(self):
        object.__setattr__(self, "without", (self.without,) if isinstance(self.without, str) else tuple(self.without))
        for name, (least, most, unit) in BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise ValueError(f"{name}: {value:g} is not from {least} to {most} {unit}")
        style_of(self.style)


# ---- styles ----

def style_of(style):
    """{name of an rcParam: value} of a style; ValueError if it is none."""
    if style is None:
        found = {}
    elif isinstance(style, Mapping):
        try:
            found = matplotlib.RcParams(style)
        except (KeyError, ValueError) as error:
            raise ValueError(f"style: {' '.join(str(error.args[0]).split())}") from error
    elif style == "default":
        found = {name: matplotlib.rcParamsDefault[name] for name in LOOK}
    elif style in matplotlib.style.library:
        found = matplotlib.style.library[style]
    elif os.path.isfile(style):
        found = read_style(style)
    else:
        raise ValueError(f"style: {style} is neither a file nor a style of matplotlib, such as "
                         f"{', '.join(sorted(matplotlib.style.available)[-3:])}")
    return {name: value for name, value in found.items() if not name.startswith(NOT_OF_STYLES)}


def read_style(path):
    """matplotlib only warns of lines that it does not know."""
    said = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(" ".join(record.getMessage().split()))
    logger = logging.getLogger("matplotlib")
    logger.addHandler(handler)
    is_passed_on, logger.propagate = logger.propagate, False
    try:
        found = matplotlib.rc_params_from_file(path, fail_on_error=True, use_default_template=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"style: {path}: {' '.join(str(error).split())}") from error
    finally:
        logger.removeHandler(handler)
        logger.propagate = is_passed_on
    if said:
        raise ValueError(f"style: {path}: {said[0].partition(' You probably')[0]}")
    return found


@functools.lru_cache(maxsize=None)
def in_file(path):
    """The rcParams that the user's matplotlibrc sets."""
    return frozenset(matplotlib.rc_params_from_file(path, use_default_template=False))


def settings(options, is_inside):
    """The rcParams of a figure: normsweep's look; before it what the user has set, in a matplotlibrc or since; before
    that the style that was asked for. Inside a user's figure, its letters."""
    given, file = style_of(options.style), in_file(matplotlib.matplotlib_fname())
    chosen = {name: matplotlib.rcParams[name] for name in LOOK
              if name in file or matplotlib.rcParams[name] != matplotlib.rcParamsDefault[name]
              or is_inside and name in ("font.size", "font.family")} | given
    size = options.font_size or chosen.get("font.size", SIZE)
    if options.font_size:
        chosen = {name: value for name, value in chosen.items() if name not in (*SIZES, "figure.titlesize")}
    found = {**LOOK, **dict.fromkeys(SIZES, size), "figure.titlesize": size * HEADING / SIZE, **chosen, **ALWAYS}
    families = [found["font.family"]] if isinstance(found["font.family"], str) else list(found["font.family"])
    return {**found, "font.family": [*families, *([] if FAMILY in families else [FAMILY])]}  # has every sign


def points(settings, *names):
    """The size of the largest of some letters."""
    with matplotlib.rc_context(settings):
        return max(FontProperties(size=matplotlib.rcParams[name] or settings["font.size"]).get_size_in_points()
                   for name in names)


# ---- the canvas ----

class Canvas:
    """Measures of one drawing. em: inches of what takes an inch with letters of SIZE points.

    width, height: of the figure, None for as many inches as it takes; below: of the height, those of legend and notes;
    into: the Figure, SubFigure or Axes that it is drawn into, None for a figure of its own; twin: the same
    figure by itself, whose panels have the places that those here get; box: where it stands in the user's figure, if
    it is an Axes without a layout.
    sheet, shape, stretch and foot are what look.sheet and look.frame have found: the inches of panels and heading, the
    rows and columns of panels, their height over the usual one, the inches below them.
    """

    def __init__(self, options=Options(), width=None, height=None, below=0.0, into=None, twin=None, box=None,
                 is_inside=False):
        self.options, self.height, self.below, self.into, self.twin, self.box = options, height, below, into, twin, box
        self.panels = None if height is None else height - below  # inches of panels and heading
        self.is_inside = is_inside or into is not None
        self.settings = settings(options, self.is_inside)
        self.size = points(self.settings, *SIZES)
        self.heading = points(self.settings, "figure.titlesize")
        self.em = self.size / SIZE
        self.width = width or options.width or float(style_of(options.style).get("figure.figsize", [WIDTH])[0])
        self.sheet, self.shape, self.stretch, self.foot, self.count = (self.width, 0), (1, 1), 1.0, 0.0, 0
        self.places, self.before = {}, ()
        if self.width < LEAST_WIDTH * self.em - 1e-9:
            raise ValueError(f"no room: letters of {self.size:g} points need a width of {LEAST_WIDTH * self.em:.2g} "
                             f"inches, not {self.width:.3g}")

    def shows(self, word):
        """Is something drawn that users can do without?"""
        return word not in self.options.without

    def has_notes(self):
        wanted = self.options.notes
        return self.shows("notes") and (not self.is_inside if wanted is None else wanted)

    def title(self, heading):
        """What stands above the panels, if they had this heading by themselves."""
        if self.options.title is not None:
            return self.options.title
        return "" if self.is_inside else heading

    def fit(self, columns):
        """Of so many columns, how many have room beside each other."""
        return columns if self.width >= WIDTH * self.em else max(1, min(columns, int(self.width / self.em / NARROW)))

    def rows(self):
        """How many rows of panels have room."""
        return math.inf if self.panels is None else max(1, int((self.panels - HEAD * self.em) / LEAST_PANEL / self.em))

    def arrange(self, rows, columns, height):
        """The inches of a row of panels that is `height` at the usual width."""
        beside = self.fit(columns)
        self.count, self.shape = rows * columns, (rows * math.ceil(columns / beside), beside)
        if self.panels is None:
            wide = (self.width / beside) / (WIDTH / columns)
            self.stretch = min(max(wide, TALLER[0]), TALLER[1]) + max(0.0, 0.5 * (self.em - 1) / height)
        else:
            least = self.shape[0] * LEAST_PANEL * self.em + HEAD * self.em
            if self.panels < least:
                rows = f"{self.shape[0]} rows of panels" if self.shape[0] > 1 else "the panels"
                raise ValueError(f"no room: {rows} and what is below need a height of {least + self.below:.2g} inches; "
                                 "less for a part of the sweep, or without notes or legend")
            self.stretch = (self.panels - HEAD * self.em) / self.shape[0] / height
        self.sheet = self.width, self.shape[0] * height * self.stretch + HEAD * self.em
        return height * self.stretch

    def is_tight(self):
        """Is there less room than usual? Then texts that would fit by themselves are broken into lines."""
        return self.panels is not None or self.width < WIDTH * self.em

    def across(self, figure):
        """The transform of shares of the whole drawing, whose width and height are 1."""
        if self.box is not None:
            whole = figure.transSubfigure if isinstance(figure, SubFigure) else figure.transFigure
            return BboxTransformTo(TransformedBbox(Bbox(self.box), whole))
        return figure.transSubfigure if isinstance(figure, SubFigure) else figure.transFigure

    def place_like_twin(self, figure, panels):
        """Gives panels and texts in a user's figure the places of those of the same figure by itself."""
        (left, bottom), (right, top) = ((0, 0), (1, 1)) if self.box is None else self.box
        for axes, other in zip(panels, self.twin.axes):
            x, y, width, height = other.get_position(original=True).bounds
            axes.set_position((left + x * (right - left), bottom + y * (top - bottom), width * (right - left),
                               height * (top - bottom)))
        for name in ("_suptitle", "_supylabel") if self.box is None else ():
            text, other = getattr(figure, name), getattr(self.twin, name)
            if text is not None and other is not None:
                text.set_position(other.get_position())
                text.set_in_layout(False)

    def run(self, draw):
        token = NOW.set(self)
        try:
            return draw()
        finally:
            NOW.reset(token)


NOW: contextvars.ContextVar[Canvas | None] = contextvars.ContextVar("canvas", default=None)


def now():
    """The canvas that is drawn on."""
    return NOW.get() or Canvas()


@contextlib.contextmanager
def style(options=None):
    """A context in which a figure is drawn or written, on the canvas of `drawn`, or on one of its own."""
    canvas = now() if options is None else Canvas(options)
    token = NOW.set(canvas)
    try:
        with matplotlib.rc_context(canvas.settings):
            yield
    finally:
        NOW.reset(token)


# ---- in a user's figure ----

def drawn(draw, options=Options(), ax=None):
    """What draw() returns: a Drawing, or None. ax: the Figure, SubFigure or Axes to draw into. A drawing of one panel
    is in the very Axes, one of several panels in a SubFigure in its place. Nothing is changed if it has no room."""
    if ax is None and options.height is None:
        return Canvas(options).run(draw)
    if ax is not None and (options.width or options.height):
        raise ValueError("width and height are those of ax: leave them out")
    if ax is not None and not isinstance(ax, (Axes, Figure, SubFigure)):
        raise ValueError(f"ax: a {type(ax).__name__} is not an Axes, SubFigure or Figure of matplotlib")
    width, height = inches_of(ax) if ax is not None else (None, options.height)
    natural = Canvas(options, width, is_inside=ax is not None)
    drawing = natural.run(draw)
    if drawing is None:
        return None
    is_one, box = isinstance(ax, Axes) and natural.count == 1, None
    if is_one and ax.figure.get_layout_engine() is not None:
        return replace(Canvas(options, width, into=ax).run(draw), figure=ax)
    drawing, fixed = of_height(draw, options, width, height, natural)
    if ax is None:
        return drawing
    if is_one:
        box = box_of(ax)
    elif isinstance(ax, Axes):
        ax = in_place_of(ax)
        if not np.allclose(inches_of(ax), (width, height), rtol=1e-6):  # the place without the margins of the Axes
            width, height = inches_of(ax)
            drawing, fixed = of_height(draw, options, width, height, natural)
    with matplotlib.rc_context(fixed.settings):
        lay_out(drawing.figure)
    inside = Canvas(options, width, height, fixed.below, ax, drawing.figure, box)
    return replace(inside.run(draw), figure=ax)


def of_height(draw, options, width, height, natural):
    """(drawing, its canvas) of a given height. The notes may be longer than those of `natural`, because fewer panels
    have room."""
    canvas = natural
    for _ in range(3):
        below, canvas = canvas.foot, Canvas(options, width, height, canvas.foot, is_inside=natural.is_inside)
        drawing = canvas.run(draw)
        if canvas.foot <= below:
            break
    return drawing, canvas


def inches_of(place):
    """(width, height) of a Figure, SubFigure or Axes with what is around it, after its layout."""
    root = place.figure if isinstance(place, Axes) else place
    root = root if isinstance(root, Figure) else root.figure
    place_axes(root)
    if not isinstance(place, Axes):
        return place.bbox.width / root.dpi, place.bbox.height / root.dpi
    if root.get_layout_engine() is not None:
        box = place.get_tightbbox()
        return box.width / root.dpi, box.height / root.dpi
    (left, bottom), (right, top) = box_of(place)
    return (right - left) * place.figure.bbox.width / root.dpi, (top - bottom) * place.figure.bbox.height / root.dpi


def in_place_of(axes):
    """A SubFigure with the place of an Axes, and with the margins to its left and below it."""
    figure, spec = axes.figure, spec_of(axes)
    has_layout = figure.get_layout_engine() is not None
    if spec is None and has_layout:
        raise ValueError("ax: has no place in a grid of subplots, and this figure has several panels: give a SubFigure")
    box = box_of(axes)
    axes.remove()
    made = figure.add_subfigure(spec or GridSpec(1, 1, figure=figure)[0])
    if not has_layout:
        made.bbox_relative.set_points(np.array(box))
    made.set_facecolor("none")
    return made


def spec_of(axes):
    """The place of an Axes in a grid; None if it has none."""
    return axes.get_subplotspec() if hasattr(axes, "get_subplotspec") else None


def box_of(axes):
    """[[left, bottom], [right, top]] of an Axes with the gaps to its left and below it, and the margin to the right of
    the last column, in shares of the figure."""
    spec, ((left, bottom), (right, top)) = spec_of(axes), axes.get_position(original=True).get_points()
    if spec is None:
        return [[max(0.0, left - 0.1), max(0.0, bottom - 0.1)], [right, top]]
    bottoms, tops, lefts, rights = spec.get_gridspec().get_grid_positions(axes.figure)
    row, column = spec.rowspan.stop - 1, spec.colspan.start
    return [[rights[column - 1] + 0.01 if column else 0.01, tops[row + 1] + 0.01 if row + 1 < len(tops) else 0.01],
            [right if spec.colspan.stop < len(rights) else 0.99, top]]


def place_axes(figure):
    """Lets the layout of a figure, if it has one, place its axes, as drawing the figure would."""
    engine = figure.get_layout_engine()
    if engine is not None and figure.axes:
        with contextlib.suppress(ValueError):  # no room: matplotlib draws such a figure as it is
            engine.execute(figure)


def lay_out(figure):
    """Places the panels, once for all formats. The solver's last digits depend on where objects lie in memory."""
    if figure.get_layout_engine() is None:
        return
    figure.set_dpi(DPI)  # lines of text are spaced in whole pixels
    place_axes(figure)
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    if min(box.x0, box.y0, width - box.x1, height - box.y1) < -0.005:  # ticks have changed with the places of panels
        place_axes(figure)
    figure.set_layout_engine(None)  # with any other, also "none", savefig draws twice
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(6)), which="original")
