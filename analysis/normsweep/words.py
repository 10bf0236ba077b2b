"""Numbers, values and times as people read them."""

import numbers

THIN_SPACE, MINUS = "\N{THIN SPACE}", "\N{MINUS SIGN}"


def number(value, digits=4):
    """A number for a table: whole ones and thousands in full, others in some digits; "–" where there is none."""
    if value != value:
        return "–"
    if isinstance(value, numbers.Integral) or 1000 <= abs(value) < 1e9 or value == 0:
        return grouped(round(value))
    mantissa, e, exponent = f"{value:.{digits}g}".partition("e")
    return mantissa.replace("-", MINUS) + (f"e{int(exponent)}" if e else "")


def grouped(whole):
    """A whole number with a thin space between thousands, from five digits on."""
    return (f"{whole:,}" if abs(whole) >= 10_000 else str(whole)).replace(",", THIN_SPACE).replace("-", MINUS)


def several(count, word):
    """1 run, 2 runs."""
    return f"{grouped(count)} {word}" + ("" if count == 1 else "s")


def value_text(value):
    """A value of an axis as the sweep file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def duration(seconds):
    """Seconds in the largest unit of which there are two."""
    for name, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {name}"
    return f"{seconds:.3g} s"
