"""The command line: a file for each command, imported when it is asked for.

``main`` runs them and turns errors into one line; ``options`` makes typer's options from the one declaration of each
room; ``shared`` has what several commands take and print. Commands call ``incrowd.api`` and print; they decide nothing.
May import every room but ``estimators``.
"""
