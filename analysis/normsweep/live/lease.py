"""Does a process write a dataset? The lease beside it says so, as driver/output/lease_record.h describes."""

import os
import socket
import time

DEAD_SECONDS = 60  # after its last renewal, a lease of another machine counts as dead
RECORD = 384  # bytes of a record; the owner's, then the coordinator's


def is_held(path):
    """True while a process holds the lease of a dataset, or if that is unknown."""
    try:
        with open(os.path.realpath(path) + ".lease", "rb", opener=open_at_once) as file:
            text, written = file.read(2 * RECORD), os.fstat(file.fileno()).st_mtime
    except FileNotFoundError:
        return False
    except OSError:
        return True
    here, elsewhere = False, False
    for start in range(0, len(text), RECORD):
        words = text[start:start + RECORD].decode(errors="replace").split()
        if len(words) < 6 or words[0] != "pid" or not words[1].isdigit():
            continue
        if words[5] != place():
            elsewhere = True
        elif lives(words[1], words[3]):
            return True
        else:
            here = True
    return (elsewhere or not here) and time.time() - written <= DEAD_SECONDS


def open_at_once(path, flags):
    """Opening a pipe would wait for its other end."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def place():
    """This machine and pid namespace, as records spell them."""
    try:
        return f"{socket.gethostname()}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def lives(pid, start):
    """Is the process with this pid and start time alive? True if that is unknown."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    except OSError:
        return True
    return fields[0] not in "ZX" and start in ("0", fields[19])
