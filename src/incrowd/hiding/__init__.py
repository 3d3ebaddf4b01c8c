"""The way of a cell: withhold single cells, and as few others as needed, so that the rest does not give them away.

::

    pipeline -> request     what is asked for, and the table, read and encoded, in memory or on disk
             -> planner     many cells in one plan, by one of the methods
                methods       the hiders by name: bayes_hiders (with other_rows), id3, against anybody
                adversaries   who guesses: naive Bayes, id3, any classifier of scikit-learn
                secret        one confidential cell, the draws, the steps
                published     what cells show (taxonomy), counted cell by cell, with a way back
             -> evaluation  costs, pattern attack: what the reader of the report is told

Hiders change a :class:`~incrowd.hiding.published.PublishedTable`, never the source. New ones go into ``methods``.
``options`` is imported by help and imports nothing heavy. May import models, report and tables, not compare or attacks.
"""
