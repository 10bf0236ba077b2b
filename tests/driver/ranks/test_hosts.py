"""A file of hosts: all of their slots train, without -j."""

import re

import pytest

from conftest import NORMSWEEP, run, tiny
from watched import Watched

ENDLESS = tiny(steps=10 ** 8) + "seed: {range: [0, 9]}\nmeasure: {steps: [0]}\n"


@pytest.mark.parametrize("how", ["option", "variable"])
def test_all_slots_train_beside_a_coordinator_and_a_spare(tmp_path, how):
    (tmp_path / "sweep.yaml").write_text(ENDLESS)
    (tmp_path / "hosts").write_text("localhost slots=3\n")
    newer = re.search(r"^MPI +Open MPI v?5\.", run(NORMSWEEP, "--version").stdout, re.M)
    name = "PRTE_MCA_prte_default_hostfile" if newer else "OMPI_MCA_orte_default_hostfile"
    options = ["--hosts", "hosts"] if how == "option" else []
    variables = {} if how == "option" else {name: str(tmp_path / "hosts")}
    with Watched([NORMSWEEP, "run", "sweep.yaml", *options], variables, cwd=tmp_path) as command:
        command.wait_until(lambda: len(command.of("worker")) == 3 and len(command.of("spare")) == 1, "3 slots train")
        assert len(command.of("coordinator")) == 1


@pytest.mark.parametrize("text, said", [
    (None, "No such file or directory"), ("", "mpirun finds no hosts in it; each line is HOST slots=N"),
    ("a = = b\n", "mpirun finds no hosts in it; each line is HOST slots=N")])
@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_file_without_hosts(tmp_path, text, said, more):
    (tmp_path / "sweep.yaml").write_text(ENDLESS)
    if text is not None:
        (tmp_path / "hosts").write_text(text)
    refused = run(NORMSWEEP, "run", "sweep.yaml", "--hosts", "hosts", *more, cwd=tmp_path, status=2)
    assert refused.stderr == f"hosts: {said}\n" and not list(tmp_path.glob("*.nc*"))


def test_a_host_that_cannot_be_reached(tmp_path):
    (tmp_path / "sweep.yaml").write_text(ENDLESS)
    (tmp_path / "hosts").write_text("nowhere.invalid slots=2\n")
    refused = run(NORMSWEEP, "run", "sweep.yaml", "--hosts", "hosts", cwd=tmp_path, status=3)
    assert refused.stderr.splitlines()[-1] == (
        "hosts: mpirun could not begin on these hosts; each must let this one in without a password: ssh HOST true")
