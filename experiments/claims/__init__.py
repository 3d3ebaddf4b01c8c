"""Every table, figure and claim of the documents, with what was printed, what we get, and how to run it again."""
