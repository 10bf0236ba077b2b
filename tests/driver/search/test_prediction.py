"""The search and the analysis predict the same boundary from the norms of the same runs."""

import ctypes

import numpy as np
import pytest
from conftest import PROJECT, run, tiny, train_sweep
from drawn import near

import normsweep

SWEEP = tiny(feedforward=8) + """\
steps: 60
schedule: linear
learning_rate: [0.003, 0.03, 0.3]
weight_decay: {log: [0.01, 10], points: 7, plus: [0]}
seed: [1, 2]
measure: {every: 5}
"""


class Course(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int64), ("early", ctypes.c_bool), ("decay", ctypes.c_double),
                ("square", ctypes.c_void_p), ("time", ctypes.c_void_p)]

    def __init__(self, one):
        self.arrays = np.array(one.param_norm.values ** 2, float), np.array(one.rate_sum.values, float)
        addresses = [array.ctypes.data for array in self.arrays]
        super().__init__(self.arrays[0].size, False, float(one.weight_decay), *addresses)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    return normsweep.open_sweep(train_sweep(tmp_path_factory.mktemp("predicted"), SWEEP))


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    """prediction_boundary of the search, of the runs of a column at one or two weight decays."""
    path = tmp_path_factory.mktemp("library") / "prediction.so"
    run("cc", "-O2", "-shared", "-fPIC", "-I", PROJECT, PROJECT / "driver/search/prediction.c", "-o", path, "-lm")
    function = ctypes.CDLL(str(path)).prediction_boundary
    function.restype = ctypes.c_double

    def boundary(column, decays):
        courses = [Course(column.sel(weight_decay=decay)) for decay in decays]
        return function(*[ctypes.byref(courses[i]) if i < len(courses) else None for i in range(2)], ctypes.c_double(1))
    return boundary


@pytest.mark.parametrize("places", [(1,), (4,), (1, 5), (0, 5), (3, 6), (1, 7), (0, 7), (7, 2)])
def test_the_search_and_the_analysis_predict_the_same(sweep, search, places):
    decays = [float(sweep.weight_decay[place]) for place in places]
    found = sweep.sweep.predicted_boundary(decays=decays)
    seen = []
    for rate in sweep.learning_rate:
        for seed in sweep.seed:
            column = sweep.sel(learning_rate=rate, seed=seed)
            one = found.sel(learning_rate=rate, seed=seed)
            expected, reason = one.each.item(), one.each_reason.item()
            got = search(column, decays)
            assert near(got, expected, rtol=1e-9) if reason == "predicted" else np.isnan(got)
            seen.append(reason)
    assert set(seen) <= {"predicted", "shrinking", "unstable"} and "predicted" in seen
    assert ("unstable" in seen) == (7 in places)  # where the larger decay is far above the boundary
