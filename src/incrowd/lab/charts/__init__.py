"""Charts of the lab, as inline SVG."""
