"""Blend: groups of rows with about the same class probability, shown as value counts."""
