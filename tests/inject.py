#!/usr/bin/env python3
"""Lets every call of the program fail once: each write, sync, rename, open and so on of dataset, checkpoints and lease,
and the first allocation from each call stack (--every: each allocation), of the program and of the libraries it calls.
Each time the program must say so in one line, leave nothing behind, lose nothing, and the same command must then end
with the same bits. With --lasting all calls that follow fail, too: a disk that stays full. On a program built with
VARIANT=san a leak is a fault. `make check-thorough` does the same with a few of the calls (test_injected.py).

inject.py [CASE...] [-f FAMILY] [--every | --distinct] [--lasting]
"""

import argparse
import collections
import pathlib
import sys
import tempfile

import injected


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("case", nargs="*", help=", ".join(case.name for case in injected.CASES))
    parser.add_argument("-f", "--family", action="append", choices=injected.FAMILIES)
    parser.add_argument("-e", "--every", action="store_true", help="every allocation (hours)")
    parser.add_argument("-d", "--distinct", action="store_true", help="of files, too, the first call from each stack")
    parser.add_argument("--lasting", action="store_true", help="all calls that follow fail, too")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every failure")
    given = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        injector = injected.Injector(pathlib.Path(folder) / "injector")
        for case in injected.CASES:
            if given.case and case.name not in given.case:
                continue
            bench = injected.Bench(injector, pathlib.Path(folder), case.name)
            for family in given.family or injected.FAMILIES:
                statuses, wrongs = collections.Counter(), collections.Counter()
                distinct = given.distinct or (family in injected.ALLOCATIONS and not given.every)
                for at, done, wrong in bench.try_all(family, distinct, given.lasting):
                    statuses[done.status] += 1
                    if given.verbose:
                        print(f"    {at} {done.place}: {done.status} {done.err.strip()!r}", flush=True)
                    for line in wrong:
                        wrongs[line] += 1
                        if wrongs[line] <= 5 or given.verbose:
                            print(f"  {case.name} {family} {at} {done.place}: {line}", flush=True)
                    faults += bool(wrong)
                told = ", ".join(f"{count} with status {status}" for status, count in sorted(statuses.items(), key=str))
                print(f"{case.name:9}{family:7} {statuses.total():5} failures: {told or 'none'}", flush=True)
    print(f"{faults} faults")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
