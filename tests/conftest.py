"""What all Python tests share: the paths of the programs, and a function that runs one.

NORMSWEEP_BUILD names the folder of the programs to test (build/ by default, build/san under sanitizers).
"""

import os
import pathlib
import signal
import subprocess

import pytest

PROJECT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("NORMSWEEP_BUILD", PROJECT / "build"))
NORMSWEEP = BUILD / "normsweep"

# A shell without job control starts background jobs with these signals ignored, and programs here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

if hasattr(os, "geteuid") and os.geteuid() == 0:
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


def pytest_collection_modifyitems(items):
    """pytest-xdist gives each of its workers a share of successive tests. A long test comes first, so that it is not
    the last to end; with it come many short ones, those of `tests/worker`, because its worker keeps its share."""
    items.sort(key=lambda item: item.nodeid.partition("::")[0].split("/")[1:2], reverse=True)
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def run(*arguments, status=0, timeout=120, **options):
    """Runs a command without input and returns its completed process. An unexpected exit status fails the test."""
    done = subprocess.run([str(a) for a in arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout, **options)
    assert done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done


@pytest.fixture
def normsweep(tmp_path):
    """normsweep(ARGUMENT..., status=0) runs the program in the folder of the test."""
    def call(*arguments, **options):
        return run(NORMSWEEP, *arguments, cwd=options.pop("cwd", tmp_path), **options)
    return call
