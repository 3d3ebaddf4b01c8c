"""Partitioning: cut the table into boxes of enough rows and show the box. Mondrian and its class-aware form."""
