"""Configurations drawn at random over all keys of networks, objectives and optimisers, trained and measured by the
program and by the reference (tests/parity.py, which draws as many as wanted)."""
import functools
import re

import pytest
from conftest import NORMSWEEP, run

import combinations
import parity
from replay import word

pytestmark = pytest.mark.thorough("draws combinations of every two words")

SEED, COUNT, FLOATS = 2, 100, 24
TOLERANCE = {"double": 1e-10, "float": 1e-4}
BOOLEANS = {"true": "1", "false": "0"}  # as replay takes them
CASES = [("double", i) for i in range(COUNT)] + [("float", i) for i in range(FLOATS)]


@functools.cache
def drawn():
    return list(combinations.combinations(COUNT, SEED, parity.STEPS))


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    return parity.write_files(tmp_path_factory.mktemp("files"))


@pytest.mark.long(1)
@pytest.mark.parametrize("scalar, number", CASES, ids=lambda value: str(value))
def test_combination(scalar, number, files):
    """In float, numbers that lie near the middle of two of bfloat16 are rounded otherwise than in double."""
    features, config = drawn()[number]
    if scalar == "float":
        config = config | {"precision": "float"}
    level = parity.LEVELS[number % len(parity.LEVELS)]
    found = parity.differences(config, scalar, level, files.get(features["corpus"]))
    assert len(found) > 30
    off = {name: value for name, value in found.items() if not value <= TOLERANCE[scalar]}
    assert not off, f"{off} in {config}"


def test_every_word_of_every_key_is_drawn():
    """As the program's help has the words."""
    for key in combinations.KEYS:
        line = run(NORMSWEEP, "help", key).stdout.splitlines()[0]
        words = re.match(rf"{key}: (.*?)(, or some joined by [+])?;", line).group(1).split(" | ")
        there = {part for features, _ in drawn() for part in word(features[key]).split("+")}
        there |= {"none"} if key == "norm" else set()  # among the cases of test_parity.py
        assert {BOOLEANS.get(each, each) for each in words} == there, key


def test_every_pair_of_words_is_drawn():
    """Of the architecture's words that go together, all."""
    pairs = combinations.all_pairs()
    assert len(pairs) == 1923
    for words in [*pairs, *combinations.TOGETHER]:
        assert any(combinations.covers(features, words) for features, _ in drawn()), words
    for number, (features, config) in enumerate(drawn()):
        assert all(config[key] == features[key] for key in combinations.KEYS), number


def test_sizes_are_odd_too():
    """Every divisor of the heads as kv_heads; heads and their elements odd and even; batches of one sequence."""
    configs = [config for _, config in drawn()]
    shared = {(config["heads"], config["kv_heads"]) for config in configs}
    assert shared >= {(heads, n) for heads in (2, 3, 4, 6, 8) for n in range(1, heads) if heads % n == 0}
    assert {config["width"] // config["heads"] for config in configs} >= {1, 2, 3, 4, 5, 6, 8, 17, 18}
    assert {config["batch"] for config in configs} >= {1, 2, 3, 5}
    assert {config["context"] for config in configs} >= set(range(1, 14))
