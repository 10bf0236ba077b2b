"""Self-contained HTML pages: elements with escaped texts, tables, and the style of a page.

A page loads nothing, and its content security policy forbids it: texts of a dataset are shown literally, whatever they
contain.
"""

import html
import numbers

from .words import number, value_text

STYLE = """
:root { color-scheme: light dark; --text: #1b1b1b; --ground: #fff; --line: #c9c9c9; --quiet: #5c5c5c; --shade: #f3f3f3 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --ground: #161616; --line: #454545; --quiet: #a3a3a3; --shade: #222 }
}
* { box-sizing: border-box }
body { color: var(--text); background: var(--ground); font: 1rem/1.5 system-ui, sans-serif; max-width: 54rem;
  margin: 0 auto; padding: 1rem }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0 0.3rem; overflow-wrap: anywhere }
h2 { font-size: 1.25rem; margin: 2.2rem 0 0.5rem; padding-top: 0.4rem; border-top: 1px solid var(--line) }
h3 { font-size: 1rem; margin: 1.3rem 0 0.3rem }
p { margin: 0.4rem 0 }
nav { margin: 0.8rem 0; line-height: 1.8 }
nav a { display: inline-block; margin-right: 1rem }
a { color: inherit }
.quiet, figcaption { color: var(--quiet); font-size: 0.9rem }
.wide { overflow-x: auto; margin: 0.6rem 0; background:  /* shade the sides that can be scrolled to */
  linear-gradient(90deg, var(--ground) 30%, transparent) left / 2rem 100% no-repeat local,
  linear-gradient(270deg, var(--ground) 30%, transparent) right / 2rem 100% no-repeat local,
  linear-gradient(90deg, var(--line), transparent) left / 0.8rem 100% no-repeat scroll,
  linear-gradient(270deg, var(--line), transparent) right / 0.8rem 100% no-repeat scroll }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums }
.key { display: inline-block; margin-right: 1.2rem }
th, td { padding: 0.15rem 1rem 0.15rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
th { font-weight: 600 }
td.number, th.number { text-align: right }
td.number { white-space: nowrap }
td.text, td code { overflow-wrap: anywhere }
td.text { min-width: 8rem }
figure { margin: 1.6rem 0 }
figure img { width: 100%; height: auto; background: #fff; border-radius: 3px }
pre { background: var(--shade); padding: 0.8rem; overflow-x: auto; font-size: 0.8rem; line-height: 1.4 }
@media (max-width: 36rem) {
  table { font-size: 0.8rem }
  th, td { padding-right: 0.5rem }
}
@media print {
  :root { --text: #000; --ground: #fff; --line: #bbb; --quiet: #444; --shade: #fff }
  body { max-width: none; padding: 0; font-size: 10pt }
  nav { display: none }
  .wide { overflow: visible; background: none }
  pre { white-space: pre-wrap; overflow-wrap: anywhere }
  figure, tr { break-inside: avoid }
  h2, h3 { break-after: avoid }
}
"""
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
LONG = 30  # letters above which a text may be broken into lines
EMPTY = ("meta", "img", "br", "wbr")  # elements without an end tag


class Html(str):
    """A text that is HTML already. Every other text is escaped when it becomes part of an element."""


def element(name, /, *children, **attributes):
    """An element. Children that are None are left out. Attribute names have _ for -, and a final _ if they are Python
    keywords."""
    words = "".join(f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
                    for key, value in attributes.items())
    if name in EMPTY:
        return Html(f"<{name}{words}>")
    return Html(f"<{name}{words}>{join(children)}</{name}>")


def join(children):
    return Html("".join(child if isinstance(child, Html) else html.escape(str(child))
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
    return join([first, *(Html(f"_<wbr>{html.escape(part)}") for part in others)])


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


def page(title, sections):
    """The page as text; sections are (id, heading, content), the first one without a heading."""
    links = element("nav", *(element("a", heading, href=f"#{name}") for name, heading, _ in sections if heading))
    body = []
    for name, heading, content in sections:
        body.append(element("section", element("h2", heading) if heading else element("h1", title), content, id=name))
        if not heading:
            body.append(links)
    head = element("head", element("meta", charset="utf-8"),
                   element("meta", name="viewport", content="width=device-width, initial-scale=1"),
                   element("meta", http_equiv="Content-Security-Policy", content=POLICY),
                   element("title", title), element("style", Html(STYLE)))
    return "<!DOCTYPE html>\n" + element("html", head, element("body", element("main", *body)), lang="en") + "\n"
