"""The papers' experiments, run again and shown beside what was printed."""
