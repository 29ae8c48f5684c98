"""Texts out of JSON: the native reader, the Python one that defines it, and Python's own `json` agree."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hf_bpe.corpus.documents import as_int64
from hf_bpe.corpus.jsonl import extract_by_definition
from hf_bpe.engine import native
from hf_bpe.engine.reference import as_unicode

HOSTILE = [
    b"", b"{}", b"null", b"1", b'"text"', b"[]", b'["text", "a"]', b'{"text"}', b'{"text":}', b'{"text":"a"', b'{"text":"a}',
    b'{"text":"a",}', b'{"text":"a"}}', b'{"text":"a"} {"text":"b"}', b'{"text":null}', b'{"text":1}', b'{"text":1.5e3}',
    b'{"text":true}', b'{"text":["a"]}', b'{"text":{"text":"a"}}', b'{"Text":"a"}', b'{"text":"a\tb"}', b'{"x":"a\tb","text":"a"}',
    b'{"text":"a\x00"}', b'\t{"text"\t:\t"a"\t}\t\r', b'{"text":"\xff"}', b'{"x":"\xc3","text":"a"}', b'{"text":"\xed\xa0\x80"}',
    b'{"text":"\\q"}', b'{"text":"\\u12"}', b'{"text":"\\uZZZZ"}', b"{'text':'a'}", b'{"text":"a"} // comment', b'{"n":NaN,"text":"a"}',
    b'{"n":Infinity,"text":"a"}', b'{"n":-,"text":"a"}', b'{"n":01,"text":"a"}', b'{"n":1.,"text":"a"}', b'{"n":1e999,"text":"a"}',
    b'{"n":' + b"9" * 5000 + b',"text":"a"}', b'{"text":"a","text":"b"}', b'{"text":1,"text":"b"}', b'{"text":"a","text":1}',
    b'{"te\\u0078t":"escaped key"}', b'{"\\ud800":1,"text":"a"}', b'\xef\xbb\xbf{"text":"a"}', b"\x0c", b"\xc2\xa0",
]  # fmt: skip

SURROGATES = [
    "\ud800",
    "\udfff",
    "\udc00\ud800",
    "\ud83d\ude00",
    "\ud83d\ud83d\ude00\ude00",
    "a\ud800",
    "\ud800\ud800b",
    "\udbff\udfff",
]


def parts(extracted: tuple[bytes, bytes, bytes, bytes, list[tuple[int, str]]]) -> tuple[object, ...]:
    data, offsets, ends, rows, bad = extracted
    return data, *(as_int64(numbers).tolist() for numbers in (offsets, ends, rows)), [line for line, _ in bad]


def both(block: bytes) -> tuple[object, ...]:
    found = parts(native.jsonl_texts(block, "text"))
    assert found == parts(extract_by_definition(block, "text"))
    return found


@pytest.mark.parametrize("line", HOSTILE)
def test_hostile_lines(line: bytes) -> None:
    both(line)
    both(b'{"text":"before"}\n' + line + b'\n{"text":"after"}')


def test_hostile_lines_are_bad_where_python_says_so() -> None:
    for line in HOSTILE:
        try:
            # Python also takes NaN and Infinity, and of a key given twice the last value.
            record = json.loads(line.decode(), parse_int=float)
            good = (
                isinstance(record, dict)
                and isinstance(record.get("text"), str)
                and not any(odd in line for odd in (b"NaN", b"Infinity", b'"text":"a","text"', b'"text":1,"text"'))
            )
            blank = False
        except ValueError:
            good, blank = False, not line.strip(b" \t\r")
        _, _, _, rows, bad = both(line)
        assert (len(rows), len(bad)) == (good, not good and not blank), line  # type: ignore[arg-type]


@pytest.mark.parametrize("text", SURROGATES)
def test_surrogates_are_what_the_engine_makes_of_a_str(text: str) -> None:
    line = json.dumps({"text": f"<{text}>"}).encode()
    assert both(line)[0] == f"<{as_unicode(text)}>".encode()


@given(st.lists(st.text(st.characters()), max_size=6), st.booleans())
@example(["\ud800\udc00", "\ud800", ""], False)
def test_any_text_comes_through(texts: list[str], spaced: bool) -> None:
    separators = (" , ", " : ") if spaced else (",", ":")
    block = b"".join(
        json.dumps({"text": text, "x": [1, {"text": 2}]}, separators=separators).encode() + b"\n" for text in texts
    )
    data, offsets, ends, rows, bad = both(block)
    assert data == "".join(map(as_unicode, texts)).encode()
    assert (len(offsets), rows, bad) == (len(texts) + 1, list(range(len(texts))), [])  # type: ignore[arg-type]
    assert [block[end - 1] for end in ends] == [10] * len(texts)  # type: ignore[attr-defined]


FRAGMENTS = ['{"text":"', '"}', "\n", '"', "\\", "\\ud83d", "\\ude00", "\\u00e9", "é", "{", "}", "[", "]", ",", ":", "1", "null", "text", " ", "\r", "\t"]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(lambda found: "".join(found).encode()), st.binary(max_size=3))
def test_any_rubbish_is_judged_alike(block: bytes, rubbish: bytes) -> None:
    both(block)
    both(b'{"text":"' + block + rubbish + b'"}\n{"text":"x"}')
    both(block + rubbish)


def test_other_fields_may_be_nested_deeply() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    assert native.jsonl_texts(b'{"meta":' + deep + b',"text":"a"}', "text")[0] == b"a"
    bad = extract_by_definition(b'{"meta":' + deep + b',"text":"a"}', "text")[4]
    assert bad == [(0, "not JSON that Python can read: nested too deeply")]
