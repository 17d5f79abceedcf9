"""Arguments that several verbs have, with one description each."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

Data = Annotated[str, typer.Argument(metavar="DATA", help='CSV, Parquet or LIBSVM text; "-" for the standard input.')]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file that `cssvm train` has written.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages but errors.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
NewCost = Annotated[
    Optional[str],  # noqa: UP045  # read at run time by versions of typer that do not know `|`
    typer.Option(metavar="COST", help="A number, a column or number*column; as in training if not given."),
]
Weight = Annotated[Optional[str], typer.Option(metavar="COLUMN", help="A column of row weights.")]  # noqa: UP045
