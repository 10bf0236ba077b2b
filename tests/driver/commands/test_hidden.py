"""Names and texts with control characters, line breaks, controls of direction: shown as escapes, and nowhere raw."""

import json
import re
import subprocess

import pytest

from conftest import NORMSWEEP

OUTPUT = "\x1b[31mx\u202e it's\n$HOME.nc"
SHOWN = r"\x1b[31mx\u202e it's\n$HOME.nc"
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
SWEEP = """\
title: "t\\u202ex\\u2069"
notes: "n\\u202ey\\nsecond \\u2066line"
corpus: markov
vocabulary: 9
corpus_tokens: 400
context: 4
batch: 2
layers: 1
width: 8
heads: 1
steps: 2
learning_rate: [0.1, 0.01]
together: {model: {"s\\u202em": {feedforward: 8}, big: {feedforward: 16}}}
"""


@pytest.fixture
def told(normsweep, tmp_path):
    """told(ARGUMENT..., status=0): the lines on both streams, none of which has a hidden letter."""
    (tmp_path / "s.yaml").write_text(SWEEP)

    def call(*arguments, **options):
        done = normsweep(*arguments, **options)
        text = done.stdout + done.stderr
        assert not HIDDEN.search(text), ascii(text)
        return text.splitlines()
    return call


def test_nothing_hidden_reaches_the_terminal(told, normsweep, tmp_path):
    run = ("run", "s.yaml", "-j", "0", "-o", OUTPUT)
    assert f"dataset   {SHOWN} does not exist and would be made, with 4 cells" in told(*run, "--dry-run")
    assert any(line.endswith(SHOWN) for line in told("plan", "s.yaml", "-o", OUTPUT))
    *_, counts, suggested = told(*run)
    assert counts.startswith(f"{SHOWN}: 4 runs: 4 done")
    command = suggested.removeprefix("to see the results: ")
    pasted = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert pasted.stdout.splitlines()[0] == rf"{SHOWN}: phase diagram: t\u202ex\u2069"
    status = told("status", OUTPUT)
    assert {rf"{SHOWN}: t\u202ex\u2069", r"notes     n\u202ey"} <= {*status}
    assert r"          second \u2066line" in status
    assert json.loads("\n".join(told("status", "--json", OUTPUT)))["title"] == "t\u202ex\u2069"
    assert any(line.lstrip().startswith(r"s\u202em") for line in told("show", OUTPUT))
    for label in ("s\u202em", r"s\u202em"):
        assert any(r"model=s\u202em" in line for line in told("show", OUTPUT, "--at", f"model={label}"))
    assert told(*run, "--set", "steps=3", status=2)[0].startswith(f"{SHOWN}: holds another sweep: ")
    refused = told("show", OUTPUT, "a\u202e\n", status=2)
    assert refused == [rf"{SHOWN}: no variable a\u202e\n; see normsweep help metrics"]
    assert told("check", "a\u202e\n.yaml", status=2) == [r"a\u202e\n.yaml: No such file or directory"]


def test_a_line_break_makes_no_value_for_scripts(normsweep, tmp_path):
    (tmp_path / "s.yaml").write_text(SWEEP)
    for name in ("a\noutput=b.nc", "it's \x1b.nc"):
        said = normsweep("check", "s.yaml", "--values", "-o", name).stdout
        shown = name if "\n" not in name else r"$'a\012output=b.nc'"
        assert said == f"cells=4\nruns=4\noutput={shown}\n"


def test_the_command_is_quoted_as_it_was_called(normsweep, tmp_path):
    (tmp_path / "s.yaml").write_text(SWEEP)
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "normsweep").symlink_to(NORMSWEEP)
    done = subprocess.run(["a b/normsweep", "run", "s.yaml", "-j", "0"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "to see the results: 'a b/normsweep' show s.nc"
