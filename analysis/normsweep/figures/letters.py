"""How wide a text is when it is drawn, so that lines are broken where they have to be."""

import functools
import re

from matplotlib import ft2font
from matplotlib.font_manager import findfont, get_font

FAMILY = "DejaVu Sans"  # comes with matplotlib
SIZE = 8  # points
# matplotlib 3.10 has it in LoadFlags, and 3.12 there alone.
NO_HINTING = ft2font.LoadFlags.NO_HINTING if hasattr(ft2font, "LoadFlags") else getattr(ft2font, "LOAD_NO_HINTING")
FORMULA = re.compile(r"\\[a-zA-Z]+|[\\{}$]")


@functools.lru_cache(maxsize=None)
def advance(letter):
    """The width of a letter, in units of the font's size."""
    font = get_font(findfont(FAMILY))
    font.set_size(100, 72)
    return font.load_char(ord(letter), flags=NO_HINTING).linearHoriAdvance / 65536 / 100


def inches(text, size=SIZE):
    """The width of a line of text; of a formula, about."""
    if text.count("$") > 1:
        text = FORMULA.sub("", text)
    return sum(map(advance, text)) * size / 72


def wrap(text, width, size=SIZE):
    """The text in lines of at most `width` inches, broken between words, and within a word that has no room alone."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}".strip()
            if inches(longer, size) <= width:
                line = longer
                continue
            lines += [line] * bool(line)
            *full, line = pieces(word, width, size)
            lines += full
        lines.append(line)
    return lines


def pieces(word, width, size):
    """A word cut into pieces of at most `width` inches; of one letter at least."""
    found = [""]
    for letter in word:
        if found[-1] and inches(found[-1] + letter, size) > width:
            found.append("")
        found[-1] += letter
    return found


def at_commas(text, width, size=SIZE):
    """The text in lines that end at its commas where possible, and between words where that is not enough."""
    found = []
    for part in text.split(", "):
        if found and inches(f"{found[-1]}, {part}", size) <= width:
            found[-1] += ", " + part
        else:
            found = [*found[:-1], found[-1] + ",", part] if found else [part]
    return [line for part in found for line in wrap(part, width, size)]
