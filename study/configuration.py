"""What a study consists of: sets, methods, grids and splits, read from one TOML file that says everything."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
QUICK, FULL = HERE / "quick.toml", HERE / "full.toml"

# The measures of each kind of experiment (section 8): smaller is better for all of them but the income.
MEASURES = {
    "CSA": ("risk", "cost"),
    "CSU": ("tp_auc", "tn_auc", "cost"),
    "IDL": ("tp_auc", "tn_auc", "cost"),
    "CSE": ("income",),
}


@dataclass(frozen=True)
class Grids:
    """The values of each hyper-parameter, the same for all methods."""

    Cs: tuple[float, ...]
    gammas: tuple[float, ...]
    C1s: tuple[float, ...]
    kappas: tuple[float, ...]


@dataclass(frozen=True)
class SetPlan:
    """How one data set is split.

    folds, repeats : of the outer cross-validation, 0 folds for the official or a stated split; inner : folds of the
    selection; comparator_repeats : of the repeats, those that methods beyond the paper's are tried on; search_rows,
    fit_rows : the most rows that select and that train, None for all, each standing for as many of its class as were
    left out; tol : of the paper's SVMs that are trained on more rows than select, None for the default; methods :
    those that are tried, None for all of the study.
    """

    name: str
    folds: int
    repeats: int
    inner: int
    comparator_repeats: int = 1
    search_rows: int | None = None
    fit_rows: int | None = None
    tol: float | None = None
    methods: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Study:
    """A whole study; `plans` in the order of the paper's Table 1."""

    name: str
    seed: int
    costs: tuple[float, float]
    methods: tuple[str, ...]
    grids: Grids
    plans: tuple[SetPlan, ...]
    comparisons: tuple[tuple[str, str], ...] = field(default=(("CS", "BP"), ("CS", "BM")))

    @classmethod
    def read(cls, path: Path) -> Study:
        """The study that a TOML file describes; `[defaults]` holds for every set that does not say otherwise."""
        with Path(path).open("rb") as file:
            text = tomllib.load(file)
        defaults = text.get("defaults", {})
        plans = [SetPlan(**{"name": name} | _tuples(defaults | own)) for name, own in text["sets"].items()]
        return cls(
            name=text["name"],
            seed=text["seed"],
            costs=(float(text["costs"][0]), float(text["costs"][1])),
            methods=tuple(text["methods"]),
            grids=Grids(**{name: tuple(map(float, values)) for name, values in text["grids"].items()}),
            plans=tuple(plans),
        )

    def restricted(self, sets: list[str] | None) -> Study:
        """The same study of these sets only, in its own order."""
        if not sets:
            return self
        known = {plan.name for plan in self.plans}
        unknown = [name for name in sets if name not in known]
        if unknown:
            raise ValueError(
                f"There is no set {unknown[0]!r} in the study {self.name!r}; it has {', '.join(sorted(known))}."
            )
        return Study(**{**vars(self), "plans": tuple(plan for plan in self.plans if plan.name in sets)})

    def describe(self, plan: SetPlan) -> str:
        """Everything that the results of one set depend on, as JSON: the same text, the same results."""
        own = asdict(plan) | {"seed": self.seed, "costs": self.costs, "grids": asdict(self.grids)}
        return json.dumps({name: value for name, value in own.items() if name != "methods"}, sort_keys=True)


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
