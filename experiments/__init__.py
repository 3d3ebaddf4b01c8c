"""Experiments with incrowd that its users do not need: the papers' own, Blend, attacks on Adult, what recipients lose.

They import the package and are imported by nothing of it. ``python -m experiments --help`` lists them; the pages they
write are kept in ``docs/results``.

=================  ==================================================================================
``papers``         the printed tables, as frames
``reproduce``      the experiments of kACTUS, kADET and IAC, run again beside what was printed
``inference``      the experiments of the thesis on hiding cells, and past it
``blend``          Blend against its rivals, without each of its parts, and attacked
``attacks``        every attack on releases of Adult
``recipients``     what recipients lose who open a release, against what comparisons feed to learners
``requirements``   what l-diversity and t-closeness cost on Adult
``pages``          the parts a page of results is made of; the benchmarks use them, too
=================  ==================================================================================
"""
