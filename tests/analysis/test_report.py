"""analysis/report: a page that stands alone, shows every text as it is, and has the numbers of the dataset."""

import base64
import hashlib
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import NORMSWEEP, PROJECT, run, script, train_sweep
from made_up import SETTINGS, made_up
from pages import EVIL, Reader

REPORT = [sys.executable, PROJECT / "analysis" / "report"]
import normsweep
import test_forces
from normsweep import account, command, figures, words
from normsweep.drawings import page
from normsweep.drawings import table as table_of_figures
from normsweep.drawings.picture import LARGEST_SVG
from normsweep.drawings.report import report
from normsweep.scripts import report as report_script

pytestmark = pytest.mark.thorough("writes reports with all their figures")


def read(dataset, **options):
    return Reader(report(dataset, **options))


def test_stands_alone_and_is_well_formed():
    text = report(made_up(), source="first.nc")
    reader = Reader(text)
    assert text.startswith("<!DOCTYPE html>\n<html") and text.endswith("</html>\n")
    assert not {"iframe", "object", "base"} & reader.names and text.count("<script") == 1
    for name, value in reader.attributes:
        assert name not in ("src", "href") or value.startswith(("data:", "#")), value
    assert not re.search(r"url\(|@import|https?:", page.STYLE)
    policy = dict(reader.attributes)["content"]
    digest = hashlib.sha256(text.partition("<script>")[2].partition("</script>")[0].encode()).digest()
    assert dict(reader.attributes)["http-equiv"] == "Content-Security-Policy"
    assert policy.startswith("default-src 'none'") and base64.b64encode(digest).decode() in policy
    assert "'self'" not in policy and "first.nc" in reader.texts


def test_every_text_is_shown_as_it_is():
    ds = made_up()
    outcome, reason = ds.outcome.values, ds.reason.values.copy()
    outcome[1, 1, 0, 0] = 4
    reason[1, 1, 0, 0] = "reason " + EVIL
    ds = made_up(outcome=outcome, reason=reason)
    ds = ds.assign_coords(norm_placement=["pre", "axis " + EVIL])
    ds["session_host"] = ("sessions", np.array(["host " + EVIL, "b", ""], dtype=object))
    ds.attrs |= {"sweep_title": "title " + EVIL, "sweep": "sweep " + EVIL, "init": "key " + EVIL,
                 "data_digest": "digest " + EVIL, "sweep_notes": "notes " + EVIL}
    failing = [("name " + EVIL, "", RuntimeError("error " + EVIL))]
    text = report(ds, failing, "source " + EVIL)
    assert text.count("<script") == 1 and "alert('1')" not in text
    shown = "".join(Reader(text).texts)
    for what in ("reason", "axis", "host", "title", "sweep", "key", "digest", "name", "error", "source", "notes"):
        assert f"{what} {EVIL}" in shown, what


def test_keys_of_corpora(tmp_path):
    """The report knows which keys a corpus uses; the program refuses the others."""
    values = {"vocabulary": 9, "corpus_tokens": 5000, "train_share": 0.5, "corpus_seed": 1, "sequences": "stream",
              "min_count": 2}
    assert set(values) == set(account.USED)
    corpora = sorted({corpus for users in account.USED.values() for corpus in users})
    for corpus in corpora:
        for key, value in values.items():
            (tmp_path / "s.yaml").write_text(f"corpus: {corpus}\nsteps: 1\n{key}: {value}\n")
            done = subprocess.run([NORMSWEEP, "check", tmp_path / "s.yaml"], capture_output=True, text=True)
            refused = f"{key}: corpus {corpus} does not use it" in done.stderr
            assert refused != (corpus in account.USED[key]), (corpus, key, done.stderr)


def test_what_was_run():
    tables = read(made_up()).tables
    assert tables["Grid: 60 cells"] == [[["axis", "values", ""], ["learning_rate", "3", "0.0001, 0.01, 0.1"],
                                         ["weight_decay", "5", "0.001, 0.01, 0.1, 1, 10"],
                                         ["norm_placement", "2", "pre, post"], ["seed", "2", "0, 1"]]]
    assert account.fixed(made_up())[-2:] == [("steps", 20), ("bias", True)]
    drawn = {"vocabulary": 129, "corpus_tokens": 1000}
    assert account.fixed(made_up().assign_attrs(drawn, corpus="text"))[-2:] == [("bias", True), ("corpus", "text")]
    assert account.fixed(made_up().assign_attrs(drawn, corpus="dyck"))[-3:] == [*drawn.items(), ("corpus", "dyck")]
    together = made_up().assign_coords(width=("norm_placement", [8, 16]))
    assert read(together).tables["Grid: 60 cells"][1] == [["norm_placement", "width"], ["pre", "8"], ["post", "16"]]
    falling = made_up().assign_coords(layers=("learning_rate", [1, 2, 3]))
    assert read(falling).tables["Grid: 60 cells"][1][1:] == [["0.0001", "3"], ["0.01", "2"], ["0.1", "1"]]


def test_results_come_first_and_defaults_last():
    from matplotlib.figure import Figure
    ds = made_up().assign_attrs(
        width=8, sweep_title="A sweep",
        sweep='title: "A sweep"\nbias: true  # steps: 9\n# include base.yaml\n# | width: 8')
    text = report(ds, [("losses", "Losses.", Figure()), ("phase", "Growth.", Figure())])
    places = [text.index(part) for part in (
        "growth stops at a weight decay of 0.01 to 0.1; its log-log slope over the learning rate is 1.00",
        'id="figure-phase"', "Results</h2>", 'id="figure-losses"', "How it went</h2>", "What was run</h2>",
        "Machines</h2>", "The sweep file</h2>") if part in text]
    assert places == sorted(places) and len(places) == 8
    open_keys, folded = text.partition("The same in all runs")[2].split("<details", 1)
    assert "<b>width</b> 8" in open_keys and "<b>bias</b> true" in open_keys and "<b>steps</b>" not in open_keys
    assert f"{len(SETTINGS)} more keys, at the default" in folded
    assert "<b>steps</b> 20" in folded.partition("</details>")[0]


def test_minus_signs_and_one_seed():
    ds = made_up()
    ds["norm_growth"] = ds.norm_growth * 0 + (ds.learning_rate * ds.weight_decay) ** -0.3 * 0.3
    text = report(ds)
    assert "Slope \N{MINUS SIGN}1.00" in text and "is \N{MINUS SIGN}1.00" in text and "Slope -" not in text
    one = report(ds.isel(seed=[0]))
    assert "One seed: the spread between seeds is unknown" in one
    assert "it rejects" not in one and "interval is" not in one and "95 % interval" not in one
    assert "is \N{MINUS SIGN}1.00, from one seed." in one


def test_long_axes_are_cut():
    ds = made_up().isel(seed=np.zeros(100, int)).assign_coords(seed=range(100))
    assert read(ds).tables["Grid: 3000 cells"][0][4][2] == ", ".join(map(str, range(29))) + ", … 99"


def test_sessions():
    common, sessions = read(made_up()).tables["Machines"]
    assert common == [["version", "0.1.0"], ["compiler", "cc 1"], ["blas", "OpenBLAS"], ["blas kernel", "Zen"],
                      ["mpi", "Open MPI"], ["digest of the configuration", "c0ffee"], ["digest of the data", "beef"]]
    assert sessions == [["session", "runs", "commit", "vector level", "host", "start"],
                        ["0", "44", "abc", "avx2", "node7", "2030-01-01T00:00:00Z"],
                        ["1", "11", "abd", "avx512", "node8", "2030-01-02T00:00:00Z"]]


def test_how_it_went():
    reader = read(made_up())
    outcomes, effort = reader.tables["How it went"]
    assert outcomes == [["outcome", "runs", "share"], ["pending", "5", "8.3%"], ["done", "53", "88.3%"],
                        ["diverged", "2", "3.3%"]]
    seconds = 29 / 3 + 24 * 4 / 3
    assert ["time in all runs", f"{seconds:.3g} s"] in effort
    assert ["attempts", "55; 0 runs started more than once"] in effort and "lost processes" not in dict(effort)
    assert reader.tables["Diverged"] == [[
        ["learning_rate", "weight_decay", "norm_placement", "seed", "step"],
        ["0.1", "10", "pre", "0", "7"], ["0.1", "10", "pre", "1", "7"]]]
    assert "Failed" not in reader.tables and len(reader.tables["Slowest"][0]) == 6
    assert "The sweep has not ended" in "".join(reader.texts)


def test_long_names_may_be_broken_and_stay_escaped():
    assert page.breakable("learning_rate") == "learning_<wbr>rate" and page.breakable("seed") == "seed"
    assert page.breakable("<i>_<b>") == "&lt;i&gt;_<wbr>&lt;b&gt;"


def test_hidden_letters_are_shown():
    """Direction, controls and halves of letters, in the title, the notes, labels, and the figures of the page."""
    hidden = "a\u202eb\u2069\x1b[31m\u2028\udc9b"
    shown = r"a\u202eb\u2069\x1b[31m\u2028\udc9b"
    made = made_up().assign_attrs(sweep_title=hidden, sweep_notes=f"{hidden}\nmore")
    text = report(made.assign_coords(norm_placement=("norm_placement", [hidden, "post"])))
    assert not words.HIDDEN.search(text.replace("\n", "").replace("\t", "")) and text.count(shown) > 5
    assert Reader(text).names and f"{shown}\nmore" in text
    assert words.shown("a\nb\tc\rd") == "a\nb\tc\\rd" and words.shown("a\nb\tc", kept="") == "a\\nb\\tc"


def test_lost_processes():
    ds = made_up()
    ds["deaths"][0, 0, 0, 0], ds["deaths"][1, 0, 0, 0] = 2, 1
    assert ["lost processes", "3, in runs without a checkpoint since"] in read(ds).tables["How it went"][1]


def test_slowest_first_and_failures_cut():
    ds = made_up(outcome=np.full((3, 5, 2, 2), 4, np.int8), reason=np.full((3, 5, 2, 2), "out of memory", object))
    reader = read(ds)
    assert len(reader.tables["Failed"][0]) == 21 and "The first 20 of 60." in reader.texts
    assert reader.tables["Failed"][0][1] == ["0.1", "10", "pre", "0", "out of memory", "node7", "1"]
    assert "Slowest" not in reader.tables
    ds = made_up()
    ds["seconds"][:] = np.arange(60.0).reshape(ds.seconds.shape)
    ds["outcome"][-1, -1, -1, -1] = 4
    assert [row[4] for row in read(ds).tables["Slowest"][0][1:]] == ["58", "57", "56", "54", "53"]


def test_nothing_has_run_yet():
    reader = read(made_up(outcome=np.zeros((3, 5, 2, 2), np.int8), norm_growth=np.full((3, 5, 2, 2), np.nan)))
    assert reader.tables["How it went"][0] == [["outcome", "runs", "share"], ["pending", "60", "100.0%"]]
    assert reader.tables["norm placement pre"][0][1] == ["0.0001", "–", "no run is done"]
    assert not {"Slowest", "Failed", "Diverged", "Losses"} & set(reader.tables)


def test_one_run():
    reader = read(made_up().isel(learning_rate=1, weight_decay=1, norm_placement=1, seed=1))
    assert reader.tables["How it went"][0] == [["outcome", "runs", "share"], ["done", "1", "100.0%"]]
    assert reader.tables["Slowest"] == [[["seconds", "steps", "tokens per second"],
                                         ["1.333", "20", f"10{words.THIN_SPACE}000"]]]


def test_boundary():
    reader = read(made_up())
    assert reader.tables["norm placement pre"] == [[
        ["learning rate", "boundary weight decay", "spread", "lowest", "highest", "seeds", ""],
        ["0.0001", "–", "–", "–", "–", "0", "all shrink"],
        ["0.01", "0.01", "1.633", "0.007071", "0.01414", "2", ""],
        ["0.1", "0.1", "1.633", "0.07071", "0.1414", "2", ""]]]
    post = reader.tables["norm placement post"][0]
    assert post[1] == ["0.0001", "0.2121", "–", "0.2121", "0.2121", "1"] and post[3][1] == "0.3"
    slopes = [text for text in reader.texts if text.startswith("Slope")]
    found = made_up().sweep.boundary()
    low, high = float(found.slope_low[0]), float(found.slope_high[0])
    assert slopes[0] == ("Slope 1.00, from 2 learning rates. Its 95 % interval is "
                         f"{low:.2f} to {high:.2f}; it rejects aligned updates.")
    assert "±" in slopes[1] and "from 3" in slopes[1] and "it rejects orthogonal updates" in slopes[1]
    single = read(made_up().isel(seed=[0]))
    slopes = [text for text in single.texts if text.startswith("Slope")]
    assert slopes == ["Slope 1.00, from 2 learning rates. One seed: the spread between seeds is unknown.",
                      "Slope 0.00 ± 0.00 (standard error of the fit), from 3 learning rates. "
                      "One seed: the spread between seeds is unknown."]
    assert single.tables["norm placement pre"][0][2] == ["0.01", "0.007071", "0.001", "0.01", ""]
    one = read(made_up().isel(seed=0, norm_placement=1, learning_rate=0))
    assert one.tables["Boundary between growing and shrinking"] == [
        [["boundary weight decay", "run before", "run after"], ["0.2121", "0.1", "1"]]]
    none = read(made_up().isel(weight_decay=0))
    assert "norm_growth is not measured along weight_decay, so there is no boundary." in none.texts


def test_forces_at_the_boundary():
    table, = read(test_forces.made()).tables["What feeds the norm where growth stops"]
    assert table[0] == ["learning_rate", "injection", "chance", "pull"]
    assert [row[0] for row in table[1:]] == ["0.1", "0.01", "0.001"]
    assert table[2] == ["0.01", "0.10", "0.10", "0.80"]
    blind = test_forces.made()
    pull = blind.force_sum.sel(force="pull") + blind.force_sum.sel(force="chance")
    blind["force_sum"] = blind.force_sum.where(blind.force != "chance").where(blind.force != "pull", pull)
    table, = read(blind).tables["What feeds the norm where growth stops"]
    assert table[2] == ["0.01", "0.10", "", "0.90"]


def test_boundary_of_a_loss():
    ds = made_up()
    ds["final_train_loss"] = 2.9 * ds.norm_growth ** 0.5
    ds.attrs["refine"] = "{axis: weight_decay, variable: final_train_loss, at: 2.9}"
    reader = read(ds)
    assert "Boundary: final_train_loss at 2.9 along weight_decay" in reader.texts
    table, = reader.tables["norm placement pre"]
    assert table[1][-1] == "none above" and len(table) == 4
    slopes = [text for text in reader.texts if text.startswith("Slope")]
    assert len(slopes) == 2 and not any("rejects" in text for text in slopes)
    assert not any("stops at a weight decay" in text for text in reader.texts)


def test_laws_and_losses():
    ds = made_up()
    ds["growth_exponent"] = ds.norm_growth.copy(data=np.full(ds.norm_growth.shape, 0.5))
    ds["final_valid_loss"] = ds.norm_growth.copy(data=np.arange(60.0)[::-1].reshape(ds.norm_growth.shape))
    ds["unigram_loss"] = ds.norm_growth.copy(data=np.full(ds.norm_growth.shape, 50.0))
    ds["predicted_entropy"] = ds.param_norm.copy(data=np.where(np.arange(3) == 2, 0.0, 1.0) + 0 * ds.param_norm)
    ds["predicted_entropy"][0, 1] = 1.0
    tables = read(ds).tables
    assert tables["Law of growth"][0][1] == ["norm placement pre", "28", "0.5", "0.5", "0.5", "–"]
    losses = dict(tables["Losses"][0])
    assert losses["lowest validation loss"] == \
        "1 (learning_rate 0.0001, weight_decay 0.001, norm_placement post, seed 0)"
    assert losses["not below the unigram level"].startswith("8 runs") and losses["collapsed"].startswith("49 runs")


def test_figures_are_in_the_page():
    from matplotlib.figure import Figure
    small, many_dots, many_lines = Figure(), Figure(), Figure()
    small.subplots().plot([0, 1], [2, 3])
    many_dots.subplots().plot(np.random.default_rng(0).normal(size=40000), linestyle="none", marker="o")
    axes = many_lines.subplots()
    for i in range(300):
        axes.plot(np.random.default_rng(i).normal(size=500))

    class Broken(Figure):
        def savefig(self, *arguments, **options):
            raise ValueError("no such colour")

    caption = "what a shows " + EVIL + ". And a note."
    reader = read(made_up(), drawings=[("a", caption, small), ("b", "what b shows", many_dots),
                                       ("c", "what c shows", many_lines), ("d", "what d shows", Broken()),
                                       ("e", "", KeyError("e"))])
    images = [value for name, value in reader.attributes if name == "src"]
    first, second = (base64.b64decode(image.removeprefix("data:image/svg+xml;base64,")) for image in images[:2])
    assert len(images) == 3 and b"<svg" in first and b"<image" not in first
    assert b"<svg" in second and b"<image" in second and len(second) < LARGEST_SVG  # dots as pixels
    assert base64.b64decode(images[2].removeprefix("data:image/png;base64,")).startswith(b"\x89PNG")
    assert reader.texts.count("what b shows") == 1 and reader.texts.count(caption) == 1
    assert ("alt", "what a shows " + EVIL + ".") in reader.attributes
    assert [value for name, value in reader.attributes if name == "aria-label"] == [
        f"Enlarge the figure {name}" for name in "abc"]
    assert "d: could not be drawn: no such colour" in reader.texts and "what d shows" not in reader.texts
    assert "e: could not be drawn: 'e'" in reader.texts


def test_notes_stand_once():
    """In the image of a file, which has no caption; in the caption of a report."""
    ds = made_up()
    drawn = {is_captioned: next(figures.draw_all(ds, ["phase"], captioned=is_captioned))
             for is_captioned in (False, True)}
    images = {key: " ".join(text.get_text() for text in drawing.figure.texts) for key, drawing in drawn.items()}
    assert drawn[True].caption == drawn[False].caption
    assert "Geometric mean over seeds." in drawn[True].caption and "have ended" in drawn[True].caption
    assert "Geometric mean over seeds." in images[False] and "have ended" in images[False]
    assert "Geometric" not in images[True] and "have ended" not in images[True]
    heights = {key: drawing.figure.get_size_inches()[1] for key, drawing in drawn.items()}
    assert heights[True] < heights[False], "and takes no room"


def test_a_figure_that_fails_is_named(monkeypatch):
    def fails(dataset):
        raise RuntimeError("out of ink")

    rows = [table_of_figures.Figure("first", "the first", fails, ("norm_growth",)),
            table_of_figures.Figure("second", "the second",
                                    lambda dataset: figures.Drawing("second", "shown", "a figure"), ("norm_growth",))]
    monkeypatch.setattr(table_of_figures, "table", lambda *_: rows)
    (name, caption, figure), (lost, _, error) = report_script.drawings(made_up())
    assert (name, caption, figure) == ("second", "shown 55 of 60 runs have ended.", "a figure")
    assert lost == "first" and str(error) == "out of ink"


def test_numbers_as_people_read_them():
    for value, text in ((0.1, "0.1"), (-1.23456, "\N{MINUS SIGN}1.235"), (1e-7, "1e-7"), (12345.6, "12 346"),
                        (1234, "1234"), (0.0, "0"), (float("nan"), "–"), (float("inf"), "inf"), (1e30, "1e30"),
                        (2.5e6, "2 500 000"), (np.int64(7), "7")):
        assert words.number(value) == text.replace(" ", words.THIN_SPACE)
    assert [words.duration(s) for s in (0.5, 90, 150, 7200, 200000)] == ["0.5 s", "90 s", "2.5 minutes", "2 hours",
                                                                         "2.31 days"]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """A small sweep of our own with every group of metrics."""
    return train_sweep(
        tmp_path_factory.mktemp("report"),
        "title: A small one\ncorpus: markov\ncorpus_tokens: 4000\nsteps: 4\nwidth: 8\nheads: 2\nseed: [0, 1]\n"
        "learning_rate: [1e-3, 1e-2]\nweight_decay: [0, 1, 100]\nvalidate: {every: end, tokens: 256}\n"
        "measure: {every: 1, metrics: [norms, alignment, saturation, heads, homogeneity]}\n", name="small one")


def test_of_a_real_sweep(sweep, tmp_path):
    assert run(*REPORT, sweep, cwd=tmp_path, timeout=600).stdout == "small one.html\n"
    assert os.listdir(tmp_path) == ["small one.html"]
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "small one.html").stat().st_mode & 0o777 == 0o666 & ~umask
    reader = Reader((tmp_path / "small one.html").read_text(encoding="utf-8"))
    assert "A small one" in reader.texts and "could not be drawn" not in "".join(reader.texts)
    assert reader.tables["How it went"][0][1] == ["done", "12", "100.0%"]
    assert any(text.startswith("small one.nc, as of 20") and text.endswith(" UTC") for text in reader.texts)
    assert {"Boundary between growing and shrinking", "Law of growth", "Losses", "Slowest"} <= set(reader.tables)
    with normsweep.open_sweep(sweep) as ds:
        drawn = [drawing.caption for drawing in figures.draw_all(ds)]
    assert [text for text in reader.texts if text in drawn] == drawn and len(drawn) > 10
    assert all(caption.startswith(alt) for caption, alt in zip(
        drawn, (value for name, value in reader.attributes if name == "alt")))


def test_a_dataset_is_never_overwritten(sweep, tmp_path):
    with open(sweep, "rb") as file:
        before = file.read()
    for command, name in ((["report"], "a.nc"), (["report", "--watch", "--program", NORMSWEEP], "a.nc"),
                          (["report"], "a.html"), (["table"], "a.csv")):
        (tmp_path / name).write_bytes(before)
        error = script(*command, name, "-o", name, status=1, cwd=tmp_path).stderr.splitlines()[-1]
        assert error.endswith(f"{name}: is a netCDF file, which would be overwritten; remove it or choose another -o")
        assert (tmp_path / name).read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.html", "a.nc"]


@pytest.mark.parametrize("moment", ["open", "chmod", "replace"])
def test_terminated_at_any_moment(tmp_path, monkeypatch, moment):
    """From when the temporary file is made to when it gets its name, of which nothing but the last stays. SIGTERM then
    does again what it did."""
    function = getattr(os, moment)

    def and_terminate(path, *others):
        found = function(path, *others)
        if os.fspath(path).startswith(str(tmp_path)):
            os.kill(os.getpid(), signal.SIGTERM)
        return found

    monkeypatch.setattr(os, moment, and_terminate)
    fails = lambda *_: pytest.fail("SIGTERM would have ended the command")
    before = signal.signal(signal.SIGTERM, fails)
    try:
        with pytest.raises(KeyboardInterrupt), command.whole_file(tmp_path / "a"):
            pass
        assert signal.getsignal(signal.SIGTERM) == fails
    finally:
        signal.signal(signal.SIGTERM, before)
    assert os.listdir(tmp_path) == (["a"] if moment == "replace" else [])


def test_a_terminated_command_says_nothing(sweep, tmp_path):
    """A job's end, while the page is made."""
    process = subprocess.Popen([*REPORT, sweep], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 600
    while not os.listdir(tmp_path) and process.poll() is None:  # the temporary file, for as long as figures are drawn
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.terminate()
    assert process.communicate()[0] == b"" and process.returncode == 130 and os.listdir(tmp_path) == []


def test_nothing_is_written_where_nothing_can_be(sweep, tmp_path):
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "file").write_text("mine")
    for output, message in (("folder.html", "folder.html: is a folder"),
                            ("file/new/a.html", "file: is a file, not a folder")):
        error = script("report", sweep, "-o", output, status=1, cwd=tmp_path).stderr
        assert error == f"report: {message}\n"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder.html"] and os.listdir(tmp_path / "folder.html") == []


def test_written_whole_or_not_at_all(tmp_path):
    (tmp_path / "a").write_text("before")
    with pytest.raises(ZeroDivisionError), command.whole_file(tmp_path / "a") as name:
        with open(name, "w") as file:
            file.write("half")
        raise ZeroDivisionError
    assert (tmp_path / "a").read_text() == "before" and os.listdir(tmp_path) == ["a"]
    with command.whole_file(tmp_path / "a") as name:
        with open(name, "w") as file:
            file.write("after")
    assert (tmp_path / "a").read_text() == "after" and os.listdir(tmp_path) == ["a"]


def test_a_boundary_below_the_smallest_decay_names_it():
    ds = made_up().isel(seed=[0]).assign_coords(weight_decay=[10, 1, 0.1, 0.01, 0])
    below = ds.norm_growth.where(ds.weight_decay == 0, 0.5)
    ds = ds.assign(norm_growth=below.where(ds.weight_decay > 0, 2).where(ds.outcome == 2))
    thinned = ds.outcome.where((ds.learning_rate < 1e-1) | (ds.weight_decay != 0.01), 5).astype("int8")
    ds["outcome"] = thinned.assign_attrs(ds.outcome.attrs)
    found = ds.sweep.boundary().isel(norm_placement=0).sortby("learning_rate")
    assert (found.side == "zero").all() and found.after.values.ravel().tolist() == [0.01, 0.01, 0.1]
    texts = "".join(read(ds).texts)
    assert "between 0 and 0.1, the smallest positive decay that was run" in texts
    assert "between 0 and 0.01, the smallest positive decay that was run" in texts
