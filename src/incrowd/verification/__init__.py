"""A second opinion: DuckDB recounts what was promised from the bytes on disk.

``process`` asks a process of its own, whose way is ``judge``: it is told what the user asked (``request``), reads the
input by its own road (``input_table``, ``meaning``), compares every cell (``comparison``), looks at bytes and order,
and gives a ``verdict``. ``model_file`` and ``hidden_cells`` do the same for models and hidden cells.

Nothing here is shared with the algorithms, the measures or the plan; a bug over there cannot vouch for itself. It may
import the vocabulary alone. A missing or suppressed value is a value like any other when classes are counted.
"""
