"""Where the rows live: in memory, in blocks on disk, or with Spark. The same questions to each."""
