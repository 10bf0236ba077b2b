"""A worker whose messages cannot be true is ended; nothing of them gets into the dataset, and others have its runs."""

import signal

import netCDF4
import pytest

import same
from conftest import NORMSWEEP, PROJECT, run_until, tiny, train_sweep
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


# While there is a file `flood`, the coordinator receives its latest message of progress again and again.
FLOOD = """
#include <mpi.h>
#include "worker/wire/wire.h"
static struct message last;
static MPI_Status of_last;
static int again;
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *there, MPI_Status *status)
{
    NEXT(int, MPI_Iprobe, int, int, MPI_Comm, int *, MPI_Status *);
    int code = next(source, tag, comm, there, status);
    again = !*there && last.kind == MESSAGE_PROGRESS && access("flood", F_OK) == 0;
    if (again) {
        *there = 1;
        *status = of_last;
    }
    return code;
}
int MPI_Recv(void *bytes, int most, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    NEXT(int, MPI_Recv, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int code = again ? MPI_SUCCESS : next(bytes, most, type, source, tag, comm, status);
    if (again) {
        memcpy(bytes, &last, sizeof(last));
    } else if (((struct message *)bytes)->kind == MESSAGE_PROGRESS) {
        memcpy(&last, bytes, sizeof(last));
        of_last = *status;
    }
    return code;
}
"""


def test_a_sweep_can_be_stopped_while_messages_never_end(tmp_path, monkeypatch):
    environment = preload(tmp_path, FLOOD, compiler="mpicc", flags=[f"-I{PROJECT}"])
    monkeypatch.setenv("LD_PRELOAD", environment["LD_PRELOAD"])
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("steps: 200", "steps: 1000000"))

    def is_flooded():
        if (tmp_path / "sweep.nc").exists():
            with netCDF4.Dataset(tmp_path / "sweep.nc") as found:
                if (found["outcome"][:] == same.RUNNING).any():
                    (tmp_path / "flood").touch()
        return (tmp_path / "flood").exists()

    done = run_until(is_flooded, signal.SIGTERM, NORMSWEEP, "run", "sweep.yaml", "-j", "2", cwd=tmp_path, timeout=600)
    assert done.returncode == 75, done.stdout


# Each rank says that it runs elsewhere: on a machine of its own, or all on one.
ELSEWHERE = """
#include <mpi.h>
#include "worker/wire/wire.h"
#define RANK atoi(getenv("OMPI_COMM_WORLD_RANK"))
int MPI_Isend(const void *bytes, int size, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{{
    NEXT(int, MPI_Isend, const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    struct message *message = (struct message *)bytes;
    if (message->kind == MESSAGE_HELLO) {{
        snprintf(message->as.hello.process.place, PROCESS_PLACE, "elsewhere/%d", {place});
        usleep(RANK == 1 ? 500000 : 0);
    }}
    {lie}
    return next(bytes, size, type, to, tag, comm, request);
}}
int MPI_Recv(void *bytes, int most, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{{
    NEXT(int, MPI_Recv, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int code = next(bytes, most, type, source, tag, comm, status);
    if (RANK == 1 && ((struct message *)bytes)->kind == MESSAGE_QUIT)
        close(open("told", O_CREAT | O_WRONLY, 0666));
    return code;
}}
"""


def elsewhere(folder, place, lie=""):
    return preload(folder, ELSEWHERE.format(place=place, lie=lie), compiler="mpicc", flags=[f"-I{PROJECT}"])


def test_workers_train_also_if_a_spare_is_the_first_of_more_machines_than_workers(tmp_path, normsweep, sweep):
    done = normsweep("run", sweep, "-j", "1", "--spares", "1", env=elsewhere(tmp_path, "RANK"))
    assert "4 runs: 4 done" in done.stdout


# Rank 2 says once that rank 1 is dead.
SLANDER = """
    if (RANK == 2 && message->kind == MESSAGE_PROGRESS && open("lied", O_CREAT | O_EXCL | O_WRONLY, 0666) >= 0) {
        message->kind = MESSAGE_LOSS;
        message->as.lost.address = 1;
        size = offsetof(struct message, as) + sizeof(message->as.lost);
    }
"""


def test_a_worker_that_another_calls_dead_is_told_to_quit(tmp_path, normsweep, sweep, truth):
    done = normsweep("run", sweep, "-j", "2", "--spares", "0", env=elsewhere(tmp_path, "0", SLANDER))
    assert "worker 1 on elsewhere was lost; 1 of 2 is left" in done.stderr
    assert (tmp_path / "told").exists()
    assert same.differences(same.read(tmp_path / "sweep.nc"), truth) == []
