"""The learners of the lab, a file for each kind; `catalog` finds them by name."""
