"""Twelve public tables by name: from a folder, from the cache, or from the package that ships them."""
