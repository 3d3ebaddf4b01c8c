"""What is generated: ``python -m docs.build`` writes docs/cli.md, docs/api.md and docs/pictures, and checks every link.

With ``--check`` nothing is written; exit status 1 says that a page is out of date or a link leads nowhere.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from docs.pictures import PICTURES
from docs.public_names import describe

DOCS = Path(__file__).parent
ROOT = DOCS.parent
WIDTH = "100"
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
_RUN = """
import contextlib, json, sys
from incrowd.cli.main import main
for words in json.loads(sys.argv.pop()):
    sys.argv = ["incrowd", *words, "--help"]
    with contextlib.suppress(SystemExit):
        main()
    print(end="\x1e")
"""
_CLI_HEAD = """\
# Command line

This page is what `--help` says, command by command; `make docs` writes it. Exit status: 0 done, 1 a check failed,
2 refused or not possible to tell. Progress goes to standard error, results to standard output; `--json` is for
programs. What the words mean: [how it works](how_it_works.md), [methods and parameters](choosing_a_method.md),
[recipes](recipe.md), [files](files_and_frames.md), [hierarchies](hierarchies.md), [plans](plan.md),
[certificates](certificate.md).
"""
_API_HEAD = """\
# Public names

Everything that `import incrowd` offers, from the docstrings; `make docs` writes this page. Examples and
explanations are in [Python](python.md).
"""


def help_of(*commands: Sequence[str]) -> list[str]:
    """What each command says about itself: no colour, fixed width, whatever the terminal is."""
    forced = {"FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "CLICOLOR_FORCE"}
    calm = {"COLUMNS": WIDTH, "TERMINAL_WIDTH": WIDTH, "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    environment = {name: value for name, value in os.environ.items() if name not in forced} | calm
    done = subprocess.run(
        [sys.executable, "-c", _RUN, json.dumps(commands)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    *texts, _ = done.stdout.split("\x1e")
    return ["\n".join(line.rstrip() for line in text.splitlines()).strip("\n") for text in texts]


def commands() -> list[tuple[str, ...]]:
    """The subcommands, in the order of the help; a group of commands is followed by its own."""
    from typer.main import get_command

    from incrowd.cli.main import COMMANDS, app

    names: list[tuple[str, ...]] = []
    group: Any = get_command(app)
    for name in COMMANDS:
        command = group.get_command(None, name)
        names += [(name,), *((name, inner) for inner in getattr(command, "commands", {}))]
    return names


def cli_page() -> str:
    """docs/cli.md."""
    known = [(), *commands()]
    sections = [(" ".join(["incrowd", *words]), text) for words, text in zip(known, help_of(*known), strict=True)]
    return _CLI_HEAD + "".join(f"\n## {title}\n\n```text\n{text}\n```\n" for title, text in sections)


def api_page() -> str:
    """docs/api.md."""
    import incrowd

    names = sorted(incrowd.__all__, key=lambda name: (name[0].isupper(), name))
    return _API_HEAD + "".join(f"\n{describe(name, getattr(incrowd, name))}" for name in names)


GENERATED: dict[str, Callable[[], str]] = {"cli.md": cli_page, "api.md": api_page, **PICTURES}


def broken_links() -> list[str]:
    """Links to files that do not exist, with the page they are on."""
    pages = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
    return [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in link and not (page.parent / link).exists()
    ]


def main(arguments: list[str]) -> int:
    """Write the pages, or with ``--check`` compare them; then check the links."""
    check = arguments == ["--check"]
    if arguments and not check:
        sys.stderr.write("usage: python -m docs.build [--check]\n")
        return 2
    wrong: list[str] = []
    for name, make in GENERATED.items():
        path, text = DOCS / name, make()
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            wrong.append(f"docs/{name} is out of date: run make docs")
    wrong += [f"broken link in {link}" for link in broken_links()]
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
