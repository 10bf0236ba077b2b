"""Sweep files that include others: what they mean, which file a message names, what is refused, what the dataset keeps,
and that commands know when an included file has changed."""

import os

import netCDF4
import pytest

from conftest import PROJECT, train_sweep
from refused import check, check_refused

pytestmark = pytest.mark.thorough("starts the program for every sweep file")

BASE = "corpus: markov\nsteps: 10\nlearning_rate: 0.1\nwidth: [8, 16]\nheads: 2\n"
SMALL = "corpus: markov\ncorpus_tokens: 2000\nsteps: 4\nlayers: 1\nwidth: 8\nheads: 2\nfeedforward: 8\ncontext: 8\n"


def grid(folder, text, files, settings=()):
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
    done = check(folder, text, settings, {name: content.encode() for name, content in files.items()})
    assert (done.stderr, done.returncode) == (b"", 0)
    return done.stdout.decode().removeprefix("sweep.yaml: valid: ").rstrip("\n")


SEEDS = {"base.yaml": BASE.replace("heads: 2\n", "heads: 2\nseed: [0, 1, 2]\n")}
MEANINGS = {
    "keys are taken over": ("include: base.yaml\n", SEEDS, "2 width x 3 seed, 6 cells"),
    "a key of the file wins, in the place that it had": (
        "include: base.yaml\nwidth: [8, 16, 32]\n", SEEDS, "3 width x 3 seed, 9 cells"),
    "new keys come last, wherever include stands": (
        "batch: [1, 2]\ninclude: base.yaml\n", SEEDS, "2 width x 3 seed x 2 batch, 12 cells"),
    "null takes a key out": ("include: base.yaml\nseed: null\n", SEEDS, "2 width, 2 cells"),
    "steps give way to epochs": ("include: base.yaml\nsteps: ~\nepochs: 1\nseed: null\n", SEEDS, "2 width, 2 cells"),
    "whole keys": (
        "include: base.yaml\nseed: 0\nskip: [{width: 8}]\n",
        {"base.yaml": BASE + "skip: [{width: 16}]\n"}, "2 width, 2 cells, 1 skipped"),
    "later files win": (
        "include: [base.yaml, more.yaml]\n",
        {**SEEDS, "more.yaml": "seed: [5, 6]\nbatch: [1, 2]\n"}, "2 width x 2 seed x 2 batch, 8 cells"),
    "files that include others, each relative to itself": (
        "include: sub/one.yaml\nbatch: [1, 2]\n",
        {"sub/one.yaml": "include: two.yaml\nseed: [0, 1]\n", "sub/two.yaml": "include: ../base.yaml\nwidth: 8\n",
         **SEEDS}, "2 seed x 2 batch, 4 cells"),
    "a file twice is no circle": (
        "include: [one.yaml, two.yaml]\n",
        {"one.yaml": "include: base.yaml\nseed: 1\n", "two.yaml": "include: base.yaml\nbatch: [1, 2]\n", **SEEDS},
        "2 width x 3 seed x 2 batch, 12 cells"),
    "text behind a byte order mark": ("include: base.yaml\n", {"base.yaml": "\ufeff" + BASE}, "2 width, 2 cells"),
}


@pytest.mark.parametrize("text, files, expected", MEANINGS.values(), ids=MEANINGS)
def test_meaning(tmp_path, text, files, expected):
    assert grid(tmp_path, text, files) == expected


@pytest.mark.parametrize("setting, expected", [
    ("include=other.yaml", "2 seed, 2 cells"), ("include=[base.yaml, other.yaml]", "2 width x 2 seed, 4 cells"),
    ("include=null", "1 cell"), ("width=8", "1 cell"), ("width=null", "1 cell")])
def test_set_comes_over_what_is_included(setting, expected, tmp_path):
    files = {"base.yaml": BASE, "other.yaml": "seed: [1, 2]\nwidth: 8\nlearning_rate: 0.1\n"}
    if setting.startswith("include=[base"):
        files["other.yaml"] = "seed: [1, 2]\n"
    assert grid(tmp_path, "include: base.yaml\ncorpus: dyck\nsteps: 5\n", files, [setting]) == expected


# name: (text of sweep.yaml, the line, other files); test_refused.c has what takes few and small files.
REFUSED = {
    "UTF-16": (
        "include: base.yaml\n", "base.yaml:1:1: is UTF-16 and not UTF-8; save it as UTF-8",
        {"base.yaml": "seed: 1\n".encode("utf-16")}),
    "an included text that is missing": (
        "include: sub/base.yaml\n", "sub/base.yaml:2:13: train_text: sub/none.txt: No such file or directory",
        {"sub/base.yaml": b"steps: 1\ntrain_text: none.txt\n"}),
    "too large": (
        "include: base.yaml\n", "sweep.yaml:1:10: include: more than 1048576 bytes in all included files",
        {"base.yaml": b"seed: 1 #" + b"x" * (1 << 20)}),
    "too large together": (
        "include: [base.yaml, base.yaml]\n",
        "sweep.yaml:1:22: include: more than 1048576 bytes in all included files",
        {"base.yaml": b"seed: 1 #" + b"x" * (1 << 19)}),
    "too many": (
        f"include: [{', '.join(['base.yaml'] * 65)}]\n", "sweep.yaml:1:715: include: more than 64 files",
        {"base.yaml": b"seed: 1\n"}),
    "too many by doubling": (
        "include: [0.yaml, 0.yaml]\n", "9.yaml:1:20: include: more than 64 files",
        {f"{i}.yaml": f"include: [{i + 1}.yaml, {i + 1}.yaml]\n".encode() if i < 10 else b"seed: 1\n"
         for i in range(11)}),
    "too deep": (
        "include: 0.yaml\n", "15.yaml:1:10: include: files include each other more than 16 deep",
        {f"{i}.yaml": f"include: {i + 1}.yaml\n".encode() for i in range(17)}),
}


@pytest.mark.parametrize("text, line, files", REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, text, line, files):
    for path in files:
        (tmp_path / path).parent.mkdir(exist_ok=True)
    if any("/" in path for path in files):
        done = check(tmp_path, text, (), files)
        assert (done.stderr.decode(), done.returncode) == (line + "\n", 2)
    else:
        check_refused(tmp_path, text, line, (), files)


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = check(tmp_path, "include: pipe\n")
    assert done.stderr == b"sweep.yaml:1:10: include: pipe: not a regular file\n"


def test_a_link_to_itself_is_a_circle(tmp_path):
    (tmp_path / "other.yaml").symlink_to("sweep.yaml")
    done = check(tmp_path, "include: other.yaml\n")
    assert done.stderr == b"sweep.yaml:1:10: include: a circle: sweep.yaml includes sweep.yaml\n"


@pytest.fixture
def folder(tmp_path):
    """A base in a folder of its own, with an output and a text, and a sweep that includes it."""
    (tmp_path / "bases").mkdir()
    (tmp_path / "bases" / "words.txt").write_text("a b c d e f g h\n" * 200)
    (tmp_path / "bases" / "base.yaml").write_text(
        SMALL.replace("corpus: markov\ncorpus_tokens: 2000\n", "train_text: words.txt\n")
        + "output: base.nc\ntitle: A base\n")
    (tmp_path / "a.yaml").write_text("include: bases/base.yaml # the rest\nseed: [0, 1]\n")
    return tmp_path


def text_of(path):
    with netCDF4.Dataset(path) as file:
        return file.sweep


def test_the_dataset_is_the_sweeps_own_and_keeps_all_texts(folder, normsweep):
    normsweep("run", "a.yaml", "-j", "0", "--set", "batch=8")
    assert sorted(path.name for path in folder.iterdir()) == ["a.nc", "a.yaml", "bases"]
    base = (folder / "bases" / "base.yaml").read_text()
    assert text_of(folder / "a.nc") == "".join([
        (folder / "a.yaml").read_text(), "# include bases/base.yaml\n",
        *(f"# | {line}\n" for line in base.splitlines()), "# --set batch=8\n"])
    assert normsweep("status", "a.nc").stdout.startswith("a.nc: A base\n")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    before = (folder / "a.nc").read_bytes()
    normsweep("run", "../a.yaml", "-j", "0", "--set", "batch=8", "-o", "../a.nc", cwd=elsewhere)
    assert (folder / "a.nc").read_bytes() == before  # the text does not depend on where the command is called
    normsweep("verify", "a.yaml", "--set", "batch=8", "-n", "2")


def test_a_base_that_changes(folder, normsweep):
    normsweep("run", "a.yaml", "-j", "0")
    base = folder / "bases" / "base.yaml"
    base.write_text(base.read_text().replace("A base", "Another title") + "# a comment\n")
    assert "nothing left to do" in normsweep("run", "a.yaml", "-j", "0").stdout
    assert "a comment" in text_of(folder / "a.nc") and "Another title" in normsweep("status", "a.nc").stdout
    before = (folder / "a.nc").read_bytes()
    base.write_text(base.read_text() + "batch: 3\n")
    refused = normsweep("run", "a.yaml", "-j", "0", status=2).stderr
    assert refused.startswith("a.nc: holds another sweep: batch is 16 in a.nc and 3 in a.yaml; use --fresh")
    assert refused in normsweep("plan", "a.yaml").stderr
    set_here = normsweep("run", "a.yaml", "-j", "0", "--set", "batch=4", status=2).stderr
    assert set_here.startswith("a.nc: holds another sweep: batch is 16 in a.nc and 4 in --set; use --fresh")
    assert normsweep("verify", "a.yaml", status=2).stderr.startswith("a.nc: holds another sweep: batch is 16 in a.nc")
    assert (folder / "a.nc").read_bytes() == before
    base.write_text(base.read_text().replace("batch: 3\n", "width: [8, 16]\n").replace("width: 8\n", ""))
    assert "4 runs: 4 done" in normsweep("run", "a.yaml", "-j", "0").stdout


def test_ranks_read_what_is_included(folder, normsweep):
    done = normsweep("run", "a.yaml", "-j", "2")
    assert "a.nc: 2 runs: 2 done" in done.stdout


def test_a_shipped_sweep_can_be_included(tmp_path):
    text = f"include: {PROJECT}/sweeps/quickstart.yaml\nsteps: 2\nlearning_rate: 0.1\nweight_decay: [0, 0.1]\n"
    assert train_sweep(tmp_path, text, name="mine").exists()
