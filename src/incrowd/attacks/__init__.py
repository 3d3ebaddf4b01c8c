"""What can still be found out from a release: attacks, each with its control.

::

    opening (files -> scene) -> run (the attacks of the catalog, one by one) -> findings -> page

The scene has all an attack may look at; an attack is a function of it that returns a finding, entered in ``catalog``.
``boxes`` reads a release as an attacker does, ``measuring`` says how sure a number is. To add an attack, write its
function and enter it. May import every room but ``releases`` and the faces.
"""
