"""A coordinator with 10,000 workers that end their runs at once (tests/scale.c), over numbers of runs; and how soon a
result is seen by xarray.

    scale.py [--workers 10000] [--runs 1000 100000]... [--results 40]

The first table: what the coordinator's process takes for each run, messages per second of its processor time, its
largest resident set. Messages go by MPI over TCP, as between hosts. The second: seconds from the line that a run has
ended in the log of a real sweep, which is written once the result is on the disk, until xarray, which opens the
dataset again and again, has the outcome.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
from datetime import datetime

import xarray as xr

TESTS = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("NORMSWEEP_BUILD") or TESTS.parent / "build").resolve()
SWEEP = """\
corpus: markov
vocabulary: 64
corpus_tokens: 20000
layers: 1
width: 16
heads: 2
feedforward: 32
context: 16
batch: 4
steps: {steps}
learning_rate: {{log: [1, 1e-5], points: {rates}}}
weight_decay: {{log: [1e-4, 10], points: {decays}}}
measure: {{every: 100}}
"""


def grid(runs):
    """The two factors of a number of runs that are nearest to each other."""
    rates = next(rate for rate in range(int(runs ** 0.5), 0, -1) if runs % rate == 0)
    return {"rates": rates, "decays": runs // rates}


def coordinate(folder, workers, runs):
    """What tests/scale.c prints, {name: number}."""
    (folder / "scale.yaml").write_text(SWEEP.format(steps=1, **grid(runs)))
    (folder / "scale.nc").unlink(missing_ok=True)
    environment = os.environ | {"SCALE_WORKERS": str(workers), "OMPI_MCA_btl": "self,tcp"}
    command = ["mpirun", "--oversubscribe", "-n", "2", BUILD / "scale", "scale.yaml", "scale.nc"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    words = next(line for line in done.stdout.splitlines() if line.startswith("workers ")).split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def delays(folder, results):
    """Seconds from the end of each run in the log to its outcome in xarray."""
    (folder / "seen.yaml").write_text(SWEEP.format(steps=2000, **grid(results)))
    seen = {}
    with subprocess.Popen([BUILD / "normsweep", "run", "seen.yaml", "-j", "1", "--log", "log"], cwd=folder,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        while command.poll() is None:
            try:
                with xr.open_dataset(folder / "seen.nc") as dataset:
                    ended = dataset.outcome.values.ravel()
            except OSError:  # not there yet
                continue
            for cell in (ended >= 2).nonzero()[0].tolist():
                seen.setdefault(cell, time.time())
            time.sleep(0.02)
    lines = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    return [seen[line["cell"]] - datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp()
            for line in lines if line["event"] == "run_ended" and line["cell"] in seen]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--workers", type=int, default=10000)
    parser.add_argument("--runs", type=int, nargs="+", default=[1000, 100000])
    parser.add_argument("--results", type=int, default=40)
    options = parser.parse_args()
    print("| workers | runs | microseconds a run | messages a second | megabytes |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for runs in options.runs:
            took = coordinate(folder, options.workers, runs)
            print(f"| {options.workers} | {runs} | {1e6 * took['processor_seconds'] / runs:.0f} | "
                  f"{took['messages'] / took['processor_seconds']:.0f} | {took['megabytes']:.0f} |", flush=True)
        waits = sorted(delays(folder, options.results))
    print(f"\n{len(waits)} results, from the log to xarray: median {statistics.median(waits):.2f} s, "
          f"at most {waits[-1]:.2f} s")


if __name__ == "__main__":
    main()
