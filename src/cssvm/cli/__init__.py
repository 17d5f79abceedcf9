"""The command line: ``cssvm train | predict | evaluate | info``, each one call of the public API.

A verb is one file with one function, registered in `app.py`. What computes is imported inside it, so that help and
usage errors do not wait for it.
"""

import sys


def main() -> None:
    """Run the command line with the arguments of this process."""
    try:
        from .app import app
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"cssvm: the command line needs {error.name}: pip install 'cssvm[cli]'")
    app(prog_name="cssvm")
