"""What a figure is to those who ask for one."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Drawing:
    """A figure of a dataset: a name for its file, a sentence or two that say what it shows, the figure itself."""

    name: str
    caption: str
    figure: Any  # matplotlib.figure.Figure
