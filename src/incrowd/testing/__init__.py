"""Checks for whoever writes a method, a learner or an attack: what the program expects of it.

::

    from incrowd.testing import check_method

    def test_my_method():
        check_method(MyMethod())

It may import everything but the faces of the program.
"""

from __future__ import annotations

from incrowd.testing.methods import check_method

__all__ = ["check_method"]
