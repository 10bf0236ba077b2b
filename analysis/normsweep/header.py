"""Whether a CDF-5 file is as long as its header says.

The netCDF library reads zeros beyond the end of a file, and outcome 0 means pending: without this check, a file that
was cut short would look like a sweep that has not begun.

The grammar is in "The CDF-5 file format" of netCDF's documentation: big-endian numbers; each list is a tag, a count
and its elements; names and values are padded to 4 bytes.
"""

from __future__ import annotations

import math
import os
import struct
from typing import BinaryIO

from .hints import Path

MAGIC = b"CDF\x05"
ABSENT, DIMENSIONS, VARIABLES, ATTRIBUTES = 0, 10, 11, 12  # tags of lists
NAME = 256  # bytes of the longest name
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}  # bytes of a value, by type


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
