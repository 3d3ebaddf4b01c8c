"""Models that are published instead of a table: what leaves the house, and nothing else."""
