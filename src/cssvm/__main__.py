"""``python -m cssvm``: the command line."""

from .cli import main

main()
