"""What is made for human eyes: one palette, one escaper, one table of text widths; pages and SVG drawings of them."""
