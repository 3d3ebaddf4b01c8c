"""The words everyone shares: schema, encoded table, hierarchy, released value, requirements, options, randomness.

Whoever reads or writes a plan, a recipe or a release speaks these words, the verification among them, which imports no
other room: what is changed here is changed for both sides. The room imports nothing but ``errors``; modules that
declare options, or that ``--help`` needs, import no heavy package.
"""
