"""The documents of the project, taken apart: what they have a reader run, and where their links lead."""

import dataclasses
import re

from conftest import PROJECT

DOCS = PROJECT / "docs"
PAGES = [PROJECT / "README.md", *sorted(DOCS.rglob("*.md"))]
MANUAL = DOCS / "normsweep.1"

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
SAVED_AS = re.compile(r"Save this as\s`([\w.-]+\.yaml)`")


@dataclasses.dataclass
class Block:
    """A fenced block: its language, its text, its line in the file, and what the text before has it saved as."""
    language: str
    text: str
    line: int
    name: str | None = None


def blocks(path):
    text = path.read_text()
    found = []
    for match in BLOCK.finditer(text):
        before = text[:match.start()].rstrip().split("\n\n")[-1]
        name = SAVED_AS.search(before)
        found.append(Block(match[1], match[2], text.count("\n", 0, match.start()) + 1, name and name[1]))
    return found


def manual_blocks(path=MANUAL):
    """The displays of a man page, by what they hold."""
    text = path.read_text()
    found = []
    for match in re.finditer(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", text, re.M | re.S):
        shown = match[1].replace("\\e", "\\")
        program = shown.startswith(("normsweep ", "analysis/"))
        language = "python" if shown.startswith("import ") else "sh" if program else "yaml"
        found.append(Block(language, shown, text.count("\n", 0, match.start()) + 1))
    return found


def commands(text):
    """The commands of a block, one a line but for lines that a backslash joins; comments of their own left out."""
    lines = re.sub(r"\\\n *", "", text).splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def outside_blocks(text):
    return BLOCK.sub("", text)


def anchors(path):
    """Where a link into the file can lead, as GitHub names headings."""
    headings = re.findall(r"^#+ (.*)$", outside_blocks(path.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(path):
    return re.findall(r"\]\(([^)\s]+)\)", outside_blocks(path.read_text()))
