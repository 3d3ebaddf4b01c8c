"""The desk: a web app on this machine for the person who signs a release. It may import every room above it.

``command`` starts it, ``server`` runs it, ``security`` guards it. A ``project`` is a folder whose files are the whole
state, ``recipes`` are their text; ``forms`` are made from declared options; ``steps``, ``columns``, ``releasing``,
``results`` and ``tools`` are the pages. Tables are read by other processes only: ``jobs`` run the command line, and
``pace`` tells how long they take; ``asking`` asks ``facts``.
"""
