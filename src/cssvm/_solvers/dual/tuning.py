"""What the solvers' decisions are tuned by: costs in nanoseconds, shares, and numbers of SMO steps per sample.

`python -m benchmarks.tuning` measures these on any machine. Compiled functions take them as arguments, never as
globals: Numba keeps compiled code on disk and would not notice a change in this file.
"""

from __future__ import annotations

from typing import NamedTuple


class SMOStepCost(NamedTuple):
    """Nanoseconds of an SMO step: fixed_ns + per_variable_ns n."""

    fixed_ns: float
    per_variable_ns: float

    def ns(self, n: int) -> float:
        return self.fixed_ns + self.per_variable_ns * n


class NewtonCost(NamedTuple):
    """Nanoseconds of a Newton step on m of n: fixed_ns + per_cube_ns m^3 + per_square_ns m^2 + per_product_ns m n."""

    fixed_ns: float
    per_cube_ns: float
    per_square_ns: float
    per_product_ns: float

    def ns(self, n_free: int, n: int) -> float:
        in_squares = self.per_cube_ns * n_free + self.per_square_ns
        return self.fixed_ns + in_squares * n_free**2 + self.per_product_ns * n_free * n


class InteriorCost(NamedTuple):
    """Nanoseconds of the interior-point method on n samples and a kernel of rank r: its steps, and the factor of K."""

    n_steps: int
    fixed_ns: float
    per_row_ns: float
    per_product_ns: float

    def ns(self, n: int, rank: int) -> float:
        step_ns = self.fixed_ns + (self.per_row_ns + self.per_product_ns * rank**2) * n
        return (self.n_steps + 1) * step_ns

    def most_rank(self, n: int, ns: float) -> int:
        """Rank of a kernel that can be solved in this time, at most n; 0 if none can."""
        per_row_ns = (ns / (self.n_steps + 1) - self.fixed_ns) / n - self.per_row_ns
        return min(n, int(max(0.0, per_row_ns / self.per_product_ns) ** 0.5))


class WorkLimit(NamedTuple):
    """Nanoseconds of work, by the costs below, after which an attempt at n samples is given up."""

    fixed_ns: float
    per_row_ns: float
    per_pair_ns: float

    def ns(self, n: int) -> float:
        return self.fixed_ns + (self.per_row_ns + self.per_pair_ns * n) * n


# Costs. Decisions depend on their ratios alone, which differ less from machine to machine than the costs do.
SMO_STEP = SMOStepCost(fixed_ns=300.0, per_variable_ns=1.0)
NEWTON = NewtonCost(fixed_ns=1e5, per_cube_ns=0.0125, per_square_ns=1.25, per_product_ns=0.5)
INTERIOR = InteriorCost(n_steps=30, fixed_ns=3e5, per_row_ns=300.0, per_product_ns=0.1)
KERNEL_VALUE_NS = 1.0  # of one that is computed for a sum
STEP_OVERHEAD_NS = 2e5  # of Python around a Newton step or a working set; counts as work, not for choices
UNNOTICED_SECONDS = 0.1  # between two checks for Ctrl-C; also what the active-set finish may take in any case

# Which variables are shrunk.
SHRINKING_DEPTH = 1.0  # distance from being selected, in violations, above which a variable can be shrunk
ACTIVE_SHARE = 0.8  # of the variables that may stay active for shrinking the others to pay

# How well a part of the problem is solved.
LOCAL_ACCURACY_SHARE = 0.3  # of the violation the part was chosen for: the other variables move meanwhile
TOLERANCE_SHARE = 0.5  # of the tolerance: to which the last part is solved, past which a variable enters a Newton step

# Working sets of the decomposition.
WHOLE_PROBLEM = 4096  # problems up to this size are one working set
FIRST_WORKING_SET = 2048  # of a larger problem's first working set; it doubles when free variables outnumber it
MAX_WORKING_SET = 8192  # of the largest: its kernel values take 256 MB in float32
KEPT_SHARE = 0.75  # of a working set that stays for the next one
KNOWN_SHARE = 0.15  # of the active variables that are members, above which an update leaves members out
SETTLED_SHARE = 0.1  # of members that are new below which a working set is solved to the tolerance at once

# SMO steps at a time.
MAX_STEPS_PER_SET = 20  # at most in a working set, before the gradient of all is updated and the finish is tried
STEPS_PER_LOOK = 4  # at most between two updates of which variables are active and of the cost of a Newton step
FIT_FIRST_STEPS = 6.0  # before a Newton step is considered: until most variables are on the right side
PATH_FIRST_STEPS = 0.6  # the same on a path, whose first upper bound is small; fewer do not pay for a copy
PATH_NEXT_STEPS = 0.25  # the same on a path from its last solution, which is closer
COPIED_PROBLEM = 1500  # samples from which steps use a copy of the active kernel values: less is in the cache

# Newton steps.
FIT_NEWTON_SHARE = 0.2  # of its cost on one thread that SMO steps take before a Newton step; a fit has all threads
PATH_NEWTON_SHARE = 2.0  # the same on a path, of which several run side by side
SMALL_SYSTEM = 500  # variables up to which a Newton step is one call of compiled code
FIXING_TRIALS = 3  # of a step, after each of which variables past a bound are fixed and the others solved again
LARGE_FIXING_TRIALS = 8  # the same for large systems, where another trial takes no factorisation
SHORT_SHARE = 0.3  # of its length: a step cut to less shows that SMO steps are needed first
FAILED_NEWTON_RUNS = 2  # in a row before the active-set finish is tried
FINISH_SHARE = 2.0  # of the time of all SMO steps before it that the finish may take
DRIFT_SHARE = 0.1  # of the tolerance: estimated error of the path's float32 gradient above which it is recomputed

# Correction of float32.
ROUGH_SHARE = 0.95  # of the tolerance, for a solution in float32: errors of the gradient are added to it
HIDDEN_SHARE = 0.1  # of the tolerance, as a relative gap: what errors of the gradient may hide without a correction
CORRECTED_SHARE = 0.1  # of the tolerance, to which a corrected solution is brought
CERTAIN_DEVIATIONS = 3.0  # of the gradient, that a corrected solution stays below the tolerance: the check takes 2
NEAR_DEVIATIONS = 4.0  # of the gradient: samples closer than that to being selected are corrected

# Limits that end what makes no progress.
MAX_NEWTON_STEPS = 30  # Newton steps in a row: usual are 2 to 8
MAX_IDLE_SETS = 5  # working sets in a row without a gain, after which the solver has stalled
WORK = WorkLimit(fixed_ns=1.5e9, per_row_ns=1e6, per_pair_ns=50.0)  # of each method of a fit
FIRST_SHARE = 0.3  # of that work for the first attempt at a problem for which there is another
STAGE = 10.0  # by which upper bounds grow from one problem to the next on the path to one that is too hard
PATH_MAX_STEPS = 2000  # SMO steps after which a solution of the path is given up
