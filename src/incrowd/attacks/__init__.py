"""What somebody can still find out from a release: sixteen attacks, one file each, each with its control."""
