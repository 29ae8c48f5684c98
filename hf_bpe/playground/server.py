"""The page as a web application: what is asked for goes to a thread, what comes back is HTML.

Starlette and uvicorn, and not gradio: see docs/playground.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib.resources import files
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from hf_bpe.analysis.examples import EXAMPLES
from hf_bpe.chat import TEMPLATES
from hf_bpe.errors import HfBpeError, PlaygroundError
from hf_bpe.files import text_of
from hf_bpe.patterns import NAMED_PATTERNS
from hf_bpe.playground import fragments
from hf_bpe.playground.asked import MOST_CHARACTERS, Asked, TextTooLong, read_asked
from hf_bpe.playground.cards import card_of
from hf_bpe.playground.guard import Guard
from hf_bpe.playground.looking import look
from hf_bpe.playground.shelf import Shelf
from hf_bpe.playground.uploads import MOST_BYTES, MOST_FILES, plain_name, read_upload

__all__ = ["make_app"]

_AT_ONCE = 2
"""Requests that are worked on at a time; others wait, and those that nobody waits for any more are dropped when it is their
turn.
"""
_LONGEST = 60
"""Seconds for one answer. A thread cannot be stopped, but others need not wait for it."""
_FORM = 100_000
"""Bytes around the files of a form."""
_LIMITS = {"/look": 6 * MOST_CHARACTERS + _FORM, "/text": 4 * MOST_CHARACTERS + _FORM, "/upload": MOST_BYTES + _FORM}
"""The largest requests, in bytes: JSON may need six for a character."""


def make_app(shelf: Shelf, *, hosts: Collection[str] | None = None) -> Starlette:
    """The application for the tokenizers of a shelf. hosts: the names under which it may be called; None: any."""
    page = _Playground(shelf)
    return Starlette(
        routes=[
            Route("/", page.show),
            Route("/look", page.look, methods=["POST"]),
            Route("/token", page.token),
            Route("/upload", page.upload, methods=["POST"]),
            Route("/text", page.text, methods=["POST"]),
            Mount("/static", StaticFiles(directory=str(files("hf_bpe.playground").joinpath("static")))),
        ],
        middleware=[Middleware(Guard, limits=_LIMITS, otherwise=_FORM, hosts=hosts)],
        exception_handlers={HfBpeError: _refuse, HTTPException: _refuse_http, Exception: _fail},
    )


class _Playground:
    """The pages of one shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._turns = anyio.Semaphore(_AT_ONCE)

    async def show(self, request: Request) -> Response:
        """The page, with the first example looked at: there is something to see before anything is typed."""
        return await self._answer(request, self._page)

    async def look(self, request: Request) -> Response:
        """The tokens of a text."""
        body = await request.body()
        return await self._answer(request, lambda: fragments.columns(look(read_asked(body), self._shelf)))

    async def token(self, request: Request) -> Response:
        """The card of a token."""
        asked = request.query_params
        names = ("tokenizer", "id", "word", "template")
        return await self._answer(
            request, lambda: fragments.card(card_of(self._shelf, *(asked.get(name, "") for name in names)))
        )

    async def upload(self, request: Request) -> Response:
        """A tokenizer out of files."""
        async with request.form(max_files=MOST_FILES, max_fields=2 * MOST_FILES) as form:
            given = [file for file in form.getlist("file") if isinstance(file, UploadFile)]
            names = [plain_name(file.filename or "") for file in given]
            if len(set(names)) < len(names):
                raise PlaygroundError("two of these files have the same name; choose the files of one tokenizer")
            contents = {name: await file.read() for name, file in zip(names, given, strict=True)}
            pattern, beside = str(form.get("pattern") or "") or None, [str(name) for name in form.getlist("beside")]
        return await self._answer(request, lambda: fragments.pill(self._read(contents, pattern, beside)))

    async def text(self, request: Request) -> Response:
        """The text in a file, if it is UTF-8."""
        async with request.form(max_files=1) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise PlaygroundError("choose a text file")
            text = text_of(await file.read(), plain_name(file.filename or ""))
        if len(text) > MOST_CHARACTERS:
            raise TextTooLong(len(text))
        return PlainTextResponse(text.removeprefix("\ufeff"))

    def _page(self) -> str:
        offered, first = self._shelf.given(), EXAMPLES[0]
        looked = look(Asked(tuple(shown.key for shown in offered if shown.first), first.text), self._shelf)
        # Where none of those that are shown has a template, "own" would show nothing but that.
        template = "own" if any(shown.first and shown.chat[0] for shown in offered) else next(iter(TEMPLATES))
        known = {"examples": EXAMPLES, "hint": first.look_for, "templates": list(TEMPLATES), "patterns": list(NAMED_PATTERNS)}
        return fragments.page(looked, offered, template=template, **known)

    def _read(self, contents: dict[str, bytes], pattern: str | None, beside: list[str]) -> Any:
        read = read_upload(contents, pattern)
        return self._shelf.upload(read.name, read.spec, "uploaded", read.chat, beside)

    async def _answer(self, request: Request, make: Callable[[], str]) -> Response:
        """What a function makes, on a thread, when it is its turn."""
        async with self._turns:
            if await request.is_disconnected():  # the page asked for something else meanwhile
                return Response(status_code=499)
            with anyio.move_on_after(_LONGEST):
                return HTMLResponse(await anyio.to_thread.run_sync(make, abandon_on_cancel=True))
            raise PlaygroundError(
                f"This took longer than {_LONGEST} seconds and was given up: the pattern or the chat template of one of these tokenizers "
                "needs too long for this text. Take a shorter text, or leave the tokenizer out"
            )


async def _refuse(request: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 413 if isinstance(error, TextTooLong) else 400)


async def _refuse_http(request: Request, error: Exception) -> Response:
    known = error if isinstance(error, HTTPException) else HTTPException(500)
    return PlainTextResponse(known.detail, known.status_code)


async def _fail(request: Request, error: Exception) -> Response:
    return PlainTextResponse(
        f"This is a defect of hf-bpe: {type(error).__name__}. What happened stands in the terminal of the server; please report it",
        500,
    )
