"""What the algorithm decided, as data: saved, read back equal, explained in sentences, applied again.

A new step is entered in ``steps``, in ``plan_file`` (both ways) and where rows are (an applier); an unknown one is
refused everywhere. The room imports vocabulary and trees.
"""
