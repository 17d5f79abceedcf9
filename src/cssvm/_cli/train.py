"""``cssvm train``: from a table to a model file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from . import options as of
from .command import command, print_json, print_text, say
from .saved_model import card_facts, print_facts

if TYPE_CHECKING:
    from .._tables import TrainedTable

IN_JSON = ("n_rows", "confidence", "own_estimate", "currency")
SEARCH_OPTIONS = ("group", "category", "evaluate", "decision", "kernel", "grid", "folds", "by_time", "seed", "jobs")


@command(
    "cssvm train loans.csv --target outcome --positive default --currency EUR \\",
    '    --fn-cost "0.6*amount" --fp-cost "0.1*amount" --out loans.skops',
)
def train(
    context: typer.Context,
    data: of.Data,
    out: of.ModelFile,
    target: of.Target = None,
    positive: of.Positive = None,
    fn_cost: of.FnCost = "1",
    fp_cost: of.FpCost = "1",
    currency: of.Currency = "",
    weight: of.Weight = None,
    group: of.Group = None,
    drop: of.Drop = None,
    category: of.Category = None,
    evaluate: of.Evaluate = True,
    decision: of.Decision = of.Rule.bayes,
    kernel: of.Kernel = None,
    grid: of.Grid = 10,
    folds: of.Folds = 5,
    by_time: of.ByTime = False,
    seed: of.Seed = 0,
    jobs: of.Jobs = None,
    scheduler: of.Scheduler = None,
    as_json: of.Json = False,
    quiet: of.Quiet = False,
) -> None:
    """Train a model on a table and estimate what its decisions cost.

    Numeric and categorical columns are recognized by one rule; missing values are imputed, categories encoded and
    numbers scaled. C and gamma are chosen by cross-validation with your costs. The costs per row come from nested
    cross-validation, compared with acting on nobody, acting on everybody, a cost-blind SVM, one with a tuned threshold
    and, if decisions depend on the costs of each row, a logistic regression that uses them too.

    With --scheduler the workers of a Dask cluster read DATA, which must be Parquet, and train a linear model without
    search and evaluation: keep some files back for `cssvm evaluate`.
    """
    if group is not None and by_time:
        raise typer.BadParameter("cannot be combined with --by-time: give one of the two", param_hint="--group")
    from sklearn.model_selection import TimeSeriesSplit

    from .._tables import train_on_cluster, train_table

    options: dict[str, Any] = {"target": target, "pos_label": positive, "fn_cost": fn_cost, "fp_cost": fp_cost}
    options |= {"weight": weight, "drop": drop or (), "currency": currency, "out": out, "verbose": int(not quiet)}
    if scheduler is not None:
        _check_no_search(context)
        trained = train_on_cluster(data, scheduler, **options)
    else:
        options |= {} if kernel is None else {"kernel": kernel}
        trained = train_table(
            data,
            **options,
            group=group,
            category=category or (),
            evaluation=evaluate,
            decision=decision.value,
            Cs=grid,
            gammas=grid,
            cv=TimeSeriesSplit(folds) if by_time else folds,
            random_state=seed,
            n_jobs=jobs,
        )
    if as_json:
        print_json({"out": out, **_as_dict(trained)})
        return
    print_facts(card_facts(trained.card))
    if trained.evaluation is not None:
        print_text(f"\n{trained.evaluation}")
    if not quiet:
        say(f"model written to {out}")


def _check_no_search(context: typer.Context) -> None:
    """Raise if an option of the search is given, which training on a cluster does not have."""
    for name in SEARCH_OPTIONS:
        source = context.get_parameter_source(name)
        # By name: ParameterSource is click's or, in later versions, typer's own copy of it.
        if source is not None and source.name == "COMMANDLINE":
            option = "--" + name.replace("_", "-")
            raise typer.BadParameter("a cluster trains one linear model, without a search", param_hint=option)


def _as_dict(trained: TrainedTable) -> dict[str, Any]:
    found, evaluation = trained.evaluation, None
    if found is not None:
        evaluation = {"policies": found.to_frame().reset_index().to_dict("records")}
        evaluation |= {name: getattr(found, name) for name in IN_JSON}
    return {"card": json.loads(trained.card.to_json()), "evaluation": evaluation}
