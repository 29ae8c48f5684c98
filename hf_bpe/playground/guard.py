"""What stands before every request: how large it may be, where it may come from, and what its answer may load."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard"]

_PORT = re.compile(r":\d+$")

_HEADERS = {
    # Even if the text of a token were taken for HTML, no script in it would run, and nothing could be loaded or sent elsewhere.
    # Spaces are shown in a frame of huggingface.co.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self' https://huggingface.co",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class Guard:
    """Refuses requests that are too large (413), and those that pages of other sites make (403).

    limits: bytes by path; otherwise: of other paths. hosts: the names under which the server may be called, None for any:
    without them a page of another site could pass itself off as this one, by pointing its own name at this machine.
    """

    def __init__(self, app: ASGIApp, limits: Mapping[str, int], otherwise: int, hosts: Collection[str] | None) -> None:
        self._app = app
        self._limits = limits
        self._otherwise = otherwise
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI says."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = self._limits.get(scope["path"], self._otherwise)
        length = headers.get("content-length", "")
        is_foreign = headers.get("sec-fetch-site") == "cross-site" and scope["method"] != "GET"
        host = _PORT.sub("", headers.get("host", ""))
        if is_foreign or (self._hosts is not None and host not in self._hosts):
            await PlainTextResponse(f"Only the playground itself may ask for this, under {_names(self._hosts)}", 403)(
                scope, receive, send
            )
        elif length.isdecimal() and int(length) > limit:
            await PlainTextResponse(_too_large(limit), 413)(scope, receive, send)
        else:
            await self._app(scope, _counted(receive, limit), _with_headers(send))


def _names(hosts: Collection[str] | None) -> str:
    return "its own address" if hosts is None else "the name " + " or ".join(sorted(hosts))


def _too_large(limit: int) -> str:
    return f"This is too large: the page takes up to {limit:,} bytes at once. Give the path of large files on the command line"


def _counted(receive: Receive, limit: int) -> Receive:
    """The same, which stops where more comes than was announced, or nothing was."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            raise HTTPException(413, _too_large(limit))
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(_HEADERS)
        await send(message)

    return send_with_headers
