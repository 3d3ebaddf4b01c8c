"""One script for each peer: read the table, anonymize it, write what came out. They run in the peer's environment."""
