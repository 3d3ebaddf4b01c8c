"""What may be asked of a release beyond k: diversity and closeness of a column in a group, and of a population.

Each knows its definition and paper, decides exactly (``columns``), and what a table can reach at all. All are
monotone: a union of groups that keep one keeps it. ``words`` reads and writes them. Mutation tests
(``quality/equivalent.toml``) quote lines of these files.
"""
