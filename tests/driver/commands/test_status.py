"""status --watch on a terminal: a running sweep, a stopped one, a finished one, one whose dataset is replaced."""

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import time

import numpy
import missing
import pytest
import xarray

from conftest import NORMSWEEP, run
from waited import Background

pytestmark = pytest.mark.thorough("watches sweeps on a terminal")

SWEEP = """\
title: Größe
corpus: markov
corpus_tokens: 20000
layers: 1
width: 16
heads: 2
feedforward: 16
context: 16
batch: 4
learning_rate: {log: [1e-3, 1e-1], points: 3}
weight_decay: [0, 0.1]
"""
ENDLESS = "steps: 100000000\nmeasure: {steps: [0, 40, 80, 120, 160, 200, 240, 280]}\n"


class Screen:
    """A program on its own terminal, and the screen that it draws: cursor, erasing and lines, but no colours."""

    def __init__(self, *arguments, columns=80, rows=24, cwd=None, **environment):
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.bytes, self.wrapped = b"", False
        master, slave = pty.openpty()
        self.resize(columns, rows, slave)
        names = {key: value for key, value in os.environ.items() if key not in ("LC_ALL", "LC_CTYPE", "NO_COLOR")}
        names.update({"TERM": "xterm-256color", "LANG": "C.UTF-8", **environment})
        self.process = subprocess.Popen([str(a) for a in arguments], cwd=cwd, env=names, stdin=slave, stdout=slave,
                                        stderr=slave, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.master = master
        os.set_blocking(master, False)

    def resize(self, columns, rows, end=None):
        fcntl.ioctl(self.master if end is None else end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.columns, self.rows = columns, rows
        self.cells = [(row + [" "] * columns)[:columns] for row in self.cells[:rows]]
        self.cells += [[" "] * columns for _ in range(rows - len(self.cells))]
        self.row = min(self.row, rows - 1)

    def read(self):
        try:
            while True:
                more = os.read(self.master, 65536)
                if not more:
                    return
                self.bytes += more
        except (BlockingIOError, OSError):
            pass
        self.draw()

    def draw(self):
        text = self.bytes.decode(errors="strict" if self.process.poll() is not None else "ignore")
        self.bytes = b""
        for escape, sign in re.findall(r"(\x1b\[[0-9;]*[A-Za-z])|([^\x1b])", text):
            if escape:
                self.obey(escape)
            elif sign == "\n":
                self.feed_line()
            elif sign == "\r":
                self.column = 0
            else:
                if self.column == self.columns:
                    self.wrapped, self.column = True, 0
                    self.feed_line()
                self.cells[self.row][self.column] = sign
                self.column += 1

    def feed_line(self):
        self.row += 1
        if self.row == self.rows:
            self.cells = self.cells[1:] + [[" "] * self.columns]
            self.row -= 1

    def obey(self, escape):
        kind, count = escape[-1], int(escape[2:-1] or 1) if ";" not in escape and escape[2:-1].isdigit() else 1
        if kind == "H":
            self.row = self.column = 0
        elif kind == "A":
            self.row = max(self.row - count, 0)
        elif kind == "K":
            self.cells[self.row][self.column:] = [" "] * (self.columns - self.column)
        elif kind == "J":
            self.cells[self.row][self.column:] = [" "] * (self.columns - self.column)
            for row in range(self.row + 1, self.rows):
                self.cells[row] = [" "] * self.columns
        else:
            assert kind == "m", f"{escape!r} is no escape sequence for lines and colours"

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells)

    def wait_for(self, pattern, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read()
            if re.search(pattern, self.text()):
                return self.text()
            time.sleep(0.05)
        raise AssertionError(f"'{pattern}' does not come:\n{self.text()}")

    def end(self, seconds=30):
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()  # a program whose terminal is full waits
            time.sleep(0.02)
        status = self.process.poll()
        if status is None:
            self.process.kill()
            self.process.wait()
        self.read()
        os.close(self.master)
        return status


def make(folder, steps, every=20):
    (folder / "a.yaml").write_text(SWEEP + f"steps: {steps}\nmeasure: {{every: {every}}}\n")
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=folder)
    return folder / "a.nc"


@pytest.fixture
def endless(tmp_path):
    """A sweep that runs longer than any test; its dataset r.nc exists."""
    (tmp_path / "r.yaml").write_text(SWEEP + ENDLESS)
    with Background(tmp_path, "run", "r.yaml", "-j", "0") as sweep:
        sweep.wait_until((tmp_path / "r.nc").exists, "there is a dataset")
        yield sweep


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    return make(tmp_path_factory.mktemp("ended"), 100)


@pytest.fixture
def running(endless, tmp_path):
    return tmp_path / "r.nc"


def test_an_ended_sweep_leaves_its_picture(ended):
    screen = Screen(NORMSWEEP, "status", "--watch", "a.nc", cwd=ended.parent)
    assert screen.end() == 0
    lines = screen.text().splitlines()
    assert lines[0] == "a.nc: Größe"
    assert lines[1].endswith("  6 of 6 runs have ended, 100.0 %") and "█" in lines[1]
    assert lines[2] == "6 done"
    assert "learning_rate" in screen.text() and "growing" in screen.text()
    assert screen.column == 0 and not "".join(screen.cells[screen.row]).strip()


def test_a_running_sweep_is_followed(running):
    screen = Screen(NORMSWEEP, "status", "--watch", "r.nc", cwd=running.parent, columns=100, rows=40)
    text = screen.wait_for(r"(?s)about .*280/100000000  loss \d")
    assert "r.nc: Größe\n" in text
    assert re.search(r"0 of 6 runs have ended, 0.0 %\n1 running, 5 pending\n"
                     r"about .* left, .* tokens/s in all, begun .* ago", text)
    assert "learning_rate=0.001 weight_decay=0        280/" in text
    screen.resize(64, 12)
    text = screen.wait_for("lr=0.001 wd=0        280/")
    assert text.startswith("r.nc: Größe\n") and text.count("280/100000000") == 1 and not screen.wrapped
    os.write(screen.master, b"\n\n\x03")
    assert screen.end() == 130
    assert "^C" in screen.text() and screen.column == 0


@pytest.mark.parametrize("columns, rows", [(80, 10), (80, 5), (30, 24), (12, 3), (1, 1)])
def test_any_terminal_will_do(ended, columns, rows):
    screen = Screen(NORMSWEEP, "status", "--watch", "a.nc", cwd=ended.parent, columns=columns, rows=rows)
    assert screen.end() == 0 and not screen.wrapped
    if rows > 4 and columns > 12:
        assert screen.text().startswith("a.nc: Größe\n")


def test_without_colours_and_unicode(ended):
    for environment in ({"NO_COLOR": "1"}, {"LANG": "C"}):
        screen = Screen(NORMSWEEP, "status", "--watch", "a.nc", cwd=ended.parent, **environment)
        assert screen.end() == 0
        assert "6 of 6 runs have ended" in screen.text() and "learning_rate" in screen.text()
    assert screen.text().replace("ö", "").replace("ß", "").isascii()


def test_plain_lines_elsewhere(running, ended, normsweep):
    """Output to a pipe or a dumb terminal contains nothing that moves a cursor."""
    screen = Screen(NORMSWEEP, "status", "--watch", "a.nc", cwd=ended.parent, TERM="dumb", rows=40)
    assert screen.end() == 0 and "file      intact, " in screen.text()
    with Background(running.parent, "status", "--watch", running) as watch:
        watch.wait_until(lambda: "\n\n" in watch.text["out"], "it has looked")
        watch.send(signal.SIGINT)
        shown, _ = watch.ended(130)
    assert re.search("^ended     0 of 6 runs", shown, re.M) and "\x1b" not in shown


def test_a_stopped_sweep_is_not_waited_for(endless, tmp_path):
    endless.send(signal.SIGTERM)
    endless.ended(75)
    screen = Screen(NORMSWEEP, "status", "--watch", "r.nc", cwd=tmp_path)
    assert screen.end() == 0
    assert "6 pending\nstopped: nothing runs; run the same command again to continue\n" in screen.text()


def test_saved_runs_of_a_stopped_sweep_are_told(endless, tmp_path):
    def trains():
        return "  running  1, " in run(NORMSWEEP, "status", "r.nc", cwd=tmp_path).stdout
    endless.wait_until(trains, "a run trains")
    endless.send(signal.SIGTERM)
    endless.ended(75)
    assert ("stopped   nothing runs; run the same command again to continue\n"
            "saved     1 run under way, in r.nc.d\n") in run(NORMSWEEP, "status", "r.nc", cwd=tmp_path).stdout
    shutil.rmtree(tmp_path / "r.nc.d")
    assert "saved" not in run(NORMSWEEP, "status", "r.nc", cwd=tmp_path).stdout


def test_a_dataset_that_is_replaced_is_read_anew(running, ended):
    screen = Screen(NORMSWEEP, "status", "--watch", running, columns=100, rows=40)
    screen.wait_for("0 of 6 runs have ended")
    away = running.with_suffix(".away")
    running.rename(away)
    time.sleep(5)  # two failed attempts to read it
    assert screen.process.poll() is None
    shutil.copy(ended, running)
    assert screen.end() == 0
    assert "6 of 6 runs have ended, 100.0 %\n6 done\n" in screen.text()
    away.rename(running)


def test_a_small_dataset_is_not_exported(ended):
    """Its copy would be larger than it is."""
    assert ended.stat().st_size < 1 << 20
    assert "export" not in run(NORMSWEEP, "status", ended).stdout


def test_export_of_an_ended_sweep(tmp_path):
    folder = tmp_path / "it's one"
    folder.mkdir()
    path = make(folder, 700, every=1)
    assert 1 << 20 <= path.stat().st_size < 2 << 20
    line = next(line for line in run(NORMSWEEP, "status", path).stdout.splitlines() if line.startswith("export"))
    command = re.fullmatch(r"export    (nccopy -4 -d 5 -s .*?)   a compressed netCDF-4 copy; nccopy is in Debian's "
                           r"netcdf-bin", line)[1]
    missing.need("nccopy", "the copy that status suggests", "netcdf-bin")
    subprocess.run(command, shell=True, check=True, stdin=subprocess.DEVNULL)
    subprocess.run(["nccopy", "-k", "cdf5", folder / "a-small.nc", folder / "back.nc"], check=True)
    counts = [line for line in run(NORMSWEEP, "status", path).stdout.splitlines() if line.startswith("ended")]
    assert counts[0] in run(NORMSWEEP, "status", folder / "back.nc").stdout
    with xarray.open_dataset(path) as whole, xarray.open_dataset(folder / "a-small.nc") as small:
        assert whole.attrs.keys() == small.attrs.keys()
        for name in whole.variables:
            numpy.testing.assert_array_equal(whole[name].values, small[name].values)


@pytest.mark.parametrize("workers", [0, 1])
def test_run_draws_the_same_map(tmp_path, workers):
    """The map includes runs of earlier starts; Ctrl-C erases the picture and leaves the summary."""
    (tmp_path / "a.yaml").write_text(SWEEP + ENDLESS.replace("100000000", "[20]"))
    run(NORMSWEEP, "run", "a.yaml", "-j", "0", cwd=tmp_path)
    (tmp_path / "a.yaml").write_text(SWEEP + ENDLESS.replace("100000000", "[20, 100000000]"))
    screen = Screen(NORMSWEEP, "run", "a.yaml", "-j", workers, cwd=tmp_path, rows=30)
    text = screen.wait_for(r"(?s)growing.*\n  1  .* \d+/100000000  loss .* tokens/s\n6/12 done, 1 running")
    assert "weight_decay" in text and not screen.wrapped
    screen.resize(78, 26)
    text = screen.wait_for(r"(?s)\A *weight_decay\n.*\n  1  [^\n]* \d+/100000000[^\n]*\n6/12 done[^\n]*\s*\Z")
    assert text.count("weight_decay\n") == 1
    os.write(screen.master, b"abc\x03")
    assert screen.end() == 75
    assert re.search(r"(?m)^a.nc: stopped: 6 of 12 runs have ended: 6 done, 0 diverged, 0 failed; .*\n"
                     r"1 run under way is saved; run the same command again to continue\n", screen.text())
    assert "tokens/s" not in screen.text() and "growing" not in screen.text()
