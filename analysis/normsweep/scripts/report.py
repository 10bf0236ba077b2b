"""Writes a normsweep dataset as one HTML page: what was run, on which machines, how it went, the results, all figures.

The page is self-contained: it loads nothing, prints well, and can be sent as it is. It can be written at any moment,
also while the sweep runs.
"""

import argparse
import datetime
import os
import sys

import matplotlib

matplotlib.use("Agg")

from ..command import open_or_fail, whole_file
from ..figures import draw_all
from ..figures.drawing import reason
from ..report import report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__.split("\n\n", 1)[1])
    parser.add_argument("dataset")
    parser.add_argument("-o", "--output", metavar="FILE.html", help="default: DATASET.html, in the current folder")
    arguments = parser.parse_args()
    name = os.path.basename(arguments.dataset)
    output = arguments.output or os.path.splitext(name)[0] + ".html"
    with open_or_fail(arguments.dataset) as dataset, whole_file(output) as temporary:
        text = report(dataset, drawings(dataset), f"{name}, as of {written(arguments.dataset)}")
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
    print(output)


def written(path):
    """The file's modification time, in UTC."""
    return datetime.datetime.fromtimestamp(os.path.getmtime(path), datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def drawings(dataset):
    """Yields (name, caption, figure) for all figures, then (name, "", exception) for those that could not be drawn."""
    failed = []
    for drawing in draw_all(dataset, failed=lambda name, error: failed.append((name, "", error))):
        yield drawing.name, drawing.caption, drawing.figure
    for name, _, error in failed:
        print(f"report: {name}: {reason(error)}", file=sys.stderr)
    yield from failed
