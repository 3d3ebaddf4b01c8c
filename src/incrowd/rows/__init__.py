"""Where the rows live: in memory, in blocks on disk, or with Spark. The same questions to each, behind ``held``.

They answer a method's questions with counts, apply its plan, write the release to a private place and have it
verified; nothing is published here. What memory and blocks share is in ``one_machine``; blocks are made of the
appliers of memory, and Spark of those of blocks. The room imports everything above it, methods and verification
included.
"""
