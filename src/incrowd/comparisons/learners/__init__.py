"""The learners, a file for each kind; `catalog` finds them by name."""
