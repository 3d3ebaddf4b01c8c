"""Hiding single cells so that they cannot be inferred from the rest of the table."""
