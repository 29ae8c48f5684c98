"""Text to measure on: files named on the command line, else text that the installed packages bring."""

from __future__ import annotations

import ast
import gettext
import importlib.util
import site
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

SEPARATOR = "\n<|endoftext|>\n"
DOCUMENTATION = ("METADATA", "LICENSE*", "COPYING*", "*.rst", "*.md")
CATALOGUES = ("django", "plone.app.locales")  # about a hundred languages; their translations are whole sentences


def installed_files(*patterns: str) -> Iterator[Path]:
    """Files of the standard library, then of the installed packages, in a fixed order."""
    roots = [Path(sysconfig.get_paths()["stdlib"]), *map(Path, site.getsitepackages())]
    seen: set[Path] = set()
    for root in roots:
        for pattern in patterns:
            for path in sorted(root.rglob(pattern)):
                if path.is_file() and path not in seen:
                    seen.add(path)
                    yield path


def read_all(paths: Iterable[Path]) -> Iterator[str]:
    """Their texts; those that are not UTF-8 are left out."""
    for path in paths:
        try:
            yield path.read_text("utf-8")
        except (UnicodeDecodeError, OSError):
            continue  # some packages test encodings with files that are not UTF-8


def code() -> Iterator[str]:
    """Installed Python sources."""
    return read_all(installed_files("*.py"))


def english() -> Iterator[str]:
    """What installed packages say about themselves and, once that is used up, the docstrings of their sources."""
    yield from read_all(installed_files(*DOCUMENTATION))
    for source in code():
        try:
            module = ast.parse(source)
        except (SyntaxError, ValueError):
            continue  # templates, tests of the parser
        defined = [node for node in ast.walk(module) if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module)]
        text = "\n\n".join(filter(None, map(ast.get_docstring, defined)))
        if len(text) > 500:
            yield text


def multilingual() -> Iterator[str]:
    """Translated messages, one document per catalogue, the catalogues of one language far from each other."""
    for name in CATALOGUES:
        spec = importlib.util.find_spec(name) if importlib.util.find_spec(name.partition(".")[0]) else None
        for root in map(Path, (spec.submodule_search_locations or ()) if spec else ()):
            for path in sorted(root.rglob("*.mo"), key=lambda path: (path.name, path.parent.parent.name, str(path))):
                yield _translations(path)


def _translations(path: Path) -> str:
    with path.open("rb") as file:
        catalogue = gettext.GNUTranslations(file)
    # `gettext` has no public way to list messages; the header stands under the empty message.
    messages = catalogue._catalog.items()  # type: ignore[attr-defined]
    return "\n".join(translation for message, translation in messages if message)


DEFAULTS: dict[str, Callable[[], Iterator[str]]] = {"english": english, "code": code, "multilingual": multilingual}


def up_to(source: Iterable[str], megabytes: float) -> list[str]:
    """The first documents, no two alike and none empty, until there are `megabytes` of them."""
    texts: dict[str, None] = {}
    size = 0
    for text in source:
        if text and text not in texts:
            texts[text] = None
            size += len(text.encode())
        if size >= megabytes * 1_000_000:
            break
    return list(texts)


def corpora(files: list[Path], megabytes: float) -> dict[str, list[str]]:
    """By name, about `megabytes` of documents each: one corpus per file, or the defaults."""
    if files:
        return {path.stem: up_to(path.read_text("utf-8").split(SEPARATOR), megabytes) for path in files}
    found = {name: up_to(source(), megabytes) for name, source in DEFAULTS.items()}
    return {name: texts for name, texts in found.items() if texts}


def documents(files: list[Path], megabytes: float) -> list[str]:
    """About `megabytes` of text as one list of documents."""
    source = (text for path in files for text in path.read_text("utf-8").split(SEPARATOR)) if files else code()
    return up_to(source, megabytes)


def size_of(texts: list[str]) -> int:
    """Bytes of UTF-8."""
    return sum(len(text.encode()) for text in texts)
