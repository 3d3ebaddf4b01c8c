"""Pure functions on counts."""
