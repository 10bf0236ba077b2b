"""Sweep files that are refused because of large or binary files, and what needs a process of its own; the table in
test_refused.c has all others."""

import os
import struct
import subprocess

import pytest
from conftest import NORMSWEEP
from refused import BASE, check, check_refused


def words(count):
    return b"a b c d\n" * (count // 4)


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


def of_tokens(content, line):
    return TOKENS, f"sweep.yaml:4:13: train_text: t.bin: {line}", [], {"t.bin": content}

WORDS = "train_text: t.txt\nsteps: 10\n"
IS_UTF_16 = "sweep.yaml:1:1: is UTF-16 and not UTF-8; save it as UTF-8"


# name: (text of sweep.yaml, the line, settings, other files)
CASES = {
    "UTF-16": ("corpus: markov\n".encode("utf-16"), IS_UTF_16),
    "UTF-16 without a mark": ("corpus: markov\n".encode("utf-16-le"), IS_UTF_16),
    "UTF-16 of the other order": ("# \u6f22\n".encode("utf-16-be"), IS_UTF_16),
    "NUL": (BASE.encode() + b"title: a\0b\n", "sweep.yaml:3:9: YAML: control characters are not allowed"),
    "very deep": (BASE + "skip: " + "[" * 100000 + "\n", "sweep.yaml:3:22: nested too deeply"),
    "too large": (BASE + "# " + "x" * (1 << 20) + "\n", "sweep.yaml:1:1: larger than 1048576 bytes"),
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
    "a NumPy file": of_tokens(
        b"\x93NUMPY\x01\x00" + bytes(4000),
        "a NumPy file with a header; write the array by tofile(), which writes the tokens alone"),
    "too few tokens": of_tokens(bare(GOOD[:640]), "9 sequences of 64 tokens, fewer than one batch of 16"),
    "tokens: valid_text": (
        TOKENS + "valid_text: v.bin\n",
        "sweep.yaml:5:13: valid_text: v.bin: token 101 at byte 0 is not below vocabulary 100", [],
        {"t.bin": token_file(GOOD), "v.bin": bare([101, 102])}),
    "text shorter in one cell": (
        WORDS + "batch: [16, 32]\n",
        "sweep.yaml:1:13: train_text: t.txt: 23 sequences of 64 tokens, fewer than one batch of 32",
        [], {"t.txt": words(1200)}),
    "valid_text shorter than a window": (
        WORDS + "valid_text: v.txt\n",
        "sweep.yaml:3:13: valid_text: v.txt: 0 sequences of 64 tokens", [],
        {"t.txt": words(4000), "v.txt": words(40)}),
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
    "an every that meets a measured step": (
        BASE + "measure: {steps: [0, 2, 5, 8], metrics: [hessian]}\nhessian: {every: 4}\n", [], {}),
    "a byte order mark": (b"\xef\xbb\xbf" + BASE.encode(), [], {}),
}


@pytest.mark.parametrize("text, settings, files", VALID.values(), ids=VALID)
def test_valid(tmp_path, text, settings, files):
    done = check(tmp_path, text, settings, files)
    assert (done.stdout, done.stderr) == (b"sweep.yaml: valid: 1 cell\n", b"")


def test_sweep_file_that_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    for name, options in (("pipe.yaml", {}), ("/dev/stdin", {"input": b"steps: 10\n"}), ("/dev/zero", {})):
        done = subprocess.run([NORMSWEEP, "check", name], cwd=tmp_path, capture_output=True, timeout=600, **options)
        assert done.stderr.decode() == f"{name}:1:1: not a regular file\n" and done.returncode == 2

