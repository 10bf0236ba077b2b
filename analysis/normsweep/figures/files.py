"""Writes one figure to files; called in worker processes."""

from .. import open_sweep
from ..plane import part_at
from . import draw_all, look, why_empty
from .drawing import reason


def write(task):
    """Draws one figure of a dataset in every format.

    task: (path of the dataset, name of the figure, start of the files' names, formats, NAME=VALUE texts that select a
    part of the sweep, whether it is an error if the figure has nothing to show). Returns (paths of the written files,
    error message or "").
    """
    path, name, stem, formats, at, is_wanted = task
    written, lost = [], []
    try:
        with open_sweep(path) as dataset:
            part = part_at(dataset, at)
            for drawing in draw_all(part, [name], lambda _, error: lost.append(error)):
                for ending in formats:
                    look.save(drawing.figure, f"{stem}-{drawing.name}.{ending}")
                    written.append(f"{stem}-{drawing.name}.{ending}")
            if is_wanted and not written and not lost:
                lost.append(ValueError(f"nothing to draw: {why_empty(part, name)}"))
    except OSError as error:
        return written, f"{error.filename or path}: {error.strerror or error}"
    except Exception as error:  # one broken figure must not stop the others
        lost.append(error)
    return written, "".join(f"{name}: {reason(error)}" for error in lost[:1])


def write_together(loaded, draw, stem, formats, is_wanted):
    """Draws one figure of {path: dataset} in every format: draw is (name, function, why there may be nothing to draw).
    Returns what `write` returns."""
    written, (name, function, why) = [], draw
    try:
        drawing = function(loaded)
        for ending in formats if drawing else ():
            look.save(drawing.figure, f"{stem}-{drawing.name}.{ending}")
            written.append(f"{stem}-{drawing.name}.{ending}")
    except OSError as error:
        return written, f"{error.filename}: {error.strerror or error}"
    except Exception as error:  # one broken figure must not stop the others
        return written, f"{name}: {reason(error)}"
    return written, f"{name}: nothing to draw: {why}" if is_wanted and not written else ""
