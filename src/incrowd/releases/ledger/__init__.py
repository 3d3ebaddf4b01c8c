"""A private book of releases that knows people: releases about the same people keep together what each promises.

The book is a folder that only its owner can read, with an entry for every release. An entry has a keyed mark of every
person and the number of the group that the release shows the person in, in the order of the marks; so it tells no
order of rows, and without the key the marks are noise. Entries are chained and authenticated: none can be altered,
removed or exchanged unseen.

- ``marks``: from a table to marks, whatever order, format or case its cells are written in;
- ``entry``, ``book``: what is on disk;
- ``overlap``: who of a table is in an entry;
- ``judging``: what follows from that, and from a count of the groups that releases make together;
- ``page``: a release beside the earlier ones;
- ``upkeep``: withdrawing, marking again, entering again.
"""
