"""``cssvm datasets``: the data sets of the paper."""

from __future__ import annotations

from typing import Any

import typer

from . import options as of
from .command import command, print_json, say, with_example

LISTED = (
    *("name", "variant", "title", "experiment", "n_rows", "n_features", "n_positives", "fn_cost", "fp_cost"),
    *("source", "citation", "licence"),
)

datasets = typer.Typer(
    name="datasets",
    no_args_is_help=True,
    rich_markup_mode=None,
    help=with_example("List, fetch and locate the data sets of the paper.", "cssvm datasets fetch german_credit"),
)


@datasets.command("list")
@command("cssvm datasets list")
def list_all(as_json: of.Json = False) -> None:
    """List the data sets with their sizes, positive classes and costs."""
    from ..datasets import list_datasets

    found = list_datasets()
    if as_json:
        print_json([{name: getattr(entry, name) for name in LISTED} for entry in found])
    else:
        typer.echo(str(found))


@datasets.command()
@command("cssvm datasets fetch german_credit", stays="complete files are kept and are not downloaded again")
def fetch(name: of.DatasetName, variant: of.Variant = None, home: of.Home = None, as_json: of.Json = False) -> None:
    """Download the files of a data set that are not there, and verify their checksums."""
    from ..datasets import fetch as fetch_files

    paths = [str(path) for path in fetch_files(name, variant=variant, data_home=home)]
    if as_json:
        print_json(paths)
    else:
        typer.echo("\n".join(paths))
        say(f"{len(paths)} files, checksums verified")


@datasets.command()
@command("cssvm datasets where")
def where(home: of.Home = None, as_json: of.Json = False) -> None:
    """Show the folder of the data sets and which of them it contains."""
    from ..datasets import where as located

    found: Any = located(home)
    if as_json:
        print_json(
            [{"name": each.dataset.name, "variant": each.dataset.variant, "state": each.state} for each in found]
        )
    else:
        typer.echo(str(found))
