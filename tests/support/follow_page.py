"""Follow a page to the letter, in a new folder, with nothing on the path but an installation and the system's tools.

Its shell blocks run in one shell, and a YAML block that begins with ``# NAME.yaml`` is that file:
``python tests/support/follow_page.py docs/tutorial.md ENVIRONMENT/bin``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script_of(page: str) -> str:
    """What a reader types."""
    lines = ["set -e"]
    for language, block in _BLOCK.findall(page):
        if language == "sh":
            lines.append(block)
        elif language == "yaml" and (name := re.match(r"# ([\w-]+\.yaml)\n", block)):
            lines.append(f"cat > {name[1]} <<'END'\n{block}END\n")
        elif language == "python":
            raise ValueError("A page that is followed in a shell has no Python.")
    return "\n".join(lines)


def main() -> int:
    """Exit status 0: everything could be followed."""
    page, binaries = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        path = os.pathsep.join([str(binaries), "/usr/bin", "/bin"])
        clean = {"PATH": path, "HOME": folder, "LANG": "C.UTF-8"}
        command = ["sh", "-xc", script_of(page.read_text(encoding="utf-8"))]
        return subprocess.run(command, cwd=folder, env=clean, stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
