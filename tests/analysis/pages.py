"""What tests of pages share."""

import html.parser

from normsweep.drawings import page

EVIL = "<script>alert('1')</script>&amp;\"<b>"


class Reader(html.parser.HTMLParser):
    """Tables by the heading before them, attributes, texts; fails where an element is not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tables, self.attributes, self.texts, self.heading, self.names = [], {}, [], [], "", set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        self.attributes += attributes
        if tag not in page.EMPTY:
            self.open.append(tag)
        if tag in ("h2", "h3"):
            self.heading = ""
        if tag == "table":
            self.tables.setdefault(self.heading, []).append([])
        if tag == "tr":
            self.tables[self.heading][-1].append([])
        if tag in ("td", "th"):
            self.tables[self.heading][-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append(text)
        if self.open and self.open[-1] in ("h2", "h3"):
            self.heading += text
        if {"td", "th"} & set(self.open):
            self.tables[self.heading][-1][-1][-1] += text
