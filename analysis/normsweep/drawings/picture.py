"""Figures as data: URLs, as small as their kind allows."""

import base64
import io

from matplotlib import rc_context
from matplotlib.collections import Collection, QuadMesh
from matplotlib.lines import Line2D

from .canvas import style

LARGEST_SVG = 800_000  # bytes; a larger figure has its many cells or dots as pixels, or becomes a PNG
MANY = 400  # cells, or dots, of one part of a figure
PIXELS = 200  # per inch


def picture(figure):
    """An SVG with letters as outlines. If it is larger than LARGEST_SVG, parts of many cells or dots become pixels
    in it; if it still is, all becomes a PNG."""
    for mesh in figure.findobj(QuadMesh):  # else browsers show the ground between neighbours
        mesh.set(edgecolor="face", linewidth=0.3)
    with style(), rc_context({"svg.fonttype": "path"}):
        image, kind = vector(figure), "svg+xml"
        if len(image) > LARGEST_SVG and rasterize(figure):
            image = vector(figure)
        if len(image) > LARGEST_SVG:
            image, kind = rendered(figure, "png", dpi=PIXELS), "png"
    return f"data:image/{kind};base64," + base64.b64encode(image).decode()


def vector(figure):
    return rendered(figure, "svg", metadata={"Date": None}, dpi=PIXELS)


def rasterize(figure):
    """Lets parts of many cells or dots be drawn as pixels; false if there are none."""
    heavy = [artist for artist in figure.findobj() if count(artist) > MANY]
    for artist in heavy:
        artist.set_rasterized(True)
    return bool(heavy)


def count(artist):
    """The cells or dots of a part of a figure; 0 of lines and letters."""
    if isinstance(artist, QuadMesh):
        return artist.get_array().size
    if isinstance(artist, Collection):
        return max(len(artist.get_offsets()), len(artist.get_paths()))
    if isinstance(artist, Line2D) and artist.get_marker() not in ("", " ", "None", None):
        return len(artist.get_xdata())
    return 0


def rendered(figure, kind, **options):
    file = io.BytesIO()
    figure.savefig(file, format=kind, **options)
    return file.getvalue()
