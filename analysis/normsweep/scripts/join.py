"""Writes the dataset of a whole sweep from its parts, which `normsweep run --part I/N` has trained.

The numbers of all runs are those of a sweep that was never divided, bit for bit; hosts, times and sessions are those of
the parts. Runs that no part has, or that have not ended, are pending: `normsweep run SWEEP.yaml` trains them. Saved
weights and logs of failed runs come along. The parts stay as they are.
"""

import argparse
import errno
import os
import shutil

import netCDF4

from ..command import fail, warn, whole_file
from ..join import DifferentSweeps
from ..joined_file import different_levels, write_joined
from ..parts import check, files_of, missing
from ..verify import NotASweep, check_file

ENDING = ".parts"
KEPT = (".weights.nc", ".log")
STATES = "states"  # the folder of states from which longer runs go on


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("folder", metavar="OUT.parts", type=lambda text: text.rstrip("/") or text)
    parser.add_argument("-o", "--output", metavar="OUT.nc", help="default: beside the folder of the parts")
    arguments = parser.parse_args()
    folder = arguments.folder
    paths = files_of(folder)
    if not os.path.exists(folder):
        fail(f"{folder}: {os.strerror(errno.ENOENT)}")
    if not paths:
        fail(f"{folder}: not a folder with parts of a sweep, 1-of-8.nc and so on")
    if not arguments.output and not folder.endswith(ENDING):
        fail(f"{folder}: the name does not end in {ENDING}: say with -o where the dataset is to be")
    output = arguments.output or folder[:-len(ENDING)] + ".nc"
    files = []
    try:
        for path in paths:
            check_file(path)
            files.append(netCDF4.Dataset(path))
            if not hasattr(files[-1], "part"):
                fail(f"{path}: not a part of a sweep")
        check([vars_of(file) for file in files], paths)
        with whole_file(output) as name:
            left = write_joined(files, name)
        told = different_levels(files, paths)
    except (NotASweep, DifferentSweeps) as error:
        fail(error)
    except OSError as error:
        fail(f"{os.fsdecode(error.filename or folder)}: {error.strerror or error}")
    finally:
        for file in files:
            file.close()
    bring(paths, output)
    if missing(folder):
        warn(f"{folder}: {missing(folder)} in {output}")
    if told:
        warn(f"{folder}: trained at {told}: the same run differs between them in its last digits")
    if left:
        warn(f"{output}: {left} run{'s' if left > 1 else ''} had begun in a part and not ended: pending here, from the "
             "first step")
    print(output)


def vars_of(file):
    return {name: file.getncattr(name) for name in file.ncattrs()}


def bring(paths, output):
    """Links, or copies, what the parts keep of their runs beside them: all but checkpoints, which go on in the parts
    alone."""
    for path in paths:
        for folder, _, names in os.walk(f"{path}.d"):
            to = os.path.join(f"{output}.d", os.path.relpath(folder, f"{path}.d"))
            for name in names:
                if name.endswith(KEPT) or os.path.basename(folder) == STATES:
                    os.makedirs(to, exist_ok=True)
                    link(os.path.join(folder, name), os.path.join(to, name))


def link(path, to):
    if os.path.exists(to):
        return
    try:
        os.link(path, to)
    except OSError:  # the file system has no links
        shutil.copyfile(path, to)
