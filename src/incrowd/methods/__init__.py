"""Algorithms decide, on counts; they return steps and touch neither rows nor their own parameters."""
