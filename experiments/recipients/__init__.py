"""What recipients lose who open a release by three lines, against what our own comparisons feed to learners."""
