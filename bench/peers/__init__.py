"""Other people's tools that anonymize a table: each in an environment of its own, run as a process of its own."""
