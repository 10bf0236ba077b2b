"""The parts of a sweep, as one dataset and as one file: the sweep that was never divided, value for value."""

import shutil

import netCDF4
import numpy as np
import pytest
import xarray as xr

from conftest import NORMSWEEP, run, script, tiny
from same import assert_equal

from normsweep import DifferentSweeps, open_sweep, workers
from normsweep.verify import extents

SWEEP = tiny() + """\
title: Parts
steps: 20
learning_rate: {log: [1e-1, 1e-3], points: 3}
weight_decay: [0, 3]
norm_placement: [pre, post]
seed: [1, 2]
skip: [{norm_placement: post, learning_rate: 0.1}]
measure: {every: 10, metrics: [norms, heads]}
save_weights: true
"""
RUNS, PARTS = 20, 3
OF_ONE_TRAINING = {"seconds", "tokens_per_second", "attempts", "session", "worker", "begin", "end", "host"}


def command(folder, *arguments, status=0):
    return run(NORMSWEEP, *arguments, cwd=folder, status=status)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with the sweep as a whole, whole.nc, and in parts, sweep.parts."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "sweep.yaml").write_text(SWEEP)
    command(folder, "run", "sweep.yaml", "-j", "0", "-o", "whole.nc")
    for part in range(1, PARTS + 1):
        command(folder, "run", "sweep.yaml", "-j", "0", "--part", f"{part}/{PARTS}")
    return folder


@pytest.fixture
def folder(trained, tmp_path):
    shutil.copytree(trained, tmp_path / "folder")
    return tmp_path / "folder"


def assert_whole(found, folder):
    with open_sweep(folder / "whole.nc") as whole:
        assert set(found.variables) == set(whole.variables) and found.attrs.keys() == whole.attrs.keys()
        for name in whole.variables:
            if name not in OF_ONE_TRAINING and not name.startswith("session_"):
                assert found[name].identical(whole[name]) and found[name].dtype == whole[name].dtype, name


@pytest.mark.parametrize("what", ["sweep.parts", "sweep.parts/*.nc", "a list", "backwards"])
def test_parts_are_the_whole(trained, what, monkeypatch):
    monkeypatch.chdir(trained)
    files = [f"sweep.parts/{part}-of-{PARTS}.nc" for part in range(1, PARTS + 1)]
    with open_sweep({"a list": files, "backwards": files[::-1]}.get(what, what)) as found:
        assert_whole(found, trained)
        assert int(found.sweep.done.sum()) == RUNS
    with open_sweep(files[1]) as part:
        assert int(part.sweep.done.sum()) == 7 and "part" in part.attrs


def test_in_pieces(trained):
    pytest.importorskip("dask")
    with open_sweep(trained / "sweep.parts", chunks={}) as found:
        assert found.param_norm.chunks
        assert_whole(found.load(), trained)


def test_sessions_workers_and_clocks(folder):
    """Sessions of all parts, in the order of their beginning; the second part began an hour before the others."""
    with netCDF4.Dataset(folder / "sweep.parts/2-of-3.nc", "r+") as file:
        file.set_auto_chartostring(False)
        file["session_start"][0, :20] = np.frombuffer(b"2020-01-01T00:00:00Z", "S1")
    for number in (1, 3):
        with netCDF4.Dataset(folder / f"sweep.parts/{number}-of-3.nc", "r+") as file:
            file.set_auto_chartostring(False)
            file["session_start"][0, :20] = np.frombuffer(f"2020-01-01T0{number}:00:00Z".encode(), "S1")
            file["session_host"][0, :5] = np.frombuffer(f"host{number}".encode(), "S1")
    script("join", "sweep.parts", cwd=folder)
    for path in ("sweep.parts", "sweep.nc"):
        with open_sweep(folder / path) as found:
            assert found.session_start.values.tolist() == [f"2020-01-01T0{hour}:00:00Z" for hour in (0, 1, 3)]
            assert found.session_host.values[1:].tolist() == ["host1", "host3"]
            for part, row, hours, worker in ((1, 1, 1, 1), (2, 0, 0, 2), (3, 2, 3, 3)):
                with open_sweep(folder / f"sweep.parts/{part}-of-3.nc") as own:
                    done = own.sweep.done.values
                    assert (found.session.values[done] == row).all() and (found.worker.values[done] == worker).all()
                    assert np.array_equal(found.begin.values[done], own.begin.values[done] + 3600 * hours)
                    assert np.array_equal(found.end.values[done], own.end.values[done] + 3600 * hours)
                    assert found.session_end.values[row] == own.session_end.values[0] + 3600 * hours


def test_joined_file_is_the_whole(folder):
    said = script("join", "sweep.parts", cwd=folder)
    assert said.stdout == "sweep.nc\n" and said.stderr == ""
    assert_equal(folder / "sweep.nc", folder / "whole.nc")
    with netCDF4.Dataset(folder / "sweep.nc") as joined, netCDF4.Dataset(folder / "whole.nc") as whole:
        assert joined.data_model == whole.data_model and list(joined.variables) == list(whole.variables)
        assert joined.ncattrs() == whole.ncattrs()
        changed = [name for name in whole.ncattrs() if np.any(joined.getncattr(name) != whole.getncattr(name))]
        assert changed == ["history"]
        for name, variable in whole.variables.items():
            assert repr(sorted(joined[name].__dict__.items())) == repr(sorted(variable.__dict__.items())), name
        assert joined["session"][...].max() == PARTS - 1
    planned = command(folder, "run", "sweep.yaml", "--dry-run", "-j", "0").stdout
    assert "would be continued as it is" in planned and "nothing is left to train" in planned
    assert "nothing left to do: 20 runs: 20 done" in command(folder, "run", "sweep.yaml", "-j", "0").stdout
    assert "3 of 20 finished runs trained again: 3 equal" in command(
        folder, "verify", "sweep.yaml", "-n", "3", "-j", "0").stdout
    assert command(folder, "show", "sweep.nc").stdout == command(folder, "show", "whole.nc").stdout.replace(
        "whole.nc", "sweep.nc")
    names = sorted(path.name for path in (folder / "whole.nc.d").iterdir())
    assert len(names) == RUNS and sorted(path.name for path in (folder / "sweep.nc.d").iterdir()) == names
    said = script("join", "sweep.parts", cwd=folder, status=1)
    assert said.stdout == "" and said.stderr.startswith("join: sweep.nc: is a netCDF file, which would be overwritten")


def test_missing_parts_are_pending(folder):
    """And the undivided sweep trains them."""
    (folder / "sweep.parts/2-of-3.nc").unlink()
    with open_sweep(folder / "sweep.parts") as found, open_sweep(folder / "whole.nc") as whole:
        assert int((found.outcome == 0).sum()) == 7 and int(found.sweep.done.sum()) == 13
        assert ((found.outcome == 5) == (whole.outcome == 5)).all() and set(found.reason.values.ravel()) == {""}
    said = script("table", "sweep.parts", cwd=folder)
    assert said.stderr == "table: sweep.parts: part 2 of 3 is not there; its runs are pending\n"
    said = script("join", "sweep.parts", "-o", "joined.nc", cwd=folder)
    assert said.stderr == "join: sweep.parts: part 2 of 3 is not there; its runs are pending in joined.nc\n"
    assert "joined.nc: 20 runs: 20 done" in command(folder, "run", "sweep.yaml", "-o", "joined.nc", "-j", "0").stdout
    assert_equal(folder / "joined.nc", folder / "whole.nc")


def test_runs_under_way_begin_anew(folder):
    with netCDF4.Dataset(folder / "sweep.parts/3-of-3.nc", "r+") as file:
        outcome = file["outcome"][:]
        cell = np.unravel_index(np.flatnonzero(outcome.ravel() == 2)[0], outcome.shape)
        file["outcome"][cell] = 1
    said = script("join", "sweep.parts", cwd=folder)
    assert said.stderr == "join: sweep.nc: 1 run had begun in a part and not ended: pending here, from the first step\n"
    assert "20 runs: 20 done" in command(folder, "run", "sweep.yaml", "-j", "0").stdout
    assert_equal(folder / "sweep.nc", folder / "whole.nc")


def test_what_is_not_one_sweep(folder):
    parts = folder / "sweep.parts"
    command(folder, "run", "sweep.yaml", "-j", "0", "--part", "2/3", "-o", "other.nc", "--set", "seed=[1, 3]")
    shutil.copy(folder / "other.parts/2-of-3.nc", parts / "2-of-3.nc")
    line = "sweep.parts/2-of-3.nc: not a part of the sweep, divided in the same way, that sweep.parts/1-of-3.nc is of\n"
    assert script("table", "sweep.parts", cwd=folder, status=1).stderr == "table: " + line
    assert script("join", "sweep.parts", cwd=folder, status=1).stderr == "join: " + line
    shutil.copy(parts / "1-of-3.nc", parts / "2-of-3.nc")
    with pytest.raises(DifferentSweeps, match="2-of-3.nc: part 1 of 3, and so is .*1-of-3.nc"):
        open_sweep(parts)
    shutil.copy(folder / "whole.nc", parts / "2-of-3.nc")
    assert script("join", "sweep.parts", cwd=folder, status=1).stderr == \
        "join: sweep.parts/2-of-3.nc: not a part of a sweep\n"
    assert script("join", ".", cwd=folder, status=1).stderr == \
        "join: .: not a folder with parts of a sweep, 1-of-8.nc and so on\n"
    assert script("join", "none.parts", cwd=folder, status=1).stderr == "join: none.parts: No such file or directory\n"
    (parts / "2-of-3.nc").write_text("a text")
    said = script("join", "sweep.parts", cwd=folder, status=1).stderr
    assert said.startswith("join: sweep.parts/2-of-3.nc: NetCDF: ") and said.count("\n") == 1
    assert not (folder / "sweep.nc").exists()


def test_figures_report_and_compare(folder):
    files = [f"sweep.parts/{part}-of-3.nc" for part in (1, 2, 3)]
    said = script("figures", *files, "--only", "phase", "--format", "svg", cwd=folder)
    assert said.stdout == "./sweep-phase.svg\n"
    script("figures", "whole.nc", "--only", "phase", "--format", "svg", cwd=folder)
    assert script("report", "sweep.parts", cwd=folder).stdout == "sweep.html\n"
    assert "sweep.parts, as of " in (folder / "sweep.html").read_text()
    said = script("compare", "whole.nc", "sweep.parts/", "--format", "csv", "-o", "new/folder", cwd=folder)
    assert said.stdout.startswith("A  whole\nB  sweep\n") and (folder / "new/folder/compare-whole-sweep.csv").exists()


def test_a_folder_whose_name_ends_in_a_slash(folder):
    assert script("figures", "sweep.parts/", "--only", "phase", "--format", "svg", cwd=folder).stdout == \
        "./sweep-phase.svg\n"
    assert script("report", "sweep.parts/", "-o", "new/a.html", cwd=folder).stdout == "new/a.html\n"
    assert "sweep.parts, as of " in (folder / "new/a.html").read_text()
    assert script("join", "sweep.parts/", "-o", "other/a.nc", cwd=folder).stdout == "other/a.nc\n"
    with open_sweep(folder / "sweep.parts/") as found, open_sweep(f"{folder}/sweep.parts/") as same:
        assert found.encoding["source"] == same.encoding["source"] == str(folder / "sweep.parts")


def set_text(path, name, text):
    with netCDF4.Dataset(path, "r+") as file:
        file.set_auto_chartostring(False)
        width = file[name].shape[-1]
        file[name][0] = np.frombuffer(text.encode().ljust(width, b"\0"), "S1")


def test_parts_of_different_vector_levels(folder):
    for number, level in ((1, "avx2"), (2, "avx512"), (3, "avx2")):
        set_text(folder / f"sweep.parts/{number}-of-3.nc", "session_vector_level", level)
        set_text(folder / f"sweep.parts/{number}-of-3.nc", "session_blas_kernel", "Haswell")
    assert script("join", "sweep.parts", cwd=folder).stderr == (
        "join: sweep.parts: trained at vector level avx2 with BLAS kernel Haswell in 1-of-3.nc and 3-of-3.nc; vector "
        "level avx512 with BLAS kernel Haswell in 2-of-3.nc: the same run differs between them in its last digits\n")


@pytest.mark.parametrize("letters", range(0, 8, 2))
def test_numbers_of_a_joined_file_are_aligned(folder, letters):
    """Headers of any length, by that of the text of the sweep."""
    for number in (1, 2, 3):
        with netCDF4.Dataset(folder / f"sweep.parts/{number}-of-3.nc", "r+") as file:
            file.sweep = file.sweep + "#" * letters
    script("join", "sweep.parts", cwd=folder)
    with open(folder / "sweep.nc", "rb") as file:
        file.read(4)
        begins = extents(file)
    with netCDF4.Dataset(folder / "sweep.nc") as file:
        wide = [name for name, variable in file.variables.items() if variable.dtype.itemsize == 8]
    assert wide and all(begins[name][0] % 8 == 0 for name in wide)


def test_sessions_beside_each_other_are_those_of_their_workers(folder):
    """Each part has one worker: two at a time, of parts 1 and 3, then one; one row for each."""
    for number, hour in ((1, 1), (2, 5), (3, 1)):
        set_text(folder / f"sweep.parts/{number}-of-3.nc", "session_start", f"2020-01-01T0{hour}:00:00Z")
    for path in ("sweep.parts", "sweep.nc"):
        if path == "sweep.nc":
            script("join", "sweep.parts", cwd=folder)
        with open_sweep(folder / path) as found:
            course = workers.course(found)
            assert course.workers.tolist() == [1, 1, 1] and course.most == 2
            assert course.available == np.diff(course.sessions).sum() > course.seconds
            assert workers.lanes(course.sessions, course.session, course.worker).tolist() == [0, 0, 0]
            assert str(course).startswith("2 workers at a time: ")


def test_a_single_run(tmp_path):
    (tmp_path / "one.yaml").write_text(tiny() + "steps: 5\n")
    command(tmp_path, "run", "one.yaml", "-j", "0", "-o", "whole.nc")
    command(tmp_path, "run", "one.yaml", "-j", "0", "--part", "1/2")
    command(tmp_path, "run", "one.yaml", "-j", "0", "--part", "2/2")
    script("join", "one.parts", cwd=tmp_path)
    assert_equal(tmp_path / "one.nc", tmp_path / "whole.nc")
    with open_sweep(tmp_path / "one.parts") as found, xr.open_dataset(tmp_path / "whole.nc") as whole:
        assert float(found.norm_growth) == float(whole.norm_growth) and int(found.outcome) == 2
