"""Tables on their way in and out: files, frames, databases and hierarchies are read, releases are published.

``reading/`` makes a source and its codes of a file or frame, ``streams/`` the same for tables larger than memory;
``recipe`` is what the user asked for, ``roles`` what becomes of it for a table; ``publishing/`` lets files appear, all
of them or none.
"""
