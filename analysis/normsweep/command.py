"""What the commands share: one line on stderr for what is wrong, and results that are whole or not there."""

import contextlib
import os
import sys
import tempfile

from .dataset import NotASweep, open_sweep


def fail(message):
    """Ends the program: one line, status 1."""
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def open_or_fail(path):
    """The dataset at the path."""
    try:
        return open_sweep(path)
    except NotASweep as error:
        fail(error)
    except OSError as error:
        fail(f"{path}: {error.strerror or error}")


def make_folder(path):
    """Makes a folder and those above it, unless it is there."""
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
    """The name under which a file is to be written that becomes `path` when the block ends well, and only then.

    Ends the program at once where no file can be written there, before the block has taken its time.
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
