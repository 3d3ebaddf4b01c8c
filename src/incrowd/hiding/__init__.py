"""Hide single cells: the whole way, what was asked for, and the account of what was done."""

from incrowd.hiding.way import Hidden, hide_cells

__all__ = ["Hidden", "hide_cells"]
