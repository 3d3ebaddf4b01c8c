"""Rows in this process's memory."""
