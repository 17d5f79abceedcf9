"""The command line: ``cssvm train | predict | evaluate | report | info | datasets``.

Each verb is one call of `_tables`, `deploy` or `datasets`, registered in `app.py`. Heavy imports are inside the
functions, so that help and usage errors are fast.
"""

import signal
import sys
from typing import Any

STOPPED = 130  # exit code of Ctrl-C


def main() -> None:
    """Run the command line with the arguments of this process."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not if the caller handles Ctrl-C
        signal.signal(signal.SIGINT, _stop)
    try:
        from .app import app
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"cssvm: the command line needs {error.name}: pip install 'cssvm[cli]'")
    app(prog_name="cssvm")


def _stop(*_: Any) -> None:
    """End the process without a traceback; while a verb runs, `command` handles Ctrl-C."""
    sys.exit(STOPPED)
