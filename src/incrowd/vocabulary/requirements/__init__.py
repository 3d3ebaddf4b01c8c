"""What may be asked of a release beyond k: one requirement per file, all on the values of one column in a group.

Each knows its definition and paper, decides exactly, says whether it is monotone (a union of groups that keep it keeps
it; all of them are), and what a table can reach at all.
"""
