"""Writing releases: to private files first, under their final names only once they are verified."""
