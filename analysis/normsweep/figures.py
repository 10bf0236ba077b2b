"""The figures of a dataset, each a function by its name in `normsweep-figures --list`, with _ for -.

>>> from normsweep import figures, open_sweep
>>> figure = figures.phase(open_sweep("first.nc"), width=3.3)
>>> figures.save(figure, "phase.pdf")

A function draws into the Figure, SubFigure or Axes of matplotlib that `ax` is, or makes a Figure, and returns what it
drew into: where a figure has several panels, the SubFigure that has taken the place of the Axes. It raises ValueError,
with one line, if the dataset has nothing for it. figures.draw takes the name of a figure, or of any variable, as a
text; draw_all yields a Drawing of every figure that a dataset has data for.

What draws is in normsweep.drawings, and its table of figures in drawings/table.py; .ci/tables writes figures.pyi, from
which editors and type checkers know the functions.
"""

import inspect as _inspect

from .drawings import table as _table
from .drawings.canvas import Options as _Options
from .drawings.drawing import Drawing
from .drawings.look import save as _save
from .drawings.table import NotDrawn, draw_all, names

__all__ = ["Drawing", "NotDrawn", "draw", "draw_all", "names", "save"]


def draw(dataset, name, ax=None, *, width=None, height=None, font_size=None, style=None, title=None, without=(),
         notes=None):
    """The figure or variable of this name.

    ax: what to draw into, with the letters of its figure; None: a Figure, `width` inches wide. height: in inches;
    None: as many as its panels and legend take. font_size: in points. style: the name or the file of a matplotlib
    style. title: above the panels; None: that of the sweep, and none in `ax`. without: names of what to leave out.
    notes: sentences below the panels; None: unless it is drawn into `ax`.
    """
    options = _Options(width, height, font_size, style, title, without, notes)
    return _table.draw(dataset, name, ax, options).figure


def save(figure, path, style=None):
    """Writes a figure as PNG, SVG or PDF, by the ending of the name, with letters that publishers take; the same figure
    gives the same file. style: what it was drawn with."""
    _save(figure, path, _Options(style=style))


def _function(figure):
    def function(dataset, ax=None, **options):
        return draw(dataset, figure.name, ax, **options)

    overlays = ", ".join(figure.overlays)
    function.__name__ = function.__qualname__ = figure.name.replace("-", "_")
    function.__doc__ = (f"{figure.about[0].upper()}{figure.about[1:]}.\n\nOptions are those of `draw`."
                        + f" without: {overlays}." * bool(overlays))
    parameters = _inspect.signature(draw).parameters  # which help() shows, but for the name
    function.__signature__ = _inspect.Signature([one for key, one in parameters.items() if key != "name"])
    return function


for _figure in _table.FIGURES:
    globals()[_figure.name.replace("-", "_")] = _function(_figure)
    __all__.append(_figure.name.replace("-", "_"))
