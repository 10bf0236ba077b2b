"""Self-contained HTML pages: elements with escaped texts, tables, the style and the script of a page.

A page loads nothing, and its content security policy forbids it: texts of a dataset are shown literally, whatever they
contain, and no script but the page's own runs.
"""

import base64
import hashlib
import html
import numbers

from ..words import number, shown, value_text

POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'"
ICON = ("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%23542788' "
        "d='M0 0h16v16H0z'/%3E%3Cpath fill='%23e08214' d='M0 7l16-4v13H0z'/%3E%3C/svg%3E")  # a small phase diagram
LONG = 30  # letters above which a text may be broken into lines
EMPTY = ("meta", "link", "img", "br", "wbr")  # elements without an end tag

STYLE = """
:root { color-scheme: light dark; --text: #1b1b1b; --ground: #fff; --line: #c9c9c9; --quiet: #5c5c5c; --shade: #f3f3f3;
  --mark: #0060a0 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --ground: #161616; --line: #454545; --quiet: #a3a3a3; --shade: #222; --mark: #6db8ee }
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
.notes { white-space: pre-line; overflow-wrap: anywhere; max-width: 60rem }
.headlines { margin: 0.5rem 0; padding-left: 1.2rem }
details { margin: 0.6rem 0 } summary { cursor: pointer; color: var(--quiet) }
.key { display: inline-block; margin-right: 1.2rem }
th, td { padding: 0.15rem 1rem 0.15rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line) }
th { font-weight: 600 }
td.number, th.number { text-align: right }
td.number { white-space: nowrap }
td.text, td code { overflow-wrap: anywhere }
td.text { min-width: 8rem }
progress { width: 100%; accent-color: var(--mark) }
figure { margin: 1.6rem 0 2.4rem }
figure::after { content: ""; display: block; clear: both }
img { display: block; width: 100%; height: auto; background: #fff; padding: 0.5rem; border-radius: 6px }
.picture img { cursor: zoom-in }
figcaption { margin-top: 0.4rem }
.enlarge { float: right; width: 2.4rem; height: 2.4rem; margin: 0.5rem 0 0.2rem 0.8rem; padding: 0.6rem; line-height: 0;
  color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 4px; cursor: pointer }
.enlarge:hover { border-color: currentColor }
.enlarge:focus-visible, a:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px }
.enlarge svg { width: 100%; height: 100%; fill: none; stroke: currentColor; stroke-width: 1.6 }
dialog { background: var(--ground); border: 0; padding: 1rem; width: 100vw; height: 100vh; height: 100dvh;
  max-width: none; max-height: none }
dialog img { width: max(100%, 46rem); max-width: calc(1.55 * 100vh); min-width: 46rem; margin: 0 auto;
  cursor: zoom-out }
pre { background: var(--shade); padding: 0.8rem; overflow-x: auto; font-size: 0.8rem; line-height: 1.4 }
@media (max-width: 36rem) {
  table { font-size: 0.8rem }
  th, td { padding-right: 0.5rem }
  .picture { overflow-x: auto }
  .picture img { width: 30rem; max-width: none }  /* letters of 11 pixels */
}
@media print {
  :root { --text: #000; --ground: #fff; --line: #bbb; --quiet: #444; --shade: #fff }
  body { max-width: none; padding: 0; font-size: 10pt }
  nav, button { display: none }
  .wide { overflow: visible; background: none }
  pre { white-space: pre-wrap; overflow-wrap: anywhere }
  figure, tr { break-inside: avoid }
  h2, h3 { break-after: avoid }
}
"""

# Enlarges a figure that is clicked. A page that is rewritten has data-every, the seconds between two rewrites, in its
# body: it loads itself again and keeps its scroll position.
SCRIPT = """
"use strict";
const dialog = document.body.appendChild(document.createElement("dialog"));
dialog.setAttribute("aria-label", "enlarged figure");
document.addEventListener("click", event => {
  const figure = event.target.closest("figure");
  if (dialog.open) dialog.close();
  else if (figure && event.target.closest("img, button")) {
    dialog.replaceChildren(figure.querySelector("img").cloneNode());
    dialog.showModal();
  }
});
const every = 1000 * Number(document.body.dataset.every || 0);
if (every) {
  const place = "scrolled " + location.pathname, restore = () => scrollTo(0, sessionStorage.getItem(place) || 0);
  restore();
  addEventListener("load", restore);
  addEventListener("pagehide", () => sessionStorage.setItem(place, scrollY));
  setInterval(() => document.hidden || dialog.open || location.reload(), every);
}
"""


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


def figure(name, picture, caption):
    """A figure that a click or tap enlarges, with its caption below, in a box that scrolls on a small screen; name: of
    the figure, for its button."""
    button = element("button", Html('<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M9.5 2H14v4.5M6.5 14H2V9.5"/>'
                                    '<path d="M14 2 9.5 6.5M2 14l4.5-4.5"/></svg>'),
                     type="button", class_="enlarge", aria_label=f"Enlarge the figure {name}", title="Enlarge")
    return element("figure", element("div", picture, class_="picture"), button, element("figcaption", caption),
                   id=f"figure-{name}")


def page(title, sections, every=0):
    """The page as text; sections are (id, heading, content), the first one without a heading. every: seconds until it
    is rewritten; 0: it is not."""
    first, *others = [section for section in sections if section[2] is not None]
    links = element("nav", *(element("a", heading, href=f"#{name}") for name, heading, _ in others))
    body = [element("section", element("h1", title), first[2], links, id=first[0]),
            *(element("section", element("h2", heading), content, id=name) for name, heading, content in others)]
    marks = {"data_every": f"{every:g}"} if every else {}
    return "<!DOCTYPE html>\n" + element(
        "html", head(title, every),
        element("body", element("main", *body), element("script", Html(SCRIPT)), **marks), lang="en") + "\n"


def head(title, every):
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    again = element("noscript", element("meta", http_equiv="refresh", content=f"{every:.0f}")) if every else None
    return element("head", element("meta", charset="utf-8"),
                   element("meta", name="viewport", content="width=device-width, initial-scale=1"),
                   element("meta", http_equiv="Content-Security-Policy",
                           content=f"{POLICY}; script-src 'sha256-{digest}'"), again,
                   element("title", title), element("link", rel="icon", href=ICON), element("style", Html(STYLE)))
