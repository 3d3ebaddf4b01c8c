"""The lab: does a release still train good classifiers?"""
