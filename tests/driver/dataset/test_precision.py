"""Whether a dataset was trained in float or in double: it says so, and the two are not mixed."""

import netCDF4
import pytest

from conftest import BUILD, NORMSWEEP, run
from waited import SWEEP

pytestmark = pytest.mark.thorough("needs the program in double")

DOUBLE = BUILD / "normsweep-double"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.yaml").write_text(SWEEP)
    return tmp_path


def precision(path):
    with netCDF4.Dataset(path) as file:
        return getattr(file, "training_precision", None)


@pytest.mark.parametrize("own, other, name, foreign", [
    (NORMSWEEP, DOUBLE, "float32", "float64"), (DOUBLE, NORMSWEEP, "float64", "float32")])
def test_the_two_are_not_mixed(folder, own, other, name, foreign):
    """The other program refuses the dataset, also to extend or to verify it, and leaves it as it is."""
    run(own, "run", "a.yaml", "-j", "0", cwd=folder)
    assert precision(folder / "a.nc") == name
    before = (folder / "a.nc").read_bytes()
    said = (f"a.nc: holds another sweep: it is of a program that trains in {name}, and this one trains in {foreign}; "
            "use --fresh or another -o\n")
    for command in (["run", "a.yaml", "-j", "0"], ["run", "a.yaml", "-j", "0", "--set", "seed=[0, 1]"],
                    ["run", "a.yaml", "--dry-run", "-j", "0"], ["verify", "a.yaml", "-j", "0"]):
        assert run(other, *command, cwd=folder, status=2).stderr == said, command
    assert (folder / "a.nc").read_bytes() == before
    run(other, "run", "a.yaml", "-j", "0", "--fresh", cwd=folder)
    assert precision(folder / "a.nc") == foreign and precision(folder / "a.nc.old") == name
