"""Compares two sweeps, or two parts of one: boundaries, norm growth, losses, phases, and how sure a difference is.

compare A.nc B.nc compares the cells that both have. compare A.nc --along attention_mask compares the parts of one sweep
at each pair of values of an axis, --at-a and --at-b any two parts. Runs of the same seed are paired. The text goes to
stdout; a figure and a table with one row per number are written to FOLDER. A sweep that still runs can be compared at
any moment: only runs that have ended count.
"""

import argparse
import itertools
import os
import re
import sys

import numpy as np

from ..drawings import look
from ..command import add_datasets, fail, grouped, make_folder, open_or_fail, select_or_fail, whole_file
from ..comparison import compare
from ..comparison_text import CELLS, comparison_table, comparison_text
from ..drawings.canvas import drawn
from ..drawings.comparison import comparison
from ..plane import places_of
from ..shared_grid import NothingInCommon
from ..words import shown, value_text
from .figures import add_looks, options_of
from .table import write as write_table

FIGURES, TABLES = ("png", "svg", "pdf"), ("csv", "parquet")


def main():
    arguments = parse()
    parts = list(pairs(arguments))
    if arguments.format:
        make_folder(arguments.output)
    for number, (one, two) in enumerate(parts):
        report(arguments, one, two, "\n" * bool(number))
    return 0


def parse():
    what, how = __doc__.split("\n\n", 1)
    parser = argparse.ArgumentParser(description=what, epilog=how)
    add_datasets(parser, nargs="+", help="one or two datasets, A and B; each may be a folder of parts, OUT.parts")
    parser.add_argument("--along", metavar="NAME", help="compare the parts at each pair of values of an axis; "
                        "NAME=VALUE,VALUE,... or NAME=LOW..HIGH for some of its values")
    for option, where in ("--at", "of both"), ("--at-a", "of the first"), ("--at-b", "of the second"):
        parser.add_argument(option, metavar="NAME=VALUE", action="append", default=[],
                            type=lambda text: re.split(r",(?=\w+=)", text),
                            help=f"only the part {where} at one value of an axis, at several (NAME=VALUE,VALUE), or in "
                            "a range (NAME=LOW..HIGH); may be repeated")
    parser.add_argument("--variables", metavar="NAMES", type=lambda text: text.split(","),
                        help="numbers of a run to compare, separated by commas (default: norm_growth,final_train_loss,"
                        "final_valid_loss); NAME_last, as in the table of runs, is the last measured NAME")
    parser.add_argument("--unpaired", action="store_true", help="do not pair runs of the same seed")
    parser.add_argument("--without-collapsed", action="store_true",
                        help="leave out runs that always predict the same word (predicted_entropy below 0.001)")
    parser.add_argument("--cells", metavar="N", type=int, default=CELLS,
                        help=f"list the N largest significant changes of each variable (default: {CELLS})")
    parser.add_argument("-o", "--output", metavar="FOLDER", default=".", help="folder for the files (default: .)")
    parser.add_argument("--format", metavar="FORMATS", type=formats, default=("png", "svg", "csv"),
                        help=f"{', '.join(FIGURES + TABLES)}, several separated by commas, or none "
                        "(default: png,svg,csv)")
    add_looks(parser)
    arguments = parser.parse_args()
    for name in "at", "at_a", "at_b":
        setattr(arguments, name, sum(getattr(arguments, name), []))
    return arguments


def formats(text):
    words = () if text == "none" else tuple(dict.fromkeys(text.split(",")))
    if "none" in words:
        raise argparse.ArgumentTypeError("none stands alone")
    for word in words:
        if word not in FIGURES + TABLES:
            raise argparse.ArgumentTypeError(f"{word!r} is not one of {', '.join(FIGURES + TABLES)}, none")
    return words


# ---- what is compared ----

def pairs(arguments):
    """Yields ((path, dataset, name), (path, dataset, name)) of each comparison."""
    paths = arguments.dataset = grouped(arguments.dataset)
    if len(paths) > 2:
        fail(f"{paths[2]}: two datasets are compared, not {len(paths)}")
    if arguments.along and (len(paths) > 1 or arguments.at_a or arguments.at_b):
        fail("--along compares parts of one dataset; a second dataset, --at-a and --at-b do not go with it")
    if len(paths) == 1 and not (arguments.along or arguments.at_a or arguments.at_b):
        fail(f"{paths[0]}: what is it compared with? Name a second dataset, or an axis with --along, or parts with "
             "--at-a and --at-b")
    loaded = [open_or_fail(path) for path in paths]
    if arguments.along:
        yield from pairs_along(arguments, paths[0], select_or_fail(loaded[0], arguments.at, paths[0]))
        return
    first, last = (paths[0], loaded[0]), (paths[-1], loaded[-1])
    labels = stems(paths[0], paths[-1])
    yield tuple(side(path, dataset, label, [*arguments.at, *at])
                for (path, dataset), label, at in zip((first, last), labels, (arguments.at_a, arguments.at_b)))


def stems(one, two):
    """The names of two files without ending; with their folders if these alone tell them apart."""
    labels = [os.path.splitext(os.path.basename(path))[0] for path in (one, two)]
    return labels if one == two or labels[0] != labels[1] else [os.path.splitext(path)[0] for path in (one, two)]


def side(path, dataset, label, at):
    part = select_or_fail(dataset, at, path)
    return path, part, f"{label}, {', '.join(at)}" if at else label


def pairs_along(arguments, path, dataset):
    axis, _, some = arguments.along.partition("=")
    if axis not in dataset.sweep.axes:
        fail(f"{path}: {axis}: not an axis; the axes are {', '.join(dataset.sweep.axes) or 'none'}")
    values = dataset[axis].values
    if some:
        try:
            values = values[np.atleast_1d(places_of(dataset[axis], some))]
        except KeyError as error:
            fail(f"{path}: {error.args[0]}")
    values = values.tolist()
    if len(values) < 2:
        fail(f"{path}: {axis} has only one value, {value_text(values[0])}")
    label = ", ".join([os.path.splitext(os.path.basename(path))[0], *arguments.at])
    exactly = [f"{axis}={repr(value) if isinstance(value, float) else value_text(value)}" for value in values]
    for two in itertools.combinations(exactly, 2):
        yield tuple(side(path, dataset, label, [at]) for at in two)


# ---- what is written ----

def say(text):
    """Writes to stdout. A reader that closes the pipe early is not an error: the files are written all the same."""
    try:
        print(shown(text), end="", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report(arguments, one, two, before):
    paths = list(dict.fromkeys((one[0], two[0])))
    try:
        found = compare(one[1], two[1], arguments.variables, False if arguments.unpaired else None, (one[2], two[2]),
                        arguments.without_collapsed)
    except NothingInCommon as error:
        fail(f"{', '.join(paths)}: {error}")
    say(before + comparison_text(found, arguments.cells))
    stem = os.path.join(arguments.output, f"compare-{slug(one[2], two[2])}")
    drawing, options = None, options_of(arguments, [])
    if set(arguments.format) & set(FIGURES):
        try:
            drawing = drawn(lambda: comparison(found), options)
        except ValueError as error:  # no room
            fail(str(error))
    for ending in arguments.format:
        path = f"{stem}.{ending}"
        if ending in TABLES:
            write_table(comparison_table(found), path)
        elif drawing:
            write_figure(drawing.figure, path, options)
        else:
            continue
        say(f"{path}\n")


def write_figure(figure, path, options):
    with whole_file(path) as name:
        look.save(figure, name, options)


def slug(one, two):
    """The part of a file's name that tells what is compared: what both have in common once."""
    first, second = (re.split(r"[^\w.+]+", text.replace("=", "-").replace("/", "-")) for text in (one, two))
    shared = len(os.path.commonprefix([first, second]))
    rest = [*first, *(second[shared:] or ["itself"])]
    return "-".join(word for word in rest if word)
