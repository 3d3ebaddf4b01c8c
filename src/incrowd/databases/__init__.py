"""Tables of a PostgreSQL server: read in one snapshot, written in one transaction, recounted before they appear."""
