"""Sweeps in the background, for tests of what waits for them, is told of their end, or reads their log."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import time

import netCDF4

from conftest import NORMSWEEP
from watched import Watched

SWEEP = """\
title: waited "for"
corpus: markov
vocabulary: 32
corpus_tokens: 4000
layers: 1
width: 16
heads: 2
feedforward: 16
context: 16
batch: 4
steps: 20
learning_rate: [0.1, 0.001]
bias: [true, false]
norm_placement: [out, pre]
measure: {every: 10}
"""
RUNS = 8
# Runs that are too long to end on any machine.
ENDLESS = ["--set", "steps=100000000", "--set", "measure={every: 1000000}"]
FAILED = 4


def wait_until(condition, what, timeout=600):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"not within {timeout} s: {what}"
        time.sleep(0.02)


class Background(Watched):
    """A command of the program in a folder; with the end of the context it is ended."""

    def __init__(self, folder, *arguments, env=None):
        super().__init__([NORMSWEEP, *arguments], env, cwd=folder)

    def wait_caught(self, number=signal.SIGINT):
        wait_until(lambda: any(process.catches(number) for process in self.of("launcher")), "it has a handler")

    def send(self, number):
        self.process.send_signal(number)

    def ended(self, status):
        assert self.ends(120) == status, self.text
        return self.text["out"], self.text["err"]


def on_terminal(stream, *arguments, columns=80, rows=24, environment=None, cwd=None):
    """Runs the program with a terminal as its stdout or stderr; returns (exit status, the other stream's bytes, those
    that it writes on the terminal)."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    kept = {key: value for key, value in os.environ.items()
            if key not in ("TERM", "COLORTERM", "NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG")}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: other}
    with subprocess.Popen([NORMSWEEP, *arguments], cwd=cwd, stdin=subprocess.DEVNULL, **streams,
                          env={**kept, **(environment or {"TERM": "xterm"})}) as process:
        os.close(other)
        written = b""
        try:
            while block := os.read(main, 65536):
                written += block
        except OSError:  # the other end is closed
            pass
        answer = (process.stdout or process.stderr).read()
    os.close(main)
    return process.returncode, answer, written


def let_one_fail(path, reason="no memory for 12 bytes"):
    with netCDF4.Dataset(path, "a") as dataset:
        dataset.set_auto_mask(False)
        dataset["outcome"][(0,) * dataset["outcome"].ndim] = FAILED
        text = dataset["reason"]
        text.set_auto_chartostring(False)
        text[(0,) * (text.ndim - 1)] = list(reason.ljust(text.shape[-1], "\0"))
