"""The dataset of a sweep is renamed or replaced while it runs, or while its ranks start."""

import os
import re
import shutil

import pytest

from conftest import stand_in
from waited import ENDLESS, RUNS, SWEEP, Background, wait_until

GONE = ("a.nc: was renamed or removed while its sweep ran, so the sweep has stopped; to continue, put it back and run "
        "the same command again")
REPLACED = ("a.nc: was replaced by another file while its sweep ran, so the sweep has stopped; to continue, put the "
            "first one back and run the same command again")


@pytest.mark.thorough("mpirun and three processes take seconds")
def test_a_replaced_dataset_stops_the_sweep(normsweep, tmp_path):
    output, other = tmp_path / "a.nc", tmp_path / "other.nc"
    (tmp_path / "a.yaml").write_text(SWEEP)
    def runs_train():
        return output.exists() and re.search("^  running +2,", normsweep("status", output).stdout, re.M)

    with Background(tmp_path, "run", "a.yaml", "-j", "2", *ENDLESS) as sweep:
        wait_until(runs_train, "two runs train")
        shutil.copy(output, other)
        os.rename(other, output)
        before = output.read_bytes()
        told = sweep.ended(3)[1].splitlines()
    assert told[-1] == ("a.nc: was replaced by another file while its sweep ran, so the sweep has stopped; all results "
                        "are in a.nc.ours; to continue, rename that file to the output's path and run the same "
                        "command again")
    assert not any("a.nc:" in line for line in told[:-1])
    assert output.read_bytes() == before
    os.rename(tmp_path / "a.nc.ours", output)
    shown = normsweep("status", output).stdout
    assert "saved     2 runs under way" in shown and "file      intact" in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.nc", "a.nc.d", "a.yaml"]


@pytest.fixture
def started(normsweep, tmp_path):
    """started(LINE...): runs a sweep that is half done with an mpirun that first does these lines of a script."""
    (tmp_path / "a.yaml").write_text(SWEEP)
    normsweep("run", "a.yaml", "-j", "0", "--set", "bias=true")

    def start(*lines, **options):
        path = stand_in(tmp_path, "\n".join(["[ $1 = --version ] || {", *lines, "}",
                                             f'exec {shutil.which("mpirun")} "$@"']))
        return normsweep("run", "a.yaml", "-j", "2", "--spares", "0", env={**os.environ, **path}, **options)
    return start


def test_a_dataset_that_is_gone_when_a_start_is_stopped(started, tmp_path):
    told = started("mv a.nc b.nc", "kill $PPID", "exit", status=3).stderr
    assert told == GONE + "\n"
    assert (tmp_path / "b.nc").exists() and not (tmp_path / "a.nc").exists()


@pytest.mark.thorough("mpirun starts")
@pytest.mark.parametrize("lines, line", [
    (["mv a.nc b.nc"], GONE), (["mv a.nc b.nc", "cp b.nc a.nc"], REPLACED),
    (["cp a.nc b.nc", "rm a.nc", "cp b.nc a.nc"], REPLACED)], ids=["renamed", "replaced", "removed and replaced"])
def test_a_dataset_that_moves_while_ranks_start_is_not_made_again(started, normsweep, tmp_path, lines, line):
    told = started(*lines, status=3).stderr
    assert told == line + "\n"
    os.rename(tmp_path / "b.nc", tmp_path / "a.nc")
    done = normsweep("run", "a.yaml", "-j", "0").stdout
    assert f"{RUNS} runs: {RUNS} done" in done
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.nc", "a.yaml", "bin"]


@pytest.mark.thorough("mpirun starts twice")
def test_a_dataset_that_is_gone_when_its_coordinator_is_started_again(started, tmp_path):
    """The first mpirun ends as if it had lost its ranks."""
    told = started("[ -f b.nc ] || { mv a.nc b.nc; kill -9 $$; }", status=3).stderr
    assert told == "a.nc: mpirun ended before the sweep began; starting again\n" + GONE + "\n"
    assert not (tmp_path / "a.nc").exists()
