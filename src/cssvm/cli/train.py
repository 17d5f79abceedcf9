"""``cssvm train``: from a table to a model file."""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Data, Json, Quiet, Seed, Weight
from .speaking import facts_of, interval, print_facts, print_json, print_table, say, spoken

if TYPE_CHECKING:
    from ..evaluation import Evaluation
    from ..tables import TrainedTable


class Decision(str, Enum):
    """What a model decides by."""

    bayes = "bayes"
    threshold = "threshold"
    zero = "zero"


@spoken
def train(
    data: Data,
    out: Annotated[str, typer.Option(metavar="FILE", help="The model file to write.")],
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of labels.")] = None,
    positive: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The label to find; the larger one if not given.")
    ] = None,
    fn_cost: Annotated[
        str, typer.Option(metavar="COST", help="Cost of missing it: a number, a column or number*column.")
    ] = "1",
    fp_cost: Annotated[str, typer.Option(metavar="COST", help="Cost of a false alarm, likewise.")] = "1",
    currency: Annotated[str, typer.Option(metavar="NAME", help="What costs are counted in.")] = "",
    weight: Weight = None,
    group: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="What belongs together, such as customers.")
    ] = None,
    drop: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="Not to be learnt from; may be given several times.")
    ] = [],  # noqa: B006  # typer makes a list of its own
    category: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="Codes that look like numbers; several times too.")
    ] = [],  # noqa: B006
    evaluate: Annotated[
        bool, typer.Option(help="Whether to find out on rows held out what the decisions cost.")
    ] = True,
    decision: Annotated[
        Decision, typer.Option(help="Decide by probabilities and costs, a tuned threshold, or the sign.")
    ] = Decision.bayes,
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="Kernel of the SVM; rbf if not given.")] = None,
    grid: Annotated[int, typer.Option(min=1, help="Values of C, and of gamma, to try.")] = 10,
    folds: Annotated[int, typer.Option(min=2, help="Folds of search and evaluation.")] = 5,
    by_time: Annotated[
        bool, typer.Option("--by-time", help="Rows are in order of time: train on earlier, judge on later.")
    ] = False,
    racing: Annotated[bool, typer.Option("--racing", help="Leave out of the search what falls behind.")] = False,
    seed: Seed = 0,
    jobs: Annotated[int | None, typer.Option(help="Threads to use; all if not given.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a model on a table, and say what its decisions cost.

    Columns of numbers and of words are told apart by one rule, gaps are filled, words encoded, numbers scaled. C and
    gamma are searched by cross-validation, scored with your costs. Costs per case come from rows that were held out,
    with a search of their own for each fold, beside doing nothing, acting on everybody, a plain SVM and one with a
    tuned threshold.

    \b
    cssvm train loans.csv --target outcome --positive default --currency EUR \\
        --fn-cost "0.6*amount" --fp-cost "0.1*amount" --out loans.skops
    """
    from ..tables import train_table

    options: dict[str, Any] = {} if kernel is None else {"kernel": kernel}
    trained = train_table(
        data,
        target=target,
        pos_label=positive,
        fn_cost=fn_cost,
        fp_cost=fp_cost,
        weight=weight,
        group=group,
        drop=drop,
        category=category,
        currency=currency,
        out=out,
        evaluation=evaluate,
        decision=decision.value,
        Cs=grid,
        gammas=grid,
        cv=_time_order(folds) if by_time else folds,
        racing=racing,
        random_state=seed,
        n_jobs=jobs,
        verbose=0 if quiet else 1,
        **options,
    )
    if as_json:
        print_json(_for_machines(trained, out))
        return
    print_facts(facts_of(trained.card))
    if trained.evaluation is not None:
        typer.echo()
        _print_costs(trained.evaluation)
    if not quiet:
        say(f"the model is in {out}")


def _time_order(folds: int) -> Any:
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


def _print_costs(found: Evaluation) -> None:
    unit = f" {found.currency}" if found.currency else ""
    lines = [
        (
            policy.name,
            interval(policy.cost),
            "" if policy.difference is None else interval(policy.difference),
            f"{policy.misses:,.0f}",
            f"{policy.alarms:,.0f}",
        )
        for policy in found.policies
    ]
    print_table(("", f"cost per case{unit}", "more than the model", "missed", "alarms"), lines)
    typer.echo(
        f"{found.n_rows:,} rows, each decided by a model that has not seen it; intervals of {found.confidence:.0%}."
    )
