"""The draws of validations in Python (tests/draws.py) against those of the program."""
import random

import pytest

import draws
from replay import replay
from test_objectives import MASKED, SPANS, sequences


@pytest.mark.parametrize("context", [3, 16, 60, 133])
def test_draws_of_validations(tmp_path, context):
    path, draw = tmp_path / "text", random.Random(3)
    path.write_text(" ".join(str(draw.randrange(50)) for _ in range(1500)))
    keys = {"train_text": path, "valid_text": path, "context": context, "batch": 4, "steps": 1, "batches": 1}
    windows = [words for _, words, _ in sequences(replay("double", **keys), "validated_")]
    masked, spans = replay("double", **MASKED, **keys), replay("double", **SPANS, **keys)
    V = int(masked["vocabulary"][0])
    assert [(tokens, [None if word < 0 else word for word in target])
            for _, tokens, target in sequences(masked, "validated_")] == [
        draws.masked(words, i, V, V) for i, words in enumerate(windows)]
    assert list(sequences(spans, "validated_")) == [
        draws.spans(words, i, lambda span: V + span, V - 1, V - 1) for i, words in enumerate(windows)]
