"""One figure as files: a task for a process of its own."""

from .. import look, open_sweep
from . import draw_all
from .drawing import reason


def write(task):
    """Draws one figure of a dataset in every format. task: (path of the dataset, name of the figure, what the files'
    names begin with, formats). Returns (paths of the files, what went wrong or "")."""
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
    except Exception as error:  # whatever it is, the other figures are worth having
        lost.append(error)
    return written, "".join(f"{name}: {reason(error)}" for error in lost[:1])
