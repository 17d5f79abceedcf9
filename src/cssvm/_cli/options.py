"""Arguments and options of the verbs, each with its help text."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Rule(StrEnum):
    """Decision rule of the model."""

    bayes = "bayes"
    threshold = "threshold"
    zero = "zero"


def _utf8(value: str) -> str:
    """Reject bytes of another encoding, which a model file cannot hold."""
    if value != value.encode(errors="ignore").decode():
        raise typer.BadParameter(f"must be UTF-8 text; got {value!a}")
    return value


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help='CSV, Parquet (a file or a folder) or LIBSVM text; "-" for the standard input.'
    ),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file written by `cssvm train`.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors only, without progress and messages.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Random seed.")]

Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="Target column, which holds the labels.")]
KnownTarget = Annotated[str | None, typer.Option(metavar="COLUMN", help="Target column; as in training by default.")]
Positive = Annotated[
    str | None, typer.Option(metavar="LABEL", help="Label of the positive class; the larger label by default.")
]
FnCost = Annotated[
    str, typer.Option(metavar="COST", help="Cost of a missed positive: a number, a column or number*column.")
]
FpCost = Annotated[
    str, typer.Option(metavar="COST", help="Cost of a false alarm: a number, a column or number*column.")
]
NewCost = Annotated[
    str | None, typer.Option(metavar="COST", help="A number, a column or number*column; as in training by default.")
]
Currency = Annotated[str, typer.Option(metavar="NAME", callback=_utf8, help="Unit of the costs, such as EUR.")]
Weight = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of sample weights.")]
Group = Annotated[str | None, typer.Option(metavar="COLUMN", help="Group column; rows of a group stay in one fold.")]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Exclude this column from the features (repeatable).")
]
Category = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Treat this numeric-looking column as categorical (repeatable)."),
]
Keep = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Copy this column to the output (repeatable).")]
AllowFormulas = Annotated[
    bool, typer.Option("--allow-formulas", help="Write strings such as =A1 to CSV without a protecting apostrophe.")
]

ModelFile = Annotated[str, typer.Option("--out", metavar="FILE", help="Model file to write.")]
DecisionFile = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="FILE",
        help='CSV or, by its name, Parquet file; "-" for the standard output; a folder of Parquet if it ends in "/".',
    ),
]
ReportFile = Annotated[str, typer.Option("--out", metavar="FILE", help="HTML file to write.")]
Title = Annotated[str, typer.Option(metavar="TEXT", help="Heading of the report.")]

Evaluate = Annotated[bool, typer.Option(help="Estimate what the decisions cost by cross-validation.")]
Decision = Annotated[
    Rule,
    typer.Option(
        metavar="RULE", help="Decide by bayes (probabilities and costs), threshold (tuned) or zero (the sign)."
    ),
]
Kernel = Annotated[str | None, typer.Option(metavar="NAME", help="Kernel of the SVM; rbf by default.")]
Grid = Annotated[int, typer.Option(min=1, metavar="N", help="Number of values of C, and of gamma, to try.")]
Folds = Annotated[int, typer.Option(min=2, metavar="N", help="Number of folds of the search and of the evaluation.")]
ByTime = Annotated[
    bool, typer.Option("--by-time", help="Train on earlier rows and validate on later ones; rows are ordered by time.")
]
Jobs = Annotated[int | None, typer.Option(metavar="N", help="Number of threads; all cores by default.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Use this Dask cluster, such as tcp://127.0.0.1:8786, whose workers can read DATA."
    ),
]
Resamples = Annotated[int, typer.Option(min=1, metavar="N", help="Number of bootstrap resamples for the intervals.")]
Confidence = Annotated[float, typer.Option(metavar="SHARE", help="Confidence level of the intervals.")]

Home = Annotated[
    str | None, typer.Option("--home", metavar="FOLDER", help="Folder of the data sets; $CSSVM_DATA by default.")
]
DatasetName = Annotated[str, typer.Argument(metavar="NAME", help="Name of a data set in `cssvm datasets list`.")]
Variant = Annotated[str | None, typer.Option(metavar="NAME", help="Variant of a data set that has several.")]
