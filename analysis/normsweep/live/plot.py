"""A plot of its own: an SVG that fills its area, with labels and ticks as HTML around it, whose letters keep their size
however wide the page is."""

from ..page import Html, element

ROOM = 34  # letters of all labels below a plot, at its least width
UNITS = 1000  # of an SVG's width
HEIGHT = 750


def plot(drawn, told, x, y, x_label, y_label, **attributes):
    """drawn: elements of an SVG of UNITS x HEIGHT, y downwards; told: the same for people who do not see it; x and y:
    (place from 0 to 1, text) of each tick; attributes: of the area."""
    below = [element("span", text, style=f"left:{100 * place:.4g}%") for place, text in apart(x, ROOM)]
    beside = [element("span", text, style=f"bottom:{100 * place:.4g}%") for place, text in apart(y, 60, 3)]
    widest = max((len(text) for _, text in y), default=1)
    svg = element("svg", *drawn, viewBox=f"0 0 {UNITS} {HEIGHT}", preserveAspectRatio="none", role="img",
                  aria_label=told)
    return element(
        "div", element("div", y_label, class_="side"), element("div", *beside, class_="beside", aria_hidden="true"),
        element("div", svg, class_="area", **attributes), element("div", *below, class_="below", aria_hidden="true"),
        element("div", x_label, class_="under"), class_="plot", style=f"--ticks:{min(widest, 14)}ch")


def apart(ticks, room, least=0):
    """The ticks that have room: all, or every second one, and so on. A text takes its letters and two more, or `least`.
    """
    step = 1
    while step < len(ticks) and sum(max(len(text) + 2, least) for _, text in ticks[::step]) > room:
        step += 1
    return ticks[::step]


def path(shape, **attributes):
    return element("path", d=shape, **attributes) if shape else Html("")


def fraction(value, ends):
    return (value - ends[0]) / (ends[-1] - ends[0])
