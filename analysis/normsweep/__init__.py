"""Datasets of normsweep, for Python: open_sweep opens one, and every dataset has the accessor `sweep`.

>>> from normsweep import open_sweep
>>> ds = open_sweep("first.nc")
>>> ds.sweep.axes
('learning_rate', 'weight_decay', 'norm_placement', 'seed')
>>> ds.sweep.phase_boundary().boundary.sel(norm_placement="pre").round(3).values
array([0.1 , 0.01,  nan])

Importing the package registers the accessor, so that it is there on what xr.open_dataset gives, too.
"""

from .boundary import phase_boundary
from .dataset import NotASweep, Sweep, open_sweep

__all__ = ["NotASweep", "Sweep", "open_sweep", "phase_boundary"]
