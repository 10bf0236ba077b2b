"""normsweep plan: sizes are exact, and times are printed; the values of times are not tested."""

import re

import pytest
from waited import on_terminal

pytestmark = pytest.mark.thorough("measures steps of whole sweeps")

SWEEP = """
corpus: markov
vocabulary: 33
corpus_tokens: 4000
width: [16, 32]
heads: 2
feedforward: 24
context: 8
batch: 4
steps: 30
measure: {every: 10}
learning_rate: [1e-3, 1e-2]
norm_placement: pre
skip: [{width: 32, learning_rate: 1e-2}]
"""


def parameters(width, vocabulary=33, context=8, feedforward=24, layers=2):
    layer = 4 * width * width + 2 * width * feedforward + 5 * width + feedforward + 4 * width
    return (vocabulary + context) * width + layers * layer + 2 * width + (width + 1) * vocabulary


@pytest.fixture
def sweep(tmp_path):
    (tmp_path / "small.yaml").write_text(SWEEP)
    return tmp_path / "small.yaml"


def plan(normsweep, sweep, *options):
    lines = normsweep("plan", sweep, *options).stdout.splitlines()
    return {line[:12].strip(): line[12:] for line in lines}


def test_sizes_are_exact_and_times_measured(tmp_path, normsweep, sweep):
    said = plan(normsweep, sweep, "-o", tmp_path / "small.nc", "-j", "0")
    assert said["axes"] == "width 2 x learning_rate 2"
    assert said["runs"] == "3, 1 cells skipped"
    assert said["parameters"] == f"{parameters(16)} to {parameters(32)}"
    assert said["steps"] == "30 per run"
    assert said["corpus"].startswith("33 words; 4000 training tokens")
    size, unit = re.match(r"([\d.]+) (B|KiB|MiB)", said["dataset"]).groups()
    normsweep("run", sweep, "-j", "0", "-o", tmp_path / "small.nc")
    real = (tmp_path / "small.nc").stat().st_size / {"B": 1, "KiB": 1024, "MiB": 1024 ** 2}[unit]
    assert abs(float(size) / real - 1) < 1e-3
    assert re.match(r"[\d.]+ to [\d.]+ ms, 2 of 2 kinds of run measured, 1 at once", said["step"])
    parts = [float(part) for part in re.findall(r"([\d.]+) %", said["parts"])]
    assert abs(sum(parts) - 100) < 0.3 and len(parts) == 4 and parts[1] > 0
    span = r"(?:([\d.e-]+) to )?([\d.e-]+) s"
    least, most, least_core, most_core = re.match(f"{span} on 1 worker, {span} of one core$", said["time"]).groups()
    assert least == (least_core or most_core)  # the start of the workers is in the most
    assert 0 < float(least) <= float(most_core) <= float(most) and float(most) >= 1


def test_larger_machines_are_not_acted_out(normsweep, sweep):
    said = plan(normsweep, sweep, "-j", "500")
    assert "on 500 workers" in said["time"] and "assumes a processor for each worker" in said["time"]


def test_nothing_to_run_is_refused(normsweep, sweep):
    done = normsweep("plan", sweep, "--set", "skip=[{width: [16, 32]}]", status=2)
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1


def test_a_run_that_does_not_fit_is_said(normsweep, sweep):
    done = normsweep("plan", sweep, "--set", "width=2000000", "--set", "skip=", status=3)
    assert done.stdout == "" and done.stderr.startswith("plan: a trial run failed: no memory: the run needs ")


def test_weights_are_counted(normsweep, sweep):
    said = plan(normsweep, sweep, "--set", "save_weights=true", "--set", "width=16", "--set", "skip=")
    assert said["weights"] == f"up to {4 * 2 * parameters(16) / 1024:.4g} KiB in small.nc.d"


def test_a_folder_that_cannot_be_written_is_said(tmp_path, normsweep, sweep):
    """And is no fault of a plan, which may be made on another machine than the sweep."""
    for folder, cause in [("none", "No such file or directory"), ("small.yaml", "Not a directory")]:
        said = plan(normsweep, sweep, "-o", f"{folder}/a.nc")
        assert said["dataset"].endswith(f" KiB, {folder}/a.nc; the folder {folder} cannot be written here: {cause}")
    (tmp_path / "link.nc").symlink_to(tmp_path / "there.nc")
    for output in ["a.nc", "link.nc"]:
        assert plan(normsweep, sweep, "-o", output)["dataset"].endswith(f" KiB, {output}")


def test_values_for_scripts(normsweep, sweep):
    done = normsweep("plan", sweep, "--values", "-j", "2", "-o", "a=b.nc")
    assert done.stderr == ""  # which is not a terminal
    said = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert list(said) == ["cells", "runs", "workers", "seconds", "core_seconds", "longest_seconds",
                          "least_seconds", "most_seconds", "busy", "checkpoint_seconds", "memory_bytes",
                          "coordinator_bytes", "output"]
    assert (said["runs"], said["workers"], said["checkpoint_seconds"]) == ("3", "2", "300.000")
    assert said["output"] == "a=b.nc" and int(said["memory_bytes"]) > 0
    assert int(said["coordinator_bytes"]) == 42 * int(said["cells"])  # 24 + 8 + 9 + 1
    whole, every, longest = (float(said[key]) for key in ["seconds", "core_seconds", "longest_seconds"])
    assert float(said["least_seconds"]) <= whole <= float(said["most_seconds"]) and 0 <= float(said["busy"]) < 1
    assert longest <= whole + 1e-3 and whole <= every + 1e-3 and every <= 3 * longest + 1e-2


def test_who_waits_at_a_terminal_is_told(tmp_path, sweep):
    """A line on stderr that is replaced and erased; nothing if stderr is not a terminal."""
    status, answer, written = on_terminal("stderr", "plan", sweep, "--set", "skip=", "--set", "width=16", cwd=tmp_path)
    assert status == 0 and answer.startswith(b"axes ") and b"\x1b" not in answer
    assert b"plan: timing kind of run 1 of 1" in written and written.endswith(b"\r\x1b[1A\x1b[J")


def test_what_has_ended_is_not_planned_again(tmp_path, normsweep, sweep):
    sweep.write_text(SWEEP.replace("width: [16, 32]", "width: 16").split("skip")[0])
    normsweep("run", sweep, "-j", "0")
    before = (tmp_path / "small.nc").read_bytes()
    assert normsweep("plan", sweep).stdout.splitlines() == ["axes        learning_rate 2",
                                                            "runs        2; 2 of 2 have ended; 0 to train"]
    said = plan(normsweep, sweep, "--set", "learning_rate=[1e-3, 1e-2, 1e-1]", "--set", "steps=[30, 60]")
    assert said["runs"] == "6; 2 of 6 have ended; 4 to train" and "2 of 2 kinds of run measured" in said["step"]
    assert "runs=2" in normsweep("plan", sweep, "--values").stdout.splitlines()
    assert (tmp_path / "small.nc").read_bytes() == before


def test_a_dataset_that_run_would_refuse_is_said_in_its_words(tmp_path, normsweep, sweep):
    normsweep("run", sweep, "-j", "0", "--set", "width=16", "--set", "skip=", "--set", "steps=[10, 20]")
    for options, hint in [((), ", or repeat the --set options of the earlier run\n"),
                          (("--set", "batch=2"), ", or repeat the --set options of the earlier run\n")]:
        refusal = normsweep("run", sweep, "-j", "0", *options, status=2).stderr
        assert "steps is an axis in small.nc but not in " in refusal and refusal.endswith(hint)
        planned = normsweep("plan", sweep, *options)
        assert planned.stderr == refusal and "have ended" not in planned.stdout and "time " in planned.stdout
    (tmp_path / "small.nc").unlink()
    normsweep("run", sweep, "-j", "0")
    refusal = normsweep("run", sweep, "-j", "0", "--set", "batch=2", status=2).stderr
    assert refusal.endswith("; use --fresh or another -o\n")
    (tmp_path / "small.nc").write_text("text")
    assert normsweep("plan", sweep).stderr == normsweep("run", sweep, "-j", "0", status=2).stderr
