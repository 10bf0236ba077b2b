"""Self-contained HTML pages: elements with escaped texts, tables, and the style of a page.

A page loads nothing, except its newer self while it is rewritten, and its content security policy forbids it: texts of
a dataset are shown literally, whatever they contain, and no script but the page's own runs.
"""

import base64
import hashlib
import html
import numbers

from .page_script import SCRIPT
from .page_style import STYLE
from .words import number, shown, value_text

POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'"
ITSELF = "; connect-src 'self'; frame-src 'self' file:"  # what a page that is rewritten may load
ICON = ("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%23542788' "
        "d='M0 0h16v16H0z'/%3E%3Cpath fill='%23e08214' d='M0 7l16-4v13H0z'/%3E%3C/svg%3E")  # a small phase diagram
LONG = 30  # letters above which a text may be broken into lines
EMPTY = ("meta", "link", "img", "br", "wbr")  # elements without an end tag


class Html(str):
    """A text that is HTML already. Every other text is escaped when it becomes part of an element."""


def escape(text):
    return html.escape(shown(text))


def element(name, /, *children, **attributes):
    """An element. Children that are None are left out. Attribute names have _ for -, and a final _ if they are Python
    keywords."""
    words = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
                    for key, value in attributes.items())
    if name in EMPTY:
        return Html(f"<{name}{words}>")
    return Html(f"<{name}{words}>{join(children)}</{name}>")


def join(children):
    return Html("".join(child if isinstance(child, Html) else escape(child)
                        for child in children if child is not None))


def is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def cell(value):
    """A cell of a table: numbers to the right, texts to the left."""
    if is_number(value):
        return element("td", number(value), class_="number")
    if isinstance(value, Html):
        return element("td", value)
    text = value_text(value)
    return element("td", text, **({"class_": "text"} if len(text) > LONG else {}))


def breakable(name):
    """A name that may be broken into lines after each underscore, and is copied without the breaks."""
    first, *others = name.split("_")
    return join([first, *(Html(f"_<wbr>{escape(part)}") for part in others)])


def table(columns, rows, note=None, most=None, count=None):
    """A table and a note below it. At most the first `most` rows are shown, and the note says so. count: the number of
    all rows, if `rows` has only some of them."""
    rows = list(rows)
    shown = rows[:most]
    count = count or len(rows)
    if len(shown) < count:
        note = f"The first {len(shown)} of {number(count)}." + (f" {note}" if note else "")
    right = [{"class_": "number"} if shown and all(is_number(row[i]) for row in shown) else {}
             for i in range(len(columns))]
    head = element("tr", *(element("th", breakable(name), scope="col", **side) for name, side in zip(columns, right)))
    body = join(element("tr", *map(cell, row)) for row in shown)
    return join([element("div", element("table", element("thead", head), element("tbody", body)), class_="wide"),
                 element("p", note, class_="quiet") if note else None])


def facts(rows):
    """A table of (name, value) rows."""
    body = join(element("tr", element("th", name, scope="row"), cell(value)) for name, value in rows)
    return element("div", element("table", element("tbody", body)), class_="wide")


def figure(name, picture, caption, *notes):
    """A figure that a click or tap enlarges, with its caption below; name: of the figure, for its button."""
    button = element("button", Html('<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M9.5 2H14v4.5M6.5 14H2V9.5"/>'
                                    '<path d="M14 2 9.5 6.5M2 14l4.5-4.5"/></svg>'),
                     type="button", class_="enlarge", aria_label=f"Enlarge the figure {name}", title="Enlarge")
    return element("figure", picture, button, element("figcaption", caption), *notes, id=f"figure-{name}")


def digest(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page(title, sections, live=None):
    """The page as text; sections are (id, heading, content), the first one without a heading.

    live: of a page of a sweep under way, (seconds between two rewrites, or 0 after the last one, seconds since 1970 of
    this one, its style); its first section has the title itself.
    """
    every, stamp, style = live or (0, 0, "")
    if live:
        body = [element("div", id="stale", role="status", hidden=""), *map(section, sections)]
    else:
        first, *others = sections
        links = element("nav", *(element("a", heading, href=f"#{name}") for name, heading, _ in others))
        body = [element("section", element("h1", title), first[2], links, id=first[0]), *map(section, others)]
    marks = {"data_stamp": f"{stamp:.3f}"} | ({"class_": "live"} if live else {}) | (
        {"data_every": f"{every:g}"} if every else {})
    return "<!DOCTYPE html>\n" + element(
        "html", head(title, every, style),
        element("body", element("main", *body), element("script", Html(SCRIPT)), **marks), lang="en") + "\n"


def section(part):
    name, heading, content = part
    return element("section", element("h2", heading) if heading else None, content, id=name)


def head(title, every, style):
    policy = f"{POLICY}; script-src 'sha256-{digest(SCRIPT)}'" + (ITSELF if every else "")
    again = element("noscript", element("meta", http_equiv="refresh", content=f"{every:.0f}")) if every else None
    return element("head", element("meta", charset="utf-8"),
                   element("meta", name="viewport", content="width=device-width, initial-scale=1"),
                   element("meta", http_equiv="Content-Security-Policy", content=policy), again,
                   element("title", title), element("link", rel="icon", href=ICON),
                   element("style", Html(STYLE + style)))
