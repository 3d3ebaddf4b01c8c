"""All that is made for human eyes, once: the palette, light and dark; the escaper; words for numbers; pages; SVG.

Imports nothing of incrowd but its errors. Text enters a page by ``markup.text`` only, a colour by its name in its
palette.
"""
