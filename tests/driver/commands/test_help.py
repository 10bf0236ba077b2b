"""The help command, usage errors, and the files that .ci/tables writes from the program's tables."""

import os
import pathlib
import re
import shutil
import subprocess

import missing
import netCDF4
import pytest
from conftest import names_in, run, tables

pytestmark = pytest.mark.thorough("starts the program for every page of help")

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("NORMSWEEP_BUILD", ROOT / "build")).resolve() / "normsweep"


def normsweep(*arguments, **options):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=600, **options)


def test_files_that_are_behind_are_written(tmp_path):
    """In a copy, each file that is behind is named, and written so that it is not."""
    assert normsweep("help", "--schema").stdout == (ROOT / "docs" / "sweep.schema.json").read_text()
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    (tmp_path / "analysis").symlink_to(ROOT / "analysis")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "tables", tmp_path / ".ci")
    environment = {**os.environ, "NORMSWEEP_BUILD": str(PROGRAM.parent)}
    paths = [tmp_path / "docs" / name for name in (
        "reference.md", "sweep.schema.json", "normsweep.1", "completion/normsweep.bash", "completion/_normsweep")]
    for path in paths:
        path.write_text(re.sub("learning_rate|Fl -fresh", "other", path.read_text()))
    said = run(tmp_path / ".ci" / "tables", "--check", env=environment, status=1).stderr
    assert all(f"{path}: behind" in said for path in paths)
    run(tmp_path / ".ci" / "tables", env=environment)
    run(tmp_path / ".ci" / "tables", "--check", env=environment)


TABLES = {"Exit statuses": 3, "Parameters": 5, "Keys about the sweep itself": 4, "Dimensions of a dataset": 2,
          "Groups of metrics": 3, "Natures of variables": 2, "Metrics": 6, "Other variables of each run": 3,
          "Sessions": 2, "Global attributes": 2, "Figures": 2}  # and their columns


def sections(level):
    page = (ROOT / "docs" / "reference.md").read_text()
    return dict(re.findall(rf"^{level} (.*)\n((?:(?!#).*\n)+)", page, re.M))


def test_tables_of_the_reference_are_tables():
    found = sections("##")
    for title, columns in TABLES.items():
        lines = [line for line in found[title].splitlines() if line.startswith("|")]
        assert len(lines) > 6 and {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {columns + 1}


def test_reference_has_every_option_of_every_command():
    found = sections("###")
    overview = normsweep("help").stdout
    assert list(found) == names_in("commands")
    for name, section in found.items():
        done = normsweep(name, "--help")
        said = done.stdout
        assert done.returncode == 0 and done.stderr == "" and normsweep("help", name).stdout == said
        assert f"{said.splitlines()[0]}\n" in overview
        options = re.findall(r"^\s+((?:-\w, )?--[^ ]+(?: [A-Z]\S*)?)  +(.*)$", said, re.M)
        assert options and re.findall(r"^\| `(-.*)` \| (.*) \|$", section, re.M) == options
        assert f"```\n{said.splitlines()[0]}\n```" in section


OF_TWO_STACKS = {"stack", "stack_norm", "stack_direction_cosine"}  # only an encoder_decoder has these


def test_tables_have_every_attribute_and_variable_of_a_dataset(tmp_path):
    groups = ("[norms, alignment, saturation, heads, attention, homogeneity, gradients, hessian, hessian_layers, "
              "residual, lyapunov, equilibrium, forces, sharpness, spectra, spectra_values]}"
              "\nhessian: {probes: 1, steps: 2}")
    (tmp_path / "a.yaml").write_text(f"corpus: markov\nmeasure: {{metrics: {groups}\nwidth: 8\n"
                                     "learning_rate: [1e-3, 1e-2]\nweight_decay: [0, 0.1]\nsteps: [1, 2]\n"
                                     "title: a title\nnotes: a note\nrefine: {axis: weight_decay}\n")
    assert normsweep("run", "a.yaml", "-j", "0", cwd=tmp_path).returncode == 0
    axes = {"learning_rate", "weight_decay", "steps"}
    with netCDF4.Dataset(tmp_path / "a.nc") as dataset:
        of_a_part = {"part"}
        assert set(dataset.ncattrs()) == {*names_in("attributes", "parameters")} - axes - of_a_part
        assert dataset.refine == "{axis: weight_decay, variable: norm_growth, at: 1}"
        assert set(dataset.variables) == axes | {*names_in(
            "dimensions", "metrics", "run_variables", "session_variables")} - OF_TWO_STACKS
        for row in tables()["metrics"]:
            if row["name"] not in OF_TWO_STACKS:
                variable = dataset[row["name"]]
                assert (variable.long_name, variable.units) == (row["long_name"], row["unit"])
                assert variable.dimensions[3:] == tuple(name for name in row["dimensions"] if name != "stack")
        for name in names_in("run_variables"):
            meanings = getattr(dataset[name], "flag_meanings", "").split()
            said = normsweep("help", name).stdout
            assert ", ".join(f"{value} {word}" for value, word in enumerate(meanings)) in said


def test_help_names_every_key():
    names = names_in("parameters", "keys")
    assert {"learning_rate", "weight_decay", "norm_placement", "together", "measure", "title"} <= set(names)
    page = normsweep("help", "params").stdout
    for name in names:
        assert f"\n{name}: " in "\n" + page
        done = normsweep("help", name)
        assert done.returncode == 0 and done.stdout.startswith(f"{name}: ")


def test_help_explains_every_metric():
    for row in tables()["metrics"]:
        name, group = row["name"], row["group"]
        said = re.search(rf"^{name}(?:\([a-z, \[\]]+\))?: (?!a group)(.+)\n((?:    .*\n)+)",
                         normsweep("help", name).stdout, re.M)
        *meaning, measured = said[2].splitlines()
        assert said[1] == row["long_name"] + (f", in {row['unit']}" if row["unit"] != "1" else "")
        assert " ".join(line.strip() for line in meaning) == row["help"]
        assert measured == "    measured " + {
            "always": "in every sweep",
            "norms": "with measure: {metrics: [norms]}, on by default",
            "alignment": "with measure: {metrics: [alignment]}, on by default",
        }.get(group, f"with measure: {{metrics: [{group}]}}")


def test_help_metrics_begins_with_the_groups():
    rows = [(row["name"], row["group"]) for row in tables()["metrics"]]
    page = normsweep("help", "metrics").stdout
    groups = names_in("groups")
    lists = re.findall(r"^(\w+): a group of metrics, measured [a-z ]+\n((?:    .*\n)+)", page, re.M)
    assert page.startswith("always: a group of metrics, measured in every sweep\n")
    assert [group for group, _ in lists] == groups
    for group, names in lists:
        members = [name for name, member_of in rows if member_of == group]
        assert [name.strip() for name in names.replace("\n", " ").split(",")] == members
        topic = normsweep("help", group).stdout
        assert f"{group}: a group of metrics, measured " in topic and names in topic
        explained = set(re.findall(r"^(\w+)[(:].*\n(?:    (?!measured ).*\n)+    measured ", topic, re.M))
        assert explained == ({group} if group in members else set(members))
    assert normsweep("help", "heads").stdout.startswith("heads: integer >= 1")


EXPLAINED = {
    "outcome": "outcome: state of the run: 0 pending, 1 running, 2 done, 3 diverged, 4 failed, 5 skipped; "
               "of every run\n",
    "phase": "phase: phase of the parameter norm: 0 none, 1 growing, 2 shrinking, 3 diverged; of every run\n",
    "dynamics": "dynamics: class of the growth of the parameter norm: 0 none, 1 aligned, 2 misaligned, 3 relative, "
                "4 adam_like; of every run\n    the fit with the lowest AIC",
    "seconds": "seconds: duration of the run, in s; of every run\n    including measuring",
    "reason": "reason: why the run failed or was not needed, a text; of every run\n    empty",
    "attempts": "attempts: times the run was started, a number; of every run\n",
    "session_blas": "session_blas: BLAS library, a text; of every session, a start of the program\n",
    "format_version": "format_version: a global attribute\n    version of",
    "scale": "scale: scale of the parameters, a dimension of metrics\n    factor",
    "attended": "attended: most positions attended, a dimension of metrics\n    of a bin",
    "tensor": "tensor: kind of tensor, a dimension of metrics\n",
}


@pytest.mark.parametrize("topic", EXPLAINED)
def test_help_explains_what_is_no_metric(topic):
    done = normsweep("help", topic)
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith(EXPLAINED[topic])
    alone = done.stdout.split(f"{topic} is a value of ")[0]  # phase is one, too
    assert "\n" + alone in normsweep("help", "metrics").stdout
    done = normsweep("help", topic[:3] + topic[4:])
    assert done.returncode == 2 and done.stderr.endswith(f"; did you mean '{topic}'?\n")


def test_help_explains_the_values_of_keys():
    """A word is followed by the help of every key that takes it, and by nothing else."""
    keys = {}
    for row in tables()["parameters"]:
        for word in ["true", "false"] if row["kind"] == "boolean" else row.get("words", []):
            keys.setdefault(word, []).append(row["name"])
    assert {"bias", "save_weights"} <= set(keys["true"]) and keys["phase"] == ["stop_when"]
    assert keys["wsd"] == ["schedule"] and len(keys) > 40
    assert keys["none"] == ["norm", "positions", "score_scale", "initial_weights"]
    for word, names in keys.items():
        done = normsweep("help", word)
        said = re.findall(rf"^{word} is a value of (\w+)\n(\1: .*\n(?:    .*\n)+)", done.stdout, re.M)
        assert done.returncode == 0 and [name for name, _ in said] == names
        assert all(normsweep("help", name).stdout.startswith(text) for name, text in said)


VERSION = r"normsweep \d+\.\d+\.\d+( [0-9a-f]{12}\+?)?\n"


def test_version_of_a_command_is_one_line():
    done = normsweep("check", "--version")
    assert done.returncode == 0 and re.fullmatch(VERSION, done.stdout)


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_version_names_the_libraries(word):
    done = normsweep(word, env={})  # without the variables that let root start MPI: MPI is not started
    assert done.returncode == 0 and done.stderr == ""
    first, rest = done.stdout.split("\n", 1)
    assert re.fullmatch(VERSION, first + "\n")
    rows = re.findall(r"^(\w+|  ) +(.*)$", rest, re.M)
    assert [name.strip() for name, _ in rows if name.strip()] == [
        "compiler", "vectors", "MPI", "BLAS", "netCDF", "libyaml"]
    said = dict(rows)
    assert re.search(r"\d+\.\d+", said["compiler"])
    assert re.match(r"(baseline|avx\w+) in use, of baseline", said["vectors"])
    assert re.search(r"\d+\.\d+", said["MPI"])
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?\S*", said["netCDF"]) and re.fullmatch(r"\d+\.\d+\.\d+", said["libyaml"])
    assert re.match(r"OpenBLAS \d+\.\d+|not OpenBLAS, ", said["BLAS"])


def test_version_says_which_vectors_are_used():
    done = normsweep("--version", env={"NORMSWEEP_VECTOR": "baseline"})
    assert "\nvectors   baseline in use, of baseline" in done.stdout


USAGE = {
    (): "normsweep: no command; see normsweep help",
    ("chek", "a.yaml"): "normsweep: unknown command 'chek'; did you mean 'check'?",
    ("launch",): "normsweep: unknown command 'launch'; see normsweep help",
    ("check",): "normsweep check: an argument is missing; see normsweep check --help",
    ("check", "a.yaml", "b.yaml"): "normsweep check: unexpected argument 'b.yaml'; give one at a time",
    ("check", "--fresh", "a.yaml"): "normsweep check: unknown option '--fresh'; see normsweep check --help",
    ("run", "--frsh", "a.yaml"): "normsweep run: unknown option '--frsh'; did you mean '--fresh'?",
    ("run", "-x", "a.yaml"): "normsweep run: unknown option '-x'; see normsweep run --help",
    ("run", "a.yaml", "-o"): "normsweep run: a value is missing after '-o'",
    ("run", "a.yaml", "--output="): "normsweep run: a value is missing after '--output'",
    ("run", "--part", "1/3", "a.yaml", "--part=2/3"): "normsweep run: given twice: '--part'",
    ("plan", "a.yaml", "-j2", "-j3"): "normsweep plan: given twice: '-j'",
    ("run", "a.yaml", "--set"): "normsweep run: a value is missing after '--set'",
    ("run", "a.yaml", "--fresh=yes"): "normsweep run: unexpected value for '--fresh'",
    ("check", "none.yaml"): "none.yaml: No such file or directory",
    ("check", "."): ".: Is a directory",
    ("help", "learning_rte"): "normsweep help: unknown name 'learning_rte'; did you mean 'learning_rate'?",
    ("help", "homogenity"): "normsweep help: unknown name 'homogenity'; did you mean 'homogeneity'?",
    ("help", "alway"): "normsweep help: unknown name 'alway'; did you mean 'always'?",
    ("help", "lr"): "normsweep help: unknown name 'lr'; did you mean 'learning_rate'?",
    ("help", "grad_clip"): "normsweep help: unknown name 'grad_clip'; did you mean 'gradient_clip'?",
    ("help", "final_loss"): "normsweep help: unknown name 'final_loss'; did you mean 'final_train_loss'?",
    ("help", "colour"): "normsweep help: unknown name 'colour'; see normsweep help params and normsweep help metrics",
    ("help", "a\nb"): "normsweep help: unknown name 'a\\nb'; see normsweep help params and normsweep help metrics",
}


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_usage(arguments, tmp_path):
    done = normsweep(*arguments, cwd=tmp_path)
    assert done.stderr == USAGE[arguments] + "\n"
    assert done.stdout == ""
    assert done.returncode == 2


def test_check_accepts(tmp_path):
    axes = "seed: [1, 2]\nbias: [true, false]\nskip: [{seed: 1, bias: true}]\n"
    (tmp_path / "sweep.yaml").write_text("corpus: markov\nsteps: 3\n" + axes)
    done = normsweep("check", "sweep.yaml", "--set", "layers=[1, 2, 3]", cwd=tmp_path)
    assert done.stdout == "sweep.yaml: valid: 2 seed x 2 bias x 3 layers, 12 cells, 3 skipped\n"
    assert done.returncode == 0 and done.stderr == ""
    assert normsweep("check", "sweep.yaml", "--values", cwd=tmp_path).stdout == "cells=4\nruns=3\noutput=sweep.nc\n"
    done = normsweep("check", "sweep.yaml", "-o", "a b.nc", "--values", cwd=tmp_path)
    assert done.stdout == "cells=4\nruns=3\noutput=a b.nc\n"


def test_check_says_how_many_words_are_unknown(tmp_path):
    (tmp_path / "t").write_text("a b\n" * 1000 + "c\n")
    (tmp_path / "v").write_text("a b c d\n" * 50)
    (tmp_path / "sweep.yaml").write_text("train_text: t\nvalid_text: v\nsteps: 3\ncontext: 8\n")
    done = normsweep("check", "sweep.yaml", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == ("sweep.yaml:2:13: valid_text: v:1: 'd' is not in the training text, which has no <unk>; "
                           "set min_count: 2 to make rare words <unk>\n")
    for count, share in [(2, "40"), (1001, "")]:
        done = normsweep("check", "sweep.yaml", "--set", f"min_count={count}", cwd=tmp_path)
        assert done.stdout == (f"sweep.yaml: valid: 1 cell; {share} % of the validation tokens are <unk>\n"
                               if share else "")
    assert done.stderr == ("--set min_count: 1001 leaves no word but <unk>; the training text has no other more "
                           "than 1000 times\n")
    planned = normsweep("plan", "sweep.yaml", "--set", "min_count=2", cwd=tmp_path)
    assert ("\ncorpus      4 words; 3002 training tokens, 250 for validation; 40 % of the validation tokens are <unk>\n"
            in planned.stdout)
    done = normsweep("check", "sweep.yaml", "--set", "valid_text=t", cwd=tmp_path)
    assert done.stdout == "sweep.yaml: valid: 1 cell\n"  # a vocabulary without <unk>


def test_paths_are_relative_to_the_file(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "words.txt").write_text("a b c d\n" * 1000)
    (tmp_path / "folder" / "sweep.yaml").write_text("train_text: words.txt\nepochs: 1\n")
    assert normsweep("check", "folder/sweep.yaml", cwd=tmp_path).returncode == 0
    done = normsweep("check", "folder/sweep.yaml", "--set", "train_text=words.txt", cwd=tmp_path)
    assert done.stderr == "--set train_text: words.txt: No such file or directory\n"
    done = normsweep("check", "folder/sweep.yaml", "--set", "train_text=folder/words.txt", cwd=tmp_path)
    assert done.returncode == 0


def test_full_disk():
    if not os.path.exists("/dev/full"):
        missing.skip("There is no /dev/full", "the message when output does not fit on the disk",
                     "run make check on Linux")
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "help"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=600)
    assert done.returncode == 3 and done.stderr == "normsweep: output: No space left on device\n"
