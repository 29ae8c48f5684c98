"""A playground that listens, in a thread of the test."""

from __future__ import annotations

import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.error import HTTPError

import uvicorn

from conversion.sentencepiece.model import parse_model
from hf_bpe import AddedToken, TokenizerSpec
from hf_bpe.playground.server import make_app
from hf_bpe.playground.serving import bind
from hf_bpe.playground.shelf import Shelf
from tests.support.pieces import model
from tests.support.vocabularies import BYTES, cl100k_spec, gpt2_spec

SCRIPT = "<script>document.title='owned'</script>"
HOSTILE = TokenizerSpec(
    vocab=BYTES, merges=(), added_tokens=(AddedToken(SCRIPT, 256), AddedToken('"><img src=x onerror=alert(1)>', 257))
)
CHATTY = "{% for m in messages %}<|endoftext|>{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"


class Answer(NamedTuple):
    status: int
    text: str
    headers: dict[str, str]


def sample_shelf() -> Shelf:
    """gpt2, cl100k with a chat template, a model of pieces, and one whose tokens are scripts."""
    shelf = Shelf()
    shelf.add("gpt2", gpt2_spec, "for tests", first=True)
    shelf.add("cl100k", cl100k_spec, "for tests", (CHATTY, {}), first=True)
    shelf.add("pieces", lambda: parse_model(model("mistral v1"), "mistral v1"), "for tests", first=True)
    shelf.add("hostile", lambda: HOSTILE, SCRIPT)
    return shelf


@contextmanager
def listening(shelf: Shelf, hosts: set[str] | None = None) -> Iterator[str]:
    """Serve a shelf; its address."""
    bound = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(make_app(shelf, hosts=hosts), log_level="critical"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        bound.close()


def call(address: str, body: bytes | None = None, **headers: str) -> Answer:
    """One request. Underscores in names of headers are hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(address, data=body, headers=named)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return Answer(answer.status, answer.read().decode(), dict(answer.headers))
    except HTTPError as error:
        return Answer(error.code, error.read().decode(), dict(error.headers))


def form(files: list[tuple[str, bytes]], **fields: str) -> tuple[bytes, dict[str, str]]:
    """A form with files, as browsers send it, and its headers."""
    border = "----border-of-this-form"
    parts = [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode() for name, value in fields.items()]
    parts += [
        f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + content for name, content in files
    ]
    body = b"".join(f"--{border}\r\n".encode() + part + b"\r\n" for part in parts) + f"--{border}--\r\n".encode()
    return body, {"content_type": f"multipart/form-data; boundary={border}"}
