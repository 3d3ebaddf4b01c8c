"""``python -m incrowd``: the command line."""

from incrowd.cli.main import main

if __name__ == "__main__":
    main()
