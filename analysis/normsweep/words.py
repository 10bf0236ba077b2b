"""Numbers, values and durations as text for people."""

from __future__ import annotations

import numbers
import re
from collections.abc import Sequence

from .hints import Array

# Controls, separators of lines and paragraphs, what changes the direction of the text after it, and halves of letters.
HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
THIN_SPACE, MINUS = "\N{THIN SPACE}", "\N{MINUS SIGN}"


def number(value: float, digits: int = 4) -> str:
    """A number for a table: integers and thousands in full, others with `digits` digits; "–" for NaN."""
    if value != value:
        return "–"
    if isinstance(value, numbers.Integral) or 1000 <= abs(value) < 1e9 or value == 0:
        return grouped(round(value))
    mantissa, e, exponent = f"{value:.{digits}g}".partition("e")
    return mantissa.replace("-", MINUS) + (f"e{int(exponent)}" if e else "")


def fixed(value: float, digits: int = 2) -> str:
    """A number with so many digits after the point, and no -0.00."""
    return f"{round(float(value), digits) + 0:.{digits}f}".replace("-", MINUS)


def grouped(whole: int) -> str:
    """An integer with thin spaces between thousands, from five digits on."""
    return (f"{whole:,}" if abs(whole) >= 10_000 else str(whole)).replace(",", THIN_SPACE).replace("-", MINUS)


def shown(text: object, kept: str = "\n\t") -> str:
    """A text from a dataset, with an escape such as \\u202e for each letter that would be hidden, unless it is kept."""
    return HIDDEN.sub(lambda found: found[0] if found[0] in kept else ascii(found[0])[1:-1], str(text))


def texts(values: Array) -> Array:
    """Texts of fixed length, from texts of any of numpy's kinds; the newest kind, which Zarr has, is not cast to it."""
    return (values.astype(object) if values.dtype.kind == "T" else values).astype(str)


def several(count: int, word: str) -> str:
    """"1 run", "2 runs"."""
    return f"{grouped(count)} {word}" + ("" if count == 1 else "s")


def value_text(value: object) -> str:
    """A value of an axis as a sweep file would have it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def duration(seconds: float) -> str:
    """Seconds in the largest unit that gives at least 2."""
    for name, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {name}"
    return f"{seconds:.3g} s"


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Lines of columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join(word.ljust(width) if i == 0 else word.rjust(width)
                               for i, (word, width) in enumerate(zip(line, widths))).rstrip() for line in lines)
