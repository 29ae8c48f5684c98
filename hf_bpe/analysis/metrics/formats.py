"""The same records written as JSON, YAML, CSV, XML and Markdown, and how many tokens each takes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias
from xml.etree import ElementTree  # only written with, never read

from hf_bpe.engine import Encoder
from hf_bpe.engine.parts import as_unicode
from hf_bpe.errors import FormatError
from hf_bpe.files import read_text

__all__ = ["FORMATS", "Records", "read_records", "tokens_by_format", "written"]

Record: TypeAlias = Mapping[str, Any]
Records: TypeAlias = Sequence[Record]

_MOST_BYTES = 4 << 20
"""A larger file says nothing more, and writing it as YAML takes minutes."""
_XML_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_records(path: str | os.PathLike[str]) -> Records:
    """The objects in a JSON file: a list of them, or one. Raises `FormatError` for anything else, and for more than 4 MiB."""
    where = os.fspath(path)
    if Path(path).is_file() and Path(path).stat().st_size > _MOST_BYTES:
        raise FormatError(f"{where}: has more than {_MOST_BYTES >> 20} MiB; some hundred records say as much about a format")
    try:
        content = json.loads(read_text(path), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise FormatError(f"{where}: not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{where}: not JSON that can be read: {error}") from None
    records = [content] if isinstance(content, dict) else content
    if not isinstance(records, list) or not records or not all(isinstance(record, dict) and record for record in records):
        raise FormatError(f"{where}: a JSON object, or a list of them, is needed, none of them empty: rows with named fields")
    return records


def _refuse_constant(constant: str) -> NoReturn:
    raise json.JSONDecodeError(f"{constant} is not JSON", constant, 0)


def tokens_by_format(encoder: Encoder, texts: Mapping[str, str]) -> dict[str, int]:
    """How many tokens the text of each format has."""
    return dict(zip(texts, encoder.count_ordinary_batch(list(texts.values())), strict=True))


def written(records: Records) -> dict[str, str]:
    """The records in each format. Raises `FormatError` for a character that XML cannot hold.

    >>> written([{"id": 1, "name": "Ada"}])["csv"]
    'id,name\\n1,Ada\\n'
    """
    return {name: as_unicode(write(records)) for name, write in FORMATS.items()}


def _json_compact(records: Records) -> str:
    return _compact(list(records))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _json_indented(records: Records) -> str:
    return json.dumps(list(records), ensure_ascii=False, indent=2)


def _yaml(records: Records) -> str:
    import yaml

    # Long strings stay on one line, as most other writers leave them.
    text: str = yaml.safe_dump(list(records), sort_keys=False, allow_unicode=True, width=1 << 30)
    return text


def _csv(records: Records) -> str:
    columns = _columns(records)
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(record.get(column)) for column in columns] for record in records)
    return target.getvalue()


def _markdown(records: Records) -> str:
    columns = _columns(records)
    rows = [columns, ["---"] * len(columns), *([_cell(record.get(column)) for column in columns] for record in records)]
    return "".join(f"| {' | '.join(map(_in_table, row))} |\n" for row in rows)


def _in_table(cell: str) -> str:
    return re.sub(r"\r\n|\r|\n", "<br>", cell.replace("|", "\\|"))


def _columns(records: Records) -> list[str]:
    return list(dict.fromkeys(key for record in records for key in record))


def _cell(value: Any) -> str:
    """A value as text; what is nested, as JSON.

    >>> _cell(None), _cell(True), _cell([1, 2])
    ('', 'true', '[1,2]')
    """
    if isinstance(value, str):
        return value
    return "" if value is None else _compact(value)


def _xml(records: Records) -> str:
    root = ElementTree.Element("records")
    for number, record in enumerate(records, 1):
        _fill(ElementTree.SubElement(root, "record"), record, f"record {number}")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _fill(element: ElementTree.Element, value: Any, where: str) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            named = _XML_NAME.fullmatch(key) is not None
            child = ElementTree.SubElement(element, key if named else "field", {} if named else {"name": _for_xml(key, where)})
            _fill(child, inner, where)
    elif isinstance(value, list):
        for inner in value:
            _fill(ElementTree.SubElement(element, "item"), inner, where)
    else:
        element.text = _for_xml(_cell(value), where) or None


def _for_xml(text: str, where: str) -> str:
    text = as_unicode(text)
    found = _NOT_IN_XML.search(text)
    if found is not None:
        raise FormatError(f"{where} of the data holds U+{ord(found[0]):04X}, which XML cannot hold; take it out of the data")
    return text


FORMATS: dict[str, Callable[[Records], str]] = {
    "json": _json_compact,
    "json indented": _json_indented,
    "yaml": _yaml,
    "csv": _csv,
    "xml": _xml,
    "markdown": _markdown,
}
"""Name -> what writes records as that. "json" has no white space between its parts."""
