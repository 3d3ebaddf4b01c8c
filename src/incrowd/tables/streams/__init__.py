"""Tables larger than memory: read in frames, encoded in blocks."""
