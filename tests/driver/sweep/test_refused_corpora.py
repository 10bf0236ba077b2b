"""Refused sweep files: the corpora tokens, pairs and modular, and what an objective needs of a corpus."""

import struct

import pytest

from refused import check, check_refused


def token_file(tokens, magic=20240520, version=1, count=None):
    head = [magic, version, len(tokens) if count is None else count] + [0] * 253
    return struct.pack("<256i", *head) + struct.pack(f"<{len(tokens)}H", *tokens)


def bare(tokens):
    return struct.pack(f"<{len(tokens)}H", *tokens)


GOOD = [i % 100 for i in range(2000)]
TOKENS = "corpus: tokens\nvocabulary: 100\nsteps: 1\ntrain_text: t.bin\n"
PAIRS = "corpus: pairs\nnetwork: encoder_decoder\nsteps: 1\nbatch: 2\ntrain_text: [s, t]\n"
MODULAR = "corpus: modular\nsteps: 1\n"
SOURCE, TARGET = b"ein haus\nzwei\ndrei\n", b"a house\ntwo\nthree\n"
TEXT = "corpus: bytes\ntrain_text: t.txt\nsteps: 1\n"


def of_tokens(content, line):
    return TOKENS, f"sweep.yaml:4:13: train_text: t.bin: {line}", [], {"t.bin": content}


# name: (text of sweep.yaml, the line, settings, other files)
CASES = {
    # tokens
    "a token not below the vocabulary": of_tokens(
        token_file(GOOD[:105] + [100] + GOOD), "token 100 at byte 1234 is not below vocabulary 100"),
    "a bare token not below the vocabulary": of_tokens(
        bare(GOOD + [65535]), "token 65535 at byte 4000 is not below vocabulary 100"),
    "another magic of llm.c": of_tokens(
        token_file(GOOD, magic=20240801, version=7),
        "magic number 20240801 of llm.c; its files of 16-bit tokens have 20240520"),
    "another version of llm.c": of_tokens(
        token_file(GOOD, version=2), "version 2 of llm.c's files of tokens; write version 1, of 16-bit tokens"),
    "fewer tokens than the header says": of_tokens(
        token_file(GOOD, count=2001), "2000 tokens follow a header that says 2001; write the file again"),
    "more tokens than the header says": of_tokens(
        token_file(GOOD, count=1999), "2000 tokens follow a header that says 1999; write the file again"),
    "a header alone": of_tokens(token_file([]), "no tokens behind its header"),
    "half a header": of_tokens(
        token_file(GOOD)[:512],
        "ends inside the header of 1024 bytes that llm.c's files begin with; write it again"),
    "half a token": of_tokens(
        bare(GOOD)[:-1], "an odd number of bytes, 3999; write the tokens as uint16"),
    "one byte": of_tokens(b"a", "an odd number of bytes, 1; write the tokens as uint16"),
    "no tokens": of_tokens(b"", "empty"),
    "a NumPy file": of_tokens(
        b"\x93NUMPY\x01\x00" + bytes(4000),
        "a NumPy file with a header; write the array by tofile(), which writes the tokens alone"),
    "too few tokens": of_tokens(bare(GOOD[:640]), "9 sequences of 64 tokens, fewer than one batch of 16"),
    "tokens: valid_text": (
        TOKENS + "valid_text: v.bin\n",
        "sweep.yaml:5:13: valid_text: v.bin: token 101 at byte 0 is not below vocabulary 100",
        [], {"t.bin": token_file(GOOD), "v.bin": bare([101, 102])},
    ),
    "tokens: no vocabulary": (
        "corpus: tokens\nsteps: 1\ntrain_text: t.bin\n",
        "sweep.yaml:1:9: vocabulary: missing; corpus tokens needs the number of its tokenizer's words, "
        "50257 for GPT-2's",
    ),
    "tokens: lines": (
        TOKENS + "sequences: lines\n",
        "sweep.yaml:5:12: sequences: corpus tokens has stream alone: a file of tokens does not say where lines end",
    ),
    "tokens: lines on an axis": (
        TOKENS + "sequences: [stream, lines]\n",
        "sweep.yaml:5:21: sequences: corpus tokens has stream alone: a file of tokens does not say where lines end",
    ),
    "tokens: corpus_seed": (TOKENS + "corpus_seed: 1\n", "sweep.yaml:5:14: corpus_seed: corpus tokens does not use it"),
    "tokens: a list of texts": (
        "corpus: tokens\nvocabulary: 100\nsteps: 1\ntrain_text: [a, b]\n",
        "sweep.yaml:4:13: train_text: corpus tokens takes one path, not a list",
    ),
    "text: a list of texts": (
        "steps: 1\ntrain_text: [a, b]\n",
        "sweep.yaml:2:13: train_text: corpus text takes one path, not a list",
    ),
    "text: a list of validation texts": (
        "steps: 1\ntrain_text: a\nvalid_text: [a, b]\n",
        "sweep.yaml:3:13: valid_text: corpus text takes one path, not a list",
    ),
    # pairs
    "pairs: one path": (
        "corpus: pairs\nnetwork: encoder_decoder\nsteps: 1\ntrain_text: a\n",
        "sweep.yaml:4:13: train_text: corpus pairs takes two paths, [source, target]",
    ),
    "pairs: one path for validation": (
        PAIRS + "valid_text: a\n",
        "sweep.yaml:6:13: valid_text: corpus pairs takes two paths, [source, target]",
    ),
    "pairs: one path by --set": (
        PAIRS,
        "--set train_text: corpus pairs takes two paths, [source, target]",
        ["train_text=t"],
    ),
    "pairs: three paths": (
        "corpus: pairs\nsteps: 1\ntrain_text: [a, b, c]\n",
        "sweep.yaml:3:13: train_text: takes one path or, for corpus pairs, two: [source, target]",
    ),
    "pairs: an empty path": (
        "corpus: pairs\nsteps: 1\ntrain_text: [a, '']\n",
        "sweep.yaml:3:17: train_text: an empty path",
    ),
    "pairs: a range": (
        "corpus: pairs\nsteps: 1\ntrain_text: {range: [1, 2]}\n",
        "sweep.yaml:3:13: train_text: takes one value, not a mapping",
    ),
    "pairs: no text": (
        "corpus: pairs\nsteps: 1\n",
        "sweep.yaml:1:9: train_text: missing; corpus pairs needs [source, target]",
    ),
    "pairs: no such source": (PAIRS, "sweep.yaml:5:13: train_text: s: No such file or directory"),
    "pairs: no such target": (
        PAIRS, "sweep.yaml:5:13: train_text: t: No such file or directory", [], {"s": SOURCE}),
    "pairs: other numbers of lines": (
        PAIRS,
        "sweep.yaml:5:13: train_text: t: 3 lines, but s has 4; line n of one translates line n of the other",
        [], {"s": SOURCE + b"vier\n", "t": TARGET},
    ),
    "pairs: other numbers of validation lines": (
        PAIRS + "valid_text: [t, s]\n",
        "--set valid_text: v: 1 line, but s has 3; line n of one translates line n of the other",
        ["valid_text=[s, v]"], {"s": SOURCE, "t": TARGET, "v": b"two\n"},
    ),
    "pairs: a word outside the vocabulary": (
        PAIRS + "valid_text: [s, v]\n",
        "sweep.yaml:6:13: valid_text: v:2: 'tow' is not in the training text, which has no <unk>; "
        "set min_count: 2 to make rare words <unk>",
        [], {"s": SOURCE, "t": TARGET, "v": b"two\ntow\nthree\n"},
    ),
    "pairs: all words are rare": (
        PAIRS + "min_count: 3\n",
        "sweep.yaml:6:12: min_count: 3 is above 2, the count of the most frequent word",
        [], {"s": SOURCE, "t": b"a house\nzwei two\nthree\n"},
    ),
    "pairs: counts on an axis": (
        PAIRS + "min_count: [1, 2]\n", "sweep.yaml:6:12: min_count: takes one value, not a list"),
    "pairs: a count of 0": (PAIRS + "min_count: 0\n", "sweep.yaml:6:12: min_count: 0 is below 1"),
    "tokens: min_count": (TOKENS + "min_count: 2\n", "sweep.yaml:5:12: min_count: corpus tokens does not use it"),
    "pairs: a NUL in the source": (
        PAIRS, "sweep.yaml:5:13: train_text: s:2: a NUL byte: this is not a text", [],
        {"s": b"a\n\0\nb\n", "t": TARGET},
    ),
    "pairs: fewer than a batch": (
        PAIRS.replace("batch: 2", "batch: 3"),
        "sweep.yaml:5:13: train_text: t: 2 pairs, fewer than one batch of 3",
        [], {"s": SOURCE, "t": b"a house\n \nthree\n"},
    ),
    "pairs: none to validate": (
        PAIRS + "valid_text: [s, v]\n",
        "sweep.yaml:6:13: valid_text: v: only white space, no words",
        [], {"s": SOURCE, "t": TARGET, "v": b"\n\n\n"},
    ),
    "pairs: sequences": (PAIRS + "sequences: lines\n", "sweep.yaml:6:12: sequences: corpus pairs does not use it"),
    "pairs: a decoder": (
        PAIRS.replace("network: encoder_decoder\n", ""),
        "sweep.yaml:1:9: network: corpus pairs needs encoder_decoder",
    ),
    "pairs: masked": (PAIRS + "objective: masked\n", "sweep.yaml:6:12: objective: corpus pairs has next alone"),
    # modular
    "modular: one number": (
        MODULAR + "vocabulary: 2\n",
        "sweep.yaml:3:13: vocabulary: 2 is below 3: modular has p numbers and '=', and p is at least 2",
    ),
    "modular: too many sums": (
        MODULAR + "vocabulary: 5000\n",
        "sweep.yaml:3:13: vocabulary: 5000 is above 4097: modular has p numbers and '=', and holds all p^2 sums",
    ),
    "modular: context": (
        MODULAR + "context: 2\n", "sweep.yaml:3:10: context: 2 is below 3, the tokens of a sum: a, b and ="),
    "modular: sequences": (
        MODULAR + "sequences: lines\n", "sweep.yaml:3:12: sequences: corpus modular does not use it"),
    "modular: corpus_tokens": (
        MODULAR + "corpus_tokens: 9\n", "sweep.yaml:3:16: corpus_tokens: corpus modular does not use it"),
    "modular: train_text": (MODULAR + "train_text: t\n", "sweep.yaml:3:13: train_text: corpus modular does not use it"),
    "modular: a share of 1": (MODULAR + "train_share: 1\n", "sweep.yaml:3:14: train_share: 1 is not below 1"),
    "modular: shares on an axis": (
        MODULAR + "train_share: [0.3, 0.5]\n", "sweep.yaml:3:14: train_share: takes one value, not a list"),
    "modular: fewer than a batch": (
        MODULAR + "vocabulary: 8\ntrain_share: 0.1\n",
        "sweep.yaml:4:14: train_share: modular: 5 sums, fewer than one batch of 16",
    ),
    "train_share with text": (
        TEXT + "train_share: 0.5\n", "sweep.yaml:4:14: train_share: corpus bytes does not use it"),
    # objectives
    "spans of a context of 2": (
        TEXT + "network: encoder_decoder\nobjective: spans\ncontext: 2\n",
        "sweep.yaml:6:10: context: 2 is below 3, which a span takes: its sentinel, a token and <eos>",
    ),
    "spans with a decoder": (
        TEXT + "objective: spans\n", "sweep.yaml:4:12: objective: spans needs network encoder_decoder, not decoder"),
    "decoder layers of a decoder": (
        TEXT + "decoder_layers: [0, 3]\n",
        "sweep.yaml:4:17: decoder_layers: has no effect: no cell has network encoder_decoder"),
    "deviation of another init": (
        TEXT + "init_deviation: 0.1\n", "sweep.yaml:4:17: init_deviation: has no effect: no cell has init normal"),
    "base width without mup": (
        TEXT + "base_width: 32\n",
        "sweep.yaml:4:13: base_width: has no effect: no cell has parametrization mup"),
    "mup without a base width": (
        TEXT + "parametrization: [standard, mup]\n",
        "sweep.yaml:4:29: base_width: missing; parametrization mup needs the width at which it changes no rate"),
    "mup of unscaled scores": (
        TEXT + "parametrization: mup\nbase_width: 32\nscore_scale: none\n",
        "sweep.yaml:6:14: score_scale: parametrization mup divides scores by the width of a head; none does not go "
        "with it"),
    "mup with sgd": (
        TEXT + "parametrization: mup\nbase_width: 32\noptimiser: [adamw, sgd]\n",
        "sweep.yaml:6:20: optimiser: parametrization mup has rates for adamw, adam and lion alone; those of sgd depend "
        "on width otherwise"),
    "mup with muon": (
        TEXT + "parametrization: mup\nbase_width: 32\noptimiser: muon\n",
        "sweep.yaml:6:12: optimiser: parametrization mup has rates for adamw, adam and lion alone; those of muon "
        "depend on width otherwise"),
    "z_loss below 0": (TEXT + "z_loss: -1\n", "sweep.yaml:4:9: z_loss: -1 is below 0"),
    "masked with a decoder": (
        TEXT + "objective: masked\n", "sweep.yaml:4:12: objective: masked needs network encoder, not decoder"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path):
    check_refused(tmp_path, *CASES[name])


VALID = {
    "llm.c's tokens": (TOKENS, [], {"t.bin": token_file(GOOD)}),
    "bare tokens": (TOKENS + "valid_text: t.bin\n", [], {"t.bin": bare(GOOD)}),
    "pairs": (PAIRS + "valid_text: [t, s]\n", ["valid_text=null"], {"s": SOURCE, "t": TARGET}),
    "pairs by --set": (
        PAIRS, ["train_text=[t, s]", "valid_text=[t, s]"], {"s": SOURCE, "t": TARGET}),
    "a thousand and one words": (MODULAR + "vocabulary: 1001\ncontext: 3\n", [], {}),
    "modular with an encoder": (MODULAR + "network: encoder\n", [], {}),
}


@pytest.mark.parametrize("name", VALID)
def test_valid(name, tmp_path):
    text, settings, files = VALID[name]
    done = check(tmp_path, text, settings, files)
    assert (done.stdout, done.stderr) == (b"sweep.yaml: valid: 1 cell\n", b"")
