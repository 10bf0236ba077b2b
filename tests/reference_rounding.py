"""Weights that are kept in bfloat16, in numpy and float64: numbers are counted in units of their own size, and draws
come from tests/draws.py's generator, written for whole arrays."""
import numpy as np

import draws

STEP, ROUNDING = 15, 16  # purposes
BITS = 8  # of a significand, the first one included
SMALLEST = -126  # exponent of the smallest normal number; below, all have its unit
LARGEST = 2.0**128 - 2.0**119  # the largest finite bfloat16


def units(x):
    """The distance of neighbours in bfloat16 around each number."""
    exponent = np.frexp(x)[1] - 1
    return np.ldexp(1.0, np.maximum(exponent, SMALLEST) - (BITS - 1))


def finite_or_not(x):
    return np.where(np.abs(x) > LARGEST, np.copysign(np.inf, x), x)


def nearest(x):
    """To even where both neighbours are equally near."""
    unit = units(x)
    return finite_or_not(np.rint(x / unit) * unit)


def by_chance(x, numbers):
    """Away from 0 if the share of a unit that is to be cut, in 2^-16, and a number of 16 bits make a whole one."""
    unit = units(x)
    return np.copysign(finite_or_not(np.floor(np.abs(x) / unit + (numbers + 0.5) / 2**16) * unit), x)


def blocks(seed, purpose, count, high=0):
    """The four words of the first `count` blocks of Philox4x32-10, as draws.bits has the first two; `high` is the upper
    word of their indices."""
    words = [np.arange(count, dtype=np.uint64), np.full(count, high, np.uint64), np.full(count, purpose, np.uint64),
             np.zeros(count, np.uint64)]
    mask, keys = np.uint64(draws.WORD), [seed & draws.WORD, seed >> 32]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        words = [(second >> np.uint64(32)) ^ words[1] ^ np.uint64(keys[0]), second & mask,
                 (first >> np.uint64(32)) ^ words[3] ^ np.uint64(keys[1]), first & mask]
        keys = [(keys[0] + 0x9E3779B9) & draws.WORD, (keys[1] + 0xBB67AE85) & draws.WORD]
    return words


def numbers_of(seed, step, count):
    """The 16 random bits of each weight in a step. 128 weights share 16 blocks: 32 of them have the lower halves of the
    words 1 and 0 of each block in turn, the next 32 the upper halves, and so on with the words 3 and 2."""
    groups = -(-count // 128)
    words = blocks(draws.bits(seed % 2**64, STEP, step), ROUNDING, 16 * groups)
    pairs = [np.stack([words[1], words[0]], -1), np.stack([words[3], words[2]], -1)]
    rows = [(pair.reshape(groups, 32) >> np.uint64(shift)) & np.uint64(0xffff) for pair in pairs for shift in (0, 16)]
    return np.stack(rows, 1).ravel()[:count].astype(float)


def rounded(plane, config, step):
    """The plane of weights as a step leaves them."""
    kept = config.get("weights", "float")
    if kept == "float":
        return plane
    return nearest(plane) if kept == "bfloat16" else by_chance(plane, numbers_of(config["seed"], step, len(plane)))
