"""normsweep datasets in Python: open_sweep opens one, and the accessor `sweep` of a dataset knows its axes and runs.

>>> from normsweep import open_sweep
>>> ds = open_sweep("first.nc")
>>> ds.sweep.axes
('learning_rate', 'weight_decay', 'norm_placement', 'seed')
>>> ds.sweep.boundary().boundary.sel(norm_placement="pre").round(3).values
array([0.1 , 0.01,  nan])

Importing the package registers the accessor, also for datasets that xr.open_dataset opens.
"""

from .boundary import boundary
from .comparison import compare
from .comparison_text import comparison_table, comparison_text
from .dataset import Sweep, open_sweep, sweep_of
from .events import read_log
from .gradients import gradient_slopes
from .grokking import grokking
from .join import DifferentSweeps
from .optimum import collapse, optimum
from .predicted import predicted_boundary
from .scaling import scaling
from .sensitivity import lr_sensitivity
from .shared_grid import NothingInCommon
from .verify import NotASweep

__all__ = [
    "DifferentSweeps", "NotASweep", "NothingInCommon", "Sweep", "boundary", "collapse", "compare", "comparison_table",
    "comparison_text", "gradient_slopes", "grokking", "lr_sensitivity", "open_sweep", "optimum", "predicted_boundary",
    "read_log", "scaling", "sweep_of"]
