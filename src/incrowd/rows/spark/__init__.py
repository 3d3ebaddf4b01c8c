"""Rows in the executors of Spark: the same blocks and kernels, shipped to where the rows are."""
