"""Attack the library with generated problems: `make fuzz N=10000 SEED=0`.

Each problem is solved in a child process with a time limit, so that crashes and hangs are reported with their seed too.
Results are checked by `oracle.py`, never by the library itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.hostile.problems import LARGEST, Problem, generate

SECONDS = 60.0  # for a fit and its check, after which a problem counts as a hang
N_CORES = 2  # cores of a fit in that time; the limit is in CPU time, so that other load does not count
ASLEEP = 10.0  # times as long by the clock, without the work: something waits for ever
LONG = 10.0
TOLD_EVERY = 500  # problems, how far it is, on standard error
FINE = ("right", "finite", "warned", "refused")
REASONABLE_MESSAGE = 40  # characters that an error needs to name argument, value and fix


class Verdict(NamedTuple):
    """What became of a problem; `kind` is one of `FINE` or a finding."""

    seed: int
    kind: str
    detail: str
    seconds: float


def judge(problem: Problem) -> tuple[str, str]:
    """Solve the problem and check the result."""
    import cssvm

    model = getattr(cssvm, problem.estimator)(**problem.params)
    before = dict(vars(model))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model.fit(problem.X, problem.y, **problem.fit_params)
        except ValueError as error:
            if list(vars(model).items()) != list(before.items()):
                return "changed by a failed fit", str(error)
            return ("refused" if len(str(error)) >= REASONABLE_MESSAGE else "bare exception"), str(error)
        except Exception as error:
            return "bare exception", repr(error)
        if not np.isfinite(_outputs(model, problem.X)).all():
            return "not a number", "scores or probabilities"
    warned = any("converge" in str(warning.message) for warning in said)
    if hasattr(model, "best_estimator_"):
        if "fn_cost" in problem.fit_params:
            return "warned" if warned else "finite", ""
        model = model.best_estimator_
    if not hasattr(model, "dual_gap_"):
        return "warned" if warned else "finite", ""
    return _judge_certificate(model, problem, warned)


def _outputs(model: Any, X: Any) -> Any:
    """Scores, or where the rule is one about probabilities those."""
    rule = getattr(model, "method", "tuned")
    return model.decision_function(X) if rule == "tuned" else model.predict_proba(X)


def _judge_certificate(model: Any, problem: Problem, warned: bool) -> tuple[str, str]:
    from tests.hostile.oracle import truth

    found = truth(model, problem.X, problem.y, problem.fit_params)
    claimed = f"claimed gap {model.dual_gap_:.2g}, status {int(model.fit_status_)}; {found}"
    if not np.isfinite([found.gap, model.dual_gap_, model.primal_objective_]).all():
        return "not a number", claimed
    # A power loses as many digits as its degree, a sum of n terms the root of n.
    digits = (8 + len(model.support_) ** 0.5) * (1 + problem.params.get("degree", 0)) * found.rounding
    shown = 1e-5 if len(model.support_) <= 1500 else 3e-4  # predictions in float32
    scores, allowed = model.decision_function(problem.X), shown * (1.0 + np.abs(found.scores)) + digits
    converged = model.fit_status_ == 0 and type(model).__name__ != "BoundaryMovementSVC"
    if converged and (np.abs(scores - found.scores) > allowed).any():
        return "wrong scores", claimed
    if found.infeasible > 1e-9:
        return "outside its bounds", claimed
    if model.fit_status_ == 0 and found.violation > 1.01 * model.tol + 4 * found.rounding:
        return "false certificate", claimed
    if found.gap > 1.1 * model.dual_gap_ + 1e-9 + found.rounded_gap:
        return "false gap", claimed
    if model.fit_status_ != 0 and not warned:
        return "failed without a word", claimed
    return ("right" if model.fit_status_ == 0 else "warned"), claimed


def _serve(pipe: Any) -> None:
    """Judge the problems whose seeds come through the pipe."""
    while True:
        seed, largest = pipe.recv()
        begun = time.perf_counter()
        try:
            kind, detail = judge(generate(seed, largest=largest))
        except BaseException as error:
            kind, detail = "bare exception", f"in the judgement: {error!r}"
        pipe.send((kind, detail, time.perf_counter() - begun))


class Child:
    """A process that checks problems, started again after a crash or a hang."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = self._context.Pipe()
        self.process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe.send((0, 12))  # imported and compiled, outside of any time limit
        self.pipe.recv()

    def judge(self, seed: int, seconds: float, largest: int) -> Verdict:
        """The verdict on one problem, that of a process which dies or does not answer included."""
        self.pipe.send((seed, largest))
        begun, worked = time.monotonic(), self._cpu_seconds()
        try:
            while time.monotonic() - begun < ASLEEP * seconds and self._cpu_seconds() - worked < N_CORES * seconds:
                if self.pipe.poll(1.0):
                    return Verdict(seed, *self.pipe.recv())
            kind = f"no end within {seconds:g} s"
        except EOFError:
            kind = "crash"
        self.stop()
        self._start()
        return Verdict(seed, kind, "", seconds)

    def _cpu_seconds(self) -> float:
        """CPU time of the process, or wall time where that is not available."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return N_CORES * time.monotonic()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def attack(seeds: range, *, seconds: float = SECONDS, largest: int = LARGEST, n_children: int = 2) -> Iterator[Verdict]:
    """Verdicts on all seeds, in their order."""
    children = [Child() for _ in range(n_children)]
    free = list(children)

    def one(seed: int) -> Verdict:
        child = free.pop()
        try:
            return child.judge(seed, seconds, largest)
        finally:
            free.append(child)

    try:
        with ThreadPoolExecutor(n_children) as pool:
            yield from pool.map(one, seeds)
    finally:
        for child in children:
            child.stop()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.attack", description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=1000, help="how many problems")
    parser.add_argument("--seed", type=int, default=0, help="of the first one; the others follow")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="allowed for each")
    parser.add_argument("--largest", type=int, default=LARGEST, help="number of rows")
    options = parser.parse_args(arguments)
    first = options.seed * 1_000_000
    counts: Counter[str] = Counter()
    long: list[Verdict] = []
    begun = time.monotonic()
    for verdict in attack(range(first, first + options.n), seconds=options.seconds, largest=options.largest):
        counts[verdict.kind] += 1
        long += [verdict] if verdict.seconds > LONG else []
        if (done := counts.total()) % TOLD_EVERY == 0:
            print(f"{done} of {options.n} after {(time.monotonic() - begun) / 60:.1f} min", file=sys.stderr, flush=True)
        if verdict.kind not in FINE:
            print(f"{verdict.seed}: {verdict.kind}: {generate(verdict.seed, largest=options.largest)}")
            print(f"    {verdict.detail[:300]}", flush=True)
    print("\n".join(f"{count:8d}  {kind}" for kind, count in counts.most_common()))
    print(
        f"{len(long)} took longer than {LONG:g} s: " + ", ".join(f"{each.seed} ({each.seconds:.0f} s)" for each in long)
    )
    return int(any(kind not in FINE for kind in counts))


if __name__ == "__main__":
    sys.exit(main())
