"""report --watch in a browser: a real sweep from before its first run to its report, in a page that is loaded once."""

import functools
import http.server
import signal
import subprocess
import sys
import threading
import time

import browser
import missing
import pytest
from conftest import NORMSWEEP, PROJECT
from pages import EVIL
from preloaded import preload

from normsweep import NotASweep, figures, open_sweep

REPORT = [sys.executable, PROJECT / "analysis" / "report"]
RUNS = 24
SWEEP = f"""
title: "{EVIL.replace('"', '')}"
corpus: markov
corpus_tokens: 20000
vocabulary: 65
layers: 1
width: 32
heads: 2
context: 32
steps: 150
learning_rate: [0.001, 0.01, 0.1]
weight_decay: [0.01, 0.1, 1, 10]
seed: [0, 1]
measure: {{every: 5}}
validate: {{every: end, tokens: 256}}
"""
DEADLINE = 300  # seconds, which only ends a test that hangs
# While the file `hold` is there, each write of the dataset waits until the file `held`, which it makes, is gone. The
# first ones, of a dataset without runs or with one, do not wait: after a long one the next is a second away.
HOLD = """
int fdatasync(int file)
{
    static int (*next)(int);
    static int calls;
    if (!next)
        next = dlsym(RTLD_NEXT, "fdatasync");
    int found = next(file);
    if (++calls < 7 || access("hold", F_OK) != 0)
        return found;
    close(open("held", O_CREAT | O_WRONLY, 0666));
    while (access("hold", F_OK) == 0 && access("held", F_OK) == 0)
        usleep(10000);
    return found;
}
"""

pytestmark = [pytest.mark.skipif(not browser.find(), reason=missing.sentence(
    "Chromium is not installed", "what a browser makes of the page, which other tests read as HTML",
    "apt-get install chromium")),
              pytest.mark.thorough("starts a browser")]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def web(tmp_path):
    """The address of a server of the folder."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def start(tmp_path):
    """Starts a command in the folder of the test; ends what still runs at its end."""
    begun = []

    def begin(*command, **options):
        with open(tmp_path / f"log {len(begun)}", "w") as log:
            begun.append(subprocess.Popen([str(word) for word in command], cwd=tmp_path, stdin=subprocess.DEVNULL,
                                          stdout=log, stderr=log, **options))
        return begun[-1]
    yield begin
    for process in begun:
        process.kill()
        process.wait()


def until(happened):
    deadline = time.monotonic() + DEADLINE
    while not (found := happened()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def stands(path):
    """(runs that have ended, runs under way) as the dataset has it; (0, 0) before it is there."""
    try:
        with open_sweep(path) as dataset:
            return int((dataset.sweep.done | dataset.sweep.diverged).sum()), int(dataset.sweep.running.sum())
    except (FileNotFoundError, NotASweep):
        return 0, 0


def held_in_the_middle(path):
    """Waits until the sweep is held while a run is under way. Returns the number of runs that have ended."""
    while True:
        until((path.parent / "held").exists)
        ended, running = stands(path)
        assert ended < RUNS
        if ended >= 3 and running == 1:
            return ended
        (path.parent / "held").unlink()


def filled(page):
    """The share of the diagram that has a colour of growth, or the hatch of diverged runs: the paths' own area."""
    return page.tell("""[...document.querySelectorAll('.area svg path[fill], .area svg .is-diverged')].flatMap(
        path => [...path.getAttribute('d').matchAll(/M([0-9]+) [0-9]+H([0-9]+)v-([0-9]+)/g)]).reduce(
        (sum, [, left, right, height]) => sum + (right - left) * height, 0) / 750000""")


def assert_fits(page):
    """No horizontal scroll on a phone and on a desktop, in light and in dark."""
    for width in (360, 1400):
        for dark in (False, True):
            page.look(width, dark=dark)
            sizes = page.tell("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
            assert sizes[0] <= sizes[1] <= width, (width, sizes)
            assert page.tell("getComputedStyle(document.body).backgroundColor") == (
                "rgb(22, 22, 22)" if dark else "rgb(255, 255, 255)")
    page.look(1400)


@pytest.mark.long(80)
def test_from_before_the_first_run_to_the_report(web, tmp_path, start):
    """Over http and opened as a file, at once."""
    path, urls = tmp_path / "s.nc", [f"{web}/s.html", (tmp_path / "s.html").as_uri()]
    (tmp_path / "s.yaml").write_text(SWEEP)
    watch = start(*REPORT, "s.nc", "--watch", "--every", "1")
    until((tmp_path / "s.html").exists)
    with browser.Browser() as over_http, browser.Browser() as as_file:
        pages = [over_http, as_file]
        for page, url in zip(pages, urls):
            page.look(1400)
            page.open(url)
            assert "Waiting for s.nc" in page.tell("document.body.innerText")
            page.tell("window.mark = 'the same document'")
        (tmp_path / "hold").touch()
        sweep = start(NORMSWEEP, "run", "s.yaml", "-j", "0", env=preload(tmp_path, HOLD))
        ended = held_in_the_middle(path)
        for page in pages:
            page.until(f"document.querySelector('dl')?.textContent.includes('{ended} of {RUNS} ') && "
                       "document.querySelectorAll('#runs progress').length === 1")
            in_the_middle(page, ended)
        (tmp_path / "hold").unlink()
        assert sweep.wait(DEADLINE) == 0 and watch.wait(DEADLINE) == 0
        for page in pages:
            page.until("document.querySelector('figure > img') !== null")
            at_the_end(page, path)
        assert set(over_http.requests()) <= {urls[0], "data:"}
        assert {address.partition("?")[0] for address in as_file.requests()} <= {urls[1], "data:"}
        assert [text for page in pages for text in page.complaints()] == []
    assert (tmp_path / "log 0").read_text().splitlines() == [
        "report: s.nc: not there yet; waiting for up to 3600 s", "s.html"]


def in_the_middle(page, ended):
    assert abs(filled(page) - ended / RUNS) < 0.01
    assert page.tell("document.querySelector('h1').textContent") == EVIL.replace('"', "")
    assert page.tell("document.querySelector('.pill').textContent") == "Running"
    assert page.tell("document.querySelectorAll('.curves .line.ended').length") >= ended - 2  # some have diverged
    assert_fits(page)
    enlarge_and_read(page)
    page.tell("document.querySelector('button.enlarge').click()")  # stays while the page is replaced
    page.tell("window.stamp = document.body.dataset.stamp")
    page.until("document.body.dataset.stamp !== window.stamp")
    assert page.tell("document.querySelector('dialog').open")
    assert page.tell("document.querySelectorAll('dialog .area').length") == 1
    page.press("Escape")
    page.look(360)
    page.tell("scrollTo(0, 300); window.stamp = document.body.dataset.stamp")
    page.until("document.body.dataset.stamp !== window.stamp")
    assert page.tell("scrollY") == 300
    page.look(1400)


def enlarge_and_read(page):
    """The diagram opens by click and keyboard and closes by Escape; pointing at a cell tells its numbers."""
    shown = "document.querySelector('dialog').open"
    page.tell("document.querySelector('button.enlarge').focus()")
    page.press("Enter")
    page.until(shown)
    assert page.tell("document.querySelectorAll('dialog .area').length") == 1
    page.press("Escape")
    page.until(f"!{shown}")
    assert page.tell("document.activeElement.className") == "enlarge"
    page.tell("document.querySelector('.area').scrollIntoView()")
    box = page.tell("(({left, bottom}) => [left + 5, bottom - 5])("
                    "document.querySelector('.area').getBoundingClientRect())")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    page.until("/^learning rate 0.001, weight decay 0.01: growth [0-9.]+, [12] of 2 runs ended$/.test("
               "document.querySelector('.reading').textContent)")


def at_the_end(page, path):
    """The report with every figure, which no longer asks for a newer one; still the document that was loaded first."""
    assert page.tell("window.mark") == "the same document"
    with open_sweep(path) as dataset:
        names = [drawing.name for drawing in figures.draw_all(dataset)]
    assert page.tell("[...document.querySelectorAll('figure > img')].map(image => image.parentNode.id)") == [
        f"figure-{name}" for name in names] and len(names) > 10
    page.until("[...document.querySelectorAll('figure > img')].every(image => image.complete)")
    assert page.tell("[...document.querySelectorAll('figure > img')].every(image => image.naturalWidth > 100)")
    assert page.tell("document.body.dataset.every") is None
    assert f"{RUNS} runs: " in page.tell("document.body.innerText")
    assert_fits(page)
    page.tell("document.querySelector('figure > img').click()")
    page.until("document.querySelector('dialog img')?.naturalWidth > 100")
    page.press("Escape")
    before = len(page.requests())
    page.wait(3)
    assert not [url for url in page.requests()[before:] if url != "data:"]


def test_a_page_that_is_no_longer_rewritten_says_so(web, tmp_path, start):
    watch = start(*REPORT, "none.nc", "--watch", "--every", "1")
    until((tmp_path / "none.html").exists)
    with browser.Browser() as page:
        page.open(f"{web}/none.html")
        assert page.tell("document.getElementById('stale').hidden")
        watch.kill()
        watch.wait()
        page.until("/has not been rewritten since .*2/.test(document.getElementById('stale').innerText)")


def test_interrupted(web, tmp_path, start):
    """Ctrl-C and SIGTERM leave a whole page, which says so and no longer asks for a newer one."""
    for number in (signal.SIGINT, signal.SIGTERM):
        (tmp_path / "none.html").unlink(missing_ok=True)
        watch = start(*REPORT, "none.nc", "--watch", "--every", "1")
        until((tmp_path / "none.html").exists)
        watch.send_signal(number)
        assert watch.wait(DEADLINE) == 130
        with browser.Browser() as page:
            page.open(f"{web}/none.html")
            assert "No longer watched" in page.tell("document.body.innerText")
            assert page.tell("document.body.dataset.every") is None
