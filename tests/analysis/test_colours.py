"""Colours that have to be told apart differ for every kind of colour vision; scales of numbers rise in lightness."""

import itertools

import numpy as np
import pytest
from normsweep import names
from normsweep.drawings import colours
from vision import VISIONS, difference, nearest, seen

APART = 15  # CIEDE2000 of two colours of a list; 1 is a difference that can just be seen side by side
STEPS = 8  # values of an axis that lines tell apart by colour and dashes
STEP_APART = 5
SHARMA = [  # pairs of the paper on CIEDE2000, among them those that test the branches
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 0, 0), (50, -1, 2), 2.3669),
    ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792), ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
    ((50, 2.5, 0), (50, 0, -2.5), 4.3065), ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
    ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082)]
SCALES = {"values": colours.ORDERED, "other": colours.OTHER_AXIS, **colours.AXES}


@pytest.mark.parametrize("one, other, expected", SHARMA)
def test_difference_is_the_published_one(one, other, expected):
    assert abs(difference(one, other) - expected) < 5e-5 and abs(difference(other, one) - expected) < 5e-5


def test_simulation_leaves_greys_and_confuses_what_dichromats_confuse():
    for vision in VISIONS:
        for grey in ("white", "black", "0.5"):
            assert difference(seen(grey), seen(grey, vision)) < 0.1
    red_and_green = "#b00000", "#6b5c00"
    assert difference(*map(seen, red_and_green)) > 30
    assert difference(*(seen(colour, "protanopia") for colour in red_and_green)) < 20
    least, _, one, other = nearest({"orange": "#e69f00", "pink": "#cc79a7", "black": "black"})
    assert least < APART and {one, other} == {"orange", "pink"}


def test_colours_of_lists_are_apart():
    least = nearest({colour: colour for colour in colours.COLOURS})
    assert least[0] >= APART, least
    for vision in VISIONS:
        assert all(difference(seen(colour, vision), seen("white", vision)) >= APART for colour in colours.COLOURS)


def test_cells_are_apart():
    """Classes, and cells without one; hatches tell the other cells apart."""
    classes = {word: colours.colour(colours.place("dynamics", word)) for word in colours.PLACES["dynamics"]}
    least = nearest({**classes, "none": colours.NO_CLASS, "no value": "white"})
    assert least[0] >= APART, least
    hatches = [style["hatch"] for style in colours.OUTCOMES.values()]
    assert len(set(hatches)) == len(hatches)
    sides = {word: style["pale"] for word, style in colours.PHASES.items()}
    assert nearest({**sides, "white": "white"})[0] >= 5
    assert nearest({word: style["strong"] for word, style in colours.PHASES.items()})[0] >= APART


def test_outcomes_without_a_value_have_a_look():
    assert set(colours.OUTCOMES) - {"no value"} == set(names.OUTCOMES) - {"pending", "done"}


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("name", SCALES)
def test_scales_rise_in_lightness(name, vision):
    light = np.array([seen(SCALES[name](place), vision)[0] for place in np.linspace(0, 1, 33)])
    assert (np.diff(light) > 0).all() and light[-1] < 90 and light[-1] - light[0] > 55
    steps = [seen(SCALES[name](place), vision) for place in np.linspace(0, 1, STEPS)]
    assert min(difference(one, other) for one, other in itertools.combinations(steps, 2)) >= STEP_APART


@pytest.mark.parametrize("vision", VISIONS)
def test_either_side_of_the_middle_is_darker_the_farther_and_of_another_hue(vision):
    light = np.array([seen(colours.DIVERGING(place), vision)[0] for place in np.linspace(0, 1, 33)])
    assert (np.diff(light[:17]) > 0).all() and (np.diff(light[16:]) < 0).all()
    for place in (0.0, 0.1, 0.25, 0.4):
        assert difference(*(seen(colours.DIVERGING(at), vision) for at in (place, 1 - place))) >= 7, place


def test_things_of_the_same_colour_differ_in_their_dashes():
    for kind, words in {**colours.PLACES, "any": range(24)}.items():
        looks = [tuple(colours.line_of(kind, word, i).values()) for i, word in enumerate(words)]
        assert len(set(looks)) == len(looks), kind
        assert all(one[0] != other[0] and one[1] != other[1] for one, other in zip(looks, looks[1:])), kind
