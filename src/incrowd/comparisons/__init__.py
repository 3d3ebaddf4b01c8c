"""Which method costs my classifier least? Releases are learned from, and tested on rows that were never released.

::

    subject, protocol -> run -> trials (releasing, feeding, learners) -> results -> summary -> comparison, page

``datasets`` has tables by name, ``learners`` what is trained, ``summary`` how sure an accuracy is, ``page`` the
charts. Nothing here is published: there is a seed, and results are kept under the owner's key. To add a learner, write
its file and enter it in ``learners.catalog``. May import methods, models and rows, but neither releases nor the faces.
"""
