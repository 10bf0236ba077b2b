"""A file that a server or disk hides for a moment is not overwritten."""

import errno

import pytest

from preloaded import preload
from conftest import tiny

pytestmark = pytest.mark.thorough("starts sweeps beside a server that hides files")

SWEEP = tiny(vocabulary=None, corpus_tokens=2000, width=16, context=16) + """\
steps: 20
seed: [1, 2]
"""
# All calls fail that any release of the netCDF library might make.
HIDDEN = """
static int hides(const char *path)
{
    const char *name = getenv("HIDDEN");
    if (!name || !ends(path, name))
        return 0;
    errno = atoi(getenv("HIDDEN_ERRNO"));
    return 1;
}
#define CALL(name, arguments, path, ...) \\
    int name arguments \\
    { \\
        static int (*next) arguments; \\
        if (hides(path)) \\
            return -1; \\
        if (!next) \\
            next = dlsym(RTLD_NEXT, #name); \\
        return next(__VA_ARGS__); \\
    }
CALL(stat, (const char *restrict path, struct stat *restrict found), path, path, found)
CALL(lstat, (const char *restrict path, struct stat *restrict found), path, path, found)
CALL(fstatat, (int folder, const char *restrict path, struct stat *restrict found, int flags), path, folder, path,
    found, flags)
CALL(access, (const char *path, int mode), path, path, mode)
"""


@pytest.fixture
def sweep(tmp_path, normsweep):
    path = tmp_path / "sweep.yaml"
    path.write_text(SWEEP)
    normsweep("run", path, "-j", "0")
    return path


@pytest.mark.parametrize("hidden, cause", [
    ("sweep.nc", errno.EIO), ("sweep.nc", errno.ESTALE), ("sweep.nc", errno.EACCES), ("sweep.nc.old", errno.EIO)])
def test_a_file_that_cannot_be_seen_is_not_written_over(sweep, tmp_path, normsweep, hidden, cause):
    """The dataset; or a file of somebody else where the old one would go."""
    (tmp_path / "sweep.nc.old").write_text("somebody else's")
    before = {path.name: path.read_bytes() for path in tmp_path.glob("sweep.nc*")}
    environment = preload(tmp_path, HIDDEN) | {"HIDDEN": f"/{hidden}", "HIDDEN_ERRNO": str(int(cause))}
    for arguments in ([], ["--fresh"], ["--set", "seed=[1, 2, 3]"]):
        if hidden == "sweep.nc" or "--fresh" in arguments:
            refused = normsweep("run", sweep, "-j", "0", *arguments, status=3, env=environment)
            assert refused.stderr.startswith(f"{hidden}: ") and refused.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in tmp_path.glob("sweep.nc*")} == before


def test_a_new_dataset_replaces_nothing(tmp_path, normsweep):
    """Even if the check found no file, the rename does not replace one."""
    path = tmp_path / "sweep.yaml"
    path.write_text(SWEEP)
    (tmp_path / "sweep.nc").write_text("somebody else's")
    environment = preload(tmp_path, HIDDEN)
    environment |= {"HIDDEN": "/sweep.nc", "HIDDEN_ERRNO": str(int(errno.ENOENT))}
    refused = normsweep("run", path, "-j", "0", status=3, env=environment)
    assert refused.stderr == "sweep.nc: File exists\n"
    assert (tmp_path / "sweep.nc").read_text() == "somebody else's"
    assert {path.name for path in tmp_path.glob("sweep.nc*")} == {"sweep.nc"}
