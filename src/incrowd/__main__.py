"""``python -m incrowd``: the command line."""

from incrowd.cli.main import main

main()
