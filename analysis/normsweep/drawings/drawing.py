"""What every figure function returns, and what several of them share."""

from dataclasses import dataclass
from typing import Any

from . import look, runs

TICK = 0.12  # inches from one word to the next where they stand upright


@dataclass(frozen=True)
class Drawing:
    """A figure of a dataset: a name for its file, a caption of a few sentences, the figure itself."""

    name: str
    caption: str
    figure: Any  # matplotlib.figure.Figure


def finished(name, caption, figure, dataset, handles=(), notes=(), details=()):
    """Closes a figure and makes it a Drawing. Notes are sentences below the panels and in the caption, details in the
    caption alone; "" is left out."""
    notes, details = ([text for text in texts if text] for texts in (notes, details))
    look.close(figure, dataset, handles, [" ".join(notes)] if notes else [])
    return Drawing(name, " ".join([caption, *notes, *details]), figure)


def run_panels(dataset, variable, draw, x, y="", height=1.6, single=2.4, ticks=0):
    """One panel for each representative run, drawn by draw(axes, run); x and y name the axes. A panel is `height`
    inches high, or `single` if there is only one. ticks: words below a panel; panels stand below each other
    if two have no room for these.

    Returns (figure, panels, note on which runs were chosen and what they have in common).
    """
    is_wide = look.is_tight() and ticks * look.em(TICK) > look.panel_width(2)
    chosen, note = runs.representatives(dataset, variable, look.most_rows(3, 1) if is_wide else look.most_panels(6, 2))
    shape = (len(chosen), 1) if is_wide else look.crowd(len(chosen))
    figure, panels = look.sheet(*shape, height=height if len(chosen) > 1 else single, sharex=True, sharey=True)
    titles, common = runs.titles(dataset, chosen)
    for axes, run, title in zip(panels.ravel(), chosen, titles):
        draw(axes, run)
        axes.set_title(look.title(title, shape[1]))
    look.name_axes(panels, len(chosen), x, y)
    look.clear_rest(panels, len(chosen))
    return figure, panels.ravel()[:len(chosen)].tolist(), f"{note} {common}".strip()


def reason(error):
    """The first line of an exception's message that is not empty, or the exception's type."""
    lines = [line.strip() for line in str(error).splitlines()]
    return next(filter(None, lines), type(error).__name__)
