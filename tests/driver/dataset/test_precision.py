"""Whether a dataset was trained in float or in double: it says so, and the two are not mixed."""

import netCDF4
import pytest

from conftest import BUILD, NORMSWEEP, run, train_sweep
from waited import SWEEP

pytestmark = pytest.mark.thorough("needs the program in double")

DOUBLE = BUILD / "normsweep-double"


def precision(path):
    with netCDF4.Dataset(path) as file:
        return file.training_precision


@pytest.mark.parametrize("own, other, name, foreign", [
    (NORMSWEEP, DOUBLE, "float32", "float64"), (DOUBLE, NORMSWEEP, "float64", "float32")])
def test_the_two_are_not_mixed(tmp_path, own, other, name, foreign):
    """The other program refuses the dataset, also to extend or to verify it, and leaves it as it is."""
    path = train_sweep(tmp_path, SWEEP, name="a", program=own)
    assert precision(path) == name
    before = path.read_bytes()
    said = (f"a.nc: holds another sweep: it is of a program that trains in {name}, and this one trains in {foreign}; "
            "use --fresh or another -o\n")
    for command in (["run", "a.yaml", "-j", "0"], ["run", "a.yaml", "-j", "0", "--set", "seed=[0, 1]"],
                    ["run", "a.yaml", "--dry-run", "-j", "0"], ["verify", "a.yaml", "-j", "0"]):
        assert run(other, *command, cwd=tmp_path, status=2).stderr == said, command
    assert path.read_bytes() == before
    run(other, "run", "a.yaml", "-j", "0", "--fresh", cwd=tmp_path)
    assert precision(path) == foreign and precision(tmp_path / "a.nc.old") == name
