"""Measured risk of any table: who can be found in it, and what follows from that, before and after a release."""
