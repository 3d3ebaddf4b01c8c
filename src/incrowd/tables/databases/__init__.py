"""Tables on a PostgreSQL server: read in one moment, written in one transaction, no secret told."""

from __future__ import annotations

from incrowd.tables.databases.tables import NewTable, Query

__all__ = ["NewTable", "Query"]
