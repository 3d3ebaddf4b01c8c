"""Every method on many tables, most of which no method was made on: what learners keep, and what it tells."""
