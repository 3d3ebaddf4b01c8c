"""How the rows of a release are held: all in memory, or in blocks on disk. What is done with them is the same."""
