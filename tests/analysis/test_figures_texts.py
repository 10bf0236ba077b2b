"""Texts of a dataset in its figures: they are words, and no formulas."""

import io

import pytest
from drawn import figures, words
from made_up import made_up
from normsweep import look
from normsweep.figures.drawing import reason


@pytest.mark.parametrize("title", ["x_$ and y_{$", "budget $5 or $10", "a\x1b[2J b"])
def test_titles_and_labels_are_no_formulas(title):
    made = made_up().assign_attrs(title=title)
    made = made.assign_coords(norm_placement=("norm_placement", [title, "post"]))
    seen = look.plain(title)
    for found in figures.draw_all(made):
        found.figure.savefig(image := io.BytesIO())
        assert image.tell() > 1000 and seen in words(found)


def test_reasons_are_one_line():
    assert reason(ValueError("\n  x_$\n  ^\nParseException")) == "x_$"
    assert reason(KeyError()) == "KeyError"
