"""Checks once, when a dataset is opened, that normsweep wrote it; all other code relies on this.

A CDF-5 file has to be as long as its header says. The netCDF library reads zeros beyond the end of a file, and outcome
0 means pending: without this check, a file that was cut short would look like a sweep that has not begun. The grammar
is in "The CDF-5 file format" of netCDF's documentation: big-endian numbers; each list is a tag, a count and its
elements; names and values are padded to 4 bytes.
"""

from __future__ import annotations

import math
import os
import stat
import struct
from collections.abc import Hashable, Iterable
from typing import BinaryIO

import numpy as np
import xarray as xr

from .hints import Path
from .names import FITTED, FLAGS, NUMBERS, OF_RUNS, OUTCOMES, SESSION, SESSION_NUMBERS, SESSIONS, TEXTS

MAGIC = b"CDF\x05"
ABSENT, DIMENSIONS, VARIABLES, ATTRIBUTES = 0, 10, 11, 12  # tags of lists
NAME = 256  # bytes of the longest name
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}  # bytes of a value, by type
KINDS = {FLAGS: "integers", NUMBERS: "numbers", TEXTS: "texts"}


class NotASweep(ValueError):
    """The file or dataset is not from normsweep, or another program has changed it."""


def check_file(path: Path) -> None:
    """Raises NotASweep unless the file is a regular one, and as long as its header says. Opening a pipe could block for
    ever."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        mode = os.fstat(handle).st_mode
    finally:
        os.close(handle)
    if stat.S_ISDIR(mode):
        open(path, "rb").close()  # raises an OSError that says so
    if not stat.S_ISREG(mode):
        raise NotASweep(f"{path}: not a regular file")
    try:
        check_length(path)
    except EOFError:
        raise NotASweep(f"{path}: is cut short at {os.path.getsize(path)} bytes") from None
    except ValueError:
        raise NotASweep(f"{path}: not a normsweep dataset") from None


def check_variables(dataset: xr.Dataset, path: Path) -> None:
    """Raises NotASweep unless the variables of runs and sessions have the types and dimensions of every sweep."""
    for name, kinds in (OF_RUNS | FITTED).items():
        if name in dataset.variables:
            check(dataset, path, name, kinds, dataset["outcome"].dims)
    for name in map(str, dataset.variables):
        if name.startswith(SESSION):
            check(dataset, path, name, NUMBERS if name in SESSION_NUMBERS else TEXTS, (SESSIONS,))
    if dataset["outcome"].attrs["flag_meanings"].split() != list(OUTCOMES):
        raise altered(path, "the words of outcome are not " + " ".join(OUTCOMES))


def check(dataset: xr.Dataset, path: Path, name: str, kinds: str, dims: Iterable[Hashable]) -> None:
    variable = dataset[name]
    if variable.dtype.kind not in kinds:
        raise altered(path, f"{name} has type {variable.dtype}, not {KINDS[kinds]}")
    if set(variable.dims) != set(dims):
        raise altered(path, f"{name} has dimensions ({', '.join(map(str, variable.dims))}), not "
                            f"({', '.join(map(str, dims))})")
    if kinds == FLAGS and not has_words(variable):
        raise altered(path, f"{name} has no flag_meanings for its flag_values")


def altered(path: Path, what: str) -> NotASweep:
    return NotASweep(f"{path}: {what}; normsweep did not write this")


def has_words(variable: xr.DataArray) -> bool:
    """True for a variable of flags with a word for each value."""
    meanings, values = variable.attrs.get("flag_meanings"), variable.attrs.get("flag_values")
    return isinstance(meanings, str) and values is not None and len(meanings.split()) == np.size(values)


# ---- the length of a file ----

def check_length(path: Path) -> None:
    """Raises EOFError for a CDF-5 file that ends before its header or its values do, and ValueError for one whose
    header no program writes. Files of other formats pass."""
    with open(path, "rb") as file:
        if file.read(4) != MAGIC:
            return
        ends = [begin + length for begin, length in extents(file).values()]
    if max(ends, default=0) > os.path.getsize(path):
        raise EOFError


def extents(file: BinaryIO) -> dict[str, tuple[int, int]]:
    """{variable: (begin, bytes)} of an open file, positioned after the magic number."""
    header = Header(file)
    header.take(8)  # the number of records: a dataset has no record dimension
    lengths = [header.dimension() for _ in header.elements(DIMENSIONS)]
    header.attributes()
    return dict(header.variable(lengths) for _ in header.elements(VARIABLES))


class Header:
    """Reads the elements of a header one after the other. Raises EOFError where the file ends inside an element, and
    ValueError for a number that cannot stand there."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = os.fstat(file.fileno()).st_size

    def take(self, size: int) -> bytes:
        """The next bytes, without the padding after them."""
        padded = -(-size // 4) * 4
        if padded > self.size - self.file.tell():
            raise EOFError
        return self.file.read(padded)[:size]

    def number(self, form: str = ">q", least: int = 0, most: float = math.inf) -> int:
        found: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        if not least <= found <= most:
            raise ValueError
        return found

    def elements(self, tag: int) -> range:
        """A number for each element of the list that begins here."""
        found, count = self.number(">i"), self.number()
        if found != tag and (found, count) != (ABSENT, 0):
            raise ValueError
        return range(count)

    def name(self) -> str:
        """A name. It may not be UTF-8: that is another fault than this module looks for."""
        return self.take(self.number(least=1, most=NAME)).decode(errors="surrogateescape")

    def type_size(self) -> int:
        return SIZES[self.number(">i", min(SIZES), max(SIZES))]

    def dimension(self) -> int:
        self.name()
        return self.number()

    def attributes(self) -> None:
        for _ in self.elements(ATTRIBUTES):
            self.name()
            size = self.type_size()
            self.take(size * self.number())

    def variable(self, lengths: list[int]) -> tuple[str, tuple[int, int]]:
        name = self.name()
        values = math.prod(lengths[self.number(most=len(lengths) - 1)] for _ in range(self.number()))
        self.attributes()
        size = self.type_size()
        self.take(8)  # the padded size, which follows from the shape
        return name, (self.number(), values * size)
