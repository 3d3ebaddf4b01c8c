"""How good the checks are: faults planted, mutants killed, damaged files read. ``python -m quality --help``."""
