"""Runs tests/replay.c and reads its dump."""
import os
import pathlib
import subprocess

import numpy as np

BUILD = pathlib.Path(os.environ.get("NORMSWEEP_BUILD") or pathlib.Path(__file__).resolve().parent.parent / "build")
TIMEOUT = 300


def word(value):
    return str(int(value)) if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


def replay(scalar, level="", **keys):
    """{name: [array of each time it was written]}; scalar is "float" or "double", level a vector level or ""."""
    program = BUILD / f"replay-{scalar}"
    assert program.exists(), f"no {program}: make programs"
    command = [str(program)] + [f"{key}={word(value)}" for key, value in keys.items()]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"} | ({"NORMSWEEP_VECTOR": level} if level else {})
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    return parse(done.stdout)


def parse(data):
    arrays, offset = {}, 0
    while offset < len(data):
        end = data.index(b"\n", offset)
        name, kind, count = data[offset:end].decode().split()
        arrays.setdefault(name, []).append(np.frombuffer(data, kind, int(count), end + 1))
        offset = end + 1 + 8 * int(count)
    return arrays
