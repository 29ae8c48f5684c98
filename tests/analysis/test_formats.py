"""The same records in several formats: each is read back by its own library with the content that it had."""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hf_bpe import Encoder, FormatError
from hf_bpe.analysis import sample
from hf_bpe.analysis.metrics.formats import read_records, tokens_by_format, written
from tests.support.vocabularies import byte_spec

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff\u2028\u2029"), max_size=8)
VALUES = st.one_of(st.none(), st.booleans(), st.integers(-1000, 1000), TEXT, st.lists(st.integers(0, 9), max_size=3))
RECORDS = st.lists(st.dictionaries(TEXT.filter(bool), VALUES, min_size=1, max_size=4), min_size=1, max_size=4)


def test_one_record_by_hand():
    record = {"id": 7, "name": 'A "b" | c', "ok": True, "note": None, "tags": ["x", 1]}
    assert written([record]) == {
        "json": '[{"id":7,"name":"A \\"b\\" | c","ok":true,"note":null,"tags":["x",1]}]',
        "json indented": json.dumps([record], indent=2),
        "yaml": '- id: 7\n  name: A "b" | c\n  ok: true\n  note: null\n  tags:\n  - x\n  - 1\n',
        "csv": 'id,name,ok,note,tags\n7,"A ""b"" | c",true,,"[""x"",1]"\n',
        "xml": '<records>\n  <record>\n    <id>7</id>\n    <name>A "b" | c</name>\n    <ok>true</ok>\n    <note />\n    <tags>\n'
        "      <item>x</item>\n      <item>1</item>\n    </tags>\n  </record>\n</records>\n",
        "markdown": '| id | name | ok | note | tags |\n| --- | --- | --- | --- | --- |\n| 7 | A "b" \\| c | true |  | ["x",1] |\n',
    }


@given(RECORDS)
def test_readers_find_what_was_written(records):
    texts = written(records)
    assert json.loads(texts["json"]) == json.loads(texts["json indented"]) == yaml.safe_load(texts["yaml"]) == records
    columns, *rows = csv.reader(io.StringIO(texts["csv"], newline=""))
    assert columns == list(dict.fromkeys(key for record in records for key in record))
    assert len(rows) == len(records)
    found = [{field.get("name", field.tag): field for field in record} for record in ElementTree.fromstring(texts["xml"])]
    assert [set(record) for record in found] == [set(record) for record in records]
    assert texts["markdown"].count("\n") == len(records) + 2


def test_the_records_that_come_along_hold_every_kind_of_value():
    kinds = {type(value) for record in sample.records() for value in record.values()}
    assert kinds == {int, float, str, bool, list, type(None)}


def test_tokens_of_each_format():
    texts = written([{"a": 1}])
    assert tokens_by_format(Encoder(byte_spec()), texts) == {name: len(text) for name, text in texts.items()}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "not JSON: .* line 1 column 2"),
        ("[]", "a JSON object, or a list of them"),
        ("[1]", "a JSON object, or a list of them"),
        ("[{}]", "none of them empty"),
        ('"x"', "a JSON object, or a list of them"),
        ('[{"a": NaN}]', "NaN is not JSON"),
        ('{"a": ' + "9" * 5000 + "}", "not JSON that can be read"),
        ("[" * 100_000, "not JSON that can be read"),
    ],
)
def test_what_is_no_data_is_refused(tmp_path, content, message):
    (tmp_path / "d.json").write_text(content)
    with pytest.raises(FormatError, match=f"d.json: .*{message}"):
        read_records(tmp_path / "d.json")


def test_files_that_are_missing_too_large_or_not_utf8_are_refused(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        read_records(tmp_path / "d.json")
    (tmp_path / "d.json").write_bytes(b'[{"a": "\xff"}]')
    with pytest.raises(FormatError, match="not UTF-8"):
        read_records(tmp_path / "d.json")
    (tmp_path / "d.json").write_text('[{"a": "' + "x" * (4 << 20) + '"}]')
    with pytest.raises(FormatError, match="more than 4 MiB"):
        read_records(tmp_path / "d.json")


def test_what_xml_cannot_hold_is_named():
    with pytest.raises(FormatError, match=r"record 2 of the data holds U\+0001"):
        written([{"a": "x"}, {"a": "\x01"}])


def test_lone_surrogates_are_written_as_what_encoding_makes_of_them(tmp_path):
    (tmp_path / "d.json").write_text('{"a": "\\ud800"}')
    assert "\ufffd" in written(read_records(tmp_path / "d.json"))["csv"]
