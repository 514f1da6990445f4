"""`python -m sayso` is the same as `sayso`."""

from sayso.cli import main

main()
