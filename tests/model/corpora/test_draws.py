"""The masks and spans of every sequence, in training and in validations, as tests/draws.py makes them."""
import random

import pytest

import draws
from replay import replay
from test_objectives import MASKED, SPANS, check_rows, sequences


def made(keys, prefix, places):
    """(masked sequences, spans, and the same by tests/draws.py) of the runs of these keys. places: of each sequence its
    place in the text, and its seed and epoch."""
    windows = [words for _, words, _ in sequences(replay("double", **keys), prefix)]
    masked, spans = replay("double", **MASKED, **keys), replay("double", **SPANS, **keys)
    for dump in masked, spans:
        check_rows(dump)
    V = int(masked["vocabulary"][0])
    found = [(tokens, [None if word < 0 else word for word in target])
             for _, tokens, target in sequences(masked, prefix)], list(sequences(spans, prefix))
    want = [[], []]
    for words, (place, *when) in zip(windows, places(windows), strict=True):
        want[0].append(draws.masked(words, place, V, V, *when))
        want[1].append(draws.spans(words, place, lambda span: V + span, V - 1, V - 1, when=when))
    return found, tuple(want)


@pytest.mark.parametrize("context", [3, 16, 60, 133])
def test_draws_of_validations(tmp_path, context):
    """The same for every seed and batch."""
    path, draw = tmp_path / "text", random.Random(3)
    path.write_text(" ".join(str(draw.randrange(50)) for _ in range(1500)))
    for seed, batch in (0, 4), (7, 5):
        keys = {"train_text": path, "valid_text": path, "context": context, "batch": batch, "steps": 1, "batches": 1,
                "seed": seed}
        found, want = made(keys, "validated_", lambda windows: [(i,) for i in range(len(windows))])
        assert found == want


@pytest.mark.parametrize("reading, context", [("stream", 3), ("stream", 24), ("lines", 24)])
@pytest.mark.parametrize("seed, batch", [(1, 4), (2, 6)])
def test_draws_of_training(tmp_path, reading, context, seed, batch):
    """Two epochs: a function of seed, epoch and the sequence's place in the text. Lines have 1, 2, 3, .. words."""
    path = tmp_path / "text"
    lines = [[f"{i}_{j}" for j in range(i + 1 if reading == "lines" else context)] for i in range(24)]
    path.write_text("".join(" ".join(words) + "\n" for words in lines) if reading == "lines"
                    else " ".join(word for words in lines for word in words) + " end")
    first = [sum(map(len, lines[:i])) for i in range(len(lines))]  # the number of a sequence's first word
    keys = {"train_text": path, "valid_text": path, "sequences": reading, "context": context, "batch": batch,
            "steps": 1, "batches": 2 * (24 // batch), "seed": seed}
    found, want = made(keys, "", lambda windows: [
        (first.index(words[0]), seed, n // 24) for n, words in enumerate(windows)])
    assert found == want and len(found[0]) == 48
