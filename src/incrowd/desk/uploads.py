"""Tables from elsewhere: streamed to a private file of the project, under a name that the desk makes."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from incrowd.desk.project import HIERARCHIES, PACKED, TABLES, Project, slug
from incrowd.desk.security import NOT_OURS, UPLOAD_BYTES, RequestError

if TYPE_CHECKING:
    from incrowd.desk.app import Desk

_SPARE = 256 << 20  # bytes that must stay free on the disk
_LONGEST_FIELD = 10_000
_MOST_PARTS = 8
_HOURS = 2 * 3600.0  # seconds that one upload may take in all


class Intake:
    """The parts of one upload: small fields are kept, the file goes to the disk once the form is known to be ours."""

    def __init__(self, project: Project, is_ours: Callable[[str], bool]) -> None:
        self.project, self.is_ours = project, is_ours
        self.fields: dict[str, str] = {}
        self.path: Path | None = None
        self.name = ""
        self._file: BinaryIO | None = None
        self._headers: dict[str, str] = {}
        self._header = b""
        self._value = b""
        self._field, self._data, self._parts = "", b"", 0

    def callbacks(self) -> dict[str, Callable[..., None]]:
        """What the parser calls."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_end,
            "on_part_data": self._take,
            "on_part_end": self._end,
        }

    def _begin(self) -> None:
        self._headers, self._header, self._value, self._data, self._field = {}, b"", b"", b"", ""
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise RequestError(400, "This is not a form of the desk.")

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        if len(self._header) + len(self._value) > _LONGEST_FIELD:
            raise RequestError(413, "This is more than the desk takes.")

    def _header_end(self) -> None:
        self._headers[self._header.decode("latin-1").lower()] = self._value.decode(
            "latin-1"
        )  # the parser takes it back to bytes
        self._header = self._value = b""

    def _headers_end(self) -> None:
        from python_multipart.multipart import parse_options_header

        _, options = parse_options_header(self._headers.get("content-disposition", ""))
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" in options:
            if not self.is_ours(self.fields.get("csrf", "")):
                raise RequestError(403, NOT_OURS)
            if self.path is not None:
                raise RequestError(400, "One file at a time.")
            self.name = options[b"filename"].decode("utf-8", "replace")
            self.path = self.project.private / "incoming" / secrets.token_hex(16)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._file = os.fdopen(handle, "wb")

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])
            return
        self._data += data[start:end]
        if len(self._data) > _LONGEST_FIELD:
            raise RequestError(413, "This is more than the desk takes.")

    def _end(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        elif self._field:
            self.fields[self._field] = self._data.decode("utf-8", "replace")

    def discard(self) -> None:
        """Leave nothing of it."""
        if self._file is not None:
            self._file.close()
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def keep(project: Project, incoming: Path, name: str, kind: str) -> str:
    """Give an uploaded file its place and a name; its reference."""
    stem, ending = _named(name, HIERARCHIES if kind == "hierarchies" else TABLES)
    folder = project.place(kind)
    for number in range(1, 10_000):
        target = folder / (f"{stem}{ending}" if number == 1 else f"{stem}-{number}{ending}")
        try:
            os.link(incoming, target)
        except FileExistsError:
            continue
        incoming.unlink()
        return project.reference(target)
    raise RequestError(409, "There are too many files of this name.")


def _named(name: str, endings: tuple[str, ...]) -> tuple[str, str]:
    """A name of letters, digits and hyphens, and a known ending."""
    bare = PurePosixPath(name.replace("\\", "/")).name.lower()
    packed = next((one for one in PACKED if bare.endswith(one)), "")
    bare = bare.removesuffix(packed) if packed else bare
    ending = next((one for one in endings if bare.endswith(one)), None)
    if ending is None:
        raise RequestError(415, f"The name of the file must end in one of {', '.join(endings)}.")
    return slug(bare.removesuffix(ending)), ending + packed


def upload(desk: Desk) -> Callable[[Request], Awaitable[Response]]:
    """Takes the file of a form; without a script, too."""

    async def answer(request: Request) -> Response:
        from python_multipart.exceptions import MultipartParseError
        from python_multipart.multipart import MultipartParser, parse_options_header

        kind, options = parse_options_header(request.headers.get("content-type", ""))
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise RequestError(415, "This is not a form of the desk.")
        announced = int(request.headers.get("content-length", "0") or 0)
        if announced + _SPARE > shutil.disk_usage(desk.project.private).free:
            raise RequestError(507, "There is not enough room on the disk for this file.")
        intake = Intake(desk.project, desk.gate.is_ours)
        try:
            parser = MultipartParser(options[b"boundary"], intake.callbacks(), max_size=UPLOAD_BYTES)  # type: ignore[arg-type]
            async with asyncio.timeout(_HOURS):
                async for piece in request.stream():
                    parser.write(piece)
                    desk.awake()
            parser.finalize()
            if intake.path is None or not intake.path.stat().st_size:
                raise RequestError(400, "Choose a file first; an empty one is no table.")
            column, table = intake.fields.get("column", ""), intake.fields.get("for", "")
            reference = keep(desk.project, intake.path, intake.name, "hierarchies" if column else "tables")
        except (MultipartParseError, TimeoutError):
            raise RequestError(400, "The upload broke off. Try again.") from None
        finally:
            intake.discard()
        from urllib.parse import urlencode

        query = {"table": table, "column": column, "file": reference} if column else {"table": reference}
        return RedirectResponse(f"/{'hierarchy' if column else 'data'}?{urlencode(query)}", 303)

    return answer
