"""What somebody who adds an optimiser or a metric has to write beside its row in the table, and might forget. All else
follows from the tables; docs/developing.md has both lists."""

import re

import pytest
from conftest import PROJECT, tables

OPTIMISERS = next(row for row in tables()["parameters"] if row["name"] == "optimiser")
PLACES = {  # file: what stands there for an optimiser
    "tests/reference_optimisers.py": '    "{word}": Optimiser(',
    "tests/model/optimisers/test_equilibrium.c": "OPTIMISER_{upper}",
    "docs/optimisers.md": "\n| `{word}` | ",
    "analysis/normsweep/drawings/colours.py": '"{word}"',
}


@pytest.mark.parametrize("word", OPTIMISERS["words"])
def test_optimiser_is_in_every_place(word):
    missing = [path for path, text in PLACES.items()
               if text.format(word=word, upper=word.upper()) not in (PROJECT / path).read_text()]
    if not re.search(rf"\b{word}\b", OPTIMISERS["help"]):
        missing.append("worker/run/param.c (help of optimiser)")
    assert not missing, f"{word} is missing in {', '.join(missing)}"


def test_metrics_are_tested():
    """Each by its name, by a test of training: against tests/reference_measures.py, a closed form or another metric."""
    patterns = ("worker/**/*.c", "worker/**/*.py", "reference*.py", "driver/**/*.py")
    text = "".join(path.read_text() for pattern in patterns for path in (PROJECT / "tests").glob(pattern))
    names = set(re.findall(r"\w+", text)) | {name.removeprefix("METRIC_") for name in re.findall(r"METRIC_\w+", text)}
    composed = [re.sub(r"\{[^{}]*\}", r"\\w+", name) for name in set(re.findall(r'f"(\w+_(?:\w|\{[^{}]*\})+)"', text))]
    missing = [row["name"] for row in tables()["metrics"] if row["name"] not in names
               and not any(re.fullmatch(name, row["name"]) for name in composed)]
    assert not missing, f"no test has {', '.join(missing)}"
