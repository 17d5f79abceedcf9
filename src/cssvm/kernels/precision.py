"""Which precision kernel values need.

A decision value is the sum of n products beta_i K_i with |beta_i| <= boxes_i. Independent rounding errors of relative
size u in K add up to about u k |boxes|_2 with k the size of a kernel value. Values may be float32 where that stays
within what the tolerance of the fit allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .relations import centred_sizes
from .tiles import prepare_points, update_values

if TYPE_CHECKING:
    from .base import ComputedKernel, Kernel

EXACT_ROWS = 1500  # up to here float64 throughout costs milliseconds and makes small fits exact
EXACT_ROWS_OF_PRODUCTS = 4096  # the same for kernels of products, on which pair steps alone can crawl
FLOAT32_ROUNDING = 2.0**-24 / 3**0.5  # root mean square of a relative rounding error
ROUNDING_ALLOWED = 4.0  # times tol; boxes overstate |beta| several times over
SAMPLE = (64, 512)  # rows whose kernel values show how large a typical one is


def precisions(kernel: ComputedKernel, X: Any, boxes: np.ndarray, tol: float) -> tuple[Any, Any]:
    """Precision of the values of tiles and of kernel values, from the error that float32 would bring to a fit.

    A typical kernel value is the root mean square of a sample. The relation of a distance kernel brings rounding
    errors of its own, relative to the sizes of the rows, which the kernel multiplies by its steepness.
    """
    n = len(boxes)
    distance = kernel.relation.is_distance
    if n <= (EXACT_ROWS if distance else EXACT_ROWS_OF_PRODUCTS):
        return np.float64, np.float64
    some, others = X[:: -(-n // SAMPLE[0])], X[:: -(-n // SAMPLE[1])]
    left, right = prepare_points(kernel, some, others, np.float64)
    values = np.empty((len(left), len(right)))
    update_values(left, right, values)
    allowed = ROUNDING_ALLOWED * tol
    rounding = FLOAT32_ROUNDING * np.sqrt(np.mean(values**2)) * np.linalg.norm(boxes)
    if rounding > allowed:
        return np.float64, np.float64
    exponent = 1.0
    if distance:
        exponent += kernel.steepness * 2.0 * kernel.gamma * float(centred_sizes(kernel.relation, X).max())
    return (np.float64 if rounding * exponent > allowed else np.float32), np.float32


def float32_suffices(kernel: Kernel, boxes: np.ndarray, tol: float) -> bool:
    """Whether float32 kernel values keep decision values within `tol`, going by their largest possible size.

    Kernels that do not tolerate rounding of what they are a function of are said to need float64.
    """
    return kernel.tolerates_rounding and FLOAT32_ROUNDING * float(np.linalg.norm(boxes)) <= ROUNDING_ALLOWED * tol
