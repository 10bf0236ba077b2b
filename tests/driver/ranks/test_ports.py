"""Ranks of one host listen on no network port, where ranks of other jobs could reach them."""

import os
import pathlib
import signal

import pytest

from conftest import NORMSWEEP
from test_faults import ENDLESS, SWEEP, said
from watched import Watched

RANKS = ("coordinator", "worker", "spare")
SHORT = ["--set", "steps=20", "--set", "measure={every: 10}"]
LISTENS = "0A"  # the state of a socket in /proc/net/tcp


def ports(pid):
    inodes = set()
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(os.readlink(entry).removeprefix("socket:[").removesuffix("]"))
        except FileNotFoundError:
            pass  # closed meanwhile
    lines = [line.split() for name in ("tcp", "tcp6") for line in open(f"/proc/{pid}/net/{name}")]
    return {int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == LISTENS and line[9] in inodes}


def listening(command, *roles):
    found = {}
    for process in command.of(*roles):
        try:
            found[process.role, process.pid] = ports(process.pid)
        except OSError:
            pass  # it has ended
    return {process: listens for process, listens in found.items() if listens}


@pytest.mark.parametrize("transport", [None, "self,vader,tcp"])
def test_ranks_of_one_host_do_not_listen(sweep, tmp_path, transport):
    """Unless the user wants TCP, which also shows that listening ranks are seen."""
    environment = {"OMPI_MCA_btl": transport} if transport else {}
    with Watched([NORMSWEEP, "run", sweep, "-j", "2", *ENDLESS], environment, cwd=tmp_path) as command:
        command.wait_until(lambda: len(command.of(*RANKS)) == 4 and (tmp_path / "sweep.nc.d").exists()
                   and len(list(tmp_path.glob("sweep.nc.d/worker-*.log"))) == 2, "two workers are set up")
        assert len(listening(command, *RANKS)) == (4 if transport else 0)
        assert listening(command, "mpirun")
        command.process.send_signal(signal.SIGTERM)
        assert command.ends() == 75, command.text


@pytest.mark.thorough("starts twenty sweeps, two at a time, as their ranks reached each other only now and then")
def test_sweeps_beside_each_other_do_not_meet(sweep, tmp_path):
    environment = {"TMPDIR": str(tmp_path)}  # where no killed mpirun has left files, beside which 5.0 would not start
    for number in range(10):
        names = [f"{number}-{which}.nc" for which in "ab"]
        commands = [Watched([NORMSWEEP, "run", sweep, "-j", "2", "-o", name, *SHORT], environment, cwd=tmp_path)
                    for name in names]
        with commands[0], commands[1]:
            while any(command.wait(0.01) for command in commands):
                assert not any(listening(command, *RANKS) for command in commands)
            for command in commands:
                assert command.ends() == 0 and said(command.text["err"]) == [], (number, command.text)
