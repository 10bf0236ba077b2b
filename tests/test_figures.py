"""The figures, by what is drawn in them: lines, maps, contours and words, not pixels."""

import pathlib
import struct
import sys

import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import NORMSWEEP, PROJECT, run
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex

sys.path.insert(0, str(PROJECT / "analysis"))

from normsweep import figures, look, open_sweep  # noqa: E402
from normsweep.figures import fits, lines  # noqa: E402

SCRIPT = PROJECT / "analysis" / "figures"
PENDING, RUNNING, DONE, DIVERGED, FAILED, SKIPPED = range(6)
RATES = [1e-1, 1e-2, 1e-3, 1e-4]
DECAYS = [10.0, 1.0, 1e-1, 1e-2, 1e-3, 0.0]


def dataset(axes, outcome=None, step=(0, 1, 2, 4), other=None, **variables):
    """A made-up dataset of this grid. variables: NAME=(extra dimensions, function of the axes' values and theirs), or
    NAME=values over the axes; other: coordinates of extra dimensions."""
    axes = {name: np.asarray(values) for name, values in axes.items()}
    shape = tuple(map(len, axes.values()))
    coordinates = {**axes, "step": list(step), **(other or {})}
    made = xr.Dataset(coords=coordinates, attrs={"source": "normsweep", "title": "Made up"})
    made["outcome"] = tuple(axes), np.full(shape, DONE, np.int8) if outcome is None else outcome
    for name, what in variables.items():
        if isinstance(what, tuple):
            dims = (*axes, *what[0])
            made[name] = dims, np.broadcast_to(what[1](*np.meshgrid(
                *(coordinates[dim] for dim in dims), indexing="ij")), [len(coordinates[dim]) for dim in dims])
        else:
            made[name] = tuple(axes), np.broadcast_to(what, shape)
    return made


def drawing(made, name):
    found = list(figures.draw_all(made, [name]))
    assert len(found) <= 1
    return found[0] if found else None


def panels(found):
    """The panels without bars of colours."""
    return [axes for axes in found.figure.axes if axes.get_label() != "<colorbar>" and axes.get_visible()]


def words(found):
    """All text of a figure, its caption with it."""
    found.figure.draw_without_rendering()
    texts = [text.get_text() for text in found.figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    return "\n".join([*texts, found.caption])


def legend(found):
    return [text.get_text() for shown in found.figure.legends for text in shown.get_texts()]


def near(found, expected, rtol=1e-12):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12)
    return True


# ---- the script ----

def cells_of_every_kind(path):
    """Growing, shrinking, diverged, pending; a zero, words and seeds among the axes."""
    axes = {"learning_rate": [1e-1, 1e-2, 1e-3], "weight_decay": [1.0, 1e-2, 0.0], "norm_placement": ["pre", "post"],
            "seed": [0, 1]}
    shape = [len(values) for values in axes.values()]
    growth = np.exp(np.random.default_rng(0).normal(size=shape))
    outcome = np.full(shape, DONE, np.int8)
    outcome[0, 0], outcome[2, 2, 0] = DIVERGED, PENDING
    growth[outcome != DONE] = np.nan
    norms = 1 + (growth[..., np.newaxis] - 1) * np.linspace(0, 1, 5)
    made = dataset(axes, outcome, range(5), norm_growth=growth)
    made["param_norm"] = (*axes, "step"), norms
    made.to_netcdf(path)


def test_script(tmp_path):
    cells_of_every_kind(tmp_path / "made up.nc")
    drawn = run(SCRIPT, tmp_path / "made up.nc", "-o", tmp_path / "a b").stdout.splitlines()
    names = [f"made up-{name}.{ending}" for name in ("phase", "norms", "norms-fits") for ending in ("png", "svg")]
    assert [pathlib.Path(path).name for path in drawn] == names
    for path in drawn[::2]:
        head = pathlib.Path(path).read_bytes()[:24]
        width, height = struct.unpack(">II", head[16:])
        assert head.startswith(b"\x89PNG") and width == 975 and height > 300
    for path in drawn[1::2]:
        picture = pathlib.Path(path).read_text()
        assert "<svg" in picture and "</text>" in picture and "<dc:date>" not in picture


def test_same_figure_is_the_same_file(tmp_path):
    cells_of_every_kind(tmp_path / "a.nc")
    for folder in ("one", "two"):
        run(SCRIPT, tmp_path / "a.nc", "-o", tmp_path / folder, "--only", "phase", "norms")
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["a-norms.png", "a-norms.svg", "a-phase.png", "a-phase.svg"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_script_draws_what_is_asked_for(tmp_path):
    cells_of_every_kind(tmp_path / "a.nc")
    drawn = run(SCRIPT, tmp_path / "a.nc", "-o", tmp_path, "--format", "svg", "--only", "norms").stdout
    assert drawn == f"{tmp_path}/a-norms.svg\n"
    error = run(SCRIPT, tmp_path / "a.nc", "--only", "heads", status=1).stderr
    assert error == "figures: no figure heads; this dataset has phase norms norms-fits\n"
    assert "'gif' is none of png, svg, pdf" in run(SCRIPT, tmp_path / "a.nc", "--format", "gif", status=2).stderr


def test_script_without_a_dataset(tmp_path):
    error = run(SCRIPT, tmp_path / "none.nc", status=1).stderr
    assert error == f"figures: {tmp_path}/none.nc: No such file or directory\n"


def test_script_with_a_foreign_file(tmp_path):
    netCDF4.Dataset(tmp_path / "foreign.nc", "w").close()
    (tmp_path / "text.nc").write_text("no netCDF")
    for name in ("foreign.nc", "text.nc"):
        error = run(SCRIPT, tmp_path / name, status=1).stderr
        assert error == f"figures: {tmp_path}/{name}: no dataset of normsweep\n"


def test_script_where_nothing_can_be_written(tmp_path):
    cells_of_every_kind(tmp_path / "a.nc")
    error = run(SCRIPT, tmp_path / "a.nc", "-o", tmp_path / "a.nc", status=1).stderr
    assert error == f"figures: {tmp_path}/a.nc: File exists\n"


def test_a_figure_that_fails_takes_no_other_down(tmp_path):
    made = dataset({"learning_rate": RATES}, param_norm=(["step"], lambda rate, step: 1 + rate * step), dynamics=1)
    made.dynamics.attrs["flag_meanings"] = "none aligned"  # without their numbers
    made.to_netcdf(tmp_path / "a.nc")
    done = run(SCRIPT, tmp_path / "a.nc", "-o", tmp_path, status=1)
    assert done.stderr == "figures: dynamics: 'flag_values'\n"
    assert "a-norms.png" in done.stdout
    drawn = []
    with pytest.raises(figures.NotDrawn, match="dynamics: 'flag_values'"):
        for found in figures.draw_all(made):
            drawn.append(found.name)
    assert drawn == ["norms", "norms-fits"]
