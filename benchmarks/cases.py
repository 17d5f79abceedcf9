"""The problems: samples, kernel and costs, limits of the peers, and the goals for the ratios."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import generated, real
from benchmarks.rows import Data

FN_COST = 4.0
FP_COST = 1.0
TOL = 1e-3
N_PREDICT = 2_000
# Samples beyond which a fit takes minutes: the peer is timed at its limit, and its time at n is extrapolated.
LIMITS = {"sklearn": 20_000, "sklearnex": 100_000, "libsvm": 5_000}
LEFT_OUT = 0
# Smaller fits take milliseconds, and their growth does not extrapolate.
MIN_GROWTH_ROWS = 4_000
# `--quick` tests that everything runs, with a tenth of the samples, within these bounds.
QUICK_DIVISOR = 10
QUICK_ROWS = (200, 1_600)


@dataclass(frozen=True)
class Case:
    """One problem. `gamma` defaults to 1 / d, `growth` to whether n is large enough, `limits` to LIMITS."""

    name: str
    n: int
    d: int
    C: float = 1.0
    source: str = "clusters"
    options: Mapping[str, Any] = field(default_factory=dict)
    kernel: str = "rbf"
    gamma: float | None = None
    fn_cost: float = FN_COST
    cache_mb: int | None = None  # cache_size of cssvm; None for "auto"
    n_predict: int = N_PREDICT
    growth: bool | None = None
    peers: tuple[str, ...] | None = None  # timed by default; None for all
    limits: Mapping[str, int] = field(default_factory=dict)
    goals: Mapping[str, float] = field(default_factory=dict)
    predict_goals: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        resolved = {
            "gamma": 1.0 / self.d if self.gamma is None else self.gamma,
            "growth": self.n >= MIN_GROWTH_ROWS if self.growth is None else self.growth,
            "limits": LIMITS | dict(self.limits),
        }
        for name, value in resolved.items():
            object.__setattr__(self, name, value)

    def rows_for(self, peer: str) -> int:
        """The number of samples that a peer is timed with; 0 if it is left out."""
        return min(self.n, self.limits.get(peer, self.n))

    def growth_rows(self, peer: str) -> tuple[int, ...]:
        """The sizes of the smaller fits that show the growth of a peer's time."""
        rows = self.rows_for(peer)
        return (rows // 4, rows // 2) if self.growth or rows < self.n else ()

    def quick(self) -> "Case":
        n = min(self.n, max(QUICK_ROWS[0], min(QUICK_ROWS[1], self.n // QUICK_DIVISOR)))
        return replace(
            self,
            n=n,
            n_predict=min(n, max(QUICK_ROWS[0], self.n_predict // QUICK_DIVISOR)),
            # At least n / 2: a quarter of the limit must still have samples of both classes.
            limits={peer: rows and max(n // 2, rows * n // self.n) for peer, rows in self.limits.items()},
        )


def goals(sklearn: float, sklearnex: float) -> dict[str, float]:
    return {"sklearn": sklearn, "sklearnex": sklearnex}


SMALL = (
    Case("n200-20", n=200, d=20, goals=goals(1, 1)),
    Case("n500-20", n=500, d=20, goals=goals(1, 1)),
    Case("n1000-20", n=1_000, d=20, goals=goals(1, 1)),
    Case("5k-20", n=5_000, d=20, goals=goals(5, 3)),
    Case("2k-12-C100", n=2_000, d=12, C=100.0, gamma=0.08, goals=goals(5, 4)),
    Case("4k-12-C100", n=4_000, d=12, C=100.0, gamma=0.08, growth=False, goals=goals(5, 4)),
)
LARGE = (
    Case("20k-20", n=20_000, d=20, goals=goals(10, 2)),
    Case("10k-200", n=10_000, d=200, goals=goals(9, 2)),
    Case("20k-20-C100", n=20_000, d=20, C=100.0, goals=goals(7, 6)),
    Case("sparse-linear", n=20_000, d=5_000, source="sparse", kernel="linear", goals=goals(2, 1)),
    Case("sparse-rbf", n=20_000, d=5_000, source="sparse", gamma=1.0, goals=goals(2, 1)),
    Case(
        "100k-50",
        n=100_000,
        d=50,
        cache_mb=1_000,
        limits={"sklearn": 25_000, "libsvm": LEFT_OUT},
        goals=goals(5, 1.5),
    ),
    Case(
        "imbalanced",
        n=20_000,
        d=20,
        C=10.0,
        fn_cost=100.0,
        options={"positives": 1 / 201, "flip_y": 0.002},
        goals=goals(5, 1.5),
    ),
    # Label noise of 7 % gives about 10,000 support vectors.
    Case(
        "predict",
        n=20_000,
        d=20,
        options={"flip_y": 0.07},
        n_predict=20_000,
        growth=False,
        limits={"libsvm": LEFT_OUT},
        predict_goals=goals(10, 1),
    ),
)
# Few samples of these are support vectors, so that the peers can fit more of them.
REAL = (
    Case("german", n=1_000, d=24, source="german", fn_cost=5.0, n_predict=1_000),
    Case(
        "ijcnn1",
        n=49_990,
        d=22,
        C=10.0,
        source="ijcnn1",
        gamma=1.0,
        limits={"sklearn": 50_000, "libsvm": LEFT_OUT},
    ),
    Case(
        "covertype-50k",
        n=50_000,
        d=54,
        C=10.0,
        source="covertype",
        fn_cost=100.0,
        limits={"sklearn": 50_000, "libsvm": LEFT_OUT},
    ),
)
LONG = (
    Case(
        "covertype",
        n=581_012,
        d=54,
        C=10.0,
        source="covertype",
        fn_cost=100.0,
        peers=("cssvm",),
        limits={"sklearn": 100_000, "libsvm": LEFT_OUT},
    ),
    # 14,000 support vectors; all samples are fitted and predicted.
    Case(
        "covertype-all",
        n=581_012,
        d=54,
        source="covertype",
        fn_cost=200.0,
        n_predict=581_012,
        growth=False,
        peers=("cssvm",),
        limits={"sklearn": 100_000, "libsvm": LEFT_OUT},
    ),
    Case(
        "mnist",
        n=60_000,
        d=784,
        C=10.0,
        source="mnist",
        gamma=0.02,
        limits={"sklearn": 10_000, "sklearnex": 20_000, "libsvm": LEFT_OUT},
    ),
)
CASES = {case.name: case for case in (*SMALL, *LARGE, *REAL, *LONG)}
GROUPS = {
    name: tuple(case.name for case in cases)
    for name, cases in {
        "small": SMALL,
        "large": LARGE,
        "real": REAL,
        "long": LONG,
        "all": (*SMALL, *LARGE, *REAL, *LONG),
    }.items()
}
DEFAULT_GROUPS = ("small", "large", "real")


def chosen(names: list[str] | tuple[str, ...]) -> list[Case]:
    """The cases of these names or groups, each once."""
    return [CASES[name] for name in dict.fromkeys(case for name in names for case in GROUPS.get(name, (name,)))]


def missing(case: Case, folder: Path | None) -> str | None:
    """Why the data of a case is not available, or None."""
    return real.SOURCES[case.source].missing(folder) if case.source in real.SOURCES else None


def load(case: Case, folder: Path | None = None) -> Data:
    """The samples of a case. Generated data has new samples to predict, real data the training samples."""
    if case.source in real.SOURCES:
        X, y = real.SOURCES[case.source].read(folder, case.n, case.seed)
        return Data(X, y, X[: case.n_predict])
    return generated.SOURCES[case.source](case.n, case.n_predict, case.d, case.seed, **case.options)


def upper_bounds(case: Case, y: np.ndarray) -> np.ndarray:
    """Upper bounds c_i of a_i, (n,) float64: C * fn_cost for the positive class, C * fp_cost for the negative class."""
    return case.C * np.where(y == 1, case.fn_cost, FP_COST)
