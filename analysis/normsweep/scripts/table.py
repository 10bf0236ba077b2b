"""Writes a normsweep dataset as a table with one row per run, or its boundary.

Columns: the axes, the outcome, every variable with one value per run, and NAME_last, the last measured value of each
metric over the steps. Skipped cells have no row; missing values are empty. It can be written at any moment, also while
the sweep runs. With --over seed: one row for each cell without the seed, with the number of runs that are done and have
a value, their mean and its standard error, NAME_n, NAME_mean and NAME_se for each measured NAME. With --boundary: where
the runs cross the value that the sweep looked for, or stop to grow, with the slope over the learning rate and its
interval; without -o as a text, in a file all variables of ds.sweep.boundary(), with a row for each line of runs.
"""

import argparse
import difflib
import os
import re
import sys

from ..boundary import rule
from ..boundary_text import boundary_table, boundary_text
from ..command import add_datasets, fail, open_or_fail, whole_file
from ..table import COUNTED, write_csv

ENDINGS = (".csv", ".parquet")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__.split("\n\n", 1)[1])
    add_datasets(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--over", metavar="AXIS", help="mean and standard error over an axis, such as seed, in place of "
                                                     "single runs")
    what.add_argument("--boundary", action="store_true", help="the boundary of the sweep, in place of its runs")
    parser.add_argument("--columns", metavar="NAME,...", help="of the variables, only these, such as norm_growth")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="FILE.csv or FILE.parquet (default: on stdout); of a boundary also FILE.nc")
    arguments = parser.parse_args()
    output, endings = arguments.output, (*ENDINGS, ".nc") if arguments.boundary else ENDINGS
    if output and os.path.isdir(output):
        fail(f"{output}: is a folder")
    if output and not output.endswith(endings):
        fail(f"{output}: the name must end in {', '.join(endings[:-1])} or {endings[-1]}")
    if arguments.columns and arguments.boundary:
        parser.error("argument --columns: not allowed with argument --boundary")
    with open_or_fail(arguments.dataset) as dataset:
        try:
            found = dataset.sweep.boundary().load() if arguments.boundary else None
            table = boundary_table(found) if found is not None else dataset.sweep.table(arguments.over)
        except (KeyError, ValueError) as error:
            fail(f"{arguments.dataset}: {error.args[0]}")
        if arguments.columns:
            table = chosen(table, arguments)
    if output and output.endswith(".nc"):
        with whole_file(output) as name:
            found.to_netcdf(name, engine="netcdf4")
    elif output:
        write(table, output)
    if output:
        print(output)
    else:
        print_all(lambda: write_csv(table, sys.stdout) if found is None else print(
            boundary_text(found, rule(dataset)), end=""))


def chosen(frame, arguments):
    """The columns of the axes and the outcome, and of the variables that --columns names."""
    ends = ("n", "mean", "se") if arguments.over else ("", "last")
    first = max(place for place, name in enumerate(frame.columns) if name in ("outcome", *COUNTED)) + 1
    kept = list(frame.columns[:first])
    for name in arguments.columns.split(","):
        found = [column for end in ends if (column := f"{name}_{end}".rstrip("_")) in frame.columns[first:]]
        if not found and name not in kept:
            of = sorted({re.sub(f"_({'|'.join(filter(None, ends))})$", "", column) for column in frame.columns[first:]})
            near = difflib.get_close_matches(name, of, 3)
            fail(f"{arguments.dataset}: no column {name}; " + (
                f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(of[:8])}, ..."))
        kept += found
    return frame[kept]


def write(frame, path):
    with whole_file(path) as name:
        if path.endswith(".csv"):
            write_csv(frame, name)
            return
        try:
            frame.to_parquet(name, index=False)
        except ImportError:
            fail(f"{path}: Parquet needs pyarrow or fastparquet: pip install pyarrow")


def print_all(write_text):
    """Writes to stdout; a reader that closes the pipe early is not an error."""
    try:
        write_text()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
