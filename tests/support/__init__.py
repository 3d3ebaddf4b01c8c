"""What several tests share: tables, oracles written a second way, a Spark session, a PostgreSQL server."""
