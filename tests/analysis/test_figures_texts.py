"""Texts of a dataset in its figures: they are words, and no formulas."""

import io

import pytest
from drawn import figures, words
from made_up import made_up
from normsweep import open_sweep
from normsweep.drawings import look
from normsweep.drawings.drawing import reason

pytestmark = pytest.mark.thorough("draws figures with hostile texts")


@pytest.mark.parametrize("title", ["x_$ and y_{$", "budget $5 or $10", "a\x1b[2J b", "a\u202eb\u2069"])
def test_titles_and_labels_are_no_formulas(title):
    made = made_up().assign_attrs(sweep_title=title)
    made = made.assign_coords(norm_placement=("norm_placement", [title, "post"]))
    seen = look.plain(title)
    for found in figures.draw_all(made):
        found.figure.savefig(image := io.BytesIO())
        assert image.tell() > 1000 and seen in words(found)


def test_reasons_are_one_line():
    assert reason(ValueError("\n  x_$\n  ^\nParseException")) == "x_$"
    assert reason(KeyError()) == "KeyError"


def test_a_sweep_without_a_title_shows_its_file(tmp_path):
    made_up().drop_vars("reason").assign_attrs(source="normsweep", sweep_title="").to_netcdf(tmp_path / "some.nc")
    with open_sweep(tmp_path / "some.nc") as dataset:
        assert "some.nc" in words(next(figures.draw_all(dataset, ["phase"])))
        assert dataset.isel(seed=0).sweep.title == "some.nc"
    assert made_up().assign_attrs(sweep_title="").sweep.title == ""
