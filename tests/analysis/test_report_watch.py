"""analysis/report --watch: a page of a sweep under way, which becomes the report."""

import json
import os
import subprocess
import sys
import time

import browser
import missing
import pytest
from conftest import NORMSWEEP, PROJECT, run, script
from made_up import made_up
from pages import EVIL, Reader
from normsweep.drawings.report import report

pytestmark = pytest.mark.thorough("writes reports again and again")

WATCH = [sys.executable, PROJECT / "analysis" / "report", "--watch", "--every", "1"]
DEADLINE = 600  # seconds, which only ends a test that hangs
RUN = {"cell": 3, "axes": {"learning_rate": 0.01, "init": "words " + EVIL}, "step": 10, "last_step": 20, "loss": 2.5,
       "host": "node " + EVIL}
STATUS = {"state": "running", "time": "2026-03-01T10:20:30.123Z", "runs": 60, "expected_runs": 60, "ended": 55,
          "under_way": [RUN], "saved": None, "seconds_left": 61.3, "tokens_per_second": 52345.0, "sessions": 1,
          "fault": None}
SWEEP = "corpus: markov\ncorpus_tokens: 4000\nsteps: 4\nwidth: 8\nheads: 2\nlearning_rate: [0.001, 0.01]\n" \
        "weight_decay: [0, 1]\nmeasure: {every: 1, metrics: [norms]}\n"


def until(happened):
    deadline = time.monotonic() + DEADLINE
    while not (found := happened()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def test_state_and_runs_under_way():
    reader = Reader(report(made_up(), status=STATUS, every=5))
    shown = "".join(reader.texts)
    assert "Running: 55 of 60 runs ended (91.7%), 52\N{THIN SPACE}300 tokens per second, about 61 s left." in shown
    assert "As of 2026-03-01 10:20:30 UTC; rewritten every 5 s" in shown
    assert ("data-every", "5") in reader.attributes
    assert reader.tables["Now"] == [[["learning_rate", "init", "step", "of", "loss", "host"],
                                     ["0.01", "words " + EVIL, "10", "20", "2.5", "node " + EVIL]]]
    stopped = STATUS | {"state": "stopped", "under_way": [], "saved": 2, "seconds_left": None,
                        "tokens_per_second": None, "expected_runs": 58}
    reader = Reader(report(made_up(), status=stopped, every=5))
    assert "continues it: 55 of about 58 runs ended (94.8%), 2 runs saved under way." in "".join(reader.texts)
    assert "Now" not in reader.tables and "data-every" not in report(made_up())


@pytest.mark.long(50)
def test_from_a_file_that_is_not_there_to_the_report(tmp_path):
    (tmp_path / "s.yaml").write_text(SWEEP)
    with subprocess.Popen([*map(str, WATCH), "--program", str(NORMSWEEP), "s.nc"], cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watch:
        time.sleep(1)
        run(NORMSWEEP, "run", "s.yaml", "-j", "0", cwd=tmp_path)
        out, errors = watch.communicate(timeout=DEADLINE)
    assert (watch.returncode, out, errors) == (0, "s.html\n", "")
    text = (tmp_path / "s.html").read_text()
    assert "4 runs: 4 done." in "".join(Reader(text).texts) and "data-every" not in text and "<img " in text
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.long(60)
def test_a_sweep_that_is_stopped_and_continued(tmp_path):
    """The page tells of the runs under way, as the program does."""
    (tmp_path / "s.yaml").write_text(SWEEP.replace("steps: 4", "steps: 40000").replace("every: 1,", "every: 4000,"))
    sweep = [NORMSWEEP, "run", "s.yaml", "-j", "0"]
    with subprocess.Popen(sweep, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first, \
            subprocess.Popen([*map(str, WATCH), "--program", str(NORMSWEEP), "s.nc"], cwd=tmp_path, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watch:
        until(lambda: "Running: " in page(tmp_path))
        first.terminate()
        assert first.wait(DEADLINE) == 75
        until(lambda: "Stopped: the same command, or the next job, continues it: 0 of 4 runs" in page(tmp_path))
        assert "1 run saved under way" in page(tmp_path)
        watch.terminate()
        watch.communicate(timeout=DEADLINE)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def page(folder):
    try:
        return "".join(Reader((folder / "s.html").read_text()).texts)
    except FileNotFoundError:
        return ""


@pytest.fixture
def told(tmp_path):
    """told(status): what a program beside a made up sweep says; told() is its path."""
    made_up().to_netcdf(tmp_path / "s.nc")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho >>'{tmp_path}/asked'\ncat '{tmp_path}/status'\n")
    program.chmod(0o755)

    def tell(status=None):
        if status:
            (tmp_path / "next").write_text(json.dumps(status))
            os.replace(tmp_path / "next", tmp_path / "status")
        return program
    return tell


def test_nothing_is_drawn_while_nothing_happens(told, tmp_path):
    told(STATUS)
    with subprocess.Popen([*map(str, WATCH), "--program", str(told()), "s.nc"], cwd=tmp_path,
                          stdout=subprocess.DEVNULL) as watch:
        until((tmp_path / "s.html").exists)
        first, asked = os.stat(tmp_path / "s.html"), len((tmp_path / "asked").read_text())
        told(STATUS | {"seconds_left": 1.0})
        until(lambda: len((tmp_path / "asked").read_text()) > asked + 1)
        assert os.stat(tmp_path / "s.html") == first
        told(STATUS | {"state": "complete"})
        assert watch.wait(DEADLINE) == 0
    assert "data-every" not in (tmp_path / "s.html").read_text()


def test_what_ends_the_watch(told, tmp_path):
    told(STATUS | {"state": "altered", "fault": "norm_growth was altered"})
    for arguments, message in (
            (["s.nc", "--program", told()], "s.nc: norm_growth was altered"),
            (["s.nc", "--program", "none"],
             "none: no program there; --watch needs normsweep: build it, or name it with --program"),
            (["none.nc", "--program", NORMSWEEP], "none.nc: No such file or directory"),
            (["status", "--program", NORMSWEEP], "status: is not a normsweep dataset")):
        error = script("report", "--watch", "--limit", "0", *arguments, status=1, cwd=tmp_path).stderr
        assert error.startswith(f"report: {message}") and error.count("\n") == 1, error
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".html")]


@pytest.mark.parametrize("options, message", [
    (["--every", "0"], "0 is not a number from 1 to 3600"), (["--every", "nan"], "nan is not"),
    (["--limit", "soon"], "soon is not a number")])
def test_options_that_are_refused(tmp_path, options, message):
    assert message in script("report", "a.nc", *options, status=2, cwd=tmp_path).stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not browser.find(), reason=missing.sentence(
    "Chromium is not installed", "what a browser makes of the page, which other tests read as HTML",
    "apt-get install chromium"))
def test_in_a_browser(tmp_path):
    """A page that is rewritten is loaded again and keeps its scroll position; it fits a phone, in light and dark."""
    from normsweep import figures
    path, drawn = tmp_path / "s.html", [(drawing.name, drawing.caption, drawing.figure) for drawing in figures.draw_all(
        made_up(), ["phase", "norms"])]
    path.write_text(report(made_up(), drawn, status=STATUS, every=3))
    with browser.Browser() as view:
        view.open(path.as_uri())
        for width, dark in ((360, False), (360, True), (1400, False), (1400, True)):
            view.look(width, dark=dark)
            sizes = view.tell("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
            assert sizes[0] <= sizes[1] <= width, (width, sizes)
            assert view.tell("getComputedStyle(document.body).backgroundColor") == (
                "rgb(22, 22, 22)" if dark else "rgb(255, 255, 255)")
            assert view.tell("getComputedStyle(document.querySelector('img')).backgroundColor") == "rgb(255, 255, 255)"
        assert len(drawn) == view.tell("[...document.querySelectorAll('img')].filter(i => i.naturalWidth > 100).length")
        view.tell("scrollTo(0, 700)")
        path.write_text(report(made_up(), drawn, status=STATUS | {"ended": 56}, every=3))
        view.until("document.readyState === 'complete' && document.body.innerText.includes('56 of 60')")
        assert view.tell("scrollY") == 700
        view.tell("document.querySelector('.enlarge').focus()")
        view.press("Enter")
        view.until("document.querySelector('dialog img')?.naturalWidth > 100")
        view.tell("window.mark = 2")
        view.wait(4)
        assert view.tell("window.mark") == 2, "an enlarged figure stays"
        view.press("Escape")
        path.write_text(report(made_up(), drawn))
        view.until("document.readyState === 'complete' && document.body.dataset.every === undefined")
        assert view.complaints() == [] and set(view.requests()) == {path.as_uri(), "data:"}
