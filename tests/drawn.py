"""Made-up datasets for tests of figures, and what is drawn in a figure."""

import numpy as np
import xarray as xr
from conftest import FORMAT
from made_up import DYNAMICS, OUTCOME, SETTINGS
from matplotlib.collections import QuadMesh
from matplotlib.text import Text
from normsweep import figures

PENDING, RUNNING, DONE, DIVERGED, FAILED, SKIPPED = range(6)
RATES = [1e-1, 1e-2, 1e-3, 1e-4]
DECAYS = [10.0, 1.0, 1e-1, 1e-2, 1e-3, 0.0]


def dataset(axes, outcome=None, step=(0, 1, 2, 4), other=None, **variables):
    """A made-up dataset of this grid. variables: NAME=(extra dimensions, function of the axes' values and theirs), or
    NAME=values over the axes; other: coordinates of extra dimensions."""
    axes = {name: np.asarray(values) for name, values in axes.items()}
    shape = tuple(map(len, axes.values()))
    coordinates = {**axes, "step": list(step), **(other or {})}
    made = xr.Dataset(coords=coordinates,
                      attrs={"source": "normsweep", "format_version": FORMAT, "sweep_title": "Made up"})
    made.attrs |= {name: value for name, value in SETTINGS.items() if name not in axes}
    made["outcome"] = tuple(axes), np.full(shape, DONE, np.int8) if outcome is None else outcome, OUTCOME
    made["rate_sum"] = made.step * made.get("learning_rate", 1.0)
    for name, what in variables.items():
        if isinstance(what, tuple):
            dims = (*axes, *what[0])
            made[name] = dims, np.broadcast_to(what[1](*np.meshgrid(
                *(coordinates[dim] for dim in dims), indexing="ij")), [len(coordinates[dim]) for dim in dims])
        else:
            made[name] = tuple(axes), np.broadcast_to(what, shape)
    if "norm_growth" in made:
        made.norm_growth.attrs["nature"] = "ratio"
    if "dynamics" in made:
        made.dynamics.attrs = DYNAMICS
    return made


def drawing(made, name):
    found = list(figures.draw_all(made, [name]))
    assert len(found) <= 1
    return found[0] if found else None


def panels(found):
    """The panels without bars of colours."""
    return [axes for axes in found.figure.axes if axes.get_label() != "<colorbar>" and axes.get_visible()]


def mesh(axes):
    """The values of the cells of a panel, row by row."""
    return next(artist for artist in axes.collections if isinstance(artist, QuadMesh)).get_array().ravel()


def words(found):
    found.figure.draw_without_rendering()
    texts = [text.get_text() for text in found.figure.findobj(Text)]
    return "\n".join([*texts, found.caption])


def legend(found):
    return [text.get_text() for shown in found.figure.legends for text in shown.get_texts()]


def keys(found):
    """{title of a legend: its words}."""
    return {shown.get_title().get_text(): [text.get_text() for text in shown.get_texts()]
            for shown in found.figure.legends}


def near(found, expected, rtol=1e-12):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12)
    return True
