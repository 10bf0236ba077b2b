"""Types that several modules name in their hints."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any, Union

import numpy.typing as npt

Array = npt.NDArray[Any]  # of numbers, truth values or texts
Path = Union[str, "os.PathLike[str]"]
Numbers = npt.ArrayLike  # what numpy makes an array of
Attributes = Mapping[Hashable, Any]
