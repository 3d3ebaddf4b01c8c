"""What somebody can still find out from a release: eighteen attacks, one file each, each with its control."""
