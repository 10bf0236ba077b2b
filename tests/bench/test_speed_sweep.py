"""The benchmark of sweeps of very small runs: that it counts and prints, never what."""

import math

import pytest
from conftest import BUILD, PROJECT, run

pytestmark = pytest.mark.thorough("runs the benchmarks")


def test_table():
    done = run(PROJECT / "tests/speed_sweep", "--build", BUILD, "--workers", 0, "--workers", 1, "--runs", 250,
               "--rows", 5)
    header, *rows = done.stdout.splitlines()
    assert header.split()[:2] == ["workers", "runs"] and len(rows) == 2
    for workers, row in enumerate(rows):
        fields = row.split()
        assert len(fields) == 9 and int(fields[0]) == workers and 0 < int(fields[1]) <= 250
        numbers = [float(field) for field in fields[2:7 if workers == 0 else 9]]
        assert all(map(math.isfinite, numbers)) and min(numbers[:3]) > 0
    assert rows[0].split()[7:] == ["-", "-"] and float(rows[1].split()[7]) > 0


def test_too_few_runs_are_told():
    done = run(PROJECT / "tests/speed_sweep", "--build", BUILD, "--workers", 0, "--runs", 2, "--steps", 2, status=1)
    assert "more --runs" in done.stderr
