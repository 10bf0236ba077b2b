"""The pages of results: every number in a section that names a study is one of the study's, as NAME.csv has them, or a
setting of its sweeps."""

import argparse
import csv
import importlib
import re
import subprocess
import sys
import types

import pytest

import documents
from conftest import NORMSWEEP, PROJECT, tiny

RESULTS = PROJECT / "docs" / "results"
STUDIES = sorted(path.stem for path in RESULTS.glob("*.csv"))
PAGES = [documents.DOCS / "results.md", *sorted(RESULTS.glob("*.md"))]
NUMBER = re.compile(r"[-\N{MINUS SIGN}]?(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w.]*\w)")
# Years, and what is no result: the level of an interval, R², powers.
NO_RESULT = re.compile(r"\b(?:19|20)\d\d\b|arXiv [\d.]+|\b95 %|[\^]-?[\d.]+|^#.*$", re.M)
PERCENT = re.compile(r"(?: (?:to|and) [-+\N{MINUS SIGN}\d.]+)? %")
TIMES = re.compile(r"(?:,? (?:to|and|larger|[\d.]+))* times (?:small|slow|larger and)")
SMALL = 12  # whole numbers up to this one are written as they come: two layers, three seeds

sys.path.append(str(RESULTS))


def rows(study):
    with open(RESULTS / f"{study}.csv", newline="") as file:
        return list(csv.DictReader(file))


def sections():
    """(page, heading, text, studies that it names)."""
    for page in PAGES:
        for part in re.split(r"^(?=##+ )", page.read_text(), flags=re.M):
            named = re.findall(r"\]\((?:results/)?(\w+)\.py\)", part)
            if named:
                yield pytest.param(part, named, id=f"{page.stem}: {part.splitlines()[0].lstrip('# ')}")


def numbers(text):
    """(the number as it is written, is it a percentage, is it a reciprocal: 1/7, 7 times slower)."""
    return [(match[0].replace("\N{MINUS SIGN}", "-").replace(",", ""), bool(PERCENT.match(text, match.end())),
             text[:match.start()].endswith("1/") or bool(TIMES.match(text, match.end())))
            for match in NUMBER.finditer(text)]


def settings(study):
    """The numbers in a study's file, in its sweeps, and in the names of its numbers."""
    module = importlib.import_module(study)
    texts = [(RESULTS / f"{study}.py").read_text(), *(row["number"] for row in rows(study))]
    for words in module.SWEEPS.values():
        texts += [(PROJECT / word).read_text() if word.endswith(".yaml") else word for word in words]
    return {float(token) for text in texts for token in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)}


def test_make_results_builds_what_studies_run():
    recipe = re.search(r"^results:\n(.*?)\n\n", (PROJECT / ".ci" / "developers.mk").read_text(), re.M | re.S)[1]
    first = {words[0] for study in STUDIES for words in importlib.import_module(study).SWEEPS.values()}
    programs = {word for word in first if not word.endswith(".yaml")} | {"normsweep"}
    assert len(programs) > 1 and programs == set(re.findall(r"\$\(BUILD\)/([\w-]+)", recipe))


def is_rounded(token, value, is_percent, is_reciprocal):
    """Is the number, as it is written, this value rounded? A change may be written as a percentage of either sign."""
    digits = len(token.partition("e")[0].partition(".")[2])
    if "e" in token:
        return abs(float(token) - value) <= 0.051 * 10 ** (int(token.partition("e")[2]) - digits + 1)
    if is_percent:
        return any(abs(abs(float(token)) - abs(one)) <= 0.5001 * 10 ** -digits
                   for one in (100 * value, 100 * (value - 1)))
    return any(abs(float(token) - one) <= 0.5001 * 10 ** -digits
               for one in [value, *([1 / value] if is_reciprocal and value else [])])


@pytest.mark.parametrize("study", STUDIES)
def test_intervals_hold_their_numbers(study):
    found = rows(study)
    assert len({row["number"] for row in found}) == len(found) > 0
    for row in found:
        value, low, high = (float(row[key]) for key in ("value", "low", "high"))
        assert low <= value <= high or value != value, row


@pytest.mark.parametrize("text, studies", sections())
def test_numbers_are_those_of_the_studies(text, studies):
    values = [float(row[key]) for study in studies for row in rows(study) for key in ("value", "low", "high")]
    values += [(high - low) / 2 for low, high in zip(values[1::3], values[2::3])]
    known = set().union(*map(settings, studies))
    text = NO_RESULT.sub(" ", re.sub(r"`[^`]*`|\]\([^)]*\)", " ", documents.outside_blocks(text)))
    strange = [token for token, *kind in numbers(text)
               if not any(is_rounded(token, value, *kind) for value in values) and float(token) not in known
               and not (token.isdigit() and int(token) <= SMALL)]
    assert not strange


def test_a_study_is_trained_and_compared(tmp_path, monkeypatch, capsys):
    (tmp_path / "s.yaml").write_text(tiny() + "steps: 4\nlearning_rate: [0.1, 0.01]\n")
    rerun, words = map(importlib.import_module, ("rerun", "study"))
    shift = [0]

    def numbers(one):
        yield words.count("runs", one.norm_growth.size + shift[0])
        yield words.about("growth", one.norm_growth.mean())

    study = types.SimpleNamespace(SWEEPS={"one": [str(tmp_path / "s.yaml")]}, numbers=numbers)
    monkeypatch.setitem(sys.modules, "made_up_study", study)
    monkeypatch.setattr(rerun, "HERE", tmp_path)
    monkeypatch.setenv("NORMSWEEP_BUILD", str(NORMSWEEP.parent))

    def again(**changed):
        arguments = argparse.Namespace(**{"study": [], "text": tmp_path, "keep": kept, "long": False, "write": False} |
                                       changed)
        status = rerun.rerun("made_up_study", arguments)
        return status, re.sub("made_up_study-one: training.*\n", "", capsys.readouterr().out)
    kept, table = tmp_path / "kept", tmp_path / "made_up_study.csv"
    kept.mkdir()
    assert again() == (1, f"made_up_study: nothing to compare with: {table} is not there; make results "
                          "STUDIES=made_up_study WRITE=yes makes it\n")
    assert again(write=True) == (0, f"made_up_study: 3 numbers written to {table}\n")
    assert again() == (0, "made_up_study: 2 of 2 numbers agree\n")
    shift[0] = 1
    assert again() == (1, "made_up_study: 1 of 2 numbers agree\n    runs: 3, was 2, 2 to 2 (exact)\n")
    shift[0] = 0
    (kept / "made_up_study-one.nc").rename(tmp_path / "made_up_study-one.nc")  # as that of a sweep of hours
    assert again() == (0, "made_up_study: 2 of 2 numbers agree\n")
    assert not (kept / "made_up_study-one.nc").exists()
    assert again(long=True) == (0, "made_up_study: 2 of 2 numbers agree\n")
    rerun.cost(kept / "made_up_study-one.nc").write_text("1000\n")
    (kept / "made_up_study-one.nc").unlink()  # whose time does not count again
    assert again(long=True) == (0, "made_up_study: 2 of 2 numbers agree\n")
    assert 0 < rerun.spent(kept / "made_up_study-one.nc") < 1000
    study.SWEEPS = {"one": ["s.yaml", "--set", "train_text=wiki.valid.tokens"]}
    skipped = (f"made_up_study: skipped: {tmp_path} has no wiki.valid.tokens; name the folder that has it: make "
               "results TEXT=FOLDER\n")
    assert again() == (0, skipped) and again(study=["made_up_study"]) == (1, skipped)
    study.SWEEPS = {"other": [str(tmp_path / "s.yaml"), "--set", "stepz=4"]}
    log = kept / "made_up_study-other.log"
    trains = f"made_up_study-other: training; {log} says how far it is\nmade_up_study: not trained: "
    assert again() == (1, f"{trains}--set: unknown key 'stepz'; did you mean 'steps'?; {log} has all that it said\n")
    (tmp_path / "normsweep").write_text("#!/bin/sh\nkill -9 $$\n")
    (tmp_path / "normsweep").chmod(0o755)
    monkeypatch.setenv("NORMSWEEP_BUILD", str(tmp_path))
    assert again() == (1, f"{trains}normsweep was ended by signal 9; {log} has all that it said\n")


@pytest.mark.parametrize("command, said", [
    (["make", "-n", "results", "WRITE=no"], "WRITE=no is not yes: leave it out to compare numbers"),
    ([sys.executable, RESULTS / "rerun.py", "Figure5.py"], "results: no study 'Figure5.py'; did you mean figure5?"),
    ([sys.executable, RESULTS / "rerun.py", "xyz"], "results: no study 'xyz'; there are collapse, continued"),
    ([sys.executable, RESULTS / "rerun.py", "figure5", "--text", "nowhere"],
     f"results: no folder {PROJECT / 'nowhere'}; name that of the texts: make results TEXT=FOLDER")])
def test_what_cannot_be_trained_is_refused(command, said):
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode != 0 and said in done.stderr


def test_a_sweep_without_a_small_variant_is_named():
    with pytest.raises(ValueError, match=r"quickstart.yaml has no command of a variant 'Small'; use whole\(\)"):
        importlib.import_module("study").small("quickstart")


def test_a_study_trains_on_from_weights_that_it_kept_and_draws_its_numbers(tmp_path, monkeypatch):
    (tmp_path / "s.yaml").write_text(tiny() + "steps: 4\n")
    rerun, words = map(importlib.import_module, ("rerun", "study"))
    sweep = str(tmp_path / "s.yaml")
    study = types.SimpleNamespace(
        SWEEPS={"0.3-1": [sweep, "--set", "save_weights=true"],
                "after": [sweep, "--set", f"initial_weights=[none, {words.kept('made_up_study', '0.3-1')}]"]},
        numbers=lambda after, **before: [words.of_range("loss", after.final_valid_loss.values)],
        figure=lambda rows: words.lines(rows, {"loss": {"here": "loss"}}, "", "loss (nats)"))
    monkeypatch.setitem(sys.modules, "made_up_study", study)
    monkeypatch.setattr(rerun, "HERE", tmp_path)
    monkeypatch.setenv("NORMSWEEP_BUILD", str(NORMSWEEP.parent))
    kept = tmp_path / "kept"
    kept.mkdir()
    rerun.rerun("made_up_study", argparse.Namespace(study=[], text=tmp_path, keep=kept, long=False, write=True))
    loss, minutes = rerun.read(tmp_path / "made_up_study.csv").values()
    assert loss["low"] < loss["value"] < loss["high"]
    assert 0 < minutes["value"] < 1 and minutes["number"] == "core-minutes"
    assert (tmp_path / "made_up_study.png").stat().st_size > 1000


@pytest.mark.thorough("trains a study")
def test_the_study_that_the_page_has_as_an_example(tmp_path, monkeypatch, capsys):
    page = documents.DOCS / "ready-made.md"
    block, = (block for block in documents.blocks(page) if block.language == "python")
    (tmp_path / "mine.py").write_text(block.text)
    rerun = importlib.import_module("rerun")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.setattr(rerun, "HERE", tmp_path)
    monkeypatch.setenv("NORMSWEEP_BUILD", str(NORMSWEEP.parent))
    (tmp_path / "kept").mkdir()
    for write, said in (True, "4 numbers written"), (False, "mine: 3 of 3 numbers agree"):
        arguments = argparse.Namespace(study=["mine"], text=tmp_path, keep=tmp_path / "kept", long=False, write=write)
        assert rerun.rerun("mine", arguments) == 0
        assert said in capsys.readouterr().out
    assert all(float(row["low"]) < float(row["high"]) for row in list(rerun.read(tmp_path / "mine.csv").values())[:3])
    assert (tmp_path / "mine.png").stat().st_size > 1000
