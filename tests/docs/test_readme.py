"""The README is short, and its recording of a killed sweep is what the program says."""

import re
import subprocess

import documents
import pytest
from conftest import NORMSWEEP

README = documents.PAGES[0]
WORDS_MOST = 900
# Of the machine, and of the moment: lines that may come, and what may differ in the others.
OTHER_LINES = re.compile(r"\d+/\d+ done, |to see the results: |.*\bKilled\b|.* were trained with commit |^$")
VARIES = [(r"\d+ workers? of", "N workers of"), (r"BLAS kernel \w+, vector level \w+", "BLAS kernel, vector level"),
          (r"; [\d.]+ m?s$|; \d+ min.*$", "; N s")]


def plain(lines):
    for pattern, text in VARIES:
        lines = [re.sub(pattern, text, line) for line in lines]
    return [line for line in lines if not OTHER_LINES.match(line)]


def test_it_is_short():
    assert len(README.read_text().split()) <= WORDS_MOST


@pytest.mark.thorough("trains the README's sweep, kills it, and trains it again")
@pytest.mark.long(15)
def test_a_killed_sweep(tmp_path):
    blocks = documents.blocks(README)
    recording, = (block.text.splitlines() for block in blocks if block.text.startswith("$ "))
    sweep = next(block.text for block in blocks if block.name == "first.yaml")
    short = sweep.replace("steps: 300", "steps: 60").replace("every: 10", "every: 2")  # as many values to compare
    assert len(re.findall("steps: 60|every: 2}", short)) == 2
    (tmp_path / "first.yaml").write_text(short)
    (tmp_path / "build").symlink_to(NORMSWEEP.parent)
    moment = 'until build/normsweep status first.nc 2>&1 | grep -q "^ended  *[1-9]"; do sleep 0.05; done'
    found = []
    for command in (line for line in recording if line.startswith("$ ")):
        done = subprocess.run(["bash", "-c", command[2:].replace("sleep 4", moment)], cwd=tmp_path, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
        found += [command, *done.stdout.splitlines()]
    assert plain(found) == plain(recording)
