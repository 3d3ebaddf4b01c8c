"""Which method costs my classifier least? Releases are learned from, and tested on rows that were never released.

::

    subject, protocol -> run -> trials (releasing, feeding, learners, scores) -> results -> summary -> comparison, page

``datasets`` has tables by name, ``learners`` what is trained, ``statistics`` how sure a difference is, ``charts`` the
drawings. Nothing here is published: there is a seed, and results are kept under the owner's key.
"""
