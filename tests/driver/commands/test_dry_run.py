"""`run --dry-run`: it says what `run` then does, and nothing is touched by it."""

import hashlib
import os
import re
import signal
import subprocess

import netCDF4
import pytest

import missing
from conftest import NORMSWEEP, run, sets, tiny
from schemas import events
from waited import FAILED, Background

pytestmark = pytest.mark.thorough("starts dozens of sweeps")

SWEEP = tiny() + """\
steps: 45
learning_rate: [0.01, 0.001]
weight_decay: [0, 0.1]
measure: {every: 10}
"""


def everything(folder):
    """What a program could change: the names below a folder, and of each file what a listing shows and its contents."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        state = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        found[str(path)] = (state.st_ino, state.st_mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns, content)
    return found


def untouched(folder, *arguments, status=0, **options):
    """Runs the program, which must leave the folder as it is."""
    before = everything(folder)
    done = run(NORMSWEEP, "run", "sweep.yaml", *arguments, "--dry-run", cwd=folder, status=status, **options)
    assert everything(folder) == before
    return done


def said(folder, *arguments, **options):
    """What a dry run says: its lines by their first words."""
    done = untouched(folder, *arguments, **options)
    first, *lines = done.stdout.splitlines()
    assert first.endswith(".nc: a dry run: nothing is written, and nothing is trained")
    assert re.fullmatch(r"(note: sweep\.yaml: in \d+ of \d+ cells .*\n)?", done.stderr)  # what `run` remarks, too
    return {line[:10].strip(): line[10:] for line in lines}


def runs(told, *words):
    return sum(int(told[word].split()[0]) for word in words if word in told)


def steps(told, word):
    found = re.search(r" at steps? (\d+)(?: to (\d+))?$", told.get(word, ""))
    return (int(found[1]), int(found[2] or found[1])) if found else None


def inode(path):
    return path.stat().st_ino if path.exists() else None


def really(folder, *arguments, status=0, jobs="0"):
    """Runs the sweep. The fate of its dataset, in the words of a dry run, and the first step of each run."""
    old, log = inode(folder / "sweep.nc"), folder / "log"
    log.unlink(missing_ok=True)
    run(NORMSWEEP, "run", "sweep.yaml", *arguments, "-j", jobs, "--log", "log", cwd=folder, status=status)
    new, names = inode(folder / "sweep.nc"), {inode(path): path.name for path in folder.glob("sweep.nc*.old")}
    word = ("does not exist" if old is None else "would be continued" if new == old
            else f"would become {names[old]}" if old in names else "would be written anew")
    first = {}
    for event in events(folder, "run_started", "run_resumed"):
        first.setdefault(event["cell"], event["step"])
    return word, list(first.values())


def agree(folder, *arguments, jobs="0", searched=False):
    """Checks that a dry run predicts what the run then does. Returns what it said."""
    told = said(folder, *arguments, "-j", jobs)
    word, begun = really(folder, *arguments, jobs=jobs)
    assert word in told["dataset"], (word, told)
    later = [step for step in begun if step > 0]
    listed = runs(told, "resume", "carry on", "again", "retry", "train")
    assert len(begun) == listed or (searched and listed <= len(begun)), (told, begun)
    assert len(later) == runs(told, "resume", "carry on")
    if later:
        assert (min(later), max(later)) == (steps(told, "resume") or steps(told, "carry on"))
    return told


@pytest.fixture
def place(tmp_path):
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


@pytest.fixture
def done(place):
    run(NORMSWEEP, "run", "sweep.yaml", "-j", "0", cwd=place)
    return place


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_a_new_sweep(place, jobs):
    told = agree(place, jobs=jobs)
    assert told["dataset"] == "sweep.nc does not exist and would be made, with 4 cells"
    assert told["train"] == "4 runs, from the first step"
    assert told["ranks"].startswith("none" if jobs == "0" else "2, a coordinator and 1 spare, on this machine, by mpi")


def test_it_names_the_workers_as_run_does(place):
    announced = untouched(place, "-j", "2").stdout.splitlines()[-1]
    assert announced in run(NORMSWEEP, "run", "sweep.yaml", "-j", "2", cwd=place).stdout.splitlines()


def test_a_finished_sweep(done):
    told = agree(done)
    assert told == {"dataset": "sweep.nc would be continued as it is", "keep": "4 runs: 4 done, 0 diverged, 0 failed",
                    "nothing is": " left to train"}
    assert said(done) == told  # with ranks, too


@pytest.mark.parametrize("change, why", [
    ("learning_rate=[0.1, 0.01, 0.001]", "2 of 6 cells are new"), ("seed=[1, 0]", "4 of 8 cells are new"),
    ("title=Another", "the text of the sweep file has changed")])
def test_a_sweep_that_has_changed(done, change, why):
    told = agree(done, "--set", change)
    assert told["dataset"] == f"sweep.nc would be written anew with all that it holds, because {why}"
    assert told["keep"].startswith("4 runs: 4 done")


def test_cells_that_are_left_out(done):
    told = agree(done, "--set", "seed=[0, 1]", "--set", "skip=[{learning_rate: 0.01, seed: 1}]")
    assert (told["skip"], told["train"]) == ("2 cells", "2 runs, from the first step")
    told = agree(done, "--set", "seed=[0, 1]")
    assert "skip" not in told and told["train"] == "2 runs, from the first step"


def test_fresh(done):
    told = agree(done, "--fresh")
    assert told["dataset"] == "sweep.nc would become sweep.nc.old, and a new one would be made"
    assert told["train"] == "4 runs, from the first step" and "keep" not in told
    agree(done, "--fresh")


@pytest.fixture
def failed(done):
    with netCDF4.Dataset(done / "sweep.nc", "a") as file:
        file["outcome"][0, 1] = file["outcome"][1, 1] = FAILED
    return done


def test_failed_runs(failed):
    told = said(failed, "-j", "0", status=1)
    assert told["keep"] == "4 runs: 2 done, 0 diverged, 2 failed" and "train" not in told
    assert really(failed, status=1) == ("would be continued", [])
    told = agree(failed, "--retry-failed")
    assert told["retry"] == "2 runs, from the first step: failed before" and told["keep"].startswith("2 runs: 2 done")


LONG = sets("steps=500000", "weight_decay=0", "measure={every: 100000}", "checkpoint_minutes=1e-4")


def stop_when(folder, jobs, ready, number=signal.SIGTERM):
    """Starts the long sweep, and stops it when it is ready; its exit status."""
    with Background(folder, "run", "sweep.yaml", *LONG, "-j", jobs, "--log", "log") as sweep:
        sweep.wait_until(ready, "it is ready")
        sweep.send(number)
        return sweep.ends()


def saved(folder):
    return {path.name[:32] for path in (folder / "sweep.nc.d").glob("*-*-*-*.nc")}


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_a_stopped_sweep(place, jobs):
    under_way = 1 if jobs == "0" else 2
    assert stop_when(place, jobs, lambda: len(saved(place)) == under_way) == 75
    told = said(place, *LONG, "-j", jobs)
    assert told["dataset"] == "sweep.nc would be continued as it is"
    assert (runs(told, "resume"), runs(told, "train")) == (under_way, 2 - under_way)
    (place / "log").unlink()
    stop_when(place, jobs, lambda: len(events(place, "run_resumed")) == under_way)
    found = [event["step"] for event in events(place, "run_resumed")]
    assert steps(told, "resume") == (min(found), max(found)) and min(found) > 0


def test_checkpoints_that_cannot_be_used(place):
    """Of another vector level, or damaged: the line is that of a run that begins again, and files stay."""
    stop_when(place, "0", lambda: saved(place))
    environment = {**os.environ, "NORMSWEEP_VECTOR": "baseline"}
    if runs(said(place, *LONG, "-j", "0", env=environment), "resume") == 0:  # the processor has another level
        assert "resume" in said(place, *LONG, "-j", "0")
    for path in (place / "sweep.nc.d").glob("*-*.nc"):
        path.write_bytes(path.read_bytes()[:-100] + b"x" * 100)
    told = said(place, *LONG, "-j", "0")
    assert runs(told, "resume") == 0 and runs(told, "train", "again") == 2


def test_a_killed_sweep(place):
    """Its lease is there, and its run is still under way in the dataset."""
    stop_when(place, "0", lambda: events(place, "run_started"), signal.SIGKILL)
    for path in (place / "sweep.nc.d").glob("*"):
        path.unlink()
    told = said(place, *LONG, "-j", "0")
    assert runs(told, "train", "again") == 2 and "resume" not in told


def test_a_sweep_that_runs(place):
    lines = []

    def look():
        if not events(place, "run_started"):
            return False
        for options in (["--dry-run"], []):
            done = subprocess.run([NORMSWEEP, "run", "sweep.yaml", *LONG, "-j", "0", *options], cwd=place,
                                  capture_output=True, text=True, timeout=600)
            lines.append((done.returncode, done.stdout, done.stderr))
        return True

    stop_when(place, "0", look)
    assert lines[0] == lines[1] and lines[0][0] == 3 and "in use by process" in lines[0][2]


def test_a_longer_sweep(place):
    state = ["--set", "save_weights=state", "--set", "schedule=[constant, wsd]"]
    run(NORMSWEEP, "run", "sweep.yaml", *state, "-j", "0", cwd=place)
    told = agree(place, *state, "--set", "steps=90")
    assert told["dataset"] == "sweep.nc would become sweep.nc.45.old, and a new one be made: steps grows from 45 to 90"
    assert told["carry on"] == "8 runs, from their states at steps 36 to 45" and "train" not in told
    told = agree(place, *state, "--set", "steps=90", "--fresh")
    assert "carry on" not in told and runs(told, "train") == 8


ALONG = sets("weight_decay={log: [0.001, 30], points: 32}", "refine={axis: weight_decay}")


def test_a_search(place):
    told = agree(place, *ALONG, searched=True)
    assert told["train"] == "2 runs, from the first step" and re.match(r"would choose about \d+ more", told["search"])
    told = agree(place, *ALONG)
    assert told["nothing is"] == " left to train" and "search" not in told


@pytest.mark.parametrize("change", [["--set", "seed=[0, 1]"], ["--set", "learning_rate=[0.1, 0.01, 0.001]"],
                                    ["--set", "title=Other"], ["--set", "refine=null"]])
def test_a_search_that_has_grown(place, change):
    run(NORMSWEEP, "run", "sweep.yaml", *ALONG, "-j", "0", cwd=place)
    agree(place, *ALONG, *change, searched=True)


@pytest.mark.parametrize("later", [["--set", "measure={every: 5}"], ["--set", "refine={axes: [weight_decay]}"]])
def test_a_search_over_runs_of_a_grid(place, later):
    grid = [*ALONG[:2], "--set", "skip=[{weight_decay: 30}]", *later[:2]]
    if later[1].startswith("refine"):
        grid = grid[:-2]
    run(NORMSWEEP, "run", "sweep.yaml", *grid, "-j", "0", cwd=place)
    agree(place, *ALONG, *later, searched=True)


def in_words(folder, *arguments):
    """Status, output and error of `run`, and whether it has left the folder as it was."""
    before = everything(folder)
    done = subprocess.run([NORMSWEEP, "run", "sweep.yaml", *arguments], cwd=folder, capture_output=True, text=True,
                          timeout=600)
    line = re.sub(r"only \S+ MB are free", "too few are free", done.stderr)
    return done.returncode, done.stdout, line, everything(folder) == before


REFUSED = {
    "another sweep": ["--set", "batch=3"],
    "a removed value": ["--set", "weight_decay=0"],
    "a bad value": ["--set", "batch=0"],
    "a missing text": ["--set", "corpus=text", "--set", "train_text=none.txt", "--set", "vocabulary=null", "--set",
                       "corpus_tokens=null"],
    "a short text": ["--set", "corpus=text", "--set", "train_text=short.txt", "--set", "vocabulary=null", "--set",
                     "corpus_tokens=null"],
    "no dataset": ["-o", "short.txt"],
    "no dataset, fresh": ["-o", "short.txt", "--fresh"],
    "a folder": ["-o", "folder"],
    "a missing folder": ["-o", "none/a.nc"],
    "a folder that is a file": ["-o", "short.txt/a.nc"],
    "something in the way of the new file": ["--set", "title=b", "-o", "barred.nc"],
    "something in the way of the old one": ["--fresh", "-o", "taken.nc"],
    "a dataset that was cut": ["-o", "cut.nc"],
    "no space": ["--set", "steps=1000000", "--set", "measure={every: 1}", "--set",
                 "learning_rate={log: [1e-9, 1], points: 100000}", "-o", "huge.nc"],
    "steps that cannot grow": ["--set", "steps=50"],
    "a log in no folder": ["--log", "none/log"],
    "an additional variable that cannot stay": ["-o", "added.nc", "--set", "learning_rate=[0.1, 0.01, 0.001]"],
    "an option": ["--fresh=1"],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_run_refuses(name, done):
    (done / "short.txt").write_text("a b c\n")
    (done / "folder").mkdir()
    for other in ("barred", "taken", "cut", "added"):
        (done / f"{other}.nc").write_bytes((done / "sweep.nc").read_bytes()[:-100 if other == "cut" else None])
    (done / "barred.nc.new").mkdir()
    (done / "taken.nc.old").write_text("mine")
    with netCDF4.Dataset(done / "added.nc", "a") as file:
        file.createVariable("mine", "f8", ("learning_rate",))
    for jobs in (["-j", "0"], []):
        dry, wet = in_words(done, *REFUSED[name], *jobs, "--dry-run"), in_words(done, *REFUSED[name], *jobs)
        assert dry[:3] == wet[:3] and dry[0] in (2, 3) and dry[3] and dry[1] == ""


def test_additions_that_can_stay(done):
    with netCDF4.Dataset(done / "sweep.nc", "a") as file:
        file.createDimension("mine", 3)
        file.createVariable("mine", "f8", ("mine", "weight_decay"))
        file.note = "kept"
    told = agree(done, "--set", "learning_rate=[0.1, 0.01, 0.001]")
    assert "2 of 6 cells are new" in told["dataset"]


@pytest.mark.skipif(os.geteuid() == 0, reason=missing.sentence(
    "The tests run as root, who may write everywhere", "what a dry run says about a folder that cannot be written",
    "run make check as another user"))
def test_a_folder_that_cannot_be_written(place):
    place.chmod(0o500)
    try:
        assert in_words(place, "-j", "0", "--dry-run") == in_words(place, "-j", "0")
    finally:
        place.chmod(0o700)


def test_neither_log_nor_ranks(place):
    """A dry run is no start: nothing is told about it, and no rank trains."""
    told = said(place, "--log", "log", "-j", "2")
    assert runs(told, "train") == 4


def test_under_another_starter(place):
    before = everything(place)
    for rank, words in (("0", "a dry run"), ("1", "")):
        done = run(NORMSWEEP, "run", "sweep.yaml", "--dry-run", cwd=place,
                   env={**os.environ, "PMI_RANK": rank, "PMI_SIZE": "3"})
        assert words in done.stdout and bool(done.stdout) == bool(words)
        assert not words or "ranks     3, started by others (PMI_RANK is set)" in done.stdout
    assert everything(place) == before


def test_in_an_allocation(place):
    told = said(place, env={**os.environ, "SLURM_JOB_ID": "1"})
    assert told["ranks"].startswith("as many as the allocation has, by mpi")
