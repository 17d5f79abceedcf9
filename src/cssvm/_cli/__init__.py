"""The command line: ``cssvm train | predict | evaluate | report | info | datasets``.

Each verb is one call of the public API, in one file with one function (`datasets` has three), registered in `app.py`.
What computes is imported inside of it, so that help and usage errors do not wait for it.
"""

import signal
import sys
from typing import Any

STOPPED = 130  # exit code of Ctrl-C


def main() -> None:
    """Run the command line with the arguments of this process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where Ctrl-C is for others
        signal.signal(signal.SIGINT, _stop)
    try:
        from .app import app
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"cssvm: the command line needs {error.name}: pip install 'cssvm[cli]'")
    app(prog_name="cssvm")


def _stop(*_: Any) -> None:
    """End the process without a traceback; a verb that runs has a word on what was written."""
    sys.exit(STOPPED)
