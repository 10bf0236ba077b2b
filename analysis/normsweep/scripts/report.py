"""Writes a normsweep dataset as one HTML page: what was run, on which machines, how it went, the results, all figures.

The page is self-contained: it loads nothing, prints well, and can be sent as it is. It can be written at any moment,
also while the sweep runs. With --watch it is rewritten until the sweep has ended, with the state of the sweep and the
runs under way, and a browser that shows it loads it again by itself.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import shutil
import subprocess
import time

from ..command import add_datasets, fail, open_or_fail, warn, whole_file
from ..dataset import matching
from ..drawings.drawing import reason
from ..drawings.report import STATES, report
from ..drawings.table import draw_all

EVERY, LIMIT = 30, 60  # seconds
NICE = 10
SHARE = 0.25  # of a core that rewriting takes at most: the training beside it has the rest
BESIDE = pathlib.Path(__file__).resolve().parents[3] / "build" / "normsweep"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__.split("\n\n", 1)[1])
    add_datasets(parser)
    parser.add_argument("-o", "--output", metavar="FILE.html", help="default: DATASET.html, in the current folder")
    parser.add_argument("--watch", action="store_true", help="rewrite the page until the sweep has ended")
    parser.add_argument("--every", metavar="SECONDS", type=seconds(1, 3600),
                        help=f"with --watch: between two rewrites (default: {EVERY}); more if drawing takes long")
    parser.add_argument("--limit", metavar="SECONDS", type=seconds(0, 1e7),
                        help=f"with --watch: how long to wait for a dataset that is not there (default: {LIMIT})")
    parser.add_argument("--program", metavar="NORMSWEEP", help="with --watch: the program normsweep (default: the one "
                        "on the PATH, or in build beside the scripts)")
    arguments = parser.parse_args()
    output = arguments.output or os.path.splitext(os.path.basename(arguments.dataset))[0] + ".html"
    given = [name for name in ("every", "limit", "program") if getattr(arguments, name) is not None]
    if given and not arguments.watch:
        parser.error(f"--{given[0]} goes with --watch")
    arguments.every, arguments.limit = arguments.every or EVERY, LIMIT if arguments.limit is None else arguments.limit
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
    """Rewrites the page whenever the dataset has changed, with little of the cores that train, until the sweep has
    ended."""
    path, program, shown = arguments.dataset, find_program(arguments.program), None
    os.nice(NICE)
    while True:
        wait_for(path, arguments.limit)
        used = time.process_time()
        status = ask(program, path)
        if status["state"] == "altered":
            fail(f"{path}: {status['fault']}")
        state = [status[name] for name in ("state", "ended", "under_way", "sessions")]
        if state != shown:
            write(path, output, *((status, arguments.every) if status["state"] in STATES else ()))
            if not shown:
                print(output, flush=True)
            shown = state
        if status["state"] not in STATES:
            return
        time.sleep(max(arguments.every, (time.process_time() - used) * (1 - SHARE) / SHARE))


def find_program(given):
    program = given or shutil.which("normsweep") or BESIDE
    if not shutil.which(program):
        fail(f"{program}: no program there; --watch needs normsweep: build it, or name it with --program")
    return program


def wait_for(path, limit):
    """`run` makes a dataset at its start, and with --fresh takes the old one away."""
    begin = time.monotonic()
    while not os.path.exists(path) and time.monotonic() < begin + limit:
        time.sleep(min(1, limit))


def ask(program, path):
    """The object of `normsweep status --json`; exits with the program's line if there is none."""
    done = subprocess.run([program, "status", "--json", path], capture_output=True, text=True, check=False)
    if not done.stdout:
        fail(done.stderr.strip() or f"{program} status: ended with {done.returncode}")
    return json.loads(done.stdout)


def write(path, output, status=None, every=0):
    with open_or_fail(path) as dataset, whole_file(output) as temporary:
        source = f"{os.path.basename(path)}, as of {written(path)}"
        text = report(dataset, drawings(dataset), source, status, every)
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)


def written(path):
    """The file's modification time, in UTC."""
    latest = max(map(os.path.getmtime, matching(path)))
    return datetime.datetime.fromtimestamp(latest, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def drawings(dataset):
    """Yields (name, caption, figure) for all figures, then (name, "", exception) for those that could not be drawn."""
    failed = []
    for drawing in draw_all(dataset, failed=lambda name, error: failed.append((name, "", error)), captioned=True):
        yield drawing.name, drawing.caption, drawing.figure
    for name, _, error in failed:
        warn(f"{name}: {reason(error)}")
    yield from failed
