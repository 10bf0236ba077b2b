"""Sweeps in the background, for tests of what waits for them, is told of their end, or reads their log."""

import pathlib
import signal
import subprocess
import time

import netCDF4

from conftest import NORMSWEEP

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


def wait_until(condition, what, timeout=120):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"not within {timeout} s: {what}"
        time.sleep(0.02)


def catches(pid, number):
    """Does the process have a handler for the signal?"""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in text.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


class Background:
    """A command; on exit it is ended."""

    def __init__(self, folder, *arguments, **options):
        self.process = subprocess.Popen([NORMSWEEP, *map(str, arguments)], cwd=folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.communicate()

    def wait_caught(self, number=signal.SIGINT):
        wait_until(lambda: self.process.poll() is not None or catches(self.process.pid, number), "it has a handler")

    def send(self, number):
        self.process.send_signal(number)

    def ended(self, status):
        out, err = self.process.communicate(timeout=120)
        assert self.process.returncode == status, (self.process.returncode, out, err)
        return out, err


def let_one_fail(path, reason="no memory for 12 bytes"):
    """Makes the first run of a dataset a failed one."""
    with netCDF4.Dataset(path, "a") as dataset:
        dataset.set_auto_mask(False)
        dataset["outcome"][(0,) * dataset["outcome"].ndim] = FAILED
        text = dataset["reason"]
        text.set_auto_chartostring(False)
        text[(0,) * (text.ndim - 1)] = list(reason.ljust(text.shape[-1], "\0"))
