"""Runs that take the same first steps: they carry on from each other's states, and all numbers are, bit for bit, those
of `trunks: false`, for any ranks and interruptions."""

import os
import re
import signal
import subprocess

import pytest
import xarray as xr

import same
from conftest import NORMSWEEP, run_until, script, sets, tiny, train_sweep
from schemas import events

pytestmark = pytest.mark.thorough("trains whole sweeps, twice")

WSD = tiny() + """\
steps: [100, 200, 400, 800]
schedule: wsd
learning_rate: [1e-2, 3e-2]
measure: {every: 50, metrics: [norms, alignment, forces, saturation]}
validate: {every: 200, tokens: 200}
"""
ENDS = """\
together:
  rest:
    constant: {schedule: constant, schedule_start: 0, schedule_end: 0.1, schedule_decay: 0.1}
    wsd: {schedule: wsd, schedule_start: 0, schedule_end: 0.1, schedule_decay: 0.25}
    early: {schedule: wsd, schedule_start: 0, schedule_end: 0, schedule_decay: 0.5}
    linear: {schedule: linear, schedule_start: 30, schedule_end: 0.2, schedule_decay: 0.1}
    cosine: {schedule: cosine, schedule_start: 30, schedule_end: 0.3, schedule_decay: 0.1}
    inverse: {schedule: inverse_sqrt, schedule_start: 9, schedule_end: 0.1, schedule_decay: 0.1}
"""
REST = tiny() + "learning_rate: 1e-2\nmeasure: {every: 10, metrics: [norms, alignment, forces]}\n"
SHARING = {  # with the steps that are not trained again
    "wsd": (WSD, 2 * (80 + 160 + 320)),
    "ends": (REST + "steps: 80\nwarmup_steps: 12\n" + ENDS, 30 + 30 + 40 + 60),
    "steps of constant rates": (REST + "steps: [20, 45, 60]\nnorm_rule: [free, fixed]\n", 2 * 65),
    "steps of falling rates": (REST + "steps: [20, 45, 60]\nschedule: inverse_sqrt\n", 65),
    "epochs": (REST.replace("corpus_tokens: 4000", "corpus_tokens: 700") + "epochs: [1, 2, 3]\n", 21 + 42),
    "decays of one timescale": (REST + "steps: 60\nschedule: wsd\nschedule_decay: [0.5, 0.25]\ntimescale: 2\n", 30),
    "states for growth": (REST + "steps: [20, 45]\nsave_weights: state\n", 20),
    "adafactor in bfloat16": (REST.replace(", forces", "") + "steps: [20, 45]\noptimiser: adafactor\n"
                              "weights: bfloat16_stochastic\n", 20),
    "skipped": (WSD + "skip: [{steps: [200, 400]}]\n", 2 * 80),
}
ALONE = {
    "falling from the start": REST + "steps: [20, 45]\nschedule: linear\n",
    "a timescale of the steps": REST + "steps: [20, 45]\ntimescale: 2\n",
    "ending early": WSD.replace("alignment, forces, saturation", "alignment") + "stop_when: phase\n",
    "other seeds": REST + "steps: 20\nseed: [1, 2]\n",
    "trunks: false": REST + "steps: [20, 45]\ntrunks: false\n",
}


def first_steps(folder):
    """{cell: the step from which its run began} of a sweep with --log log."""
    return {event["cell"]: event["step"] for event in events(folder, "run_started", "run_resumed")}


def plain(folder, text):
    return same.read(train_sweep(folder, text, *sets("trunks=false"), name="plain"))


@pytest.mark.parametrize("name, jobs", [("wsd", "0"), *((name, "2") for name in SHARING)])
def test_numbers_are_the_same(tmp_path, normsweep, name, jobs):
    text, shared = SHARING[name]
    (tmp_path / "sweep.yaml").write_text(text)
    assert f"; {shared} steps are trained once" in normsweep("run", "--dry-run", "sweep.yaml").stdout
    assert re.search(rf"^shared +{shared} of .*\n(.*\n)+states +up to ", normsweep("plan", "sweep.yaml").stdout, re.M)
    normsweep("run", "sweep.yaml", "-j", jobs, "--log", "log")
    assert sum(first_steps(tmp_path).values()) == shared
    assert same.differences(same.read(tmp_path / "sweep.nc"), plain(tmp_path, text)) == []
    states = tmp_path / "sweep.nc.d" / "states"
    assert len(list(states.iterdir())) == 2 if "state\n" in text else not states.parent.exists()


@pytest.mark.parametrize("name", ALONE)
def test_runs_that_share_no_steps(tmp_path, normsweep, name):
    (tmp_path / "sweep.yaml").write_text(ALONE[name])
    assert "share" not in normsweep("run", "--dry-run", "sweep.yaml").stdout
    assert "shared" not in normsweep("plan", "sweep.yaml").stdout
    normsweep("run", "sweep.yaml", "-j", "0", "--log", "log")
    assert set(first_steps(tmp_path).values()) == {0}


@pytest.mark.parametrize("jobs, number", [("0", signal.SIGKILL), ("2", signal.SIGKILL), ("2", signal.SIGTERM)])
def test_interrupted_anywhere(tmp_path, normsweep, jobs, number):
    """At moments that lie before, on and after the steps at which states are left, again and again."""
    text = WSD.replace("[100, 200, 400, 800]", "[2000, 4000, 8000]") + "checkpoint_minutes: 0.0005\n"
    whole = plain(tmp_path, text)
    (tmp_path / "sweep.yaml").write_text(text)
    folder = tmp_path / "sweep.nc.d"

    def files():
        return {path.name for path in folder.rglob("*-*.nc")}

    stops = 0
    for _ in range(12):
        before = files()
        done = run_until(lambda before=before: len(files() - before) >= 2, number, NORMSWEEP, "run", "sweep.yaml", "-j",
                         jobs, cwd=tmp_path)
        stops += done.returncode != 0
        subprocess.run([NORMSWEEP, "status", "sweep.nc", "--wait", "--limit", "0"], cwd=tmp_path, capture_output=True,
                       timeout=600)  # for the ranks of a killed command, which live on for a moment
    normsweep("run", "sweep.yaml", "-j", jobs)
    assert same.differences(same.read(tmp_path / "sweep.nc"), whole) == [] and not folder.exists()
    assert stops
    with xr.open_dataset(tmp_path / "sweep.nc") as found:
        assert found.session.max() > 0


def test_a_run_that_diverges_before_it_leaves_a_state(tmp_path, normsweep):
    """The others start from the beginning, and diverge as well."""
    text = WSD.replace("[1e-2, 3e-2]", "[1e-2, 1e4]")
    (tmp_path / "sweep.yaml").write_text(text)
    normsweep("run", "sweep.yaml", "-j", "2", "--log", "log")
    with xr.open_dataset(tmp_path / "sweep.nc") as found:
        assert (found.outcome.sel(learning_rate=1e4) == 3).all() and (found.outcome.sel(learning_rate=1e-2) == 2).all()
    assert sorted(first_steps(tmp_path).values()) == [0] * 5 + [80, 160, 320]
    assert same.differences(same.read(tmp_path / "sweep.nc"), plain(tmp_path, text)) == []


def test_parts_have_whole_lines(tmp_path, normsweep):
    (tmp_path / "sweep.yaml").write_text(WSD)
    for part in (1, 2):
        (tmp_path / "log").unlink(missing_ok=True)
        normsweep("run", "sweep.yaml", "-j", "0", "--part", f"{part}/2", "--log", "log")
        assert sorted(first_steps(tmp_path).values()) == [0, 80, 160, 320]
    script("join", "sweep.parts", "-o", "joined.nc", cwd=tmp_path)
    assert same.differences(same.read(tmp_path / "joined.nc"), plain(tmp_path, WSD)) == []


def test_a_value_that_is_added_later(tmp_path, normsweep):
    """The states of runs that have ended are gone, so the longer run starts from the beginning."""
    (tmp_path / "sweep.yaml").write_text(WSD.replace(", 800", ""))
    normsweep("run", "sweep.yaml", "-j", "0")
    (tmp_path / "sweep.yaml").write_text(WSD)
    assert "share" not in normsweep("run", "--dry-run", "sweep.yaml").stdout
    normsweep("run", "sweep.yaml", "-j", "0")
    assert same.differences(same.read(tmp_path / "sweep.nc"), plain(tmp_path, WSD)) == []


def test_a_search_along_steps_of_its_own(tmp_path, normsweep):
    """What a search chooses may share steps with runs that it has chosen, or will choose."""
    text = tiny() + """\
steps: [40, 80, 160]
schedule: wsd
learning_rate: 1e-1
weight_decay: {log: [1e-2, 10], points: 17}
refine: {axis: weight_decay}
measure: {every: 20}
"""
    (tmp_path / "sweep.yaml").write_text(text)
    normsweep("run", "sweep.yaml", "-j", "2", "--log", "log")
    assert sum(first_steps(tmp_path).values()) > 0
    assert same.differences(same.read(tmp_path / "sweep.nc"), plain(tmp_path, text)) == []


def test_a_state_that_is_damaged(tmp_path, normsweep):
    """It is said, and the next run starts from an earlier state or the beginning."""
    (tmp_path / "sweep.yaml").write_text(WSD.replace("[100, 200, 400, 800]", "[1000, 4000]"))
    states = tmp_path / "sweep.nc.d" / "states"
    run_until(lambda: any(states.glob("*.nc")), signal.SIGKILL, NORMSWEEP, "run", "sweep.yaml", "-j", "0", cwd=tmp_path)
    for path in states.glob("*.nc"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    done = normsweep("run", "sweep.yaml", "-j", "0")
    assert "damaged (checksum)" in done.stderr
    whole = plain(tmp_path, (tmp_path / "sweep.yaml").read_text())
    assert same.differences(same.read(tmp_path / "sweep.nc"), whole) == []


@pytest.mark.parametrize("value, line", [
    ("maybe", "trunks: 'maybe' is neither true nor false"), ("[true, false]", "trunks: a list is not possible here")])
def test_refused(tmp_path, normsweep, value, line):
    (tmp_path / "sweep.yaml").write_text(REST + f"steps: 20\ntrunks: {value}\n")
    told = normsweep("check", "sweep.yaml", status=2).stderr
    assert told.startswith("sweep.yaml:13:") and len(told.splitlines()) == 1, told


def test_no_folder_without_need(tmp_path, normsweep):
    (tmp_path / "sweep.yaml").write_text(REST + "steps: 20\n")
    assert not os.path.exists(train_sweep(tmp_path, REST + "steps: 20\n").with_suffix(".nc.d"))
