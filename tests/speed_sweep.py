"""The overhead of a sweep per run: a benchmark over many very small runs, which reports numbers and has no limits.

The program is watched from outside. It believes to draw its progress on a terminal, so that four times a second it says
how many runs have ended; between the first and the last such line, as they are read, lies the wall time that counts:
start and end of MPI stay out. The runs that ended between are those of the cells between, as all cost the same and so
go in the order of their cells; how long each took stands in the dataset. The coordinator's time is the system's count.

  ideal     the sum of the runs' own seconds over the workers
  overhead  (wall - ideal) * workers / runs: what a worker spends outside of its runs for each
  beside    the same against the time in training steps alone: with setting up, measuring, validating and sending rows
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import netCDF4
import numpy

PROJECT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("NORMSWEEP_BUILD", PROJECT / "build"))
DONE = re.compile(rb"(\d+)/\d+ done")
HEADER = f"{'workers':>7} {'runs':>6} {'run ms':>8} {'wall s':>8} {'ideal s':>8} {'overhead us':>11} " \
         f"{'beside us':>9} {'coordinator %':>13} {'us per run':>10}"

TOKENS = 4 * 16  # of a step
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
seed: {{range: [1, {runs}]}}
measure: {{every: {every}}}
validate: {{every: end, tokens: 64}}
"""


def processor_seconds(pid):
    """The processor time of all threads of a process so far, in seconds; None if it is gone."""
    try:
        return sum(int((thread / "schedstat").read_text().split()[0])
                   for thread in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9
    except (OSError, IndexError):
        return None


def find_coordinator(launcher):
    """The pid of rank 0 below the launcher, or of the launcher where it trains itself; None: not there yet."""
    below = [launcher]
    for pid in below:
        try:
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if b"OMPI_COMM_WORLD_RANK=0" in environment:
                return pid
            for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
                below += map(int, (thread / "children").read_text().split())
        except OSError:
            pass
    return None


def watch(process, coordinates):
    """[(when, runs ended, the coordinator's seconds)] as the program draws its lines, while runs end; and the last of
    its other lines."""
    seen, said, pid = [], "", None
    for line in process.stderr:
        now, found = time.monotonic(), DONE.search(line)
        if not found:
            said = line.decode(errors="replace").strip() or said
            continue
        if coordinates and pid is None:
            pid = find_coordinator(process.pid)
        seconds = processor_seconds(pid) if pid else 0.0
        count = int(found.group(1))
        if seconds is not None and count > 0:
            seen.append((now, count, seconds))
    return seen, said


def measure(program, workers, sweep, tokens):
    """Runs the sweep, each run on `tokens`; one row of the table."""
    environment = dict(os.environ, NORMSWEEP_SCREEN="100x60 none ascii")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "speed.yaml").write_text(sweep)
        command = [program, "run", "speed.yaml", "-j", str(workers)]
        with subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            seen, said = watch(process, workers > 0)
        if process.returncode != 0:
            sys.exit(f"speed_sweep: -j {workers}: status {process.returncode}: {said}")
        if len(seen) < 3:
            sys.exit(f"speed_sweep: -j {workers}: only {len(seen)} lines of progress: more --runs, or longer ones")
        with netCDF4.Dataset(path / "speed.nc") as dataset:
            seconds = numpy.asarray(dataset["seconds"][:])
            stepping = tokens / numpy.asarray(dataset["tokens_per_second"][:])
    (begin, first, used_before), (end, last, used_after) = seen[0], seen[-1]
    wall, runs, lanes = end - begin, last - first, max(workers, 1)
    ideal = float(numpy.sum(seconds[first:last])) / lanes
    steps = float(numpy.sum(stepping[first:last])) / lanes
    used = used_after - used_before
    coordinator = f"{100 * used / wall:13.2f} {1e6 * used / runs:10.1f}" if workers else f"{'-':>13} {'-':>10}"
    return (f"{workers:7} {runs:6} {1e3 * ideal * lanes / runs:8.2f} {wall:8.2f} {ideal:8.2f} "
            f"{1e6 * (wall - ideal) * lanes / runs:11.1f} {1e6 * (wall - steps) * lanes / runs:9.1f} {coordinator}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, action="append", help="as `run -j`; may be given again (0 and 1)")
    parser.add_argument("--runs", type=int, default=2000, help="how many (2000)")
    parser.add_argument("--steps", type=int, default=160, help="training steps of a run (160)")
    parser.add_argument("--rows", type=int, default=3, help="measured steps of a run (3)")
    parser.add_argument("--build", type=pathlib.Path, default=BUILD, help="folder of the program")
    chosen = parser.parse_args()
    if not (chosen.build / "normsweep").is_file():
        sys.exit(f"speed_sweep: {chosen.build}/normsweep: not there; make builds it")
    sweep = SWEEP.format(steps=chosen.steps, runs=chosen.runs, every=max(chosen.steps // max(chosen.rows - 1, 1), 1))
    print(HEADER, flush=True)
    for workers in chosen.workers or [0, 1]:
        print(measure((chosen.build / "normsweep").resolve(), workers, sweep, chosen.steps * TOKENS), flush=True)


if __name__ == "__main__":
    main()
