"""``python -m cssvm``: the command line."""

from ._cli import main

main()
