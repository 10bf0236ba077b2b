"""How often the 95 % interval at which `refine: {seeds: ...}` stops covers the mean: values are drawn from a normal
distribution, and after each seed from the least on the interval is looked at. Prints a row for each width, which is in
standard deviations of a value.

seeds_coverage.py [LEAST] [MOST] [AT_ONCE] [TRIALS]   (default: 3 10 1 1000000)
"""

import sys

import numpy as np

from normsweep.significance import student_quantile

WIDTHS = (0.5, 1, 1.5, 2, 3, 4, 6)


def play(value, width, least, most, at_once):
    """(does the last interval cover 0, seeds, is it as narrow as it has to be) of each row of values."""
    count = len(value)
    covers, narrow, seeds = np.zeros(count, bool), np.zeros(count, bool), np.zeros(count, int)
    open_, n = np.arange(count), least
    while len(open_):
        sample = value[open_, :n]
        half = student_quantile(n - 1) * sample.std(axis=1, ddof=1) / np.sqrt(n)
        ends = (2 * half <= width) | (n == most)
        ended = open_[ends]
        covers[ended] = (np.abs(sample.mean(axis=1)) <= half)[ends]
        narrow[ended] = (2 * half <= width)[ends]
        seeds[ended] = n
        open_, n = open_[~ends], min(n + at_once, most)
    return covers, seeds, narrow


def main():
    given = [int(word) for word in sys.argv[1:]]
    least, most, at_once, trials = given + [3, 10, 1, 1000000][len(given):]
    value = np.random.default_rng(1).standard_normal((trials, most))
    print("| width | covers | seeds | narrow | covers if narrow |\n|---|---|---|---|---|")
    for width in WIDTHS:
        covers, seeds, narrow = play(value, width, least, most, at_once)
        print(f"| {width:g} | {covers.mean():.1%} | {seeds.mean():.1f} | {narrow.mean():.0%} "
              f"| {covers[narrow].mean():.1%} |")


if __name__ == "__main__":
    main()
