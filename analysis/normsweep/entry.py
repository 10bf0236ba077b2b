"""The commands that pip installs: normsweep-NAME runs main() of normsweep.scripts.NAME.

A new command needs a line in [project.scripts] of pyproject.toml, and a script: this module has every name.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any, Callable

INTERRUPTED = 130  # the exit status after Ctrl-C, as of the program


def __getattr__(name: str) -> Callable[[], Any]:
    if name.startswith("_"):
        raise AttributeError(name)
    return functools.partial(start, name)


def start(name: str) -> Any:
    """Runs a script. Exits with one line if a module is missing that the command needs and the package does not, such
    as matplotlib; without one after Ctrl-C."""
    try:
        script = importlib.import_module(f"{__package__}.scripts.{name}")
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module in ("", __package__):
            raise
        sys.exit(f"normsweep-{name}: no module {module} here: pip install {module}")
    try:
        return script.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
