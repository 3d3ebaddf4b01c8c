"""Engines hold rows: they answer an algorithm's questions with counts, and apply its plan."""
