"""Rows in blocks: the same answers as the embedded engine, added up block by block."""
