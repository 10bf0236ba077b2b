"""Colours as people with full and with dichromatic vision see them, and how far apart two colours are.

The simulation is that of G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A physiologically-based model for
simulation of color vision deficiency", IEEE Transactions on Visualization and Computer Graphics 15 (2009) 1291-1298,
with its published matrices for a severity of 1, applied to linear RGB. The distance is CIEDE2000, as in G. Sharma, W.
Wu and E. N. Dalal, "The CIEDE2000 color-difference formula", Color Research and Application 30 (2005) 21-30.
"""

import itertools

import numpy as np
from matplotlib.colors import to_rgb

VISIONS = {
    "full": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                            [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                              [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                            [0.004733, 0.691367, 0.303900]]),
}
TO_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                   [0.0193339, 0.1191920, 0.9503041]])  # of linear sRGB
WHITE = TO_XYZ.sum(axis=1)  # D65


def linear(colour):
    """Linear RGB of any colour that matplotlib knows."""
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def seen(colour, vision="full"):
    """The colour in CIE L*a*b*, as such a person sees it."""
    ratio = TO_XYZ @ np.clip(VISIONS[vision] @ linear(colour), 0, 1) / WHITE
    root = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def difference(one, other):
    """CIEDE2000 of two colours in L*a*b*."""
    chroma = np.mean([np.hypot(*lab[1:]) for lab in (one, other)])
    stretch = 1.5 - 0.5 * np.sqrt(chroma ** 7 / (chroma ** 7 + 25.0 ** 7))
    polar = []
    for lightness, a, b in (one, other):
        polar.append((lightness, np.hypot(a * stretch, b), np.degrees(np.arctan2(b, a * stretch)) % 360))
    (l1, c1, h1), (l2, c2, h2) = polar
    is_grey = c1 * c2 == 0
    turn = 0 if is_grey else (h2 - h1 + 180) % 360 - 180
    hue = h1 + h2 if is_grey else (h1 + turn / 2) % 360
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    weight = (1 - 0.17 * cosine(hue - 30) + 0.24 * cosine(2 * hue) + 0.32 * cosine(3 * hue + 6)
              - 0.20 * cosine(4 * hue - 63))
    in_light = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    in_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    in_hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2) / (1 + 0.015 * chroma * weight)
    rotation = (-2 * np.sqrt(chroma ** 7 / (chroma ** 7 + 25.0 ** 7))
                * np.sin(np.radians(60 * np.exp(-((hue - 275) / 25) ** 2))))
    return float(np.sqrt(in_light ** 2 + in_chroma ** 2 + in_hue ** 2 + rotation * in_chroma * in_hue))


def cosine(degrees):
    return np.cos(np.radians(degrees))


def nearest(colours):
    """(least difference, vision, name, name) over all pairs of {name: colour} and all visions."""
    return min((difference(seen(colours[one], vision), seen(colours[other], vision)), vision, one, other)
               for vision in VISIONS for one, other in itertools.combinations(colours, 2))
