"""Writes a normsweep dataset as one HTML page: what was run, on which machines, how it went, the results, all figures.

The page is self-contained: it loads nothing, prints well, and can be sent as it is. It can be written at any moment,
also while the sweep runs. With --watch it is rewritten every few seconds until the sweep has ended, with the diagram as
it fills, the runs under way and the time left, and a browser that shows it follows by itself. Then it becomes the
report.
"""

import argparse
import datetime
import itertools
import math
import os

import matplotlib

matplotlib.use("Agg")

from ..command import open_or_fail, warn, whole_file
from ..figures import draw_all
from ..figures.drawing import reason
from ..live.watch import Watch
from ..report import report

EVERY, WAIT = 5, 3600  # seconds
NICE = 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("dataset")
    parser.add_argument("-o", "--output", metavar="FILE.html", help="default: DATASET.html, in the current folder")
    parser.add_argument("--watch", action="store_true", help="rewrite the page until the sweep has ended; waits for a "
                        "dataset that is not there yet")
    parser.add_argument("--every", metavar="SECONDS", type=seconds(1, 3600),
                        help=f"with --watch: between two rewrites (default: {EVERY})")
    parser.add_argument("--wait", metavar="SECONDS", type=seconds(0, 1e7),
                        help=f"with --watch: for a dataset that is not there yet (default: {WAIT})")
    arguments = parser.parse_args()
    if not arguments.watch and not (arguments.every is None and arguments.wait is None):
        parser.error("--every and --wait need --watch")
    output = arguments.output or os.path.splitext(os.path.basename(arguments.dataset))[0] + ".html"
    if arguments.watch:
        follow(arguments, output)
    else:
        write(arguments.dataset, output)
        print(output)


def seconds(least, most):
    """A type of arguments: a number of seconds."""
    def read(text):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not a number from {least:g} to {most:g}")
        return value
    return read


def follow(arguments, output):
    """Rewrites the page until the sweep has ended, with little of the cores that train; then writes the report."""
    os.nice(NICE)
    every = EVERY if arguments.every is None else arguments.every
    wait = WAIT if arguments.wait is None else arguments.wait
    Watch(arguments.dataset, output, every, wait).follow(lambda beat: write(arguments.dataset, output, beat))


def write(path, output, beat=None):
    """Writes the report. beat: called with the number of figures after each."""
    with open_or_fail(path) as dataset, whole_file(output) as temporary:
        text = report(dataset, drawings(dataset, beat), f"{os.path.basename(path)}, as of {written(path)}")
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)


def written(path):
    """The file's modification time, in UTC."""
    return datetime.datetime.fromtimestamp(os.path.getmtime(path), datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def drawings(dataset, beat=None):
    """Yields (name, caption, figure) for all figures, then (name, "", exception) for those that could not be drawn."""
    failed = []
    count = itertools.count(1)
    for drawing in draw_all(dataset, failed=lambda name, error: failed.append((name, "", error)), captioned=True):
        yield drawing.name, drawing.caption, drawing.figure
        if beat:
            beat(next(count))
    for name, _, error in failed:
        warn(f"{name}: {reason(error)}")
    yield from failed
