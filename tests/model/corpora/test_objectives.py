"""The batches of every corpus, from build/replay, against what Python makes of the same files, and the distributions of
spans and masks, each of which test_draws.py has."""

import collections
import os
import pathlib

import missing
import numpy as np
import pytest

from replay import replay

pytestmark = pytest.mark.thorough("reads every corpus in every way")

NO_TARGET = -1


def sequences(dump, prefix=""):
    """(source or None, tokens, target) of every sequence of all batches, in order."""
    for i, start in enumerate(dump[prefix + "start"]):
        tokens, target = dump[prefix + "tokens"][i], dump[prefix + "target"][i]
        sources = dump.get(prefix + "source_start")
        for s, (begin, end) in enumerate(zip(start, start[1:])):
            source = None
            if sources:
                at = sources[i]
                source = dump[prefix + "source_tokens"][i][at[s]:at[s + 1]].tolist()
            yield source, tokens[begin:end].tolist(), target[begin:end].tolist()


def check_rows(dump):
    """No batch has more rows on either side than the run makes room for."""
    most = dump["most_rows"][0]
    assert max(len(tokens) for tokens in dump["tokens"]) <= most[0]
    assert max([len(tokens) for tokens in dump.get("source_tokens", [])] or [0]) <= most[1]


# ---- tokens ----

def write_tokens(path, tokens, header):
    """As llm.c's data scripts do, or as nanoGPT's."""
    head = np.zeros(256, dtype="<i4")
    head[:3] = 20240520, 1, len(tokens)
    path.write_bytes((head.tobytes() if header else b"") + np.asarray(tokens, dtype="<u2").tobytes())
    return str(path)


@pytest.mark.parametrize("header", [True, False])
def test_tokens(tmp_path, header):
    """Windows of T + 1 at stride T; each once in an epoch, those of validation in order."""
    T, B = 33, 4
    tokens = np.random.default_rng(1).integers(0, 50257, 5000)
    train = write_tokens(tmp_path / "train.bin", tokens, header)
    valid = write_tokens(tmp_path / "valid.bin", tokens[:700], not header)
    windows = [tokens[i:i + T + 1].tolist() for i in range(0, len(tokens) - T, T)]
    epoch = len(windows) // B
    dump = replay("float", corpus="tokens", vocabulary=50257, train_text=train, valid_text=valid, context=T, batch=B,
                  steps=1, batches=epoch, seed=5)
    found = [tokens + target[-1:] for _, tokens, target in sequences(dump)]
    assert all(tokens[1:] == target[:-1] for _, tokens, target in sequences(dump))
    assert len(found) == epoch * B
    assert sorted(found) == sorted(window for window in windows if window in found)
    assert len(set(map(tuple, found))) == len(found)
    assert [tokens for _, tokens, _ in sequences(dump, "validated_")] == [
        tokens[i:i + T].tolist() for i in range(0, 700 - T, T)]
    assert dump["vocabulary"][0] == 50257
    check_rows(dump)


def test_tokens_of_a_large_file(tmp_path):
    """The file is read in pieces; a token that is too large is found in each."""
    tokens = np.arange(3_000_001) % 50000
    dump = replay("float", corpus="tokens", vocabulary=50257, context=9, batch=2, steps=1, batches=1,
                  train_text=write_tokens(tmp_path / "train.bin", tokens, True))
    for _, row, target in sequences(dump):
        assert target == [(token + 1) % 50000 for token in row]
    for place in (0, 1, 1_000_000, 2_345_678, 3_000_000):
        bad = tokens.copy()
        bad[place] = 60000
        path = write_tokens(tmp_path / "bad.bin", bad, True)
        message = f"token 60000 at byte {1024 + 2 * place} is not below vocabulary 50257"
        with pytest.raises(AssertionError, match=message):
            replay("float", corpus="tokens", vocabulary=50257, context=9, batch=2, steps=1, batches=1, train_text=path)


# ---- pairs ----

def read_pairs(source, target, T, min_count=1):
    """(vocabulary, [(source, tokens, target)]) of two texts; lines with an empty side are left out."""
    lines = [[line.split() for line in pathlib.Path(path).read_text().splitlines()] for path in (source, target)]
    counts = collections.Counter(word for side in lines for line in side for word in line)
    lines = [[[word if counts[word] >= min_count or word == "<eos>" else "<unk>" for word in line] for line in side]
             for side in lines]
    words = {}
    for line in lines[0] + lines[1]:
        for word in line:
            if word != "<eos>":
                words.setdefault(word, len(words))
    eos = words["<eos>"] = len(words)
    pairs = []
    for left, right in zip(*lines):
        if left and right:
            left, right = ([words[word] for word in line] for line in (left, right))
            pairs.append(((left + [eos])[:T], ([eos] + right)[:T], (right + [eos])[:T]))
    return eos + 1, pairs


def check_pairs(source, target, T, B, min_count=1):
    vocabulary, expected = read_pairs(source, target, T, min_count)
    steps = len(expected) // B
    dump = replay("float", corpus="pairs", network="encoder_decoder", train_source=source, train_text=target,
                  valid_source=source, valid_text=target, context=T, batch=B, steps=1, batches=steps,
                  min_count=min_count)
    assert dump["vocabulary"][0] == vocabulary
    assert list(sequences(dump, "validated_")) == expected
    found = collections.Counter(map(repr, sequences(dump)))
    assert sum(found.values()) == steps * B
    assert not found - collections.Counter(map(repr, expected))
    check_rows(dump)


@pytest.mark.parametrize("T, min_count", [(1, 1), (3, 1), (64, 1), (64, 2)])
def test_pairs(tmp_path, T, min_count):
    """Headings are lines like others; pairs with an empty side are left out."""
    (tmp_path / "source").write_text("ein haus\n\n= drei =\n  \nnur links\nvier <eos> wörter hier\nein\n")
    (tmp_path / "target").write_text("a house\nno source\n= three =\n\n\nfour words\na a a a a\n")
    check_pairs(str(tmp_path / "source"), str(tmp_path / "target"), T, 2, min_count)


@pytest.mark.parametrize("min_count", [1, 2])
def test_pairs_of_multi30k(min_count):
    """Real texts: those of Multi30k, German to English."""
    folder = os.environ.get("NORMSWEEP_MULTI30K")
    if not folder:
        missing.skip("NORMSWEEP_MULTI30K does not name a folder", "the corpus pairs on real texts; made-up ones are",
                     "set it to a folder with Multi30k's train.de and train.en")
    check_pairs(os.path.join(folder, "train.de"), os.path.join(folder, "train.en"), 24, 16, min_count)


# ---- sums ----

@pytest.mark.parametrize("share", [0.3, 0.5, 0.999])
def test_modular(share):
    p, B = 23, 8
    trained = round(share * p * p)
    dump = replay("float", corpus="modular", vocabulary=p + 1, train_share=share, context=5, batch=B, steps=1,
                  batches=trained // B)
    found, valid = list(sequences(dump)), list(sequences(dump, "validated_"))
    for _, (a, b, equals), target in found + valid:
        assert equals == p and target == [NO_TARGET, NO_TARGET, (a + b) % p]
    assert len(found) == trained // B * B and len(valid) == p * p - trained
    assert len({tuple(tokens) for _, tokens, _ in found + valid}) == len(found) + len(valid)
    assert dump["most_rows"][0].tolist() == [3 * B, 0]


# ---- spans ----

def t5_mask(length, generator):
    """random_spans_noise_mask of T5's code, in numpy."""
    orig, length = length, max(length, 2)
    noise = min(max(int(np.round(length * 0.15)), 1), length - 1)
    spans = max(int(np.round(noise / 3.0)), 1)

    def segments(items, count):
        first = np.concatenate([[0], generator.permutation((np.arange(items - 1) < count - 1).astype(int))])
        return np.bincount(np.cumsum(first), minlength=count)
    lengths = np.stack([segments(length - noise, spans), segments(noise, spans)], axis=1).reshape(-1)
    return np.repeat(np.arange(2 * spans) % 2, lengths)[:orig].astype(bool)


def spans_mask(source, target, V, eos):
    """The noise mask and the sequence that a source and its targets were made of."""
    assert target[-1] == eos
    spans, mask, whole, sentinel = {}, [], [], None
    for word in target[:-1]:
        if word >= V:
            sentinel = word
            assert sentinel == V + len(spans)
            spans[sentinel] = []
        else:
            spans[sentinel].append(word)
    assert [word for word in source if word >= V] == list(spans)
    for word in source:
        part = spans[word] if word >= V else [word]
        assert part
        whole += part
        mask += [word >= V] * len(part)
    return np.array(mask), whole


SPANS = {"network": "encoder_decoder", "objective": "spans"}


def histogram(masks):
    """Mean mask by position, and the distribution of lengths of spans and gaps."""
    lengths = [collections.Counter(), collections.Counter()]
    for mask in masks:
        edges = np.flatnonzero(np.diff(np.concatenate([[2], mask, [2]])))
        for begin, end in zip(edges, edges[1:]):
            lengths[int(mask[begin])][end - begin] += 1
    return np.mean(masks, axis=0), lengths


def test_spans_are_distributed_as_t5s(tmp_path):
    """Each position is noise as often, spans and gaps are as long, within 5 standard errors of both samples."""
    T, B, steps = 60, 50, 400
    (tmp_path / "t").write_text(" ".join(str(i % 50) for i in range(T * B * 10)))
    dump = replay("float", **SPANS, train_text=tmp_path / "t", context=T, batch=B, steps=1, batches=steps)
    V = int(dump["vocabulary"][0])
    ours, our_lengths = histogram([spans_mask(source, target, V, V - 1)[0] for source, _, target in sequences(dump)])
    generator = np.random.default_rng(2)
    theirs, their_lengths = histogram([t5_mask(T, generator) for _ in range(B * steps)])
    error = np.sqrt(2 * theirs * (1 - theirs) / (B * steps))
    assert (np.abs(ours - theirs) <= 5 * error + 1e-12).all()
    assert ours.sum() == theirs.sum() == 9  # round(0.15 * 60)
    for mine, other in zip(our_lengths, their_lengths):
        total = sum(other.values())
        assert sum(mine.values()) == total == 3 * B * steps
        for length in set(mine) | set(other):
            spread = np.sqrt(mine[length] + other[length] + 1)
            assert abs(mine[length] - other[length]) <= 5 * spread
    assert sum(k * n for k, n in our_lengths[1].items()) / sum(our_lengths[1].values()) == 3


# ---- masks ----

MASKED = {"network": "encoder", "objective": "masked"}


def test_masks_and_random_words_are_uniform(tmp_path):
    """Every position is chosen equally often; eight of ten become masks; every word is put in place equally often."""
    T, V = 20, 10
    (tmp_path / "t").write_text(" ".join(str(i % (V - 1)) for i in range(T * 500)))
    dump = replay("float", **MASKED, train_text=tmp_path / "t", context=T, batch=50, steps=1, batches=400)
    places, words, count, masks = np.zeros(T), np.zeros(V), 0, 0
    for _, shown, target in sequences(dump):
        chosen = np.array(target) != NO_TARGET
        places += chosen
        count += 1
        masks += (np.array(shown) == V).sum()
        for word in np.array(shown)[chosen & (np.array(shown) != V) & (np.array(shown) != np.array(target))]:
            words[word] += 1
    assert count == 20000 and abs(masks - 0.8 * 3 * count) <= 5 * np.sqrt(0.8 * 0.2 * 3 * count)
    assert (np.abs(places / count - 0.15) <= 5 * np.sqrt(0.15 * 0.85 / count)).all()
    # A word is drawn a tenth as often as there are targets, and not counted where it is the target itself.
    fair = np.full(V, 3 * count * 0.1 / V) * (1 - np.append(np.full(V - 1, 1 / (V - 1)), 0))
    assert (np.abs(words - fair) <= 5 * np.sqrt(fair)).all()
