"""What each worker did: a row for each worker, a bar for each run; idle time stays visible behind the bars."""

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator

from ..words import several
from ..workers import course, lanes, natural, without_gaps
from . import colours, look, runs
from .drawing import finished

ROW = 0.17  # inches of a row, while there are few
LEAST, MOST = 0.9, 6.5  # inches of all rows
TICKED = 0.13  # inches that the label of a row, or of a host, takes
THIN = 0.04  # inches of a row from which down rows touch
APART = 0.005  # of the time: bars that are longer are told apart
MANY = 2000  # bars from which on they are pixels in vector formats, too
FILLS = {  # of bars, by outcome; pending: of a run that was begun
    "done": ("done", colours.COLOURS[0]), "diverged": ("diverged", colours.COLOURS[3]),
    "failed": ("failed", colours.COLOURS[1]), "running": ("under way", colours.COLOURS[5]),
    "pending": ("stopped or lost", colours.COLOURS[7])}
IDLE = "0.9"
AGAIN = {"marker": "v", "color": "black", "linestyle": "none", "markeredgewidth": 0}
BORDER = {"color": "black", "linewidth": 0.8, "linestyle": (0, (3, 2))}
UNITS = (("days", 86400), ("h", 3600), ("min", 60), ("s", 1))
CAPTION = ("What each worker did. Busy: the time in runs, of the last attempt each, as a share of workers times the "
           "duration of the sessions; idle tail: the share from each worker's last run to the end of its session.")


def workers(dataset):
    found = course(dataset)
    if found is None:
        return None
    lane = lanes(found.sessions, found.session, found.worker)
    keys = list(zip(lane[found.session].tolist(), found.host.tolist(), found.worker.tolist()))
    rows = {key: place for place, key in enumerate(sorted(set(keys), key=lambda key: (
        key[0], natural(key[1]), key[2])))}
    row = np.array([rows[key] for key in keys])
    unit, size = next(unit for unit in UNITS if found.seconds >= 2 * unit[1] or unit[1] == 1)
    begin, end, *bounds = (without_gaps(found.sessions, times) / size for times in (
        found.begin, found.end, found.sessions[:, 0], found.sessions[:, 1]))
    height = float(np.clip(ROW * len(rows), LEAST, MOST))
    with look.style():
        figure, panels = look.sheet(1, 1, height=height + 0.3)
        axes = panels[0, 0]
        each = height * look.stretch() / len(rows)
        draw_idle(axes, found, row, bounds, each)
        handles = draw_bars(axes, found, row, begin, end, each) + [Patch(color=IDLE, label="idle")]
        again = found.attempts > 1
        if again.any():
            looks = {**AGAIN, "markersize": float(np.clip(40 * each, 2, 4.5))}
            axes.plot(begin[again], row[again], zorder=4, clip_on=False, **looks)
            handles.append(Line2D([], [], label="started again", **{**looks, "markersize": 4.5}))
        later = 0
        for place in np.unique(found.session):
            inside = row[found.session == place]
            if not look.shows("sessions") or not (np.isin(row, inside) & (begin < bounds[0][place])).any():
                continue  # the first one of these workers
            later += 1
            axes.vlines(bounds[0][place], inside.min() - 0.5, inside.max() + 0.5, zorder=5, **BORDER)
        handles += [Line2D([], [], label="new session", **BORDER)] * (later > 0)
        axes.set_xlim(0, max(bounds[1].max(), 1e-9))
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel(f"time in sessions ({unit})")
        name_rows(axes, list(rows), each)
        axes.set_title("\n".join(look.wrap(look.plain(str(found)), look.sheet_size()[0] - look.em(1.2))))
        return finished("workers", CAPTION, figure, dataset, handles, notes(found, len(rows), again))


def draw_idle(axes, found, row, bounds, each):
    """The sessions in which a row has a worker, behind its bars."""
    pairs = np.unique(np.stack([row, found.session], axis=-1), axis=0)
    boxes(axes, pairs[:, 0], bounds[0][pairs[:, 1]], bounds[1][pairs[:, 1]], each, facecolors=IDLE)


def draw_bars(axes, found, row, begin, end, each):
    """Returns the handles of the outcomes that occur. A short bar is still a line; long ones are told apart."""
    handles = []
    for word, (label, fill) in FILLS.items():
        these = found.outcome == word
        if these.any():
            boxes(axes, row[these], begin[these], end[these], each, facecolors=fill, edgecolors=fill,
                  linewidths=min(0.3, 4 * each))
            handles.append(Patch(color=fill, label=label))
    long = end - begin > APART * end.max()
    if each > THIN and long.any():
        axes.vlines(begin[long], row[long] - 0.4, row[long] + 0.4, color="white", linewidth=0.5)
    return handles


def boxes(axes, row, begin, end, each, **looks):
    half = 0.4 if each > THIN else 0.5
    low, high = row - half, row + half
    corners = np.stack([np.stack([begin, low], -1), np.stack([end, low], -1), np.stack([end, high], -1),
                        np.stack([begin, high], -1)], axis=1)
    axes.add_collection(PolyCollection(corners, rasterized=len(row) > MANY, **{"linewidths": 0, **looks}))


def name_rows(axes, rows, each):
    """The number of each worker where there is room; the name of each host, or of some where many have few rows."""
    hosts = {}
    for place, (lane, host, _) in enumerate(rows):
        hosts.setdefault((lane, host), []).append(place)
    if each >= TICKED:
        several_hosts = len(hosts) > 1
        words = [f"{host} · {worker}" if several_hosts and place == hosts[lane, host][0] else str(worker)
                 for place, (lane, host, worker) in enumerate(rows)]
        places, label = list(range(len(rows))), "worker"
    else:
        places, words, label = [], [], "host" if len(hosts) > 1 else "worker"
        middles = [((held[0] + held[-1]) / 2, host) for (_, host), held in hosts.items()]
        if len(hosts) == 1:
            step = int(np.ceil(TICKED / each / 5) * 5)
            middles = [(place, str(worker)) for place, (_, _, worker) in enumerate(rows) if worker % step == 0]
        for middle, word in middles:
            if not places or (middle - places[-1]) * each >= TICKED:
                places.append(middle)
                words.append(word)
        for held in list(hosts.values())[1:]:
            axes.axhline(held[0] - 0.5, color="white", linewidth=0.8 if len(hosts) < 100 else 0.2, zorder=3)
    axes.yaxis.set_major_locator(FixedLocator(places))
    axes.yaxis.set_major_formatter(FixedFormatter([look.plain(word) for word in words]))
    axes.set_ylabel(label if label == "host" else look.with_unit(label))


def notes(found, rows, again):
    idle = found.most - rows
    gaps = found.seconds < np.ptp(found.sessions[found.workers > 0]) - 1e-9
    return [f"{runs.count_text(len(again), len(again))}.",
            f"{several(int(again.sum()), 'run')} started more than once: a bar is the last start, and the time before "
            "it, lost or saved, counts as idle." if again.any() else "",
            "Time between sessions is left out." if gaps else "",
            f"{several(idle, 'worker')} without a run {'is' if idle == 1 else 'are'} not shown." if idle > 0 else ""]
