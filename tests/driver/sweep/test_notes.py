"""Title and notes: into the dataset and out of it, changed at any time, and what is refused."""

import json

import netCDF4
import pytest

from conftest import PROJECT, run
from refused import check, check_refused

pytestmark = pytest.mark.thorough("starts the program for every sweep file")

BASE = "corpus: markov\nsteps: 4\n"
SMALL = BASE + ("corpus_tokens: 2000\nlayers: 1\nwidth: 8\nheads: 2\nfeedforward: 8\ncontext: 8\n"
                "measure: {every: 2}\n")
NOTES = "Größe matters;\nsee <b>page 7</b>.\n\nSecond paragraph: 100 %d & more.\n"

def test_long_notes_are_refused(tmp_path):
    check_refused(tmp_path, BASE + f"notes: {'x' * 65537}\n", "sweep.yaml:3:8: notes: longer than 65536 bytes")


@pytest.mark.parametrize("text", ["notes: ''\n", "notes: 5\n", f"notes: {'x' * 65536}\n"])
def test_accepted(text, tmp_path):
    done = check(tmp_path, BASE + text)
    assert (done.stdout, done.stderr) == (b"sweep.yaml: valid: 1 cell\n", b"")


def yaml_of(notes):
    block = "".join(f"  {line}\n" if line else "\n" for line in notes.splitlines())
    return SMALL + (f"notes: |\n{block}" if notes else "")


def words(path, *names):
    with netCDF4.Dataset(path) as file:
        return [getattr(file, name, None) for name in names or ("sweep_notes",)]


@pytest.fixture
def told(tmp_path, normsweep):
    (tmp_path / "a.yaml").write_text(yaml_of(NOTES))
    normsweep("run", "a.yaml", "-j", "0")
    return tmp_path


def test_notes_are_in_the_dataset(told, normsweep):
    assert words(told / "a.nc") == [NOTES]
    lines = normsweep("status", "a.nc").stdout.splitlines()
    assert lines[3:7] == ["notes     Größe matters;", "          see <b>page 7</b>.", "",
                          "          Second paragraph: 100 %d & more."]
    assert json.loads(normsweep("status", "a.nc", "--json").stdout)["notes"] == NOTES


def test_long_notes_are_cut_by_status(tmp_path, normsweep):
    (tmp_path / "a.yaml").write_text(yaml_of("".join(f"line {i}\n" for i in range(13))))
    normsweep("run", "a.yaml", "-j", "0")
    lines = normsweep("status", "a.nc").stdout.splitlines()
    assert lines[12:14] == ["          line 9", "          and 3 more lines"]


def test_they_may_change_and_go(told, normsweep):
    with netCDF4.Dataset(told / "a.nc") as file:
        digest = file.configuration_digest
    for notes in "Other", "", "Again\n":
        (told / "a.yaml").write_text(yaml_of(notes))
        assert "nothing left to do" in normsweep("run", "a.yaml", "-j", "0").stdout
        assert words(told / "a.nc") == [notes and notes.rstrip("\n") + "\n" or None]
    with netCDF4.Dataset(told / "a.nc") as file:
        assert file.configuration_digest == digest
    for option, expected in ("notes=last note", "last note"), ("notes=null", None):
        normsweep("run", "a.yaml", "-j", "0", "--set", option)
        assert words(told / "a.nc") == [expected]


def test_notes_of_an_included_file_change_with_it(tmp_path, normsweep):
    (tmp_path / "a.yaml").write_text("include: base.yaml\n" + SMALL)
    for text, expected in ("notes: one\n", "one"), ("notes: two\n", "two"), ("title: none\n", None):
        (tmp_path / "base.yaml").write_text(text)
        normsweep("run", "a.yaml", "-j", "0")
        assert words(tmp_path / "a.nc") == [expected]


MINE = ("title", "notes", "tags")


@pytest.mark.parametrize("before, after", [("", "seed: [0, 1]\n"), ("title: one\nnotes: x\n", "title: two\nnotes: y\n"),
                                           ("title: one\n", "notes: y\n"), ("", "title: two\nnotes: y\n")])
def test_attributes_of_somebody_else_stay(tmp_path, normsweep, before, after):
    """`title` is the sweep's when the file is made, and then belongs to whoever edits it, as all others."""
    (tmp_path / "a.yaml").write_text(SMALL + before)
    normsweep("run", "a.yaml", "-j", "0")
    assert words(tmp_path / "a.nc", *MINE) == ["one" if "one" in before else "normsweep", None, None]
    with netCDF4.Dataset(tmp_path / "a.nc", "a") as file:
        file.title, file.notes, file.tags = "my title", "mine", "my tag"
    (tmp_path / "a.yaml").write_text(SMALL + after)
    normsweep("run", "a.yaml", "-j", "0")
    assert words(tmp_path / "a.nc", *MINE) == ["my title", "mine", "my tag"]
    assert words(tmp_path / "a.nc", "sweep_title", "sweep_notes") == [
        "two" if "two" in after else None, "y" if "y" in after else None]
    said = normsweep("status", "a.nc").stdout
    assert "mine" not in said and said.startswith("a.nc: two\n" if "two" in after else "a.nc\n")


def test_a_new_title_of_the_sweep_leaves_that_of_the_file(tmp_path, normsweep):
    for title in "one", "two":
        (tmp_path / "a.yaml").write_text(SMALL + f"title: {title}\n")
        normsweep("run", "a.yaml", "-j", "0")
    assert words(tmp_path / "a.nc", "title", "sweep_title") == ["one", "two"]


def test_python_package(told):
    code = ("from normsweep import open_sweep\n"
            "with open_sweep('a.nc') as ds: print([ds.sweep.notes])\n"
            "from normsweep.drawings.report import report\n"
            "with open_sweep('a.nc') as ds: print(report(ds))\n")
    python = run(PROJECT / ".ci" / "python", "xarray", "netCDF4", "matplotlib").stdout.strip()
    printed = run(python, "-c", code, cwd=told, env={"PYTHONPATH": str(PROJECT / "analysis"), "PATH": "/usr/bin:/bin",
                                                     "MPLBACKEND": "Agg", "LC_ALL": "C.UTF-8"}).stdout
    first, page = printed.split("\n", 1)
    assert first == str([NOTES])
    page = page.split('<section id="what"')[0]  # above what was run, and not only in the sweep file at the end
    for words in "Größe matters;", "see &lt;b&gt;page 7&lt;/b&gt;.", "Second paragraph: 100 %d &amp; more.":
        assert words in page, words
