"""Writes the runs of a normsweep dataset for an experiment tracker: TensorBoard, MLflow or Weights & Biases.

Each run is a run there, with its parameters, its series over the steps, and its final values once it has ended. Nothing
is sent anywhere: the files in FOLDER are event files, MLflow's file store, or Weights & Biases' offline runs. Call it
again while the sweep runs, with the same folder: it writes only what is new. Several sweeps may share a folder.
"""

import argparse
import os
import time

from ..command import add_datasets, fail, make_folder, open_or_fail
from ..logged import Memory, OtherRuns, news, remember
from ..trackers import TRACKERS, module
from ..words import several

SAVED_EACH = 5  # seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__.split("\n\n", 1)[1])
    add_datasets(parser)
    parser.add_argument("--to", required=True, choices=TRACKERS, help="the tracker")
    parser.add_argument("folder", metavar="FOLDER", type=lambda text: text.rstrip("/") or text)
    arguments = parser.parse_args()
    folder = arguments.folder
    with open_or_fail(arguments.dataset) as dataset:
        sweep = os.path.splitext(os.path.basename(arguments.dataset))[0]
        try:
            module(*TRACKERS[arguments.to].packages)
            make_folder(folder)
            memory = Memory(os.path.join(folder, f"{sweep}.normsweep-log.json"), arguments.to, dataset)
            tracker = TRACKERS[arguments.to](folder, sweep, dataset.sweep.title)
            runs, values = write(dataset, memory, tracker)
        except (ModuleNotFoundError, OtherRuns) as error:
            fail(error)
        except OSError as error:
            fail(f"{error.filename or folder}: {error.strerror or error}")
    if not runs:
        print(f"{folder}: nothing new")
        return
    print(f"{folder}: {several(values, 'value')} of {several(runs, 'run')}\nto see them: "
          f"{tracker.view.format(folder=folder)}")


def write(dataset, memory, tracker):
    """Writes what is new. Returns the numbers of runs and of values."""
    runs = values = 0
    saved = time.monotonic()
    try:
        for one in news(dataset, memory, tracker.whole):
            kept = memory.of(one.key)
            tracker.write(one, kept)
            remember(memory, one)
            runs, values = runs + 1, values + one.values
            if time.monotonic() - saved > SAVED_EACH:
                memory.save()
                saved = time.monotonic()
    except tracker.faults as error:
        fail(f"{memory.path}: {str(error).splitlines()[0]}")
    finally:
        if runs:
            memory.save()
    return runs, values
