"""Faults planted in the program. A release is run with each of them; the program itself must refuse to publish it."""
