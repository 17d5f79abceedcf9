"""The losses with two costs, and hypothesis strategies for their arguments."""

import numpy as np
from hypothesis import strategies as st

from cssvm.losses import CostSensitiveHinge, ExponentialLoss, HingeLoss, LogisticLoss, ZeroOneLoss

FAMILIES = {
    "zero-one": ZeroOneLoss,
    "exponential": ExponentialLoss,
    "logistic": LogisticLoss,
    "biased hinge": lambda C1, C_minus1: HingeLoss(pos_slope=C1, neg_slope=C_minus1),
    "cost-sensitive hinge": lambda C1, C_minus1: CostSensitiveHinge(C1, 0.5 + C_minus1),
    "general hinge": lambda C1, C_minus1: HingeLoss(pos_slope=C1, pos_margin=0.7, neg_slope=C_minus1, neg_margin=1.9),
}
SMOOTH = ("exponential", "logistic")
HINGES = ("biased hinge", "cost-sensitive hinge", "general hinge")
INVERTIBLE = ("zero-one", "exponential", "logistic")

# Costs from 1:100 to 100:1; beyond, exp(-C1 f) leaves the range of floats on the scores below.
costs = st.floats(0.1, 10.0)
inner_probabilities = st.floats(1e-6, 1.0 - 1e-6)
probabilities = st.floats(0.0, 1.0, allow_subnormal=False)  # exp(-C1 f) of a smaller one would overflow
labels = st.sampled_from([-1, 1])

# Scores of a brute-force minimisation; they contain the margins 0.7 and 1.9 and their negatives.
SCORES = np.arange(-400, 401) / 100.0
EPSILON = np.finfo(np.float64).eps
