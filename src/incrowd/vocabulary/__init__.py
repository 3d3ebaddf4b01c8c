"""The words everyone shares: schema, encoded table, requirement, released value, predicate, randomness."""
