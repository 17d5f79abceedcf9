"""``cssvm train``: from a table to a model file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from . import options as of
from .command import command, print_json, say
from .showing import facts_of, print_costs, print_facts

if TYPE_CHECKING:
    from .._tables import TrainedTable

OF_THE_SEARCH = (
    *("group", "category", "evaluate", "decision", "kernel", "grid", "folds", "by_time", "seed", "jobs"),
)


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
    fn_cost: of.MissCost = "1",
    fp_cost: of.AlarmCost = "1",
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
    """Train a model on a table, and say what its decisions cost.

    Columns of numbers and of words are told apart by one rule, gaps are filled, words encoded, numbers scaled. C and
    gamma are searched by cross-validation, scored with your costs. Costs per case come from rows that were held out,
    with a search of their own for each fold, next to acting on nobody, on everybody, a plain SVM, one with a tuned
    threshold and, if decisions are made by the costs of each row, a logistic regression that does so too.

    With --scheduler the workers of a Dask cluster read DATA, which is Parquet, and train a linear model, without a
    search and an evaluation: keep some files back for `cssvm evaluate`.
    """
    if group is not None and by_time:
        raise typer.BadParameter(
            "rows in order of time cannot also be kept together by groups: give one of the two", param_hint="--group"
        )
    from .._tables import train_on_cluster, train_table

    of_table: dict[str, Any] = {"target": target, "pos_label": positive, "fn_cost": fn_cost, "fp_cost": fp_cost}
    of_table |= {"weight": weight, "drop": drop or (), "currency": currency, "out": out, "verbose": int(not quiet)}
    if scheduler is not None:
        _check_no_search(context)
        trained = train_on_cluster(data, scheduler, **of_table)
    else:
        of_table |= {} if kernel is None else {"kernel": kernel}
        trained = train_table(
            data,
            **of_table,
            group=group,
            category=category or (),
            evaluation=evaluate,
            decision=decision.value,
            Cs=grid,
            gammas=grid,
            cv=_in_order_of_time(folds) if by_time else folds,
            random_state=seed,
            n_jobs=jobs,
        )
    if as_json:
        print_json(_for_machines(trained, out))
    else:
        _print(trained)
        if not quiet:
            say(f"the model is in {out}")


def _check_no_search(context: typer.Context) -> None:
    """Refuse options that a model without a search does not have."""
    sources = {name: context.get_parameter_source(name) for name in OF_THE_SEARCH}
    # By name: the enumeration is click's or, in later versions, typer's own copy of it.
    given = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if given:
        option = "--" + given[0].replace("_", "-")
        raise typer.BadParameter("a cluster trains one linear model, without a search", param_hint=option)


def _in_order_of_time(folds: int) -> Any:
    from sklearn.model_selection import TimeSeriesSplit

    return TimeSeriesSplit(folds)


def _for_machines(trained: TrainedTable, out: str) -> dict[str, Any]:
    found = trained.evaluation
    evaluation = None
    if found is not None:
        evaluation = {
            "policies": found.to_frame().reset_index().to_dict("records"),
            "n_rows": found.n_rows,
            "confidence": found.confidence,
            "own_estimate": found.own_estimate,
            "currency": found.currency,
        }
    return {"out": out, "card": json.loads(trained.card.to_json()), "evaluation": evaluation}


def _print(trained: TrainedTable) -> None:
    print_facts(facts_of(trained.card))
    if trained.evaluation is not None:
        typer.echo()
        print_costs(trained.evaluation)
