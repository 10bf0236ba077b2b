"""Writes a normsweep dataset as a table with one row per run.

Columns: the axes, the outcome, every variable with one value per run, and NAME_last, the last measured value of each
metric over the steps. Skipped cells have no row; missing values are empty. It can be written at any moment, also while
the sweep runs.
"""

import argparse
import os
import sys

from ..command import fail, open_or_fail, whole_file
from ..table import write_csv


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("dataset")
    parser.add_argument("-o", "--output", metavar="FILE", help="FILE.csv or FILE.parquet (default: CSV on stdout)")
    arguments = parser.parse_args()
    if arguments.output and os.path.isdir(arguments.output):
        fail(f"{arguments.output}: is a folder")
    if arguments.output and not arguments.output.endswith((".csv", ".parquet")):
        fail(f"{arguments.output}: the name must end in .csv or .parquet")
    with open_or_fail(arguments.dataset) as dataset:
        frame = dataset.sweep.table()
    if arguments.output:
        write(frame, arguments.output)
        print(arguments.output)
    else:
        print_csv(frame)


def write(frame, path):
    with whole_file(path) as name:
        if path.endswith(".csv"):
            write_csv(frame, name)
            return
        try:
            frame.to_parquet(name, index=False)
        except ImportError:
            fail(f"{path}: Parquet needs pyarrow or fastparquet: pip install pyarrow")


def print_csv(frame):
    """Writes to stdout; a reader that closes the pipe early is not an error."""
    try:
        write_csv(frame, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
