"""A second opinion: DuckDB recounts what was promised from the bytes on disk.

Nothing here is shared with the algorithms, the measures or the plan; a bug over there cannot vouch for
itself. A missing or suppressed value is a value like any other when classes are counted.
"""
