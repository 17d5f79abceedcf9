"""The paper's experimental study: its methods, grids and measures on its data sets, resumable, with tables."""
