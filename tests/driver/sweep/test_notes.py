"""Notes and tags: into the dataset and out of it, changed at any time, and what is refused."""

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

REFUSED = {
    "a list of notes": ("notes: [a, b]\n", "3:8: notes: takes one value, not a list"),
    "a mapping of notes": ("notes: {a: b}\n", "3:8: notes: takes one value, not a mapping"),
    "no notes": ("notes:\n", "3:7: notes: no value"),
    "long notes": (f"notes: {'x' * 65537}\n", "3:8: notes: longer than 65536 bytes"),
    "a bell in notes": ('notes: "a\\ab"\n', "3:8: notes: a control character in the text"),
    "a list of lists of tags": ("tags: [[a]]\n", "3:8: tags: takes one value, not a list"),
    "a mapping of tags": ("tags: {a: b}\n", "3:7: tags: takes one value, not a mapping"),
    "a rule for tags": ("tags: {range: [1, 3]}\n", "3:7: tags: takes one value, not a mapping"),
    "no tags": ("tags: ~\n", "3:7: tags: no value"),
    "no tag": ("tags: [a, ~]\n", "3:11: tags: no value"),
    "an empty tag": ("tags: ['']\n", "3:8: tags: an empty tag"),
    "tags in one text": ("tags: a, b\n", "3:7: tags: 'a, b' has a comma; write a list: [one, two]"),
    "a tag twice": ("tags: [a, ab, a]\n", "3:15: tags: 'a' appears twice"),
    "a space before a tag": ("tags: [' a']\n", "3:8: tags: ' a' begins or ends with a space"),
    "a line break in a tag": ('tags: ["a\\nb"]\n', "3:8: tags: a control character in 'a\\nb'"),
    "a long tag": (f"tags: [{'é' * 33}]\n", f"3:8: tags: '{'é' * 20}...' is longer than 64 bytes"),
    "many tags": (f"tags: [{', '.join(f't{i}' for i in range(65))}]\n", "3:7: tags: more than 64 tags"),
    "notes in skip": ("notes: a\nskip: [{notes: a}]\n", "4:9: skip: 'notes' is neither an axis nor a parameter"),
    "tags together": (
        "together: {a: {b: {tags: c}}}\n", "3:20: tags: has one value in a sweep and cannot be part of together"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    text, line = REFUSED[name]
    check_refused(tmp_path, BASE + text, "sweep.yaml:" + line)


@pytest.mark.parametrize("text", [
    "tags: one\n", "tags: [1, true, 2024-01-01]\n", "tags: []\n", "notes: ''\n", "notes: 5\n",
    f"notes: {'x' * 65536}\n",
    f"tags: [{', '.join(f't{i}' for i in range(64))}]\n", f"tags: {'é' * 32}\n"])
def test_accepted(text, tmp_path):
    done = check(tmp_path, BASE + text)
    assert (done.stdout, done.stderr) == (b"sweep.yaml: valid: 1 cell\n", b"")


def yaml_of(notes, tags):
    block = "".join(f"  {line}\n" if line else "\n" for line in notes.splitlines())
    return SMALL + (f"notes: |\n{block}" if notes else "") + (f"tags: [{', '.join(tags)}]\n" if tags else "")


def words(path):
    with netCDF4.Dataset(path) as file:
        return getattr(file, "notes", None), getattr(file, "tags", None)


@pytest.fixture
def told(tmp_path, normsweep):
    (tmp_path / "a.yaml").write_text(yaml_of(NOTES, ["pilot", "größe 2"]))
    normsweep("run", "a.yaml", "-j", "0")
    return tmp_path


def test_notes_and_tags_are_in_the_dataset(told, normsweep):
    assert words(told / "a.nc") == (NOTES, "pilot, größe 2")
    lines = normsweep("status", "a.nc").stdout.splitlines()
    assert lines[3:8] == ["tags      pilot, größe 2", "notes     Größe matters;", "          see <b>page 7</b>.", "",
                          "          Second paragraph: 100 %d & more."]
    found = json.loads(normsweep("status", "a.nc", "--json").stdout)
    assert (found["notes"], found["tags"]) == (NOTES, ["pilot", "größe 2"])


def test_long_notes_are_cut_by_status(tmp_path, normsweep):
    (tmp_path / "a.yaml").write_text(yaml_of("".join(f"line {i}\n" for i in range(13)), []))
    normsweep("run", "a.yaml", "-j", "0")
    lines = normsweep("status", "a.nc").stdout.splitlines()
    assert lines[12:14] == ["          line 9", "          and 3 more lines"]


def test_they_may_change_and_go(told, normsweep):
    with netCDF4.Dataset(told / "a.nc") as file:
        digest = file.configuration_digest
    for notes, tags in [("Other", ["pilot", "second"]), ("", ["second"]), ("", []), ("Again\n", ["new"])]:
        (told / "a.yaml").write_text(yaml_of(notes, tags))
        assert "nothing left to do" in normsweep("run", "a.yaml", "-j", "0").stdout
        assert words(told / "a.nc") == (notes and notes.rstrip("\n") + "\n" or None, ", ".join(tags) or None)
    with netCDF4.Dataset(told / "a.nc") as file:
        assert file.configuration_digest == digest
    normsweep("run", "a.yaml", "-j", "0", "--set", "tags=last", "--set", "notes=last note")
    assert words(told / "a.nc") == ("last note", "last")
    normsweep("run", "a.yaml", "-j", "0", "--set", "tags=null", "--set", "notes=null")
    assert words(told / "a.nc") == (None, None)


def test_an_attribute_of_somebody_else_stays(tmp_path, normsweep):
    """A dataset whose sweep never had notes, and to which somebody has added some."""
    (tmp_path / "a.yaml").write_text(SMALL)
    normsweep("run", "a.yaml", "-j", "0")
    with netCDF4.Dataset(tmp_path / "a.nc", "a") as file:
        file.notes, file.tags = "mine", "my tag"
    (tmp_path / "a.yaml").write_text(SMALL + "seed: [0, 1]\n")
    normsweep("run", "a.yaml", "-j", "0")
    assert words(tmp_path / "a.nc") == ("mine", "my tag")


MENTIONED = """# notes: to be written, tags: too
title: "notes: and tags:
  in a title"
# notes: none, tags: none, "notes": none
"""


@pytest.mark.parametrize("more, names", [
    (MENTIONED, ["notes", "tags"]), ("include: base.yaml\n", ["notes", "tags"]), ("tags: given\n", ["notes"]),
    ("'notes' : given\n", ["tags"])])
def test_a_word_that_is_not_a_key_does_not_cost_an_attribute(tmp_path, normsweep, more, names):
    (tmp_path / "base.yaml").write_text("title: 'my notes: x'\n# notes: x\n# tags: x\n")
    (tmp_path / "a.yaml").write_text(SMALL + more)
    normsweep("run", "a.yaml", "-j", "0")
    with netCDF4.Dataset(tmp_path / "a.nc", "a") as file:
        for name in names:
            setattr(file, name, "mine")
    (tmp_path / "a.yaml").write_text(SMALL + "seed: [0, 1]\n" + more.replace("tags: given\n", "").replace(
        "'notes' : given\n", ""))
    normsweep("run", "a.yaml", "-j", "0")
    assert words(tmp_path / "a.nc") == tuple("mine" if name in names else None for name in ("notes", "tags"))


@pytest.mark.parametrize("name", ["notes", "tags"])
def test_the_sweep_does_not_replace_an_attribute_of_somebody_else(tmp_path, normsweep, name):
    (tmp_path / "a.yaml").write_text(SMALL)
    normsweep("run", "a.yaml", "-j", "0")
    with netCDF4.Dataset(tmp_path / "a.nc", "a") as file:
        setattr(file, name, "by hand")
    before = (tmp_path / "a.nc").read_bytes()
    for option in ([], ["--dry-run"]):
        said = normsweep("run", "a.yaml", "-j", "0", "--set", f"{name}=mine", *option, status=2).stderr
        assert said == (f"a.nc: {name}, which normsweep did not write, cannot be kept: the sweep now has {name} of its "
                        "own; save it elsewhere and take it out, or use another -o\n")
        assert (tmp_path / "a.nc").read_bytes() == before


@pytest.mark.parametrize("given", ["{notes: in flow, TEXT}", "include: base.yaml\nTEXT", "TEXT"])
def test_what_a_sweep_gave_in_any_form_goes_with_it(tmp_path, normsweep, given):
    flow = ", ".join(SMALL.strip().splitlines()) if given.startswith("{") else SMALL
    whole = given.replace("TEXT", flow)
    (tmp_path / "base.yaml").write_text("notes: |\n  in an included file\n")
    (tmp_path / "a.yaml").write_text(whole)
    normsweep("run", "a.yaml", "-j", "0", *(["--set", "notes=set"] if given == "TEXT" else []))
    assert words(tmp_path / "a.nc")[0] in ("in flow", "in an included file\n", "set")
    (tmp_path / "a.yaml").write_text(SMALL)
    normsweep("run", "a.yaml", "-j", "0")
    assert words(tmp_path / "a.nc") == (None, None)


def test_python_package(told):
    code = ("from normsweep import open_sweep\n"
            "with open_sweep('a.nc') as ds: print([ds.sweep.notes, ds.sweep.tags, 'pilot' in ds.sweep.tags])\n"
            "from normsweep.figures.report import report\n"
            "with open_sweep('a.nc') as ds: print(report(ds))\n")
    python = run(PROJECT / ".ci" / "python", "xarray", "netCDF4", "matplotlib").stdout.strip()
    printed = run(python, "-c", code, cwd=told, env={"PYTHONPATH": str(PROJECT / "analysis"), "PATH": "/usr/bin:/bin",
                                                     "MPLBACKEND": "Agg", "LC_ALL": "C.UTF-8"}).stdout
    first, page = printed.split("\n", 1)
    assert first == str([NOTES, ("pilot", "größe 2"), True])
    page = page.split('<section id="what"')[0]  # above what was run, and not only in the sweep file at the end
    for words in ("Größe matters;", "see &lt;b&gt;page 7&lt;/b&gt;.", "Second paragraph: 100 %d &amp; more.", "pilot",
                  "größe 2"):
        assert words in page, words
