"""What verbs can be given, each with one description."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Rule(StrEnum):
    """What a model decides by."""

    bayes = "bayes"
    threshold = "threshold"
    zero = "zero"


def _utf8(value: str) -> str:
    """Refuse bytes of another encoding, which no model file can hold."""
    if value != value.encode(errors="ignore").decode():
        raise typer.BadParameter(f"must be UTF-8 text; got {value!a}")
    return value


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help='CSV, Parquet (a file or a folder) or LIBSVM text; "-" for the standard input.'
    ),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file that `cssvm train` has written.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages but errors.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of everything random.")]

Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of labels.")]
KnownTarget = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of labels, if not as in training.")]
Positive = Annotated[str | None, typer.Option(metavar="LABEL", help="The label to find; the larger one if not given.")]
MissCost = Annotated[str, typer.Option(metavar="COST", help="Cost of missing it: a number, a column or number*column.")]
AlarmCost = Annotated[str, typer.Option(metavar="COST", help="Cost of a false alarm, likewise.")]
NewCost = Annotated[
    str | None, typer.Option(metavar="COST", help="A number, a column or number*column, if not as in training.")
]
Currency = Annotated[str, typer.Option(metavar="NAME", callback=_utf8, help="What costs are counted in.")]
Weight = Annotated[str | None, typer.Option(metavar="COLUMN", help="A column of row weights.")]
Group = Annotated[str | None, typer.Option(metavar="COLUMN", help="What belongs together, such as customers.")]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Not to be learnt from. Can be given several times.")
]
Category = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Codes that look like numbers. Several times as well.")
]
Keep = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Written beside the decisions. Can be given several times.")
]
AllowFormulas = Annotated[
    bool, typer.Option("--allow-formulas", help="Write texts such as =A1 to a CSV as they are, without an apostrophe.")
]

ModelFile = Annotated[str, typer.Option("--out", metavar="FILE", help="The model file to write.")]
DecisionFile = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="FILE",
        help='CSV, or Parquet by its name; "-" for the standard output; with a slash at its end a folder of Parquet.',
    ),
]

Evaluate = Annotated[bool, typer.Option(help="Whether to find out on rows held out what the decisions cost.")]
Decision = Annotated[
    Rule, typer.Option(metavar="RULE", help="bayes (probabilities and costs), threshold (tuned) or zero (the sign).")
]
Kernel = Annotated[str | None, typer.Option(metavar="NAME", help="Kernel of the SVM; rbf if not given.")]
Grid = Annotated[int, typer.Option(min=1, metavar="N", help="Values of C, and of gamma, to try.")]
Folds = Annotated[int, typer.Option(min=2, metavar="N", help="Folds of the search and of the evaluation.")]
ByTime = Annotated[
    bool, typer.Option("--by-time", help="Rows are in order of time: train on earlier ones, judge on later ones.")
]
Jobs = Annotated[int | None, typer.Option(metavar="N", help="Threads to use; all if not given.")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Of a Dask cluster, such as tcp://127.0.0.1:8786, whose workers see DATA."),
]
Resamples = Annotated[int, typer.Option(min=1, metavar="N", help="Resamples of the rows for the intervals.")]
Confidence = Annotated[float, typer.Option(metavar="SHARE", help="Of the intervals.")]

Home = Annotated[
    str | None, typer.Option("--home", metavar="FOLDER", help="The folder of the data sets; $CSSVM_DATA if not given.")
]
DatasetName = Annotated[str, typer.Argument(metavar="NAME", help="A name that `cssvm datasets list` shows.")]
Variant = Annotated[str | None, typer.Option(metavar="NAME", help="Of a data set that comes in several forms.")]
