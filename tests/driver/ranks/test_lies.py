"""A worker whose messages cannot be true is ended; nothing of them gets into the dataset, and others have its runs."""

import netCDF4
import pytest

import same
from conftest import PROJECT, tiny, train_sweep
from preloaded import preload

pytestmark = pytest.mark.thorough("starts sweeps whose workers lie")

SWEEP = tiny(width=16, context=16) + """\
steps: 200
seed: [1, 2, 3, 4]
measure: {every: 20}
"""

# Alters one message of one worker. Numbers of 8 bytes: kind, ticket, step, offset and count of a row; kind, ticket and
# outcome of a result.
LIE = """
#include "worker/wire/wire.h"
int MPI_Isend(const void *bytes, int size, void *type, int to, int tag, void *comm, void *request)
{{
    NEXT(int, MPI_Isend, const void *, int, void *, int, int, void *, void *);
    long long *number = (long long *)bytes;
    if ({when} && open("lied", O_CREAT | O_EXCL | O_WRONLY, 0666) >= 0)
        {what};
    return next(bytes, size, type, to, tag, comm, request);
}}
"""

LIES = {
    "offset": ("number[0] == MESSAGE_ROW", "number[3] = 1000000", "a row that its run does not have"),
    "negative offset": ("number[0] == MESSAGE_ROW", "number[3] = -1", "a row that its run does not have"),
    "step": ("number[0] == MESSAGE_ROW", "number[2] = 7", "a row that its run does not have"),
    "count": ("number[0] == MESSAGE_ROW", "number[4] += 1LL << 61", "a message that no worker sends"),
    "size": ("number[0] == MESSAGE_ROW", "size -= 8", "a message that no worker sends"),
    "kind": ("number[0] == MESSAGE_ROW", "number[0] = 99", "a message that no worker sends"),
    "outcome": ("number[0] == MESSAGE_RESULT", "number[2] = 57", "a result that its run cannot have"),
}


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    return same.read(train_sweep(tmp_path_factory.mktemp("truth"), SWEEP))


@pytest.mark.parametrize("when, what, named", LIES.values(), ids=LIES)
def test_a_lie_ends_its_worker(tmp_path, normsweep, sweep, truth, when, what, named):
    lie = preload(tmp_path, LIE.format(when=when, what=what), flags=[f"-I{PROJECT}"])
    done = normsweep("run", sweep, "-j", "2", env=lie)
    assert (tmp_path / "lied").exists()
    assert done.stderr.count(f"sent {named}; it gets no more runs") == 1, done.stderr
    assert "4 runs: 4 done" in done.stdout
    assert same.differences(same.read(tmp_path / "sweep.nc"), truth) == []
    with netCDF4.Dataset(tmp_path / "sweep.nc") as found:
        assert sorted(found["attempts"][:]) == [1, 1, 1, 2]
