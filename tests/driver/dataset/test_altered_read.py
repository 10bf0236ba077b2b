"""Reading an altered dataset, or a path that is not a file, in Python fails at once with one line."""

import os
import sys

import numpy as np
import pytest
from altered import Content
from conftest import PROJECT, run, script
from test_dataset import sample
from normsweep import NotASweep, open_sweep
from normsweep.verify import check_length, extents

pytestmark = pytest.mark.thorough("reads dozens of altered datasets")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return sample(tmp_path_factory.mktemp("altered") / "a.nc",
                  "corpus: markov\nsteps: 20\nmeasure: {every: 10}\nlearning_rate: [0.1, 0.01, 1e-3]\nseed: [1, 2]\n")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.nc")
    done = run(sys.executable, PROJECT / "analysis" / "report", "a.nc", cwd=tmp_path, status=1, timeout=600)
    assert done.stderr == "report: a.nc: not a regular file\n" and done.stdout == ""
    assert os.listdir(tmp_path) == ["a.nc"]


@pytest.mark.parametrize("name", ["table", "figures"])
def test_an_outcome_of_doubles(whole, tmp_path, name):
    content = Content(whole)
    content["outcome"].type = "f8"
    content.write(tmp_path / "a.nc")
    done = script(name, "a.nc", cwd=tmp_path, status=1)
    assert done.stderr == f"{name}: a.nc: outcome has type float64, not integers; normsweep did not write this\n"
    assert done.stdout == "" and os.listdir(tmp_path) == ["a.nc"]


@pytest.mark.parametrize("part", [0.01, 0.5, 0.99])
def test_a_dataset_that_is_cut_short(whole, tmp_path, part):
    cut = whole.read_bytes()[:int(part * whole.stat().st_size)]
    (tmp_path / "a.nc").write_bytes(cut)
    with pytest.raises(NotASweep, match=f"a.nc: is cut short at {len(cut)} bytes$"):
        open_sweep(tmp_path / "a.nc")
    with open_sweep(whole) as dataset:
        assert dataset.outcome.size == 6


def test_a_header_that_ends_anywhere(whole, tmp_path):
    content, path = whole.read_bytes(), tmp_path / "a.nc"
    with open(whole, "rb") as file:
        file.seek(4)
        extents(file)
        header = file.tell()
    for size in [*range(4, header, 101), header - 1, header, len(content) - 5]:
        path.write_bytes(content[:size])
        with pytest.raises(EOFError):
            check_length(path)
    path.write_bytes(content)
    check_length(path)


NUMBERS = {  # the byte of a header at which a number stands that no program writes there
    "a tag": (15, b"\x09"), "a negative count": (16, b"\xff"),
    "a name without letters": (24, bytes(8)), "a long name": (30, b"\x02")}


@pytest.mark.parametrize("fault", NUMBERS)
def test_a_header_of_no_program_is_not_taken_for_one_that_is_cut_short(whole, tmp_path, fault):
    place, number = NUMBERS[fault]
    content = whole.read_bytes()
    (tmp_path / "a.nc").write_bytes(content[:place] + number + content[place + len(number):])
    with pytest.raises(NotASweep, match="a.nc: not a normsweep dataset$"):
        open_sweep(tmp_path / "a.nc")


@pytest.mark.parametrize("name", ["final_train_loss", "param_norm", "flag_meanings", "learning_rate"])
def test_a_name_that_is_not_utf_8(whole, tmp_path, name):
    old, new = name.encode(), name[:-1].encode() + b"\xff"
    assert len(old) == len(new)
    (tmp_path / "a.nc").write_bytes(whole.read_bytes().replace(old, new))
    with pytest.raises(NotASweep) as caught:
        open_sweep(tmp_path / "a.nc")
    assert str(caught.value) == (f"{tmp_path}/a.nc: the name or text {new!r} is not UTF-8; normsweep did not write "
                                 "this: write it in UTF-8, or open the dataset that run wrote")


def words(name, value):
    return lambda content: content[name].attributes.update(flag_meanings=value)


REFUSED = {
    "reason has dimensions (learning_rate, seed, string256), not (learning_rate, seed)":
        lambda content: setattr(content["reason"], "type", "i4"),
    "attempts has type |S64, not numbers": lambda content: (
        setattr(content["attempts"], "type", "S1"), content["attempts"].dimensions.append("string64")),
    "phase has type float32, not integers": lambda content: setattr(content["phase"], "type", "f4"),
    "seconds has dimensions (learning_rate), not (learning_rate, seed)":
        lambda content: setattr(content["seconds"], "dimensions", ["learning_rate"]),
    "session_start has dimensions (step), not (sessions)":
        lambda content: setattr(content["session_start"], "dimensions", ["step", "string64"]),
    "outcome has no flag_meanings for its flag_values": words("outcome", np.int32(7)),
    "phase has no flag_meanings for its flag_values": words("phase", "none growing"),
    "the words of outcome are not pending running done diverged failed skipped":
        words("outcome", "running pending done diverged failed skipped"),
    "outcome has type float": lambda content: content["outcome"].attributes.update(_FillValue=2),
    "'seed' has more than 1-dimension": lambda content: content["seed"].dimensions.append("sessions"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_open_sweep_names_the_fault(whole, tmp_path, fault):
    content = Content(whole)
    REFUSED[fault](content)
    path = content.write(tmp_path / "a.nc")
    with pytest.raises(NotASweep) as caught:
        open_sweep(path)
    said = str(caught.value)
    assert said.startswith(f"{path}: {fault}") and "\n" not in said


def test_a_report_has_what_there_is(whole, tmp_path):
    content = Content(whole)
    for name in ("seconds", "session", "attempts", "session_start", "norm_growth"):
        content.variables.pop(name)
    content["growth_exponent"].type, content["growth_exponent"].values = "S1", content["host"].values[..., 0]
    content.write(tmp_path / "a.nc")
    assert "Traceback" not in script("report", "a.nc", cwd=tmp_path).stderr
    page = (tmp_path / "a.html").read_text()
    assert "exponent part: not available" in page and "The sweep file" in page
