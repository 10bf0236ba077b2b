"""Draws the figures of a dataset: phase diagram, norms, fits, saturation, heads, losses, whatever was measured.

Several files of `normsweep inspect -o`, or one, are drawn together: saturation by layer, and what heads attend to.
Several sweeps are drawn together, too: grokking. Each figure is written to FOLDER/DATASET-NAME.png and .svg, that of a
part to FOLDER/DATASET-AXIS=VALUE-NAME.png, that of several files to FOLDER/ONE+OTHER-NAME.png, and its path is printed.
Where each stack has a figure, its name without -encoder or -decoder stands for both. A sweep that still runs can be
drawn at any moment; runs that have not ended are blank. A variable without a figure of its own gets a plain plot under
its own name, and so does any other that --only names.
"""

import argparse
import difflib
import multiprocessing
import os
import re
import sys

from ..command import add_datasets, fail, grouped, make_folder, open_or_fail, select_or_fail, warn
from ..dataset import open_sweep
from ..drawings import look, networks
from ..drawings.canvas import Options, drawn
from ..drawings.drawing import reason
from ..drawings.table import FIGURES, TOGETHER, check_without, draw_all, names, of_stacks, table, why_empty
from ..networks import has_text, is_network, open_network
from ..plane import part_at

FORMATS = ("png", "svg", "pdf")
MANY = 4  # figures per process
LIKE = 0.65  # of two names, from which on one may mean the other
LOOKS = ("width", "height", "font_size", "style", "title", "notes")
LONGEST = 80  # letters of the names of several datasets in the name of a file


def main():
    arguments = parse()
    arguments.dataset = grouped(arguments.dataset)
    path, *more = arguments.dataset
    if is_network(path):
        return draw_networks(arguments)
    if more:
        return draw_sweeps(arguments)
    with open_or_fail(path) as dataset:
        part = select_or_fail(dataset, arguments.at, path)
        wanted = check_names(of_stacks(part, arguments.only), names(part, arguments.only),
                             lambda: names(part, sure=True), FIGURES, [*map(str, dataset.data_vars)])
        rows = [figure for figure in table(part, wanted) if figure.name in wanted]
    options = options_of(arguments, rows)
    make_folder(arguments.output)
    return draw([(path, name, stem_of(arguments, path), arguments.format, arguments.at, bool(arguments.only), options)
                 for name in wanted])


def options_of(arguments, rows):
    """How figures are drawn; exits with one line if they cannot be."""
    try:
        options = Options(**{name: getattr(arguments, name) for name in LOOKS},
                          without=sum(getattr(arguments, "without", []), []))
        check_without(options, rows)
    except ValueError as error:
        word, separator, rest = str(error).partition(": ")
        fail(f"--{word.replace('_', '-')}{separator}{rest}" if word in LOOKS else f"--without: {error}")
    return options


def stem_of(arguments, *paths):
    """The start of the files' names: the names of the datasets, and the part that --at selects, so that pictures of
    several parts, or of several datasets, can be in one folder."""
    names = [os.path.splitext(os.path.basename(path))[0] for path in paths]
    if len("+".join(names)) > LONGEST:
        names = [names[0], f"{len(names) - 1}-more"]
    part = [re.sub(r"[^\w.=+-]", "_", pair) for pair in arguments.at]
    return os.path.join(arguments.output, "-".join(["+".join(names), *part]))


def draw_sweeps(arguments):
    """The figures of several sweeps, each under the name of its file."""
    paths = list(dict.fromkeys(arguments.dataset))
    stems = [os.path.splitext(os.path.basename(path))[0] for path in paths]
    labels = stems if len(set(stems)) == len(stems) else [os.path.splitext(path)[0] for path in paths]
    loaded = {label: select_or_fail(open_or_fail(path), arguments.at, path) for label, path in zip(labels, paths)}
    for name in arguments.only:
        if name not in TOGETHER:
            fail(f"no figure {name} of several sweeps together, only {', '.join(TOGETHER)}; give one dataset at a time")
    wanted = [name for name in TOGETHER if not arguments.only or name in arguments.only]
    options = options_of(arguments, [figure for figure in FIGURES if figure.name in wanted])
    make_folder(arguments.output)
    stem = stem_of(arguments, *paths)
    return report(write_together(loaded, (name, TOGETHER[name], "no run reached it, or all did at once"), stem,
                                 arguments.format, True, options) for name in wanted)


def draw_networks(arguments):
    """The figures of networks of others."""
    paths = list(dict.fromkeys(arguments.dataset))
    if arguments.at:
        fail("--at is for sweeps")
    loaded = {path: open_or_fail(path, open_network) for path in paths}
    bare = [path for path, dataset in loaded.items() if not has_text(dataset)]
    for path in bare:
        warn(f"{path}: nothing to draw: it was measured without --tokens")
        del loaded[path]
    if not loaded:
        return 1
    wanted, options = check_names(arguments.only, list(networks.FIGURES)), options_of(arguments, [])
    make_folder(arguments.output)
    stem = stem_of(arguments, *paths)
    return report(write_together(loaded, (name, networks.FIGURES[name], "measured without --tokens"), stem,
                                 arguments.format, bool(arguments.only), options) for name in wanted)


class List(argparse.Action):
    """Prints the figures and ends."""

    def __call__(self, *_):
        width = max(len(figure.name) for figure in FIGURES)
        print("\n".join(f"{figure.name:{width}}  {figure.about}" + f"; --without {', '.join(figure.overlays)}" * bool(
            figure.overlays) for figure in FIGURES))
        sys.exit()


def parse():
    what, how = __doc__.split("\n\n", 1)
    parser = argparse.ArgumentParser(description=what, epilog=how)
    add_datasets(parser, nargs="+")
    parser.add_argument("-o", "--output", metavar="FOLDER", default=".", help="folder for the files (default: .)")
    parser.add_argument("--only", metavar="NAME", nargs="+", default=[], type=lambda text: text.split(","),
                        help="draw only these figures or variables, separated by commas or blanks: phase,train_loss")
    parser.add_argument("--list", action=List, nargs=0, help="list all figures, and what each can do without, and end")
    parser.add_argument("--at", metavar="NAME=VALUE", action="append", default=[],
                        type=lambda text: re.split(r",(?=\w+=)", text),
                        help="draw only the part of the sweep at one value of an axis, at several (NAME=VALUE,VALUE), "
                        "or in a range (NAME=LOW..HIGH); may be repeated")
    parser.add_argument("--format", metavar="FORMATS", type=formats, default=("png", "svg"),
                        help="png, svg, pdf, or several separated by commas (default: png,svg)")
    looks = add_looks(parser)
    looks.add_argument("--without", metavar="NAME", action="append", default=[], type=lambda text: text.split(","),
                       help="leave out overlays, such as predicted,slopes in the phase diagram, or the legend; --list "
                       "has their names")
    arguments = parser.parse_args()
    arguments.only, arguments.at = sum(arguments.only, []), sum(arguments.at, [])
    return arguments


def add_looks(parser):
    """The options LOOKS, which options_of reads. Returns their group."""
    looks = parser.add_argument_group("how they look")
    looks.add_argument("--width", metavar="INCHES", type=float, help="3.3 for one column of a journal (default: 4.5)")
    looks.add_argument("--height", metavar="INCHES", type=float,
                       help="default: as high as the panels, the legend and the notes need")
    looks.add_argument("--font-size", metavar="POINTS", type=float, help="of all letters (default: 8)")
    looks.add_argument("--style", metavar="STYLE", help="a style of matplotlib: its name, or a file; a matplotlibrc "
                       "counts, too")
    looks.add_argument("--title", metavar="TEXT",
                       help='above the panels; "" for none (default: the title of the sweep)')
    looks.add_argument("--no-notes", dest="notes", action="store_false", default=None,
                       help="no sentences below the panels")
    return looks


def formats(text):
    words = tuple(dict.fromkeys(text.split(",")))
    for word in words:
        if word not in FORMATS:
            raise argparse.ArgumentTypeError(f"{word!r} is not one of {', '.join(FORMATS)}")
    return words


def check_names(wanted, there, has=None, known=(), variables=()):
    """The names that are wanted, or all. has: those that there is something to draw for, by default all. known: figures
    of other datasets. variables: that may be meant, too."""
    for name in wanted:
        if name not in there:
            fail(f"no figure {name}{hint(name, [*there, *variables], known)}; this dataset has "
                 f"{', '.join(sorted(has() if has else there))}")
    return [name for name in there if not wanted or name in wanted]


def hint(name, there, known):
    """The figure that a mistyped name may mean; what a figure needs that the dataset does not have."""
    needs = [" or ".join(figure.variables) for figure in known if figure.name == name]
    near = difflib.get_close_matches(name, there, 1, LIKE)
    return f": it needs {needs[0]}" if needs else f"; did you mean {near[0]}?" if near else ""


def draw(tasks):
    """Writes each figure, several at a time. Returns 1 if any failed, else 0."""
    workers = min(os.cpu_count() or 1, len(tasks) // MANY)
    if workers < 2:
        return report(map(write, tasks))
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        return report(pool.imap_unordered(write, tasks))  # unordered: report each figure as soon as it is written


def report(results):
    status = 0
    for paths, error in results:
        for path in paths:
            print(path, flush=True)
        if error:
            warn(error)
            status = 1
    return status


# ---- one figure ----

def write(task):
    """Draws one figure of a dataset in every format; called in worker processes.

    task: (path of the dataset, name of the figure, start of the files' names, formats, NAME=VALUE texts that select a
    part of the sweep, whether it is an error if the figure has nothing to show, how it looks). Returns (paths of the
    written files, error message or "").
    """
    path, name, stem, formats, at, is_wanted, options = task
    written, lost = [], []
    try:
        with open_sweep(path) as dataset:
            part = part_at(dataset, at)
            for drawing in draw_all(part, [name], lambda _, error: lost.append(error), options=options):
                for ending in formats:
                    look.save(drawing.figure, f"{stem}-{drawing.name}.{ending}", options)
                    written.append(f"{stem}-{drawing.name}.{ending}")
            if is_wanted and not written and not lost:
                lost.append(ValueError(f"nothing to draw: {why_empty(part, name)}"))
    except OSError as error:
        return written, f"{error.filename or path}: {error.strerror or error}"
    except Exception as error:  # one broken figure must not stop the others
        lost.append(error)
    return written, "".join(f"{name}: {reason(error)}" for error in lost[:1])


def write_together(loaded, draw, stem, formats, is_wanted, options):
    """Draws one figure of {path: dataset} in every format: draw is (name, function, why there may be nothing to draw).
    Returns what `write` returns."""
    written, (name, function, why) = [], draw
    try:
        drawing = drawn(lambda: function(loaded), options)
        for ending in formats if drawing else ():
            look.save(drawing.figure, f"{stem}-{drawing.name}.{ending}", options)
            written.append(f"{stem}-{drawing.name}.{ending}")
    except OSError as error:
        return written, f"{error.filename}: {error.strerror or error}"
    except Exception as error:  # one broken figure must not stop the others
        return written, f"{name}: {reason(error)}"
    return written, f"{name}: nothing to draw: {why}" if is_wanted and not written else ""
