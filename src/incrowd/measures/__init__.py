"""Pure functions on counts: information, places to cut numbers. No file here knows a table.

Each cites the paper and equation it is from; a formula is changed only with its golden. The room imports nothing of the
package but itself.
"""
