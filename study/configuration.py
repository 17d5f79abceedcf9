"""The configuration of a study: data sets, methods, grids and splits, read from a TOML file."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
QUICK, FULL = HERE / "quick.toml", HERE / "full.toml"

# The measures of each kind of experiment (section 8): smaller is better for all except the income.
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

    folds, repeats : of the outer cross-validation, 0 folds for the official split or a random one; inner : folds of the
    selection; comparator_repeats : number of repeats for methods that are not the paper's; search_rows, fit_rows : the
    largest numbers of samples for selection and for training, None for all, with weights that restore the class shares;
    tol : of the paper's SVMs that are trained on more samples than selected them, None for the default; methods : None
    for all of the study
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
        """The study that a TOML file describes; `[defaults]` applies to sets that do not override it."""
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
        """The study with these sets only, in its order."""
        if not sets:
            return self
        known = {plan.name for plan in self.plans}
        unknown = [name for name in sets if name not in known]
        if unknown:
            raise ValueError(
                f"There is no data set {unknown[0]!r} in the study {self.name!r}; it has {', '.join(sorted(known))}."
            )
        return Study(**{**vars(self), "plans": tuple(plan for plan in self.plans if plan.name in sets)})

    def describe(self, plan: SetPlan) -> str:
        """Everything that the results of one set depend on, as JSON."""
        own = asdict(plan) | {"seed": self.seed, "costs": self.costs, "grids": asdict(self.grids)}
        return json.dumps({name: value for name, value in own.items() if name != "methods"}, sort_keys=True)


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
