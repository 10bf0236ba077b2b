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


def test_a_file_of_hosts_that_is_not_there(tmp_path):
    (tmp_path / "sweep.yaml").write_text(ENDLESS)
    refused = run(NORMSWEEP, "run", "sweep.yaml", "--hosts", "none", cwd=tmp_path, status=2)
    assert refused.stderr == "none: No such file or directory\n" and not list(tmp_path.glob("*.nc*"))
