"""What the scripts share: errors as one line on stderr, and output files that are complete or absent."""

import contextlib
import os
import sys
import tempfile

from .dataset import open_sweep
from .plane import part_at
from .verify import NotASweep


def fail(message):
    """Exits with one line on stderr and status 1."""
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def open_or_fail(path, opener=open_sweep):
    """open_sweep, or another one; exits with one line if that fails."""
    try:
        return opener(path)
    except (NotASweep, ModuleNotFoundError) as error:
        fail(error)
    except OSError as error:
        fail(f"{path}: {error.strerror or error}")


def select_or_fail(dataset, pairs, path):
    """plane.part_at; exits with one line if that fails."""
    try:
        return part_at(dataset, pairs)
    except KeyError as error:
        fail(f"{path}: {error.args[0]}")


def make_folder(path):
    """Makes a folder and its parents, unless it exists; exits with one line if that fails."""
    try:
        os.makedirs(path, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        while path and not os.path.lexists(path):
            path = os.path.dirname(path)
        fail(f"{path}: is a file, not a folder")
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")


@contextlib.contextmanager
def whole_file(path):
    """Yields the name of a temporary file, which is renamed to `path` if the block succeeds, and removed if not.

    Exits with one line, before the block runs, if no file can be written there.
    """
    if os.path.isdir(path):
        fail(f"{path}: is a folder")
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=os.path.basename(path), dir=os.path.dirname(path) or ".")
        os.close(handle)
        try:
            yield name
            os.chmod(name, 0o666 & ~umask())
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        fail(f"{path}: {error.strerror or error}")


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
