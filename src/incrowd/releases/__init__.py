"""The way of a table, from what was asked for to a verified release.

``job`` is what was asked for and what the verification is told of it, ``pipeline`` the whole way on one screen,
``issuing`` what the certificate says, ``certified/`` reads it again, ``ledger/`` is the private book of earlier
releases.
"""
