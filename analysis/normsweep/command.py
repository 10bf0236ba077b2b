"""What the scripts share: errors as one line on stderr, and output files that are complete or absent."""

import contextlib
import os
import secrets
import signal
import sys

from . import parts
from .dataset import open_sweep
from .join import DifferentSweeps
from .plane import part_at
from .verify import NotASweep
from .words import shown


DATASETS = (b"CDF", b"\x89HDF")  # how a netCDF file begins


def fail(message):
    """Exits with one line on stderr and status 1."""
    sys.exit(line(message))


def warn(message):
    """One line on stderr."""
    print(line(message), file=sys.stderr, flush=True)


def line(message):
    return f"{os.path.basename(sys.argv[0])}: {shown(message, kept='')}"


def add_datasets(parser, **keywords):
    """The argument of commands that read datasets. A folder's name may end in /, as a shell completes it."""
    parser.add_argument("dataset", metavar="DATASET.nc", type=lambda text: text.rstrip("/") or text,
                        **{"help": "may be a folder of parts, OUT.parts", **keywords})


def open_or_fail(path, opener=open_sweep):
    """open_sweep, or another one; exits with one line if that fails."""
    try:
        found = opener(path)
    except (DifferentSweeps, NotASweep, ModuleNotFoundError) as error:
        fail(error)
    except OSError as error:
        fail(f"{path}: {error.strerror or error}")
    missing = parts.missing(path)
    if missing:
        warn(f"{path}: {missing}")
    return found


def grouped(paths):
    """Paths in which files of one folder of parts, which a shell has made of first.parts/*.nc, are the folder."""
    found = []
    for path in paths:
        folder = os.path.dirname(path)
        if len(paths) == 1 or not folder or path not in map(str, parts.files_of(folder)):
            found.append(path)
        elif folder not in found:
            found.append(folder)
    return found


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
    """Yields the name of a temporary file, which is renamed to `path` if the block succeeds, and removed if not. Makes
    its folder.

    Exits with one line, before the block runs, if no file can be written there, or if a dataset is there. From before
    the temporary file is there until it is gone, SIGTERM ends the command as Ctrl-C does, so that it does not stay
    behind. For that its name is known before it is made, which tempfile's would not be.
    """
    if os.path.isdir(path):
        fail(f"{path}: is a folder")
    if os.path.exists(path) and not os.path.isfile(path):
        fail(f"{path}: is not a regular file; choose another -o")
    if is_dataset(path):
        fail(f"{path}: is a netCDF file, which would be overwritten; remove it or choose another -o")
    folder, last = os.path.split(path)
    if folder:
        make_folder(folder)
    name = os.path.join(folder, f".{secrets.token_urlsafe(6)}{last}")
    try:
        with terminated_as_interrupted():
            try:
                os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                yield name
                os.chmod(name, 0o666 & ~umask())
                os.replace(name, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(name)
                raise
    except OSError as error:
        fail(f"{path}: {error.strerror or error}")


def is_dataset(path):
    """True if a netCDF file is there, whatever its name."""
    try:
        with open(path, "rb") as file:
            return file.read(4).startswith(DATASETS)
    except OSError:
        return False


@contextlib.contextmanager
def terminated_as_interrupted():
    """SIGTERM ends the block as Ctrl-C does."""
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
