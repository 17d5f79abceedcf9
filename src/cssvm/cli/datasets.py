"""``cssvm datasets``: the data sets of the paper, listed, fetched and found."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .options import Json
from .speaking import print_json, say, spoken

datasets = typer.Typer(name="datasets", no_args_is_help=True, rich_markup_mode=None)
Home = Annotated[
    str | None, typer.Option("--home", metavar="FOLDER", help="Where they are kept; $CSSVM_DATA if not given.")
]
LISTED = ("name", "variant", "experiment", "title", "n_rows", "n_features", "n_positives", "fn_cost", "fp_cost", "source")


@datasets.callback()
def _datasets() -> None:
    """The data sets of the paper's Table 1: list, fetch, where.

    \b
    cssvm datasets list
    cssvm datasets fetch german_credit
    """


@datasets.command("list")
@spoken
def list_all(as_json: Json = False) -> None:
    """List the data sets, with their sizes, targets and costs.

    \b
    cssvm datasets list
    """
    from ..datasets import list_datasets

    found = list_datasets()
    if as_json:
        print_json([{name: getattr(entry, name) for name in LISTED} for entry in found])
    else:
        typer.echo(str(found))


@datasets.command()
@spoken
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name that `cssvm datasets list` shows.")],
    variant: Annotated[str | None, typer.Option(metavar="NAME", help="Of a set that comes in several forms.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Fetch the files of a data set, unless they are there, and check them.

    \b
    cssvm datasets fetch german_credit
    """
    from ..datasets import fetch as fetch_files

    paths = [str(path) for path in fetch_files(name, variant=variant, data_home=home)]
    if as_json:
        print_json(paths)
    else:
        typer.echo("\\n".join(paths))
        say(f"{len(paths)} files, whose checksums are right")


@datasets.command()
@spoken
def where(home: Home = None, as_json: Json = False) -> None:
    """Show the folder of the data sets, and which of them are in it.

    \b
    cssvm datasets where
    """
    from ..datasets import where as located

    found: Any = located(home)
    if as_json:
        print_json([{"name": each.dataset.name, "variant": each.dataset.variant, "state": each.state} for each in found])
    else:
        typer.echo(str(found))
