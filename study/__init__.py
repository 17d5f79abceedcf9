"""The paper's experimental study: its methods, grids and measures on its data sets, resumable, with tables."""

from .configuration import Grids, SetPlan, Study
from .reproduction import Progress, reproduce
from .store import Cell, Outcome, Store
from .summary import Results

__all__ = ["Cell", "Grids", "Outcome", "Progress", "Results", "SetPlan", "Store", "Study", "reproduce"]
