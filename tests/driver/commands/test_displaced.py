"""The dataset of a sweep is replaced while it runs."""

import os
import re
import shutil

import pytest

from waited import ENDLESS, SWEEP, Background, wait_until


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
        told = sweep.process.communicate(timeout=120)[1].splitlines()
    assert sweep.process.returncode == 3
    assert told[-1] == ("a.nc: was replaced by another file while its sweep ran, so the sweep has stopped; all results "
                        "are in a.nc.ours; to continue, rename that file to a.nc and run the same command again")
    assert not any("a.nc:" in line for line in told[:-1])
    assert output.read_bytes() == before
    os.rename(tmp_path / "a.nc.ours", output)
    shown = normsweep("status", output).stdout
    assert "saved     2 runs under way" in shown and "file      intact" in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.nc", "a.nc.d", "a.yaml"]
