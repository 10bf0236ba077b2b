"""Whole sweeps, beside what else people would write: the same grid of learning rate x weight decay of a tiny network as
a sweep of normsweep, as joblib processes with PyTorch, and as a Ray Tune study with PyTorch, on the same processors.

    speed_peer.py [-j WORKERS] [-r ROUNDS] [--grid 9x8] [--steps 300] [--pytorch PYTHON]... [HOW...]

HOW is normsweep, which is always run, joblib, joblib-compile, ray or ray-compile (default: all). All of them train the
same runs: the initial weights and the batches are the program's own, handed over in a file (tests/replay.c), and their
losses are compared. tests/speed_peer_torch.py says how the others are written, and what was chosen for them.

In each round every sweep is run once, from the start of its first process to the end of its last one. `started`: from
when its workers were ready, which for normsweep is from its start. Of what is not installed, one line says so.
Prints a Markdown table: medians over the rounds, ratios of times from the same round.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import netCDF4
import numpy as np

from replay import replay
from speed_machine import (
    bind, cleaned, module_version, positive, print_cells, processor, pythons_with_torch, release, spread)

TESTS = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("NORMSWEEP_BUILD") or TESTS.parent / "build").resolve()
HOWS = ("joblib", "joblib-compile", "ray", "ray-compile")
PACKAGES = {"joblib": "joblib", "ray": "ray[tune]"}
EVERY = 10
NETWORK = {"vocabulary": 129, "width": 32, "heads": 2, "feedforward": 64, "layers": 2, "context": 32}
OTHERS = {"corpus": "markov", "corpus_tokens": 150000, "batch": 16}
VALIDATED = 4 * OTHERS["batch"] * NETWORK["context"] + 1  # tokens: four batches and the last one's target
RATES, DECAYS = (1e-4, 5e-2), (1e-3, 1.0)  # from, to: no run diverges, and rounding does not grow to other losses
# Of losses, in nats: rounding before the first step; at the end of a run what rounding has grown to, in most cells.
FIRST_TOLERANCE, LAST_TOLERANCE, AGREEING_SHARE = 1e-4, 0.05, 0.9


def fail(message):
    sys.exit(f"speed_peer: {message}")


# The study


class Study:
    """The grid, and the files by which all know of it."""

    def __init__(self, folder, grid, steps, ends=None):
        self.folder, self.steps = folder, steps
        self.rates, self.decays = ([float(f"{value:.12g}") for value in np.geomspace(*between, count)]
                                   for between, count in zip(ends or (RATES, DECAYS), grid))
        self.runs = grid[0] * grid[1]
        self.path = folder / "study.npz"

    def write_sweep(self, name="peer", **more):
        keys = NETWORK | OTHERS | {
            "steps": self.steps, "learning_rate": self.rates, "weight_decay": self.decays, "output": f"{name}.nc",
            "measure": f"{{every: {EVERY}}}", "validate": f"{{every: end, tokens: {VALIDATED}}}"} | more
        (self.folder / f"{name}.yaml").write_text("".join(f"{key}: {value}\n" for key, value in keys.items()))

    def write_arrays(self):
        """The same for others: network, initial weights, batches, cells."""
        shape = (-1, OTHERS["batch"], NETWORK["context"])
        keys = NETWORK | OTHERS
        initial = replay("float", **keys, steps=1)["initial"][0]
        dump = replay("float", **keys, steps=self.steps, batches=self.steps, validate=VALIDATED)
        cells = [(rate, decay) for rate in self.rates for decay in self.decays]
        np.savez(self.path, **NETWORK, every=EVERY, cells=cells, initial=initial,
                 **{name: np.concatenate(dump[key]).reshape(shape) for name, key in (
                     ("tokens", "tokens"), ("target", "target"),
                     ("valid_tokens", "validated_tokens"), ("valid_target", "validated_target"))})


# The sweeps


class Own:
    def __init__(self, workers, name="normsweep", file="peer"):
        self.workers, self.name, self.file = workers, name, file

    def run(self, study, environment):
        """{"all": seconds, "started": seconds}, and what its runs have found."""
        for path in study.folder.glob(f"{self.file}.nc*"):
            if path.is_file():
                path.unlink()
        command = [BUILD / "normsweep", "run", f"{self.file}.yaml", "-j", str(self.workers)]
        begin = time.monotonic()
        done = subprocess.run(command, cwd=study.folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        seconds = time.monotonic() - begin
        if done.returncode != 0:
            fail(f"{self.name}: status {done.returncode}: {last_line(done.stderr)}")
        return {"all": seconds, "started": seconds}, self.found(study)

    def found(self, study):
        with netCDF4.Dataset(study.folder / f"{self.file}.nc") as dataset:
            def read(name):
                variable = dataset[name]
                assert variable.dimensions[:2] == ("learning_rate", "weight_decay"), variable.dimensions
                return np.ma.filled(variable[:], np.nan).reshape(study.runs, *variable.shape[2:])
            return {"param_norm": read("param_norm"), "losses": read("train_loss")[:, :-1],
                    "valid_loss": read("final_valid_loss")}


class Peer:
    """A sweep of tests/speed_peer_torch.py, or of another script that is called and answers like it."""

    def __init__(self, how, python, version, workers, script="speed_peer_torch.py"):
        kind, _, compiled = how.partition("-")
        self.name = f"{kind}, PyTorch {version}, {compiled or 'eager'}"
        self.command = [python, TESTS / script, kind, *(["--compile"] if compiled else []),
                        "--workers", str(workers)]

    def run(self, study, environment):
        """As Own.run; None and the reason if it fails."""
        results, begin = study.folder / "results.npz", time.monotonic()
        with tempfile.TemporaryFile("w+") as errors:
            with subprocess.Popen([*self.command, study.path, results], stdout=subprocess.PIPE, stderr=errors,
                                  stdin=subprocess.DEVNULL, env=environment, text=True) as process:
                said = {line.split()[0]: (time.monotonic(), line.split()[1:])
                        for line in process.stdout if line.startswith(("ready", "done"))}
            end = time.monotonic()
            if process.returncode != 0 or "done" not in said:
                errors.seek(0)
                return None, last_line(errors.read())
        (ready, _), (done, (late,)) = said["ready"], said["done"]
        with np.load(results) as file:
            return {"all": end - begin, "started": done - ready - float(late)}, dict(file)


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


def peers_of(hows, pythons, workers):
    """Those whose packages are there; says what is missing."""
    found = []
    for python, version in pythons:
        for kind, package in PACKAGES.items():
            asked = [how for how in hows if how.partition("-")[0] == kind]
            if asked and not module_version(python, kind):
                print(f"{kind}: not installed for the Python with PyTorch {version}, its rows are left out: "
                      f"pip install '{package}' there")
            elif release(version) < (2,):  # without torch.compile
                found += [Peer(how, python, version, workers) for how in asked if how == kind]
            else:
                found += [Peer(how, python, version, workers) for how in asked]
    if hows and not pythons:
        print("PyTorch: not installed for any Python here, so normsweep alone is timed: pip install torch joblib "
              "'ray[tune]', and name that Python with --pytorch")
    return found


# Are they the same runs?


def differences(own, other):
    """Of the first losses and, for each run, of the last ones; the share of runs on the same side of growth."""
    def grows(found):
        return found["param_norm"][:, -1] > found["param_norm"][:, 0]

    return {"first": np.max(np.abs(own["losses"][:, 0] - other["losses"][:, 0])),
            "last": np.abs(own["valid_loss"] - other["valid_loss"]),
            "same_side": int(np.sum(grows(own) == grows(other)))}


def check_same(name, found):
    """Fails unless these are the same runs, but for what rounding grows to."""
    share = np.mean(found["last"] <= LAST_TOLERANCE)
    if not (found["first"] <= FIRST_TOLERANCE and share >= AGREEING_SHARE):
        fail(f"{name} did not train the same runs: first losses differ by up to {found['first']:.2g}, and "
             f"{share:.0%} of the last ones agree within {LAST_TOLERANCE}")


def told(found):
    runs = len(found["last"])
    within = int(np.sum(found["last"] <= LAST_TOLERANCE))
    return (f"within {LAST_TOLERANCE} in {within} of {runs}, median {np.median(found['last']):.1g}; "
            f"same side of growth in {found['same_side']}")


# The table


HEADINGS = ("sweep", "s, all", "s, started", "normsweep is x", "x, started", "final losses beside normsweep's")


def ratios(taken, own, kind):
    return [other[kind] / mine[kind] for other, mine in zip(taken, own)]


def print_table(own, sweeps, agreement):
    """sweeps: {name: [times of each round]}."""
    print_cells(HEADINGS)
    print_cells(["---"] * len(HEADINGS))
    for name, taken in sweeps.items():
        seconds = [spread([times[kind] for times in taken], 2, False) for kind in ("all", "started")]
        beside = [spread(ratios(taken, own, kind), 1) for kind in ("all", "started")]
        if taken is own:
            beside = ["1", "1"]
        print_cells([name, *seconds, *beside, agreement.get(name, "")])


def print_best(own, sweeps):
    others = {name: statistics.median(ratios(taken, own, "started")) for name, taken in sweeps.items()
              if taken is not own}
    if others:
        best = min(others, key=others.get)
        print(f"\nThe fastest of the others, {best}, takes {others[best]:.1f} times as long as normsweep once it is "
              "started.")


def take_rounds(study, own, peers, rounds, environment):
    """{name: times of each round}; what each has found in the last one. A peer that fails is told and left out."""
    taken, found = {own.name: []}, {}
    for number in range(rounds):
        for sweep in [own, *peers]:
            times, result = sweep.run(study, environment)
            if times is None:
                print(f"{sweep.name}: left out, it failed: {result}", flush=True)
                taken.pop(sweep.name, None)
                found.pop(sweep.name, None)
                peers = [peer for peer in peers if peer is not sweep]
                continue
            taken.setdefault(sweep.name, []).append(times)
            found[sweep.name] = result
            print(f"round {number + 1}: {sweep.name}: {times['all']:.1f} s, started {times['started']:.1f} s",
                  file=sys.stderr, flush=True)
    return taken, found


def parse_grid(text):
    match = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a grid such as 9x8")
    return int(match[1]), int(match[2])


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description="Whole sweeps, beside joblib and Ray Tune with PyTorch.")
    parser.add_argument("-j", "--workers", type=positive, default=2, help="of each sweep (default 2)")
    parser.add_argument("-r", "--rounds", type=positive, default=3, help="(default 3)")
    parser.add_argument("--grid", type=parse_grid, default=(9, 8), help="learning rates x weight decays (default 9x8)")
    parser.add_argument("--steps", type=positive, default=300, help="of each run (default 300)")
    parser.add_argument("--pytorch", action="append", metavar="PYTHON", default=[],
                        help="a Python with PyTorch; may be given again (default: the one with the newest)")
    parser.add_argument("hows", nargs="*", metavar="HOW", help=f"normsweep, {', '.join(HOWS)} (default: all)")
    options = parser.parse_args(arguments)
    for how in options.hows:
        if how not in ("normsweep", *HOWS):
            fail(f"no sweep '{how}': normsweep, {', '.join(HOWS)}")
    options.hows = [how for how in HOWS if how in options.hows] if options.hows else list(HOWS)
    return options


def main():
    options = parse_arguments()
    for program in "normsweep", "replay-float":
        if not (BUILD / program).exists():
            fail(f"no {BUILD / program}: make programs")
    pythons = pythons_with_torch(options.pytorch) if options.hows else []
    bind(options.workers)
    environment = cleaned()
    peers = peers_of(options.hows, pythons, options.workers)
    rates, decays = options.grid
    print(f"{processor()}; {options.workers} workers; {rates} learning rates x {decays} weight decays = "
          f"{rates * decays} runs of {options.steps} steps, measured every {EVERY}\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        study = Study(pathlib.Path(folder), options.grid, options.steps)
        study.write_sweep()
        if peers:
            study.write_arrays()
        own = Own(options.workers)
        taken, found = take_rounds(study, own, peers, options.rounds, environment)
    agreement = {name: differences(found[own.name], found[name]) for name in taken if name != own.name}
    print_table(taken[own.name], taken, {name: told(which) for name, which in agreement.items()})
    for name in agreement:
        check_same(name, agreement[name])
    print_best(taken[own.name], taken)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
