"""A generated person-level table to try things on."""

from incrowd.demo.patients import IDENTIFIERS, QUASI_IDENTIFIERS, SENSITIVE, TARGET, make_patients

__all__ = ["IDENTIFIERS", "QUASI_IDENTIFIERS", "SENSITIVE", "TARGET", "make_patients"]
