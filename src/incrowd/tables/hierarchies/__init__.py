"""Hierarchies a person can make: read, written, built from a column, drafted."""
