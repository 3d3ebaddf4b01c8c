"""Who can be re-identified in a table, before and after: counted on all rows, no cell value in any result.

``assessment`` is the door (``measure_risk``) and measures everything, ``telling`` says it in words; beside them a file
for each measure: attackers with the three risks of WP216, uniques of the population, classes with special uniques, Safe
Harbor; ``summed`` is the door for a table that Spark has. ``options`` is imported by the command line's help and
imports nothing heavy. Knows no release.
"""
