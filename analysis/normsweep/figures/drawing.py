"""What a figure is to those who ask for one."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Drawing:
    """A figure of a dataset: a name for its file, a sentence or two that say what it shows, the figure itself."""

    name: str
    caption: str
    figure: Any  # matplotlib.figure.Figure


def reason(error):
    """What an exception says, in one line; a drawing library may begin with an empty one."""
    lines = [line.strip() for line in str(error).splitlines()]
    return next(filter(None, lines), type(error).__name__)
