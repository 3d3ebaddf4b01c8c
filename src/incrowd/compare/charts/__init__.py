"""Charts of comparisons, as inline SVG."""
