"""A refused sweep file and its exact line: status 2, nothing on stdout, one line on stderr."""

import os
import subprocess

from conftest import NORMSWEEP, sets

BASE = "corpus: markov\nsteps: 10\n"  # lines 1 and 2 of most cases; theirs begins at 3
TOGETHER = BASE + "together:\n  model:\n    small: {width: 128, heads: 4}\n"


def check(folder, text, settings=(), files=None):
    """The completed process of `check` with such a sweep.yaml."""
    (folder / "sweep.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, content in (files or {}).items():
        (folder / name).write_bytes(content)
    return subprocess.run([NORMSWEEP, "check", "sweep.yaml", *sets(*settings)], cwd=folder, capture_output=True,
                          timeout=600, env={**os.environ, "LC_ALL": "C"})


def check_refused(folder, text, line, settings=(), files=None):
    """text of sweep.yaml, the line, settings, other files"""
    done = check(folder, text, settings, files)
    assert done.stderr.decode() == line + "\n"
    assert done.stdout == b""
    assert done.returncode == 2
    assert sorted(path.name for path in folder.iterdir()) == sorted(["sweep.yaml", *(files or {})])
