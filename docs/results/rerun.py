#!/usr/bin/env python3
"""Runs the studies behind the results again, and compares their numbers with those that the pages rest on.

A study is a file of this folder, NAME.py: SWEEPS, the sweeps that it trains; numbers(), which computes from their
datasets what the pages say; and FIGURE or figure(), if it has one. NAME.csv has these numbers as they were, each with
an interval. A number that falls out of its interval is printed. Datasets are kept in a folder; those that are complete
are not trained again. The processor time of their training is kept beside them, and is the last number of a study.
"""

import argparse
import csv
import difflib
import importlib
import os
import pathlib
import re
import resource
import subprocess
import sys

from study import COLUMNS, PROJECT, number

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "analysis"))
KEPT = re.compile(r"[\w.-]+\.nc\.d/\*\.weights\.nc")
NOT_COMPARED = "not compared"
TEXT = re.compile(r"\b[\w.]+\.(?:tokens|de|en)\b")


def main():
    arguments = parse()
    studies = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("rerun", "study"))
    for name in arguments.study:
        if name not in studies:
            near = difflib.get_close_matches(name.lower(), studies, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(studies)}"
            sys.exit(f"results: no study '{name}'; {hint}")
    if not arguments.text.is_dir():
        sys.exit(f"results: no folder {arguments.text.resolve()}; name that of the texts: make results TEXT=FOLDER")
    arguments.keep.mkdir(parents=True, exist_ok=True)
    differing = sum(rerun(name, arguments) for name in dict.fromkeys(arguments.study or studies))
    return 1 if differing else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", nargs="*", help="the studies to run (default: all)")
    parser.add_argument("--text", type=pathlib.Path, metavar="FOLDER", default=PROJECT / "sweeps",
                        help="the folder of wiki.valid.tokens, wiki.test.tokens, val.de and val.en (default: sweeps)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", default=PROJECT / "build" / "results",
                        help="the folder of the datasets (default: build/results)")
    parser.add_argument("--long", action="store_true",
                        help="train the sweeps of hours again, too, instead of taking their datasets beside this file")
    parser.add_argument("--write", action="store_true",
                        help="write the numbers and draw the figures, instead of comparing")
    return parser.parse_args()


def rerun(name, arguments):
    """Trains the sweeps of a study and compares its numbers. Returns how many differ."""
    try:
        study = importlib.import_module(name)
    except ValueError as error:
        sys.exit(f"results: {name}: {error}")
    missing = sorted(file for words in study.SWEEPS.values() for file in texts(words)
                     if not (arguments.text / file).exists())
    if missing:
        print(f"{name}: skipped: {arguments.text} has no {', '.join(dict.fromkeys(missing))}; name the folder "
              "that has it: make results TEXT=FOLDER", flush=True)
        return int(name in arguments.study)  # which was asked for
    from normsweep import open_sweep
    try:
        outputs = {key: train(f"{name}-{key}", words, arguments) for key, words in study.SWEEPS.items()}
    except ChildProcessError as error:
        print(f"{name}: not trained: {error}", flush=True)
        return 1
    datasets = {key: open_sweep(output) for key, output in outputs.items()}
    study.folder = arguments.text  # for what a study reads of the texts themselves
    minutes = sum(spent(output) for output in outputs.values() if output.parent != HERE) / 60
    found = [*study.numbers(**datasets), number("core-minutes", minutes, minutes, minutes, NOT_COMPARED)]
    table = HERE / f"{name}.csv"
    if arguments.write:
        write(table, found)
        picture = draw(name, study, datasets, found)
        print(f"{name}: {len(found)} numbers written to {table}{f', a figure to {picture}' if picture else ''}",
              flush=True)
        return 0
    if not table.exists():
        print(f"{name}: nothing to compare with: {table} is not there; make results "
              f"STUDIES={name} WRITE=yes makes it", flush=True)
        return 1
    return report(name, found, read(table))


def texts(words):
    return [file for word in words if word.startswith("train_text=") or word.startswith("valid_text=")
            for file in TEXT.findall(word)]


def train(name, words, arguments):
    """Trains one sweep as far as it is not trained yet. Returns the path of its dataset. Raises ChildProcessError if
    that fails."""
    known = HERE / f"{name}.nc"
    if known.exists() and not arguments.long:
        return known
    output = arguments.keep / f"{name}.nc"
    named, words = (words[0], words[1:]) if words[0].startswith("normsweep") else ("normsweep", words)
    program = pathlib.Path(os.environ.get("NORMSWEEP_BUILD", PROJECT / "build")) / named
    if not program.exists():
        sys.exit(f"results: {program} is not there: build it with make, or name its folder in NORMSWEEP_BUILD")
    words = [TEXT.sub(lambda match: str(arguments.text.resolve() / match[0]), word)
             if word.startswith(("train_text=", "valid_text=")) else word for word in words]
    words = [KEPT.sub(lambda match: weights(arguments.keep, match[0]), word) for word in words]
    log = output.with_suffix(".log")
    print(f"{name}: training{' what is left' if output.exists() else ''}; {log} says how far it is", flush=True)
    before = spent(output), children_seconds()
    with open(log, "ab") as file:
        start = file.tell()
        child = subprocess.Popen([program, "run", *words, "-o", output], stdout=file, stderr=file)
        try:
            status = child.wait()
        except KeyboardInterrupt:  # it has the signal, too, and saves its runs
            child.wait()
            sys.exit("results: interrupted; the same command trains what is left")
        finally:
            cost(output).write_text(f"{before[0] + children_seconds() - before[1]:.1f}\n")
    if status:
        said = log.read_bytes()[start:].decode(errors="replace").splitlines()
        reason = f"normsweep was ended by signal {-status}" if status < 0 else (said or [f"it ended with {status}"])[-1]
        raise ChildProcessError(f"{reason}; {log} has all that it said")
    return output


def weights(folder, pattern):
    for path in folder.resolve().glob(pattern):
        return str(path)
    sys.exit(f"results: {folder / pattern} is not there: remove {folder / pattern.partition('.d/')[0]}, so that it is "
             "trained again")


def children_seconds():
    """The processor time of all children that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cost(output):
    return output.with_suffix(".seconds")


def spent(output):
    """The seconds of processor time that a dataset has taken, over all sessions; NaN if others have trained it."""
    if not output.exists():
        return 0.0
    return float(cost(output).read_text()) if cost(output).exists() else float("nan")


def draw(name, study, datasets, found):
    """Draws the study's figure, if it has one: FIGURE, which is a key in SWEEPS, the name of a figure, options of
    normsweep.figures.draw, and the part of the grid if it is not all of it; or what its figure() makes of its numbers.
    Returns the path of the picture, or None."""
    from normsweep import figures
    if hasattr(study, "FIGURE"):
        key, figure, options, *part = study.FIGURE
        drawn = figures.draw(datasets[key].sel(*part), figure, **{"width": 3.3, "notes": False, **options})
    elif hasattr(study, "figure"):
        drawn = study.figure({row["number"]: row for row in found})
    else:
        return None
    picture = HERE / f"{name}.png"
    figures.save(drawn, picture)
    return picture


def write(path, found):
    with open(path, "w", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        rows.writeheader()
        rows.writerows({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()}
                       for row in found)


def read(path):
    """{name of a number: its row}."""
    with open(path, newline="") as file:
        return {row["number"]: {key: float(value) if key in ("value", "low", "high") else value
                                for key, value in row.items()} for row in csv.DictReader(file)}


def report(name, found, known):
    """Prints what differs. Returns how many numbers that are."""
    new = {row["number"]: row for row in found}
    compared = {key: row for key, row in known.items() if row["interval"] != NOT_COMPARED}
    lines = [f"    {key}: {new[key]['value']:.4g}, was {row['value']:.4g}, {row['low']:.4g} to {row['high']:.4g} "
             f"({row['interval']})" for key, row in compared.items() if key in new and not agrees(new[key], row)]
    lines += [f"    {key}: not computed any more" for key in known if key not in new]
    lines += [f"    {key}: {row['value']:.4g}, new" for key, row in new.items() if key not in known]
    agree = sum(key in new and agrees(new[key], row) for key, row in compared.items())
    print("\n".join([f"{name}: {agree} of {len(compared)} numbers agree", *lines]), flush=True)
    return len(lines)


def agrees(row, known):
    """Does a number lie in the interval that it had, to the digits of the file?"""
    if known["value"] != known["value"]:
        return row["value"] != row["value"]
    room = 1e-5 * max(abs(known["low"]), abs(known["high"]))
    return known["low"] - room <= row["value"] <= known["high"] + room


if __name__ == "__main__":
    sys.exit(main())
