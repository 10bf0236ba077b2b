"""Writes a normsweep dataset as a table with one row per run, or its boundary.

Columns: the axes, the outcome, every variable with one value per run, and NAME_last, the last measured value of each
metric over the steps. Skipped cells have no row; missing values are empty. It can be written at any moment, also while
the sweep runs. With --boundary: where the runs cross the value that the sweep looked for, or stop to grow, with the
slope over the learning rate and its interval; without -o as a text, in a file all variables of ds.sweep.boundary(),
with a row for each line of runs.
"""

import argparse
import os
import sys

from ..boundary import rule
from ..boundary_text import boundary_table, boundary_text
from ..command import add_datasets, fail, open_or_fail, whole_file
from ..table import write_csv

ENDINGS = (".csv", ".parquet")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__.split("\n\n", 1)[1])
    add_datasets(parser)
    parser.add_argument("--boundary", action="store_true", help="the boundary of the sweep, in place of its runs")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="FILE.csv or FILE.parquet (default: on stdout); of a boundary also FILE.nc")
    arguments = parser.parse_args()
    output, endings = arguments.output, (*ENDINGS, ".nc") if arguments.boundary else ENDINGS
    if output and os.path.isdir(output):
        fail(f"{output}: is a folder")
    if output and not output.endswith(endings):
        fail(f"{output}: the name must end in {', '.join(endings[:-1])} or {endings[-1]}")
    with open_or_fail(arguments.dataset) as dataset:
        try:
            found = dataset.sweep.boundary().load() if arguments.boundary else None
        except ValueError as error:
            fail(f"{arguments.dataset}: {error}")
        table = dataset.sweep.table() if found is None else boundary_table(found)
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
