"""Time to a boundary: where growth stops at each of some learning rates, to the next of many weight decays; found by a
sweep of normsweep with `refine`, and by what else people would do, on the same processors.

    speed_boundary.py [-j WORKERS] [-r ROUNDS] [--grid 12x64] [--steps 300] [--pytorch PYTHON]... [HOW...]

HOW is refine, which is always run, grid (normsweep, every cell), bisect (joblib processes with PyTorch, which bisect
the columns) or adaptive (python-adaptive's learner with PyTorch); default: all. They train the runs of
tests/speed_peer.py; tests/speed_boundary_torch.py says how the last two are written. What they find is compared with
the sweep's, in steps of the grid.

In each round every one is run once, from the start of its first process to the end of its last one. Prints a Markdown
table: medians over the rounds, ratios of times from the same round.
"""
import argparse
import pathlib
import sys
import tempfile

import netCDF4
import numpy as np

import speed_peer
from speed_machine import bind, cleaned, module_version, positive, print_cells, processor, pythons_with_torch, spread

HOWS = ("grid", "bisect", "adaptive")
PACKAGES = {"bisect": ("joblib",), "adaptive": ("adaptive", "loky")}
ENDS = (1e-4, 5e-2), (1e-2, 1e2)  # rates, decays: at every rate growth stops between these decays
GROWING, DONE, DIVERGED = 1, 2, 3
SAME = 1 - 1e-6  # steps of the grid between the middles of two brackets, below which they overlap
MOST = 1 + 1e-6  # steps between two boundaries of the same runs: two libraries round in other ways
HEADINGS = ("boundary by", "runs", "s, all", "s, started", "refine is x", "x, started", "same boundary in columns")


class Search(speed_peer.Own):
    """A sweep of normsweep, and the boundary that it finds."""

    def found(self, study):
        """Brackets [columns, 2] as decays, and the number of runs."""
        with netCDF4.Dataset(study.folder / f"{self.file}.nc") as dataset:
            grows = np.asarray(dataset["phase"][:]) == GROWING
            trained = np.isin(dataset["outcome"][:], (DONE, DIVERGED))
        last = grows.sum(axis=1) - 1
        if not all(line[:place + 1].all() for line, place in zip(grows, last)):
            speed_peer.fail(f"{self.name}: growth stops more than once at a rate")
        decays = np.array(study.decays)
        return {"brackets": np.stack([decays[np.maximum(last, 0)], decays[np.minimum(last + 1, len(decays) - 1)]], -1),
                "runs": int(trained.sum())}


def apart(study, one, other):
    """[columns] how many steps of the grid lie between the middles of two brackets."""
    step = np.log(study.decays[-1] / study.decays[0]) / (len(study.decays) - 1)
    middles = [np.log(found["brackets"]).mean(axis=1) / step for found in (one, other)]
    return np.abs(middles[0] - middles[1])


def check_same(name, steps):
    if not np.max(steps) <= MOST:
        speed_peer.fail(f"{name} found another boundary: up to {np.max(steps):.1f} steps of the grid apart")


def peers_of(hows, pythons, workers):
    """Those whose packages are there; says what is missing."""
    found = [Search(workers, "normsweep, every cell", "grid")] if "grid" in hows else []
    asked = [how for how in hows if how in PACKAGES]
    for python, version in pythons:
        for how in asked:
            lacking = [package for package in PACKAGES[how] if not module_version(python, package)]
            if lacking:
                print(f"{how}: its rows are left out, as the Python with PyTorch {version} lacks {lacking[0]}: "
                      f"pip install {' '.join(PACKAGES[how])} there")
            else:
                found.append(speed_peer.Peer(how, python, version, workers, "speed_boundary_torch.py"))
    if asked and not pythons:
        print("PyTorch: not installed for any Python here, so normsweep alone is timed: pip install torch joblib "
              "adaptive, and name that Python with --pytorch")
    return found


def print_table(study, own, taken, found):
    print_cells(HEADINGS)
    print_cells(["---"] * len(HEADINGS))
    for name, times in taken.items():
        seconds = [spread([each[kind] for each in times], 2, False) for kind in ("all", "started")]
        beside = [spread(speed_peer.ratios(times, taken[own.name], kind), 1) for kind in ("all", "started")]
        steps = apart(study, found[own.name], found[name])
        same = f"{int(np.sum(steps < SAME))} of {len(steps)}; at most {np.max(steps):.1f} steps apart"
        is_own = name == own.name
        print_cells([name, str(int(found[name]["runs"])), *seconds, *(["1", "1"] if is_own else beside),
                     "" if is_own else same])


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description="Time to a boundary, beside bisection and python-adaptive.")
    parser.add_argument("-j", "--workers", type=positive, default=2, help="of each (default 2)")
    parser.add_argument("-r", "--rounds", type=positive, default=3, help="(default 3)")
    parser.add_argument("--grid", type=speed_peer.parse_grid, default=(12, 64),
                        help="learning rates x weight decays (default 12x64)")
    parser.add_argument("--steps", type=positive, default=300, help="of each run (default 300)")
    parser.add_argument("--pytorch", action="append", metavar="PYTHON", default=[],
                        help="a Python with PyTorch; may be given again (default: the one with the newest)")
    parser.add_argument("hows", nargs="*", metavar="HOW", help=f"refine, {', '.join(HOWS)} (default: all)")
    options = parser.parse_args(arguments)
    for how in options.hows:
        if how not in ("refine", *HOWS):
            sys.exit(f"speed_boundary: no way '{how}': refine, {', '.join(HOWS)}")
    options.hows = [how for how in HOWS if how in options.hows] if options.hows else list(HOWS)
    return options


def main():
    options = parse_arguments()
    for program in "normsweep", "replay-float":
        if not (speed_peer.BUILD / program).exists():
            sys.exit(f"speed_boundary: no {speed_peer.BUILD / program}: make programs")
    pythons = pythons_with_torch(options.pytorch) if set(options.hows) & set(PACKAGES) else []
    bind(options.workers)
    environment = cleaned()
    own = Search(options.workers, "normsweep, refine", "refine")
    peers = peers_of(options.hows, pythons, options.workers)
    rates, decays = options.grid
    print(f"{processor()}; {options.workers} workers; the boundary of {rates} learning rates at {decays} weight "
          f"decays, runs of {options.steps} steps\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        study = speed_peer.Study(pathlib.Path(folder), options.grid, options.steps, ENDS)
        study.write_sweep("grid")
        study.write_sweep("refine", refine="{axis: weight_decay}")
        if any(isinstance(peer, speed_peer.Peer) for peer in peers):
            study.write_arrays()
        taken, found = speed_peer.take_rounds(study, own, peers, options.rounds, environment)
    print_table(study, own, taken, found)
    for name in taken:
        check_same(name, apart(study, found[own.name], found[name]))


if __name__ == "__main__":
    main()
