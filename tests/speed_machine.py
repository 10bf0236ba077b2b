"""What the benchmarks share: what they ask of the machine, its processor, its Pythons and the PyTorch of each, a place
to run on; and how they read numbers and print tables."""
import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys

QUARTILES_LEAST = 3  # values
IMPORT_SECONDS = 300  # a large library from a cold disk
ASK_VERSION = "import importlib, sys; print(importlib.import_module(sys.argv[1]).__version__)"


def of_processor(name):
    """A line of the system's account of the first processor, or nothing."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith(name))
    except (OSError, StopIteration):
        return ""


def processor():
    """Its name, with family and model, because some names say little."""
    name, family, model = (of_processor(key) for key in ("model name", "cpu family", "model\t"))
    return f"{name or platform.machine()}" + (f" (family {family}, model {model})" if family else "")


def bind(count):
    """This process and those it starts, to so many processors, the last ones: the first often serve the machine's
    devices. Says so if there are fewer."""
    if not hasattr(os, "sched_setaffinity"):
        return
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, allowed[-count:])
    if len(allowed) < count:
        print(f"{count} threads share {len(allowed)} processors: the figures tell little")


def cleaned():
    """The environment without variables that choose a library's kernel or a number of threads; prints those left out.
    NORMSWEEP_VECTOR stays."""
    left_out = [name for name in sorted(os.environ)
                if name.startswith(("OPENBLAS_", "MKL_")) or name in (
                    "NORMSWEEP_BLAS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS", "ATEN_CPU_CAPABILITY")]
    if left_out:
        print("Left out of the environment:", *(f"{name}={os.environ[name]}" for name in left_out), flush=True)
    return {name: value for name, value in os.environ.items() if name not in left_out}


def spread(values, digits, quartiles=True):
    """The median, with the quartiles if there are enough values; "-" without any."""
    if not values:
        return "-"
    text = f"{statistics.median(values):.{digits}f}"
    if quartiles and len(values) >= QUARTILES_LEAST:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        text += f" ({low:.{digits}f} to {high:.{digits}f})"
    return text


def print_cells(cells):
    print("|", " | ".join(cells), "|", flush=True)


def positive(text):
    if not re.fullmatch(r"[1-9]\d*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive integer")
    return int(text)


# Pythons


def module_version(python, module):
    """The version of a module that this Python can import, else None."""
    try:
        done = subprocess.run([python, "-c", ASK_VERSION, module], capture_output=True, text=True, check=False,
                              timeout=IMPORT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.split()[-1] if done.returncode == 0 and done.stdout.split() else None


def release(version):
    """The numbers of a version, for comparisons: (2, 15, 0) of 2.15.0+cpu."""
    return tuple(map(int, re.match(r"[\d.]*\d", version)[0].split(".")))


def candidates():
    """Pythons that may have a PyTorch: $PYTHON or python3 on the PATH, this one, Debian's."""
    named = [os.environ.get("PYTHON"), "python3", sys.executable, "/usr/bin/python3"]
    return list(dict.fromkeys(path for path in (shutil.which(name) for name in named if name) if path))


def pythons_with_torch(asked):
    """[(python, version of its PyTorch)] of those asked for, which have to have one; without any, of the candidate with
    the newest, or nothing."""
    found = [(python, module_version(python, "torch")) for python in asked or candidates()]
    for python, version in found:
        if asked and not version:
            sys.exit(f"{python} cannot import torch: name a Python that can, or pip install torch there")
    there = [pair for pair in found if pair[1]]
    return there if asked else sorted(there, key=lambda pair: release(pair[1]))[-1:]
