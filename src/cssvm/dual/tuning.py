"""What the solvers' decisions are tuned by: costs in nanoseconds, shares, and pair steps per row.

`python -m benchmarks.tuning` measures on any machine what these numbers stand for. Compiled functions take them as
arguments, never as globals: Numba keeps compiled code on disk and would not notice a change in this file.

Not here: tolerances that belong to a formula (ridges, curvatures, rounding errors), which stand beside it.
"""

from __future__ import annotations

from typing import NamedTuple


class PairStepCost(NamedTuple):
    """Nanoseconds of a pair step: fixed_ns + per_variable_ns n."""

    fixed_ns: float
    per_variable_ns: float

    def ns(self, n: int) -> float:
        """Nanoseconds of a pair step among n variables."""
        return self.fixed_ns + self.per_variable_ns * n


class NewtonCost(NamedTuple):
    """Nanoseconds of a Newton step: factorisations (per_cube_ns m^3 + per_square_ns m^2) + per_product_ns m n."""

    per_cube_ns: float
    per_square_ns: float
    per_product_ns: float

    def ns(self, n_free: int, n: int, n_factorisations: int) -> float:
        """Nanoseconds of a Newton step on m = n_free of n variables."""
        factorisation = self.per_cube_ns * n_free**3 + self.per_square_ns * n_free**2
        return n_factorisations * factorisation + self.per_product_ns * n_free * n


# Costs. Decisions depend on their ratios alone, which differ less from machine to machine than the costs do.
PAIR_STEP = PairStepCost(fixed_ns=300.0, per_variable_ns=0.75)
NEWTON = NewtonCost(per_cube_ns=0.025, per_square_ns=2.5, per_product_ns=1.0)
INTERRUPT_SECONDS = 0.1  # of pair steps between two looks at Ctrl-C: a user does not notice less

# Who sleeps.
SLEEP_DEPTH_VIOLATIONS = 2.0  # distance from being picked, in violations, past which a variable may sleep
PATH_SLEEP_DEPTH_VIOLATIONS = 0.5
AWAKE_SHARE = 0.7  # of the variables that may stay awake for sleep to pay: gathers cost as much as a few sums
PATH_AWAKE_SHARE = 0.8

# How well a part of the problem is solved.
LOCAL_ACCURACY_SHARE = 0.3  # of the violation a part was chosen for: the other variables move meanwhile
LOCAL_TOLERANCE_SHARE = 0.5  # of the tolerance, for the last part
ENTERING_SHARE = 0.5  # of the tolerance by which a variable at its bound must violate optimality to become free

# Working sets of the decomposition.
WHOLE_ROWS = 4096  # problems up to this size are one working set
FIRST_ROWS = 2048  # of a larger problem's first working set; it doubles when free variables outnumber it
LAST_ROWS = 8192  # of the largest: pair steps leave the caches
KEPT_SHARE = 0.75  # of a working set that stays for the next one
SETTLED_SHARE = 0.1  # of members that are new below which a working set is solved to the tolerance at once
LOCAL_STEPS_PER_ROW = 200  # pair steps after which the whole problem is looked at again
REFRESH_STEPS_PER_ROW = 20  # pair steps after which a float32 gradient is taken anew
MAX_IDLE_SETS = 5  # in a row without a gain before the solver calls itself stalled

# Newton steps.
FIXING_TRIALS = 3  # factorisations of a round, in each of which the variables past a bound are fixed there
SHORT_SHARE = 0.3  # of its length: a round cut to less shows that pair steps are needed first
MAX_ROUNDS = 30  # in a row: usual are 2 to 8
FINISH_SECONDS = 0.1  # that the active-set finish may take in any case
FINISH_SHARE = 2.0  # of the time of all pair steps before it that it may take otherwise
FINISH_STEPS_PER_ROW = 10  # pair steps before the finish has a try: on ill-conditioned kernels it is far quicker

# The path.
FIRST_STEPS_PER_ROW = 0.6  # pair steps before a round is considered, from zero
NEXT_STEPS_PER_ROW = 0.25  # the same from the last solution
TURN_STEPS_PER_ROW = 4  # pair steps at a time: which variables sleep and what a round costs may have changed
MAX_STEPS_PER_ROW = 2000  # pair steps after which a solution is given up
FAILED_TURNS = 2  # of rounds before the active-set finish has a try
COPY_ROWS = 1500  # from which pair steps are made on a copy of the kernel values of the variables awake
COPY_STEPS_PER_ROW = 0.5  # pair steps that pay for such a copy
DRIFT_SHARE = 0.1  # of the tolerance: estimated error of a float32 gradient past which it is computed anew
