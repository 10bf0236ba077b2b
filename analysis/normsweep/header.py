"""Whether a CDF-5 file is complete, from its header.

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
NAME = 256  # bytes of the longest name
SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}  # bytes of a value, by type


def is_whole(path: Path) -> bool:
    """False for a CDF-5 file that ends before its header or its values do."""
    with open(path, "rb") as file:
        if file.read(4) != MAGIC:
            return True
        try:
            ends = [begin + length for begin, length in extents(file).values()]
        except (struct.error, KeyError, IndexError, OverflowError, UnicodeDecodeError):
            return False
    return max(ends, default=0) <= os.path.getsize(path)


def extents(file: BinaryIO) -> dict[str, tuple[int, int]]:
    """{variable: (begin, bytes)} of an open file, positioned after the magic number."""
    header = Header(file)
    header.number()  # number of records: a dataset has no record dimension
    lengths = [header.dimension() for _ in range(header.count())]
    header.attributes()
    return dict(header.variable(lengths) for _ in range(header.count()))


class Header:
    """Reads the elements of a header one after the other."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def number(self, form: str = ">q") -> int:
        return struct.unpack(form, self.file.read(struct.calcsize(form)))[0]

    def count(self) -> int:
        """The number of elements of the list that begins here."""
        self.number(">i")
        return self.number()

    def skip(self, size: int) -> None:
        """Skips values and the padding after them."""
        if size < 0:
            raise OverflowError
        self.file.seek(-(-size // 4) * 4, os.SEEK_CUR)

    def name(self) -> str:
        length = self.number()
        if not 0 < length <= NAME:
            raise OverflowError
        return self.file.read(-(-length // 4) * 4)[:length].decode()

    def dimension(self) -> int:
        self.name()
        return self.number()

    def attributes(self) -> None:
        for _ in range(self.count()):
            self.name()
            size = SIZES[self.number(">i")]
            self.skip(size * self.number())

    def variable(self, lengths: list[int]) -> tuple[str, tuple[int, int]]:
        name = self.name()
        values = math.prod(lengths[self.number()] for _ in range(self.number()))
        self.attributes()
        size = SIZES[self.number(">i")]
        self.number()  # the padded size, which follows from the shape
        return name, (self.number(), values * size)
