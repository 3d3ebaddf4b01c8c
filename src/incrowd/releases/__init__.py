"""The way of a table, from what was asked for to a verified release.

``job`` is what was asked for, ``pipeline`` the whole way on one screen, ``clusters`` the same on Spark; ``request`` is
what the verification is told, ``issuing`` what the certificate says, ``certified/`` reads it again, ``ledger/`` is the
private book of earlier releases.
"""
