"""Decision trees: one shape (``tree``), one induction kernel (ID3, C4.5), routing, adapters for other people's trees.

From table to tree: ``packing``, ``levels`` with ``kernel``, ``pruning``, and ``c45`` as the face. The JSON of a tree is
part of plan files: it may grow, and old files must read back. Kernels that call each other stay in one file, because
Numba's cache looks at one. The room imports vocabulary and measures.
"""
