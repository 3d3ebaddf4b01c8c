"""All attacks on releases of Adult, next to a plain Mondrian as it is often written, and the page about them."""
