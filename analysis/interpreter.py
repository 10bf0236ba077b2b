"""Finds a Python with the modules that a script needs; the first python3 on the PATH may lack them."""

import importlib.util
import os
import sys

DEBIAN = "/usr/bin/python3"


def require(*modules):
    """Restarts the script in Debian's Python if this one lacks a module; exits with one line if that one lacks it too.
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if not missing:
        return
    if os.path.exists(DEBIAN) and "NORMSWEEP_INTERPRETER" not in os.environ:
        os.environ["NORMSWEEP_INTERPRETER"] = DEBIAN
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    sys.exit(f"{os.path.basename(sys.argv[0])}: no Python here can import {', '.join(missing)}; on Debian: "
             f"apt-get install {' '.join('python3-' + name.lower() for name in missing)}")
