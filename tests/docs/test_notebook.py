"""The notebooks of docs: their cells run, in their order, on the sweep that they tell the reader to train; what is kept
of their outputs can be read on a forge."""

import base64
import json
import re
import shlex

import missing
import pytest
from conftest import NORMSWEEP, PROJECT, run

NOTEBOOKS = sorted((PROJECT / "docs").glob("*.ipynb"))
BYTES, PICTURE = 100_000, 40_000  # of the file, of one picture; forges show larger ones late or not at all
LESS = ["steps=20", "corpus_tokens=20000"]  # for a test, which does not look at the numbers


each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells_of(path, kind):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == kind]


@each_notebook
def test_what_is_kept_is_small_and_of_no_machine(path):
    text, cells = path.read_text(), cells_of(path, "code")
    assert len(text) <= BYTES
    assert not re.search(r"/(home|root|work|mnt|tmp)/", text)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    pictures = 0
    for cell in cells:
        assert not [output for output in cell["outputs"] if output["output_type"] == "error" or (
            output.get("name") == "stderr")]
        assert cell["outputs"] and set(cell["metadata"]) <= {"scrolled"}
        for output in cell["outputs"]:
            if "image/png" in output.get("data", {}):
                picture = base64.b64decode("".join(output["data"]["image/png"]))
                assert picture.startswith(b"\x89PNG") and len(picture) <= PICTURE
                pictures += 1
    assert pictures == 2


@each_notebook
def test_it_runs(path, tmp_path, monkeypatch):
    nbclient = missing.module("nbclient", f"that the cells of {path.name} run", "pip install nbclient ipykernel")
    nbformat = missing.module("nbformat", f"that the cells of {path.name} run", "pip install nbclient ipykernel")
    missing.module("ipykernel", f"that the cells of {path.name} run", "pip install nbclient ipykernel")
    shell = re.search(r"```sh\n(.*?)```", "".join(cells_of(path, "markdown")[0]["source"]), re.S)[1].replace("\\\n", "")
    command = next(line for line in shell.splitlines() if line.startswith("build/normsweep run "))
    sweep, *words = shlex.split(command)[2:]
    for setting in LESS:
        words += ["--set", setting]
    run(NORMSWEEP, "run", PROJECT / sweep, *words, "-j", "2", cwd=tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(PROJECT / "analysis"))
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    manager = nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3",
                                      resources={"metadata": {"path": str(tmp_path)}})
    manager.execute()
    ran = [cell for cell in notebook.cells if cell.cell_type == "code"]
    kept = cells_of(path, "code")
    assert len(ran) == len(kept) > 5
    for one, before in zip(ran, kept):  # of the same kind as what is kept
        kinds = [sorted(output.get("data", {"text": 0})) for output in one.outputs if output.get("name") != "stderr"]
        assert kinds == [sorted(output.get("data", {"text": 0})) for output in before["outputs"]], one.source
