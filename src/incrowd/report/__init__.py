"""What happened, as facts first; then for the terminal, as HTML, and as a certificate.

``facts`` and its neighbours (``*_facts``) collect what was counted and measured, without a word for the reader;
``terminal``, ``html`` and what they are made of put it into words; ``certificate`` states it as data, ``signature``
signs that. May import the rooms above it: no pipeline, no face.
"""
