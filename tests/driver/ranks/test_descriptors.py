"""Too few file descriptors for Open MPI: reported before mpirun starts, which would wait for missing ranks forever."""
import resource

import pytest

from conftest import tiny

pytestmark = pytest.mark.thorough("starts sweeps with few descriptors")

SWEEP = tiny(width=16, feedforward=24) + """\
steps: 3
seed: {range: [1, 8]}
"""


@pytest.fixture
def limited(tmp_path, normsweep):
    """limited(SOFT, HARD, ARGUMENT...) runs the sweep with these limits of file descriptors."""
    (tmp_path / "sweep.yaml").write_text(SWEEP)

    def call(soft, hard, *arguments, **options):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return normsweep("run", "sweep.yaml", *arguments, preexec_fn=limit, timeout=600, **options)
    return call


@pytest.mark.parametrize("jobs, needed", [(1, 50), (2, 55), (4, 65)])
def test_too_few_are_told_at_once(limited, tmp_path, jobs, needed):
    done = limited(32, needed - 1, "-j", jobs, status=3)
    workers = f"{jobs} worker{'s' * (jobs > 1)} and 1 spare"
    assert done.stderr == (f"mpirun needs {needed} file descriptors for {workers}, and the hard limit (ulimit -Hn) "
                           f"is {needed - 1}; have it raised to 1024, take fewer workers (-j), or train without MPI "
                           "(-j 0)\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sweep.yaml"]


@pytest.mark.parametrize("jobs, needed", [(1, 50), (4, 65)])
def test_as_many_as_are_said_are_enough(limited, jobs, needed):
    """First with a soft limit that is raised, then with one that is just high enough."""
    done = limited(24, needed, "-j", jobs)
    assert "8 runs: 8 done" in done.stdout and done.stderr == ""
    assert "8 runs: 8 done" in limited(needed, needed, "-j", jobs, "--fresh").stdout


def test_workers_that_have_no_run_need_none(limited):
    done = limited(64, 64, "-j", 1000, "--set", "seed=[1, 2]")
    assert "2 runs: 2 done" in done.stdout


def test_one_process_needs_no_more_than_its_files(limited):
    assert "8 runs: 8 done" in limited(24, 24, "-j", 0).stdout


def test_a_finished_sweep_needs_none(limited):
    limited(24, 24, "-j", 0)
    assert "8 runs: 8 done" in limited(24, 24, "-j", 2).stdout
