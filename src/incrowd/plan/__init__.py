"""What the algorithm decided, as data: saved, read back equal, explained in sentences, applied again."""
