"""All verbs in one application."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from .command import with_example
from .datasets import datasets
from .saved_model import evaluate, info, predict, report
from .train import train

HELP = """Train and use support vector machines for decisions whose errors have different costs.

Train on a table with the costs of missed positives and false alarms, compare what the decisions cost, and predict new
rows. "-" is the standard input or output; messages go to the error stream."""
EXAMPLE = (
    "cssvm train loans.csv --target outcome --positive default \\",
    "    --fn-cost 5 --fp-cost 1 --out loans.skops",
    "cssvm predict loans.skops new.csv --out decisions.csv",
)

app = typer.Typer(
    name="cssvm",
    help=with_example(HELP, *EXAMPLE),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (train, predict, evaluate, report, info):
    app.command()(verb)
app.add_typer(datasets)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"cssvm {__version__}")
        raise typer.Exit


@app.callback()
def cssvm(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Run before any verb."""
