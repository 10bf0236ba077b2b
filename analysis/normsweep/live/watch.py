"""Rewrites the page of a sweep until the sweep has ended."""

import contextlib
import os
import sys
import time

from ..command import fail, terminated_as_interrupted, warn, whole_file
from ..dataset import open_sweep
from ..entry import INTERRUPTED
from ..figures.drawing import reason
from ..verify import NotASweep
from ..words import several
from . import sections
from .lease import is_held
from .sections import State
from .survey import Surveyor

LOST_SECONDS = 60  # a dataset that was there may be away so long: extending a sweep replaces its file
SHARE = 0.03  # of a core: the training beside it has the rest


class Gone(Exception):
    """The dataset cannot be read."""


class Watch:
    """path: of the dataset; output: of the page; every: seconds between two rewrites; wait: seconds for a dataset that
    is not there yet."""

    def __init__(self, path, output, every, wait):
        self.path, self.output, self.every, self.wait = path, output, every, wait
        self.surveyor, self.known = Surveyor(), False
        self.shown = None  # (title, parts) of the last page
        self.written = 0.0

    def follow(self, finish):
        """Rewrites the page until the sweep has ended, then calls finish(beat), which replaces it by the report and
        calls beat(number of figures) in between. Exits if the dataset does not come or is gone, and on Ctrl-C; the page
        says so."""
        with terminated_as_interrupted():
            try:
                self.rewrite_until_end()
                finish(self.beat)
            except Gone as error:
                self.close(State("lost", f"The dataset cannot be read: {error}"))
                fail(error)
            except KeyboardInterrupt:
                self.close(State("stopped", "No longer watched: the command that rewrote this page was stopped"))
                sys.exit(INTERRUPTED)
            except Exception:
                self.close(State("lost", "No longer watched: the command that rewrote this page has failed"))
                raise

    def rewrite_until_end(self):
        lost, wait = time.monotonic(), self.wait
        while True:
            used = time.process_time()
            try:
                if self.rewrite():
                    return
                lost, wait = time.monotonic(), LOST_SECONDS
            except (OSError, NotASweep) as error:
                self.miss(error, time.monotonic() - lost, wait)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise Gone(f"{self.path}: another program has changed it: {reason(error)}") from error
            time.sleep(max(self.every, (time.process_time() - used) / SHARE))

    def rewrite(self):
        """Writes the page as the sweep stands; true if the sweep has ended."""
        held, now = is_held(self.path), time.time()
        with open_sweep(self.path) as dataset:
            survey = self.surveyor.survey(dataset, self.path, held)
            has_ended = survey.is_complete and not held
            state = State("complete", "All runs have ended; the figures are being drawn") if has_ended else \
                sections.state_of(survey)
            self.shown = sections.parts_of(dataset, survey, state, os.path.basename(self.path), now, self.every)
        self.write(*self.shown, self.every, now)
        self.known = True
        return has_ended

    def beat(self, count):
        """While figures are drawn: the page is still rewritten."""
        if time.monotonic() - self.written >= self.every:
            self.write_state(State("complete", f"All runs have ended; {several(count, 'figure')} drawn so far"),
                             self.every)

    def miss(self, error, since, wait):
        """Tells that the dataset is not there, once on stderr and always on the page; raises Gone after `wait` seconds.
        """
        is_late = not self.known and not isinstance(error, FileNotFoundError)
        why = told(self.path, error)
        if since > wait or is_late:
            raise Gone(why)
        if not self.known and not self.shown:
            warn(f"{self.path}: not there yet; waiting for up to {wait:.0f} s")
        name = os.path.basename(self.path)
        text = f"Cannot be read at the moment: {why}" if self.known else f"Waiting for {name}"
        self.write_state(State("stopped", text), self.every)

    def close(self, state):
        """The last page, if there was one."""
        if not self.shown:
            return
        with contextlib.suppress(OSError):
            self.write_state(state, 0)

    def write_state(self, state, every):
        """The page of the last dataset with another head, or a head alone."""
        now = time.time()
        name = os.path.basename(self.path)
        title, parts = self.shown if self.known else (name, [])
        self.shown = title, [sections.head(title, state, now, every), *parts[1:]]
        self.write(*self.shown, every, now)

    def write(self, title, parts, every, now):
        text = sections.live_page(title, parts, every, now)
        with whole_file(self.output) as temporary, open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        if not self.written:
            print(self.output, flush=True)
        self.written = time.monotonic()


def told(path, error):
    """One line about a dataset that cannot be read."""
    if isinstance(error, NotASweep):
        return str(error)
    return f"{path}: {error.strerror or reason(error)}"
