"""The page of a sweep under way, read as HTML: numbers, pictures, hostile texts; and the loop that rewrites it."""

import json
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import NORMSWEEP, PROJECT, run, script
from made_up import made_up
from pages import EVIL, Reader, area, shapes

from normsweep.figures.implied import implied_sides
from normsweep.live import curves, diagram, lease, sections, survey, watch
from normsweep.live.survey import DONE, FAILED, PENDING, RUNNING, SKIPPED, Surveyor

pytestmark = pytest.mark.thorough("writes the live page again and again")

REPORT = [sys.executable, PROJECT / "analysis" / "report"]
DEADLINE = 120  # seconds, which only ends a test that hangs


@pytest.fixture
def live(tmp_path):
    """live(dataset, held=True) is (the page as text, what is known of the sweep)."""
    path = tmp_path / "made up.nc"
    path.write_text("")

    def read(dataset, held=True, surveyor=None):
        survey = (surveyor or Surveyor()).survey(dataset, path, held)
        title, parts = sections.parts_of(dataset, survey, sections.state_of(survey), path.name, time.time(), 5)
        return sections.live_page(title, parts, 5, time.time()), survey
    return read


def under_way(*places, **changes):
    """The made up sweep with runs under way at some places of its grid."""
    outcome = made_up().outcome.values.copy()
    for place in places:
        outcome[place] = RUNNING
    ds = made_up(outcome=outcome, **changes)
    losses = ds.param_norm.copy(data=np.where(np.isfinite(ds.param_norm), 3 - 0.05 * ds.step, np.nan))
    for place in places:
        losses[place] = [3, 2.5, np.nan]
        ds["param_norm"][place] = [1, 1.1, np.nan]
    ds["train_loss"] = losses
    return ds


def test_counts_and_runs_under_way(live):
    text, survey = live(under_way((2, 0, 1, 1), (2, 1, 1, 1)))
    reader = Reader(text)
    shown = "".join(reader.texts)
    assert "55 of 60 (91.7 %)" in shown and "53 done2 diverged2 running3 pending" in shown
    assert "learning rate 0.0001, weight decay 10, norm placement post, seed 1" in shown
    assert "step 10 of 20 · loss 2.5 · node7" in shown and "Runs under way: 2" in shown
    assert ("value", "10") in reader.attributes and ("max", "20") in reader.attributes
    assert survey.is_going and not survey.is_complete and "Running" in reader.texts
    assert ("data-every", "5") in reader.attributes


def test_a_stopped_sweep_has_no_runs_under_way(live):
    text, survey = live(under_way((2, 0, 1, 1)), held=False)
    assert survey.count(RUNNING) == 0 and survey.count(PENDING) == 5
    assert "Stopped: nothing runs" in text and "None at this moment." in text and "<progress" not in text


def test_a_stopped_sweep_tells_of_its_saved_runs(live, tmp_path):
    """As `status` counts them: runs, not files; in the dataset's folder, by the names of checkpoints alone."""
    folder = tmp_path / "made up.nc.d"
    (folder / "states").mkdir(parents=True)
    one, two = "06a8d1c9c92667f4bed75a6829a4f6da", "8dee15bb32d032086887cf3b12bd87d5"
    for name in (f"{one}-000000-000000000002-000000000673.nc", f"{one}-000000-000000000002-000000000498.nc",
                 f"{two}.weights.nc", f"{two}-000000-000000000001-000000000690.nc.part", "log.txt",
                 f"states/{two}-000000-000000000001-000000000690.nc"):
        (folder / name).touch()
    text, survey = live(under_way((2, 0, 1, 1), (2, 1, 1, 1)), held=False)
    assert survey.saved == 1
    assert "1 run was under way when the sweep stopped, and is saved: the next start resumes it." in text
    (folder / f"{two}-000001-000000000001-000000000690.nc").touch()
    text, survey = live(under_way((2, 0, 1, 1), (2, 1, 1, 1)), held=False)
    assert survey.saved == 2 and "None at this moment" not in text
    assert "2 runs were under way when the sweep stopped, and are saved: the next start resumes them." in text
    assert "<dt>saved</dt><dd>2 runs under way</dd>" in text
    text, survey = live(under_way((2, 0, 1, 1)), held=True)
    assert survey.saved == 0 and "<dt>saved</dt>" not in text


def test_saved_runs_of_a_real_sweep(tmp_path):
    """The page counts what `status --json` counts."""
    (tmp_path / "a.yaml").write_text("corpus: markov\nwidth: 16\nsteps: 100000000\nlearning_rate: [0.1, 0.01]\n")
    sweep = subprocess.Popen([NORMSWEEP, "run", "a.yaml", "-j", "0", "--log", "log"], cwd=tmp_path,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        deadline = time.monotonic() + DEADLINE
        while not ((tmp_path / "log").exists() and '"run_started"' in (tmp_path / "log").read_text()):
            assert time.monotonic() < deadline and sweep.poll() is None
            time.sleep(0.05)
        sweep.terminate()
        sweep.communicate(timeout=DEADLINE)
    finally:
        sweep.kill()
    assert sweep.returncode == 75
    told = json.loads(run(NORMSWEEP, "status", "a.nc", "--json", cwd=tmp_path).stdout)
    assert told["state"] == "stopped" and told["saved"] == survey.saved_runs(tmp_path / "a.nc") == 1


def test_silent_runs_are_told(live, monkeypatch):
    surveyor, now = Surveyor(), [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    ds = under_way((2, 0, 1, 1))
    assert "silent for" not in live(ds, surveyor=surveyor)[0]
    now[0] += 90
    assert "silent for 90 s" in live(ds, surveyor=surveyor)[0]
    ds["train_loss"][2, 0, 1, 1, 2] = 2.0
    assert "silent for" not in live(ds, surveyor=surveyor)[0]


def test_times_of_the_last_session(live):
    ds = under_way((2, 0, 1, 1))
    for name, value in (("seconds_left", 61.3), ("tokens_per_second", 52345.0), ("workers", 3.0), ("runs", np.nan)):
        ds[f"session_{name}"] = "sessions", [np.nan, value, np.nan]
    shown = "".join(Reader(live(ds)[0]).texts)
    assert "about 61 s" in shown and "52\N{THIN SPACE}300" in shown and "workers3" in shown and "2 on node8" in shown
    assert "about 61 s" not in live(ds, held=False)[0]


def test_a_search_counts_the_runs_that_it_expects(live):
    ds = made_up(outcome=np.where(np.arange(60).reshape(3, 5, 2, 2) < 6, DONE, PENDING).astype(np.int8))
    ds["session_runs"] = "sessions", [np.nan, 24.0, np.nan]
    shown = "".join(Reader(live(ds)[0]).texts)
    assert "6 of about 24 (25.0 %)" in shown and "6 done18 pending" in shown


def test_every_text_is_shown_as_it_is(live):
    ds = under_way((2, 0, 1, 1))
    outcome, reason = ds.outcome.values.copy(), ds.reason.values.copy()
    outcome[1, 1, 0, 0], reason[1, 1, 0, 0] = FAILED, "reason " + EVIL
    ds["outcome"] = ds.outcome.copy(data=outcome)
    ds["reason"] = ds.reason.copy(data=reason)
    ds = ds.assign_coords(norm_placement=["pre", "axis " + EVIL])
    ds["session_host"] = "sessions", np.array(["a", "host " + EVIL, ""], dtype=object)
    ds["host"] = ds.host.copy(data=np.full(ds.host.shape, "node " + EVIL, dtype=object))
    ds.attrs |= {"title": "title " + EVIL, "notes": "notes " + EVIL, "tags": "tags " + EVIL}
    text = live(ds)[0]
    assert text.count("<script") == 1 and "alert('1')" not in text and "<b>\"" not in text
    reader = Reader(text)
    shown = "".join(reader.texts)
    for what in ("reason", "axis", "host", "node", "title", "notes", "tags"):
        assert f"{what} {EVIL}" in shown, what
    assert not [name for name, _ in reader.attributes if name.startswith("on")]


def test_cells_fill_as_their_seeds_end(live):
    """5 of the 15 cells of `post` have one seed of two; the cell of `pre` whose runs diverged is hatched."""
    text = live(made_up().assign_coords(learning_rate=[0.1, 0.01, 0.001]))[0]  # columns of one width
    pre, post = text.split('class="panel"')[1:3]
    whole = 1000 * 750
    assert abs(area(shapes(pre, 'fill="#')) / whole - 14 / 15) < 0.01
    assert abs(area(shapes(pre, 'class="is-diverged"')) / whole - 1 / 15) < 0.01
    assert abs(area(shapes(post, 'fill="#')) / whole - (10 + 5 / 2) / 15) < 0.01
    assert "class=\"boundary\"" in pre and "no growth" in text and "norm growth |θ| / |θ₀|" in text
    counts = re.search("pre; 28 runs done; 2 runs diverged; ([0-9]+) cells grow, ([0-9]+) do not", text).groups()
    assert sum(map(int, counts)) == 14 and int(counts[0]) in range(3, 6)  # two have a growth of 1 but for rounding


def test_colours_are_those_of_the_figure(live):
    """Growing cells are on the one side of the colour of 1, shrinking ones on the other."""
    ds = made_up().isel(norm_placement=[0], seed=[0])
    text = live(ds)[0]
    survey = live(ds)[1]
    plane = diagram.plane_of(ds)
    shades = diagram.State(ds, survey, plane).shades(plane.panels[0])
    growth = ds.norm_growth.isel(norm_placement=0, seed=0).sortby(["learning_rate", "weight_decay"]).transpose(
        "weight_decay", "learning_rate").values
    middle = (diagram.SHADES - 1) / 2
    assert ((shades > middle) == (growth > 1)).all() and (shades[np.isnan(growth)] == -1).all()
    assert all(f'fill="{colour}"' in text for colour in {diagram.State(ds, survey, plane).colours[s]
                                                        for s in shades.ravel() if s >= 0})


@pytest.mark.parametrize("at, panels", [
    ({"weight_decay": [0]}, 1), ({"weight_decay": [0], "learning_rate": [0]}, 1),
    ({"weight_decay": [0], "learning_rate": [0], "norm_placement": [0]}, 1), ({}, 2)])
def test_any_axes_have_a_diagram(live, at, panels):
    text = live(made_up().isel(at))[0]
    Reader(text)
    assert text.count('class="area" data-x') == panels


def test_a_single_run_and_one_without_norms(live):
    one = made_up().isel(learning_rate=[0], weight_decay=[1], norm_placement=[0], seed=[0])
    assert "A single run has no diagram." in live(one)[0]
    without = made_up().drop_vars(["norm_growth", "param_norm"])
    text = live(without)[0]
    assert "done, no norms measured" in text and 'class="is-done"' in text and 'class="curves"' not in text


def test_growth_of_runs_that_are_not_done_is_not_coloured(live):
    ds = made_up().isel(norm_placement=[0], seed=[0])
    outcome = ds.outcome.values.copy()
    outcome[0, 0, 0, 0], outcome[1, 0, 0, 0] = FAILED, RUNNING
    ds = ds.assign(outcome=ds.outcome.copy(data=outcome), norm_growth=ds.norm_growth.fillna(2.0))
    plane = diagram.plane_of(ds)
    state = diagram.State(ds, live(ds)[1], plane)
    done = outcome[:, :, 0, 0] == DONE
    assert 0 < (~done).sum() < done.size
    assert sorted(state.shades(plane.panels[0]).ravel() >= 0) == sorted(done.ravel())


def test_the_boundary_is_the_mean_of_the_seeds():
    ds = made_up()
    plane = diagram.plane_of(ds)
    lines = diagram.Boundaries(ds, plane)
    decays = np.log10(ds.sweep.phase_boundary().each.sortby("learning_rate"))
    edges = diagram.cells.scale(ds.weight_decay.sortby("weight_decay")).edges
    drawn = 0
    for panel in plane.panels:
        both = decays.isel(panel.at).values.reshape(decays.sizes["learning_rate"], -1)
        place = diagram.fraction(np.nanmean(both[np.isfinite(both).any(1)], axis=1), edges)
        heights = [int(height) for height in re.findall(r"[ML]\d+ (-?\d+)", lines.of(panel))]
        assert heights == [round(float(diagram.HEIGHT * (1 - y))) for y in place]
        drawn += len(heights) * int(np.ptp(both[np.isfinite(both).all(1)], axis=1).max() > 0.01)
    assert drawn > 0, "seeds that agree tell nothing"


def test_panels_and_rows_that_are_left_out_are_told(live, monkeypatch):
    monkeypatch.setattr(diagram.phase, "MOST_PANELS", 1)
    monkeypatch.setattr(diagram, "MOST_ROWS", 1)
    assert "1 of 2 " not in live(made_up().isel(norm_placement=[0]))[0]
    for part in (made_up(), made_up().isel(weight_decay=[0])):
        assert re.search("norm_placement=VALUE|1 of 2 ", live(part)[0])


def test_skipped_cells_show_what_a_search_implies(live):
    ds = made_up(outcome=np.where(np.arange(60).reshape(3, 5, 2, 2) < 30, SKIPPED, PENDING).astype(np.int8))
    ds["phase"] = ds.phase.copy(data=np.where(np.arange(60).reshape(3, 5, 2, 2) < 12, 1, 0).astype(np.int8))
    text = live(ds)[0]
    assert "implied by the search" in text and 'class="is-skipped"' in text


@pytest.mark.parametrize("codes, implied", [((1, 1), 1), ((2, 2), 2), ((0, 0), 0), ((3, 3), 0), ((1, 2), 0),
                                            ((0, 1), 0), ((2, 0), 0)])
def test_a_cell_that_a_search_skipped_is_implied_or_hatched(live, codes, implied):
    """As in the figure: implied if all of its seeds are of one side, otherwise skipped; never blank, as if to come."""
    ds = made_up(outcome=np.full((3, 5, 2, 2), SKIPPED, np.int8)).isel(norm_placement=[0])
    ds["phase"] = ds.phase.copy(data=np.broadcast_to(np.array(codes, np.int8), ds.phase.shape))
    text = live(ds)[0]
    assert ("implied by the search" in text) == bool(implied) and ('class="is-skipped"' in text) == (not implied)
    filled = area(shapes(text, 'class="is-skipped"')) + area(shapes(text, 'fill="#[0-9a-f]{6}" opacity'))
    assert abs(filled / 750_000 - 1) < 0.01
    sides = implied_sides(ds, ("learning_rate", "weight_decay"))
    assert implied == 0 if sides is None else sides[("growing", "shrinking")[implied - 1]].all()


def test_lines_of_runs(live):
    text = live(under_way((2, 0, 1, 1), (2, 1, 1, 1)))[0]
    plots = text.split('class="curves"')[1]
    assert plots.count('class="line now ') == 4 and plots.count('class="line ended ') == 2 * survey.MOST_LINES
    assert "Thick: runs under way (2). Thin: runs that are done (24 of 53, chosen at random)." in text
    assert "<h3>training loss</h3>" in plots and "<h3>norm of the parameters</h3>" in plots


def test_lines_end_where_their_runs_were_read():
    """A run goes on while this reads: what it has written since belongs to the next page."""
    ds = under_way((2, 0, 1, 1))
    cell = int(np.flatnonzero(ds.outcome.values.ravel() == RUNNING)[0])
    ds["train_loss"][2, 0, 1, 1] = [3, 2.5, 2.25]
    for reached, points in ((float(ds.step[1]), 2), (float(ds.step[2]), 3)):
        text = curves.one(ds, "train_loss", "training loss", {cell: reached}, [], curves.Colours(ds))
        assert text.count("L") - text.count("Lo") == points - 1 and 'class="line now' in text


def test_a_metric_without_values_has_no_plot_yet(live):
    """With two measured steps, before the first run has got to its end."""
    ds = under_way((2, 0, 1, 1)).isel(step=[0, 1])
    ds = ds.assign(outcome=ds.outcome.where(ds.outcome == RUNNING, PENDING).astype(np.int8),
                   valid_loss=ds.train_loss.copy(data=np.full(ds.train_loss.shape, np.nan)))
    text = live(ds)[0]
    assert "not available" not in text and "<h3>training loss</h3>" in text and "validation" not in text


def test_the_same_runs_are_drawn_as_more_end():
    few = np.zeros(500, int)
    few[100:200] = DONE
    more = few.copy()
    more[200:210] = DONE
    before, after = (set(curves.chosen(outcome)[1]) for outcome in (few, more))
    assert len(before) == len(after) == survey.MOST_LINES and len(before & after) >= 18


def test_scales_of_curves():
    assert curves.even(0, 300) == [0, 100, 200, 300] and curves.even(0, 20) == [0, 5, 10, 15, 20]
    wide = curves.Scale(np.array([0.01, 1, 1000.0]))
    assert wide.is_log and [text for _, text in wide.ticks()][:2] == ["10⁻²", "1"]
    same = curves.Scale(np.array([2.0, 2.0]))
    assert np.isfinite(same.place(2.0)) and len(same.ticks()) > 0
    cut = curves.Scale(np.array([*np.linspace(1, 2, 200), 29.0]))
    assert cut.most == 29 and cut.high < 3


def large(rates=100, decays=100):
    """A sweep of 10,000 cells and as many runs."""
    ds = made_up().isel(norm_placement=[0], seed=[0])
    ds = ds.isel(learning_rate=np.zeros(rates, int), weight_decay=np.arange(decays) % 5)
    ds = ds.assign_coords(learning_rate=np.logspace(-4, 0, rates), weight_decay=np.logspace(-3, 2, decays))
    growth = (ds.weight_decay / ds.learning_rate) ** -0.1
    ds["norm_growth"] = growth.broadcast_like(ds.norm_growth).transpose(*ds.norm_growth.dims)
    ds["outcome"] = ds.outcome.copy(data=np.full(ds.outcome.shape, DONE, np.int8))
    return ds


def test_ten_thousand_cells_are_a_small_page(live):
    text, survey = live(large())
    assert survey.runs == 10_000 and abs(area(shapes(text, 'fill="#')) / 750_000 - 1) < 0.01
    assert len(text) < 200_000


# ---- the lease ----

def test_who_holds_a_lease(tmp_path):
    path = tmp_path / "a.nc"
    assert not lease.is_held(path)

    def hold(pid, start, place, age=0):
        text = f"pid {pid} start {start} on {place} stage 0 status 0 life 0 kept 0 beat 0"
        (tmp_path / "a.nc.lease").write_text(text.ljust(383) + "\n")
        os.utime(tmp_path / "a.nc.lease", (time.time() - age,) * 2)
        return lease.is_held(path)

    with open("/proc/self/stat", encoding="utf-8") as file:
        start = file.read().rpartition(")")[2].split()[19]
    here, pid = lease.place(), os.getpid()
    assert hold(pid, start, here, 1000) and hold(pid, 0, here, 1000)
    assert not hold(pid, int(start) + 1, here) and not hold(2 ** 22 + 1, start, here)
    assert hold(1, 1, "elsewhere/pid:[1]") and not hold(1, 1, "elsewhere/pid:[1]", 100)
    (tmp_path / "a.nc.lease").write_text("something else")
    assert lease.is_held(path)
    (tmp_path / "a.nc.lease").unlink()
    os.mkfifo(tmp_path / "a.nc.lease")
    assert lease.is_held(path)


def test_the_lease_of_a_sweep_under_way(tmp_path):
    (tmp_path / "s.yaml").write_text("corpus: markov\nsteps: 1000000\nwidth: 8\nheads: 2\nmeasure: {every: 1000}\n")
    with subprocess.Popen([NORMSWEEP, "run", "s.yaml", "-j", "0"], cwd=tmp_path, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as sweep:
        deadline = time.monotonic() + DEADLINE
        while not (tmp_path / "s.nc").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert lease.is_held(tmp_path / "s.nc")
        sweep.kill()
    assert not lease.is_held(tmp_path / "s.nc") and (tmp_path / "s.nc.lease").exists()


# ---- the loop ----

def test_from_a_file_that_is_not_there_to_the_report(tmp_path):
    with subprocess.Popen([*map(str, REPORT), "s.nc", "--watch", "--every", "1"], cwd=tmp_path, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as following:
        assert following.stdout.readline() == "s.html\n"
        assert "Waiting for s.nc" in (tmp_path / "s.html").read_text()
        (tmp_path / "s.yaml").write_text("corpus: markov\ncorpus_tokens: 4000\nsteps: 4\nwidth: 8\nheads: 2\n"
                                         "learning_rate: [0.001, 0.01]\nweight_decay: [0, 1]\nmeasure: {every: 1}\n")
        run(NORMSWEEP, "run", "s.yaml", "-j", "0", cwd=tmp_path)
        out, errors = following.communicate(timeout=DEADLINE)
    assert following.returncode == 0 and out == ""
    assert errors == "report: s.nc: not there yet; waiting for up to 3600 s\n"
    text = (tmp_path / "s.html").read_text()
    assert "4 runs: 4 done." in "".join(Reader(text).texts) and "data-every" not in text and "<img " in text
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_what_never_comes_and_what_is_no_sweep(tmp_path):
    (tmp_path / "text.nc").write_text("no dataset\n")
    (tmp_path / "text.html").write_text("of somebody else")
    for arguments, message in ((["none.nc", "--wait", "1"], "none.nc: not there yet; waiting for up to 1 s\n"
                                "report: none.nc: No such file or directory"),
                               (["text.nc"], "text.nc: not a normsweep dataset")):
        error = script("report", *arguments, "--watch", "--every", "1", status=1, cwd=tmp_path).stderr
        assert error == f"report: {message}\n"
    text = (tmp_path / "none.html").read_text()
    assert "cannot be read: none.nc: No such file" in text and "data-every" not in text
    assert (tmp_path / "text.html").read_text() == "of somebody else"
    assert sorted(os.listdir(tmp_path)) == ["none.html", "text.html", "text.nc"]


@pytest.mark.parametrize("options, message", [
    (["--every", "0", "--watch"], "0 is not a number from 1 to 3600"), (["--every", "nan", "--watch"], "nan is not"),
    (["--wait", "soon", "--watch"], "soon is not a number"), (["--every", "5"], "--every and --wait need --watch")])
def test_options_that_are_refused(tmp_path, options, message):
    assert message in script("report", "a.nc", *options, status=2, cwd=tmp_path).stderr
    assert os.listdir(tmp_path) == []


class Following(watch.Watch):
    """A watch whose time passes at once; `scenes` happen before one look each, and the last one ends the sweep."""

    def __init__(self, monkeypatch, tmp_path, scenes):
        super().__init__(str(tmp_path / "s.nc"), str(tmp_path / "s.html"), 5, 100)
        self.now, self.scenes, self.pages = 1000.0, iter(scenes), []
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "process_time", lambda: 0.0)
        monkeypatch.setattr(time, "sleep", self.pass_by)

    def pass_by(self, seconds):
        assert seconds >= 5
        self.now += seconds

    def rewrite(self):
        scene = next(self.scenes)
        if isinstance(scene, BaseException):
            raise scene
        return super().rewrite()

    def write(self, title, parts, every, now):
        self.pages.append(sections.live_page(title, parts, every, now))
        self.written = self.now


def finished_sweep(tmp_path):
    (tmp_path / "s.yaml").write_text("corpus: markov\ncorpus_tokens: 4000\nsteps: 2\nwidth: 8\nheads: 2\n"
                                     "seed: [0, 1]\n")
    run(NORMSWEEP, "run", "s.yaml", "-j", "0", cwd=tmp_path)


def test_a_dataset_that_is_away_for_a_moment(tmp_path, monkeypatch):
    finished_sweep(tmp_path)
    monkeypatch.setattr(watch, "is_held", lambda path: True)
    gone = FileNotFoundError(2, "No such file or directory")
    following = Following(monkeypatch, tmp_path, [None, *[gone] * 5, None, *[gone] * 30])
    with pytest.raises(SystemExit):
        following.follow(lambda beat: None)
    states = [re.search(r'class="pill (\w+)"><i></i><span>([^<]*)', page).groups() for page in following.pages]
    assert [word for word, _ in states[:7]] == ["complete"] + ["stopped"] * 5 + ["complete"]
    assert "Cannot be read at the moment" in states[1][1] and states[-1] == (
        "lost", f"The dataset cannot be read: {tmp_path}/s.nc: No such file or directory")
    assert 7 + 12 <= len(states) <= 7 + 15, "for a minute"
    assert "2 of 2 (100.0 %)" in following.pages[-1] and "data-every" not in following.pages[-1]


def test_a_page_is_replaced_whole(tmp_path):
    """A browser that reads the older page while the newer one is written reads the older one to its end."""
    one = watch.Watch(str(tmp_path / "s.nc"), str(tmp_path / "s.html"), 5, 100)
    one.write("first", [], 5, 0)
    os.link(tmp_path / "s.html", tmp_path / "being read")
    one.write("second", [], 5, 0)
    assert "first" in (tmp_path / "being read").read_text() and "second" in (tmp_path / "s.html").read_text()
    (tmp_path / "s.html").write_bytes(b"CDF\x05")
    with pytest.raises(SystemExit, match="s.html: is a dataset, which would be overwritten"):
        one.write("third", [], 5, 0)
    assert (tmp_path / "s.html").read_bytes() == b"CDF\x05"


def test_a_page_is_rewritten_while_figures_are_drawn(tmp_path, monkeypatch):
    finished_sweep(tmp_path)
    following = Following(monkeypatch, tmp_path, [None])

    def finish(beat):
        for count in range(1, 5):
            following.now += 3
            beat(count)

    following.follow(finish)
    assert [re.search("([0-9]) figures? drawn so far", page)[1] for page in following.pages[1:]] == ["2", "4"]


@pytest.mark.parametrize("error, status", [(KeyboardInterrupt(), 130), (KeyError("outcome"), 1)])
def test_the_last_page_is_whole(tmp_path, monkeypatch, error, status):
    finished_sweep(tmp_path)
    monkeypatch.setattr(watch, "is_held", lambda path: True)
    following = Following(monkeypatch, tmp_path, [None, error])
    with pytest.raises(SystemExit) as ended:
        following.follow(lambda beat: None)
    assert ended.value.code == 130 if status == 130 else "another program has changed it" in str(ended.value.code)
    Reader(following.pages[-1])
    assert "data-every" not in following.pages[-1] and "2 of 2" in following.pages[-1]


def test_the_share_of_a_core(tmp_path, monkeypatch):
    """A rewrite that took long is followed by a pause in proportion."""
    finished_sweep(tmp_path)
    monkeypatch.setattr(watch, "is_held", lambda path: True)
    following = Following(monkeypatch, tmp_path, [None, KeyboardInterrupt()])
    used = iter([10.0, 13.0, 13.0])
    monkeypatch.setattr(time, "process_time", lambda: next(used))
    before = following.now
    with pytest.raises(SystemExit):
        following.follow(lambda beat: None)
    assert following.now - before == pytest.approx(3 / watch.SHARE)


def test_a_boundary_at_one_learning_rate_alone_is_a_dash():
    nan = float("nan")
    assert diagram.polyline([0.1, 0.3, 0.5, 0.7, 0.9], [0.2, nan, 0.4, 0.6, nan]) == "M100 600m-20 0h40M500 450L700 300"
    assert diagram.polyline([0.5], [0.5]) == "M500 375m-20 0h40" and diagram.polyline([0.5], [nan]) == ""
