"""Suppression along the paths of a decision tree: kACTUS and its improved form."""
