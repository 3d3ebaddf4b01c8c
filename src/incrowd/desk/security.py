"""Who may ask the desk what: one gate before every page.

Other web pages are the attackers: a name that was rebound to this machine, a form or a script elsewhere, a link. So a
request must come to our own host and port, from our own pages, from the browser that opened the address with the
one-time token; and what changes something must carry the token of the page it was written on.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import secrets
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FORM_BYTES = 4 << 20  # roles and types of ten thousand columns
FORM_FIELDS = 50_000
UPLOAD_BYTES = 4 << 30
PATIENCE = 30.0  # seconds until the next piece of a request must be there
_LONGEST_ADDRESS = 8_000  # bytes of path and query
ENTER, AGAIN, UPLOAD = "/enter", "/again", "/upload"
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox"
"""Of pages that were written to files: they bring their style, and nothing runs in them."""
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": _CSP,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "same-origin",  # with no-referrer, browsers hide the origin of our own forms
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


NOT_OURS = "This form was not written by the desk. Go back, load the page again, and repeat."


class RequestError(Exception):
    """A request that the desk does not serve: status, and a sentence."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Gate:
    """The secrets of one desk: a token to enter once, the session, what forms must carry."""

    def __init__(self, port: int) -> None:
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"incrowd-desk-{port}"  # browsers send cookies to every port of a host
        self.session, self.key, self.csrf = (secrets.token_urlsafe(32) for _ in range(3))
        self._token: str | None = None

    def new_token(self) -> str:
        """A token that opens the desk once; the one before it opens nothing any more."""
        self._token = secrets.token_urlsafe(32)
        return self._token

    def enters(self, token: str) -> bool:
        """Whether this is the token; it is none any more."""
        expected, self._token = (self._token, None) if self._is(token, self._token) else (None, self._token)
        return expected is not None

    def knows(self, cookies: str) -> bool:
        """Whether the browser is the one that entered."""
        try:
            jar = SimpleCookie(cookies)
        except CookieError:
            return False
        return self.cookie in jar and self._is(jar[self.cookie].value, self.session)

    def is_ours(self, csrf: str) -> bool:
        """Whether a form carries the token of our pages."""
        return self._is(csrf, self.csrf)

    def is_key(self, key: str) -> bool:
        """Whether whoever asks has read the private file of this desk."""
        return self._is(key, self.key)

    @staticmethod
    def _is(word: str, secret: str | None) -> bool:
        return secret is not None and hmac.compare_digest(word.encode("utf-8", "replace"), secret.encode())


class Guard:
    """The gate as a layer around an application: refuses, limits, and puts its headers on every answer."""

    def __init__(self, app: ASGIApp, gate: Gate, awake: Callable[[], None] = lambda: None) -> None:
        self.app, self.gate, self.awake = app, gate, awake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, or say why not."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        guarded = _with_headers(send)
        try:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            if len(headers) < len(scope["headers"]) and _twice(
                scope["headers"], (b"host", b"origin", b"content-length")
            ):
                raise RequestError(400, "A header is there twice.")
            answer = self._judge(scope, headers)
            if answer is not None:
                await answer(scope, receive, guarded)
                return
            self.awake()
            most = UPLOAD_BYTES if scope["path"] == UPLOAD else FORM_BYTES
            await self.app(scope, _limited(receive, headers, most), guarded)
        except RequestError as refusal:
            await PlainTextResponse(f"{refusal.words}\n", refusal.status)(scope, receive, guarded)
        except Exception:  # the page of the fault has been sent; a trace may quote cells
            if os.environ.get("INCROWD_DEBUG"):
                raise

    def _judge(self, scope: Scope, headers: dict[str, str]) -> ASGIApp | None:
        """Raise, or answer at the gate itself; None: let it pass."""
        gate, method, path = self.gate, scope["method"], scope["path"]
        if headers.get("host", "") not in gate.hosts:
            raise RequestError(421, "This address is not the desk's own.")
        if len(scope["raw_path"]) + len(scope["query_string"]) > _LONGEST_ADDRESS:
            raise RequestError(414, "The address is too long.")
        if method not in ("GET", "HEAD", "POST"):
            raise RequestError(405, "The desk knows GET and POST.")
        if path == AGAIN and method == "POST" and "sec-fetch-site" not in headers and "origin" not in headers:
            if not gate.is_key(headers.get("x-incrowd-key", "")):
                raise RequestError(403, "This key opens nothing.")
            return PlainTextResponse(gate.new_token())
        if path == ENTER and method == "GET":
            query = dict(parse_qsl(scope["query_string"].decode("latin-1"), max_num_fields=5))
            return self._enter(query.get("token", ""))
        if not gate.knows(headers.get("cookie", "")):
            raise RequestError(
                403, "Open the address that `incrowd desk` shows in the terminal; run it again for a new one."
            )
        if headers.get("sec-fetch-site", "none" if method != "POST" else "same-origin") not in ("none", "same-origin"):
            raise RequestError(403, "This request was made by another page.")
        if method == "POST":
            if headers.get("origin") != f"http://{headers['host']}":
                raise RequestError(403, "This request was made by another page.")
            if headers.get("sec-fetch-site", "same-origin") != "same-origin":
                raise RequestError(403, "This request was not made by a page.")
        return None

    def _enter(self, token: str) -> ASGIApp:
        if not self.gate.enters(token):
            raise RequestError(403, "This address was used already. Run `incrowd desk` again for a new one.")
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self.gate.cookie, self.gate.session, httponly=True, samesite="strict", path="/")
        return answer


def _twice(headers: list[tuple[bytes, bytes]], names: tuple[bytes, ...]) -> bool:
    present = [name for name, _ in headers]
    return any(present.count(name) > 1 for name in names)


def _with_headers(send: Send) -> Send:
    """Answers with the headers of the desk, where the answer has not its own."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in message["headers"]}
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in own]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return guarded


def _limited(receive: Receive, headers: dict[str, str], most: int) -> Callable[[], Awaitable[Message]]:
    """The body of a request in pieces, not more than so many bytes, and not slower than our patience."""
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > most:
        raise RequestError(413, "This is more than the desk takes.")
    taken, ended = 0, False

    async def limited() -> Message:
        nonlocal taken, ended
        if ended:  # only whether the browser goes away; for that one may wait
            return await receive()
        try:
            message: Message = await asyncio.wait_for(receive(), PATIENCE)
        except TimeoutError:
            raise RequestError(408, "The request took too long.") from None
        taken += len(message.get("body", b""))
        ended = not message.get("more_body", False)
        if taken > most:
            raise RequestError(413, "This is more than the desk takes.")
        return message

    return limited


def parse_form(body: bytes, gate: Gate) -> dict[str, list[str]]:
    """The fields of a form that one of our pages sent."""
    try:
        pairs = parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=FORM_FIELDS, strict_parsing=True)
    except (UnicodeDecodeError, ValueError):
        raise RequestError(400, "This is not a form of the desk.") from None
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value.replace("\r\n", "\n"))
    if not gate.is_ours(fields.pop("csrf", [""])[0]):
        raise RequestError(403, NOT_OURS)
    return fields
