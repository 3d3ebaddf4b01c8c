"""Algorithms decide, on counts; they return steps and touch neither rows nor their own parameters.

A folder for each family, a file for each method; ``catalog`` lists them, ``method`` says what a method is and all it
may ask, ``judging`` whether groups may be released, ``numeric`` and ``release_forms`` what they show. A method is
changed in its own folder; goldens and the contract tests hold it. The room imports vocabulary, measures, trees and
plan.
"""
