"""Tables on a PostgreSQL server: read in one moment, written in one transaction, no secret told."""

from incrowd.databases.new_table import NewTable
from incrowd.databases.query import Query

__all__ = ["NewTable", "Query"]
