"""What all Python tests share: the paths of the programs, and a function that runs one.

NORMSWEEP_BUILD names the folder of the programs to test (build/ by default, build/san under sanitizers).
"""

import collections
import functools
import gc
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings

import pytest

PROJECT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("NORMSWEEP_BUILD", PROJECT / "build"))
NORMSWEEP = BUILD / "normsweep"
sys.path.insert(0, str(PROJECT / "analysis"))  # where the package is, unless pip has installed it
PACKAGE = pathlib.Path(importlib.util.find_spec("normsweep").origin).parent  # importing it would take a second
FORMAT = int(re.search(r"^FORMAT = (\d+)", (PACKAGE / "names.py").read_text(), re.M)[1])

# A shell without job control starts background jobs with these signals ignored, and programs here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

if hasattr(os, "geteuid") and os.geteuid() == 0:
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


def pytest_ignore_collect(collection_path, config):
    """Files of thorough tests alone are not even read by `make check`: torch and others take seconds to import."""
    if config.option.markexpr == "not thorough" and collection_path.suffix == ".py":
        return bool(re.search(r"^pytestmark = (.*\n )*?.*mark\.thorough\(", collection_path.read_text(), re.M)) or None
    return None


def pytest_collection_modifyitems(items):
    """The files with long tests come first, the longest before the others, then those of tests/worker: `tests/all`
    gives whole files to the workers of pytest-xdist, one after the other, so that what the tests of a file share is
    made once."""
    seconds = collections.Counter()
    for item in items:
        for mark in item.iter_markers("long"):
            seconds[item.path] += mark.args[0]
    items.sort(key=lambda item: item.nodeid.partition("::")[0].split("/")[1:2], reverse=True)
    items.sort(key=lambda item: -seconds[item.path])


def pytest_collection_finish():
    """The garbage collector leaves out what has been imported by now, which stays."""
    gc.collect()
    gc.freeze()


def tiny(**keys):
    """The first lines of the sweep file of a tiny network on words of a Markov source. keys: with other values, or None
    to leave them out."""
    lines = {"corpus": "markov", "vocabulary": 33, "corpus_tokens": 4000, "layers": 1, "width": 8, "heads": 2,
             "feedforward": 16, "context": 8, "batch": 4, **keys}
    return "".join(f"{name}: {value}\n" for name, value in lines.items() if value is not None)


SLOW_START = re.compile(  # after 15 s, which the launcher waits before it says so
    r"^.*: \S+ was started (?:1[5-9]|[2-9]\d|\d{3,}) s ago, and MPI_Init has not returned yet; .*\n", re.MULTILINE)


def run(*arguments, status=0, timeout=600, **options):
    """Runs a command without input and returns its completed process, whose `stderr` says nothing of a slow start of
    mpirun, as on a loaded machine. An unexpected exit status fails the test."""
    done = subprocess.run([str(a) for a in arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout, **options)
    done.stderr = SLOW_START.sub("", done.stderr)
    assert done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def sets(*settings):
    """The options that lay KEY=VALUE over a sweep file."""
    return [word for setting in settings for word in ("--set", setting)]


def train_sweep(folder, text, *options, name="sweep", program=NORMSWEEP):
    """Trains a sweep file with this text in a folder, without MPI; the path of its dataset."""
    (folder / f"{name}.yaml").write_text(text)
    run(program, "run", f"{name}.yaml", "-j", "0", *options, cwd=folder)
    return folder / f"{name}.nc"


def delayed(function):
    """function(first, ...) as one that is called without the first argument and returns a function of it: for tables of
    what is done to something."""
    return lambda *arguments, **named: lambda first: function(first, *arguments, **named)


def stand_in(folder, text, name="mpirun"):
    """The variable PATH with which a command is this shell script."""
    script = folder / "bin" / name
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!/bin/sh\n{text}\n")
    script.chmod(0o755)
    return {"PATH": f"{script.parent}:{os.environ['PATH']}"}


def run_until(condition, number, *arguments, cwd, timeout=600):
    """Runs a command, and sends it a signal as soon as the condition is true, unless it has ended by then. Returns its
    completed process, whose `stdout` has both streams; what it has started may live on."""
    with tempfile.TemporaryFile("w+") as said, subprocess.Popen(
            [str(a) for a in arguments], cwd=cwd, stdin=subprocess.DEVNULL, stdout=said, stderr=said) as process:
        try:
            end = time.monotonic() + timeout
            while process.poll() is None and not condition():
                assert time.monotonic() < end, f"{arguments}: not within {timeout} s"
                time.sleep(0.001)
            process.send_signal(number)
            process.wait(timeout)
        finally:
            process.kill()
        said.seek(0)
        return subprocess.CompletedProcess(arguments, process.returncode, said.read())


@functools.cache
def tables():
    """The program's tables, as `help --json` prints them."""
    return json.loads(run(NORMSWEEP, "help", "--json").stdout)


def names_in(*parts):
    """The names in some of them."""
    return [row["name"] for part in parts for row in tables()[part]]


def script(name, *arguments, status=0, cwd="."):
    """Runs analysis/NAME as `run` does, but in this process: to import xarray takes longer than most scripts do."""
    entry = importlib.import_module("normsweep.entry")
    streams = [io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        patch.setattr(sys, "argv", [str(PROJECT / "analysis" / name), *map(str, arguments)])
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        try:
            with warnings.catch_warnings():  # they would be further lines on stderr
                warnings.simplefilter("error", UserWarning)
                warnings.simplefilter("error", RuntimeWarning)
                ended = entry.start(name)
        except SystemExit as end:
            ended = end.code
        if isinstance(ended, str):
            print(ended, file=sys.stderr)
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    code = ended if isinstance(ended, int) else int(ended is not None)
    assert code == status, f"{name} {arguments}: status {code}\n{out}{err}"
    return subprocess.CompletedProcess(arguments, code, out, err)


@pytest.fixture
def sweep(request, tmp_path):
    """The path of a sweep file with the text SWEEP of the test's file."""
    (tmp_path / "sweep.yaml").write_text(request.module.SWEEP)
    return tmp_path / "sweep.yaml"


@pytest.fixture
def folder(request, tmp_path):
    """The folder of the test, with SWEEP of its file in a.yaml."""
    (tmp_path / "a.yaml").write_text(request.module.SWEEP)
    return tmp_path


@pytest.fixture
def place(folder, tmp_path):
    """The folder of the test, with a copy of all that the file's own fixture `folder` has made for its tests."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def normsweep(tmp_path):
    """normsweep(ARGUMENT..., status=0) runs the program in the folder of the test."""
    def call(*arguments, **options):
        return run(NORMSWEEP, *arguments, cwd=options.pop("cwd", tmp_path), **options)
    return call
