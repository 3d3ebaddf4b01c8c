"""The way of a model: kADET grows a tree that keeps k itself, and the tree is published instead of the table.

``pipeline`` is the way (``publish_model``), ``kadet`` the method (``growing`` splits nodes, ``spans`` says what spans
forbid, ``kernel`` counts, ``induction`` is what they work with), ``published_tree`` what may leave the house, as JSON;
``exports`` shows it otherwise. Nothing here checks the promise: that is done by ``verification.spans`` from the written
file. May import rows, tables and report, but no other way.
"""
