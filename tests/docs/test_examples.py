"""The lines of Python of the documents work on other sweeps than their own, too: on a single run, in which everything
has no axis; on a plane of learning rate and weight decay, where a slope is a single number; on a grid of many axes."""

import re
import shutil

import documents
import matplotlib.pyplot
import pytest
from conftest import tiny, train_sweep
from test_docs import NOT_EXECUTED, reason
TINY = tiny(vocabulary=9, corpus_tokens=1000, layers=None, width=4, heads=1, feedforward=4, context=4, batch=2) + """\
steps: 4
measure: {every: 2, metrics: [norms, alignment, gradients, equilibrium, forces, spectra]}
gradient_batches: 1
validate: {every: 2, tokens: 64}
"""
PLANE = "learning_rate: [0.01, 0.1]\nweight_decay: [0.1, 10]\n"
SWEEPS = {
    "one run": "",
    "one column": "weight_decay: [0.1, 10]\n",
    "a plane": PLANE,
    "many axes": PLANE + "together: {arm: {constant: {schedule: constant}, corrected: {schedule: cosine}}}\n"
                 "norm_placement: [pre, post]\nlayers: [4, 5]\nbias: [true, false]\nseed: [0, 1]\n",
}
OPENED = re.compile(r'open_(?:dataset|sweep)\(\[?"([\w-]+\.nc)"')
# A plane of rates and decays, without which it has no meaning; weights that a sweep has kept.
OTHERS = re.compile(r"ds\.sweep\.collapse\(|\.sweep\.weights\(")


def scripts():
    """{name: its blocks of Python} of the pages that open a dataset of a sweep; of the manual; of the ten lines."""
    found = {page.name: documents.blocks(page) for page in documents.PAGES}
    found = {name: [block.text for block in blocks if block.language == "python"
                    and not reason(NOT_EXECUTED, block.text) and not OTHERS.search(block.text)]
             for name, blocks in found.items()}
    found["normsweep.1"] = [block.text for block in documents.manual_blocks() if block.language == "python"]
    found["oneliners.py"] = [(documents.DOCS / "oneliners.py").read_text()]
    return {name: blocks for name, blocks in found.items() if OPENED.search("".join(blocks))}


SCRIPTS = scripts()
OF_A_PLANE = ("README.md", "normsweep.1", "oneliners.py")  # a table, a picture, and questions, of two axes
OF_A_BOUNDARY = ("tutorial.md",)  # lines for its own sweep
THOROUGH = pytest.mark.thorough("each page computes and draws for a second or more; a single run has the fewest axes")
CASES = [pytest.param(name, sweep, marks=[THOROUGH] * (sweep != "one run")) for sweep in SWEEPS for name in SCRIPTS
         if not (name in OF_A_PLANE and sweep == "many axes") and not (name in OF_A_BOUNDARY and "one" in sweep)]


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """trained(TEXT) is the dataset of this sweep."""
    folder, known = tmp_path_factory.mktemp("sweeps"), {}

    def path(text):
        if text not in known:
            known[text] = train_sweep(folder, TINY + text, name=str(len(known)))
        return known[text]
    return path


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, sweep", CASES)
def test_examples_work_on_other_sweeps(name, sweep, trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    for file in OPENED.findall("".join(SCRIPTS[name])):
        shutil.copy(trained(SWEEPS[sweep]), file)
    names = {}
    try:
        for block in SCRIPTS[name]:
            exec(compile(block, name, "exec"), names)
    finally:
        matplotlib.pyplot.close("all")


def test_pages_with_examples():
    assert set(SCRIPTS) == {"boundary.md", "checks.md", "comparing.md", "figures.md",
                            "formats.md", "measuring.md", "reading.md", *OF_A_PLANE, *OF_A_BOUNDARY}
