"""The learning rate of every step, as model/optimisers/schedule.c has it."""

from __future__ import annotations

import numpy as np

from .hints import Array

KEYS = ("learning_rate", "schedule", "schedule_start", "schedule_end", "schedule_decay", "warmup_steps")


def rates(last_step: int, learning_rate: float, schedule: str, start: int, end: float, decay: float,
          warmup_steps: int) -> Array:
    """The rates of steps 1 to last_step; the arguments behind it are the KEYS of the sweep file."""
    step = np.arange(1, last_step + 1)

    def fallen(begin: int) -> Array:
        """How far a step is on the way from `begin` to the last one."""
        return np.clip((step - begin) / max(last_step - begin, 1), 0, 1)

    if schedule == "linear":
        shape = 1 - (1 - end) * fallen(start)
    elif schedule == "cosine":
        shape = end + (1 - end) * (1 + np.cos(np.pi * fallen(start))) / 2
    elif schedule == "wsd":
        shape = 1 - (1 - end) * np.clip((step - (1 - decay) * last_step) / (decay * last_step), 0, 1)
    elif schedule == "inverse_sqrt":
        shape = np.sqrt(np.minimum(1, max(start, 1) / step))
    else:
        shape = np.ones(step.size)
    return learning_rate * shape * np.minimum(1, step / max(warmup_steps, 1))
