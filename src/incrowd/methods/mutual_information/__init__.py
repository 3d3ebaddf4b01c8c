"""Methods that take every attribute to the level that tells most of the class, then hide rare combinations."""
