"""Releases in which a person can be followed: whole histories that k persons share, or any few rows of them."""
