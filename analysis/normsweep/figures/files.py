"""Writes one figure to files; called in worker processes."""

from .. import look, open_sweep
from . import draw_all
from .drawing import reason


def write(task):
    """Draws one figure of a dataset in every format. task: (path of the dataset, name of the figure, start of the
    files' names, formats). Returns (paths of the written files, error message or "")."""
    path, name, stem, formats = task
    written, lost = [], []
    try:
        with open_sweep(path) as dataset:
            for drawing in draw_all(dataset, [name], lambda _, error: lost.append(error)):
                for ending in formats:
                    look.save(drawing.figure, f"{stem}-{drawing.name}.{ending}")
                    written.append(f"{stem}-{drawing.name}.{ending}")
    except OSError as error:
        return written, f"{error.filename or path}: {error.strerror or error}"
    except Exception as error:  # one broken figure must not stop the others
        lost.append(error)
    return written, "".join(f"{name}: {reason(error)}" for error in lost[:1])
