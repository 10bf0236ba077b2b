"""The kinds of faults, and the exit statuses with which a command may end after each.

Every kind has a function that does it to a command that runs, at a moment that the case has chosen: it returns what it
did, or None when there is nothing yet to do it to (it is then asked again until there is), and adds to the case what
is to follow: statuses that are allowed beside 0, things to do later, things to put right once the command has ended.
"""

import os
import resource
import shutil
import signal
import time
import typing
from functools import partial


class Kind(typing.NamedTuple):
    name: str
    inject: typing.Callable  # (case, command) -> what was done, or None
    statuses: set  # of the command it happens to, beside 0
    here: bool = False  # also where the sweep runs without MPI
    weight: int = 1
    needs_disk: bool = False  # a small file system of its own


KILLED = {-signal.SIGKILL}


def choose(case, command, role):
    found = command.of("launcher" if case.here else role)
    return case.random.choice(found) if found else None


def kill(role, case, command):
    process = choose(case, command, role)
    if process and process.kill(signal.SIGKILL):
        return f"{process.role} {process.pid}"
    return None


def kill_launcher(case, command):
    """The next command follows at once, or after all processes have ended."""
    done = kill("launcher", case, command)
    if done:
        case.at_once = time.monotonic() if case.random.random() < 0.5 else 0
    return done and done + (", carried on at once" if case.at_once else "")


def kill_all(case, command):
    found = [process for process in command.look() if process.kill(signal.SIGKILL)]
    return f"{len(found)} processes" if found else None


def pause(role, case, command):
    process, seconds = choose(case, command, role), case.random.choice([0.05, 0.5, 3]) * case.random.random()
    if not process or not process.kill(signal.SIGSTOP):
        return None
    case.later(seconds, lambda: process.kill(signal.SIGCONT))
    return f"{process.role} {process.pid} for {seconds:.2f} s"


def freeze(case, command):
    """SIGSTOP forever, or until the coordinator reports that it gave the worker up."""
    process, wakes = choose(case, command, "worker"), case.random.random() < 0.5
    if not process or not process.kill(signal.SIGSTOP):
        return None
    before = command.text["err"].count("worker")
    if wakes:
        case.when(lambda: command.text["err"].count("worker") > before, lambda: process.kill(signal.SIGCONT))
    return f"{process.role} {process.pid} {'until given up' if wakes else 'for good'}"


def send(role, number, case, command, times=1):
    """A signal; a process that has no handler yet may die of it."""
    process = choose(case, command, role)
    if not process:
        return None
    if role == "launcher" and not process.catches(number):
        case.allowed.add(-number)
    if not process.kill(number):
        return None
    for _ in range(times - 1):
        case.later(case.random.random() * 0.3, lambda: process.kill(number))
    case.stopped = role == "launcher" and times == 1
    return f"{process.role} {process.pid}"


def fill_disk(case, command):
    """Keeps the disk full until the command has ended, even if the sweep frees space."""
    filler = case.disk / "filler"

    def fill():
        with open(filler, "ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass
        return False
    fill()
    case.when(fill, lambda: None)
    case.afterwards(lambda: filler.unlink(missing_ok=True))
    case.causes = ["No space left on device"]
    return f"{filler.stat().st_size} bytes"


def limit_writes(case, command):
    """Makes every write fail, by a size limit of 0 in all processes that write. Only after workers have opened their
    logs, because before that Open MPI writes files of its own."""
    if not case.here and not list(case.place.glob("sweep.nc.d/worker-*.log")):
        return None
    found = command.of("launcher") if case.here else command.of("coordinator", "worker", "spare")
    hit = []
    for process in found:
        try:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            hit.append(process.role)
        except OSError:
            pass
    case.causes = ["File too large"]
    return ", ".join(hit) or None


def take_folder(back, case, command):
    """Renames the output's folder away, and back a moment later or after the command has ended."""
    away = case.place.with_name("away")
    if away.exists():
        return None
    opened = case.output.with_name("sweep.nc.lease" if case.here else "sweep.nc.d").exists()
    if not (opened and case.output.exists()):
        case.allowed.add(2)  # before there is a dataset, a missing folder is bad input
    os.rename(case.place, away)

    def restore():
        if away.exists():
            os.rename(away, case.place)
    if back:
        case.later(case.random.random() ** 2, restore)
    case.afterwards(restore)
    case.causes = [""]
    return str(away.name)


def move(how, case, command):
    """Renames, replaces or removes the dataset while runs train. Afterwards the file that has all results gets the name
    back: the copy that was made, or the file itself, also if the sweep had ended by then."""
    if not case.before or not (case.here or command.of("coordinator")):
        return None
    away, stranger, ours = (case.output.with_name(name) for name in ("away.nc", "other.nc", "sweep.nc.ours"))
    os.link(case.output, away)
    if how == "replaced":
        shutil.copy(away, stranger)
        os.rename(stranger, case.output)
    elif how == "removed":
        os.unlink(case.output)
    else:
        os.unlink(away)
        os.rename(case.output, away)
    text = case.output.read_bytes() if how == "replaced" else b""

    def restore():
        if ours.exists() and how == "replaced":
            assert case.output.read_bytes() == text, "a file that has replaced the dataset was written"
        os.rename(ours if ours.exists() else away, case.output)
        away.unlink(missing_ok=True)
    case.afterwards(restore)
    case.causes = [f"sweep.nc: was {how}", "sweep.nc: was renamed or removed"]
    return str(away.name)


def checkpoints(folder):
    """{run: its checkpoints, oldest first} in OUT.nc.d."""
    found = {}
    for path in sorted(folder.glob("*-*-*-*.nc")):
        found.setdefault(path.name.partition("-")[0], []).append(path)
    return found


def cut(random, path):
    size = random.randrange(path.stat().st_size)
    os.truncate(path, size)
    return f"cut to {size} bytes"


def flip(random, path):
    text = bytearray(path.read_bytes())
    at, bit = random.randrange(len(text)), random.randrange(8)
    text[at] ^= 1 << bit
    path.write_bytes(text)
    return f"bit {bit} of byte {at} flipped"


def damage(how, case, command):
    """Stops or kills the whole sweep; then damages the newest checkpoint of some runs, or all of their checkpoints."""
    kills = case.random.random() < 0.5
    done = kill_all(case, command) if kills else send("launcher", signal.SIGTERM, case, command)
    if not done:
        return None

    def hit():
        for paths in checkpoints(case.output.with_name("sweep.nc.d")).values():
            for path in paths if case.random.random() < 0.3 else paths[-1:]:
                case.damaged[path.name] = how(case.random, path)
        if not case.damaged:
            case.missed = True
    case.afterwards(hit)
    return "after " + ("SIGKILL" if kills else "SIGTERM")


KINDS = [
    Kind("kill worker", partial(kill, "worker"), set(), weight=4),
    Kind("kill spare", partial(kill, "spare"), set()),
    Kind("kill coordinator", partial(kill, "coordinator"), set(), weight=2),
    Kind("kill mpirun", partial(kill, "mpirun"), set(), weight=2),
    Kind("kill launcher", kill_launcher, KILLED, here=True, weight=2),
    Kind("kill all", kill_all, KILLED, here=True, weight=2),
    Kind("pause worker", partial(pause, "worker"), set(), here=True),
    Kind("pause spare", partial(pause, "spare"), set()),
    Kind("pause coordinator", partial(pause, "coordinator"), set()),
    Kind("pause mpirun", partial(pause, "mpirun"), set()),
    Kind("pause launcher", partial(pause, "launcher"), set()),
    Kind("freeze worker", freeze, set()),
    Kind("SIGTERM", partial(send, "launcher", signal.SIGTERM), {75}, here=True, weight=2),
    Kind("SIGINT", partial(send, "launcher", signal.SIGINT), {75}, here=True),
    Kind("SIGUSR1", partial(send, "launcher", signal.SIGUSR1), {75}, here=True),
    Kind("SIGUSR1 to mpirun", partial(send, "mpirun", signal.SIGUSR1), {75}),
    Kind("second SIGINT", partial(send, "launcher", signal.SIGINT, times=2), {75, 130}, here=True),
    Kind("disk full", fill_disk, {3}, here=True, needs_disk=True),
    Kind("writes refused", limit_writes, {3}, here=True),
    Kind("folder away", partial(take_folder, False), {3}, here=True),
    Kind("folder away and back", partial(take_folder, True), {3}, here=True),
    Kind("dataset renamed", partial(move, "renamed"), {3}, here=True),
    Kind("dataset replaced", partial(move, "replaced"), {3}, here=True),
    Kind("dataset removed", partial(move, "removed"), {3}, here=True),
    Kind("cut checkpoint", partial(damage, cut), {75, *KILLED}, here=True, weight=2),
    Kind("flip checkpoint", partial(damage, flip), {75, *KILLED}, here=True, weight=2),
]
