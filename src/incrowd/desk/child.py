"""A command of incrowd as a job of the desk: ``python -m incrowd.desk.child JOB WORDS…``.

It holds the lock of its job's folder for as long as any process of the job lives, ends the whole group when the desk
is gone (its standard input then has an end), and leaves its exit status behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

_PATIENCE = 2.0  # seconds to unwind and remove drafts


def _end_with_the_desk() -> None:
    while os.read(0, 1):
        pass
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(0, signal.SIGTERM)
            time.sleep(_PATIENCE)
            os.killpg(0, signal.SIGKILL)
    os._exit(130)


def main() -> None:
    """Run the command in the job's folder."""
    from incrowd.tables.publishing.staging import lock

    job = Path(sys.argv[1])
    lock(job)  # until the end of this process
    threading.Thread(target=_end_with_the_desk, daemon=True).start()
    sys.argv = ["incrowd", *sys.argv[2:]]
    status = 2
    try:
        from incrowd.cli.main import main as run

        run(desk=True)
        status = 0
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    finally:
        sys.stdout.flush()
        (job / "ended.part").write_text(json.dumps({"status": status, "at": time.time()}), encoding="utf-8")
        (job / "ended.part").replace(job / "ended.json")
    sys.exit(status)


if __name__ == "__main__":
    main()
