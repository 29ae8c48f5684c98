from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import conversion
from conversion.nasty_strings import nasty_strings
from hf_bpe import AddedToken, ConversionRefused, Encoder, FormatError
from tests.conversion import hostile
from tests.conversion.support import small_spec, spec_with_unreachable_token
from tests.support.vocabularies import byte_spec, gpt2_spec

PROGRAM = """
import json, sys, tiktoken
name, texts = json.load(sys.stdin)
encoding = tiktoken.get_encoding(name)
print(json.dumps([
    encoding.name, encoding.n_vocab,
    [encoding.encode_ordinary(text) for text in texts],
    [encoding.encode(text, allowed_special="all") for text in texts],
    "cl100k_base" in tiktoken.list_encoding_names(),
]))
"""


def run_by_tiktoken(folders, name, texts):
    """What a fresh Python gives that has the folders on its path."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps([name, texts]), env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def save(spec, folder, **options):
    return conversion.save(spec, folder, format="tiktoken-plugin", **options)


@pytest.mark.parametrize("make", [small_spec, spec_with_unreachable_token, gpt2_spec], ids=["small", "unreachable", "gpt2"])
def test_tiktoken_finds_and_runs_it(tmp_path, make):
    spec = make()
    save(spec, tmp_path / "my_encoding")
    save(byte_spec("gpt2"), tmp_path / "other_encoding")
    texts = [text for text in nasty_strings(spec.special_tokens) if not any("\ud800" <= c <= "\udfff" for c in text)]
    name, n_vocab, ordinary, special, knows_others = run_by_tiktoken(
        [tmp_path / "my_encoding", tmp_path / "other_encoding"], "my_encoding", texts
    )
    encoder = Encoder(spec)
    assert (name, n_vocab, knows_others) == ("my_encoding", spec.n_vocab, True)
    assert ordinary == encoder.encode_ordinary_batch(texts)
    assert special == encoder.encode_batch(texts, allowed_special="all")


def test_a_name_that_the_module_itself_uses_works_too(tmp_path):
    names = ["base64", "Path", "int", "map", "bytes", "PAT_STR", "SPECIAL_TOKENS", "encoding", "ENCODING_CONSTRUCTORS"]
    for name in names:
        save(byte_spec(), tmp_path / name)
    program = "import sys, tiktoken; print([tiktoken.get_encoding(name).encode('hi') for name in sys.argv[1:]])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(str(tmp_path / name) for name in names)}
    done = subprocess.run([sys.executable, "-c", program, *names], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == str([[104, 105]] * len(names)), done.stderr


def test_it_comes_back(tmp_path):
    module, *_ = sorted(save(small_spec(), tmp_path / "my_encoding"))
    found = conversion.load(tmp_path / "my_encoding")
    assert found == small_spec()
    assert found.provenance == {"format": "tiktoken-plugin", "file": "my_encoding"}
    assert [file.name for file in (tmp_path / "my_encoding").iterdir()] == ["tiktoken_ext"]
    assert module.parent.name == "tiktoken_ext"


def test_its_rank_file_is_one_like_any_other(tmp_path):
    save(small_spec(), tmp_path / "my_encoding")
    assert conversion.load(tmp_path / "my_encoding" / "tiktoken_ext" / "my_encoding.tiktoken") == small_spec()


@pytest.mark.parametrize("name", ["my-encoding", "1x", "class", "a b", "é", "x.y", "__init__", "__main__"])
def test_a_name_that_no_module_can_have_is_refused(tmp_path, name):
    with pytest.raises(FormatError, match="cannot name an encoding"):
        save(small_spec(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_harmony", "openai_public"])
def test_a_name_of_tiktoken_itself_is_refused(tmp_path, name):
    with pytest.raises(FormatError, match="a name that tiktoken has already"):
        save(small_spec(), tmp_path / name)


def test_a_special_token_is_no_code(tmp_path):
    evil = '"""}; raise SystemExit(1) # \\ \n {name} 😀'
    spec = byte_spec("gpt2", added_tokens=(AddedToken(evil, 300),))
    save(spec, tmp_path / "my_encoding")
    texts = [f"a{evil}b"]
    found = run_by_tiktoken([tmp_path / "my_encoding"], "my_encoding", texts)
    assert found[3] == Encoder(spec).encode_batch(texts, allowed_special="all")


def test_what_tiktoken_cannot_hold_is_refused(tmp_path):
    spec = byte_spec("gpt2", added_tokens=(AddedToken("<a>", 300, special=False),))
    with pytest.raises(ConversionRefused, match="'<a>' is always matched"):
        save(spec, tmp_path / "my_encoding")
    assert list(tmp_path.iterdir()) == []
    save(spec, tmp_path / "my_encoding", allow_lossy=True)
    assert conversion.load(tmp_path / "my_encoding") == spec


def test_a_changed_module_is_refused(tmp_path):
    save(small_spec(), tmp_path / "my_encoding")
    module = tmp_path / "my_encoding" / "tiktoken_ext" / "my_encoding.py"
    module.write_text(module.read_text() + "\n")
    with pytest.raises(FormatError, match=r"stale: it was written for another my_encoding.py"):
        conversion.load(tmp_path / "my_encoding")


def test_a_module_is_never_run(tmp_path):
    save(small_spec(), tmp_path / "my_encoding")
    folder = tmp_path / "my_encoding" / "tiktoken_ext"
    (folder / "my_encoding.py").write_text("raise SystemExit(3)")
    (folder / "my_encoding.tiktoken.hf_bpe.json").unlink()
    with pytest.raises(FormatError, match=r"the module is a program, which is not run here; load the rank file itself"):
        conversion.load(tmp_path / "my_encoding")


def test_a_folder_of_none_or_several_is_refused(tmp_path):
    (tmp_path / "tiktoken_ext").mkdir()
    with pytest.raises(FormatError, match="such rank files are: none"):
        conversion.load(tmp_path)
    for name in ("a", "b"):
        (tmp_path / "tiktoken_ext" / f"{name}.tiktoken").write_bytes(b"")
        (tmp_path / "tiktoken_ext" / f"{name}.py").write_bytes(b"")
    with pytest.raises(FormatError, match=r"such rank files are: a.tiktoken, b.tiktoken"):
        conversion.load(tmp_path)


def test_damaged_rank_files_and_sidecars_are_refused(tmp_path):
    save(small_spec(), tmp_path / "my_encoding")
    folder = tmp_path / "my_encoding" / "tiktoken_ext"
    for name in ("my_encoding.tiktoken", "my_encoding.tiktoken.hf_bpe.json"):
        sound = (folder / name).read_bytes()
        for content in hostile.truncated(sound.rstrip(), 40):
            (folder / name).write_bytes(content)
            with pytest.raises(FormatError, match=r"my_encoding\.tiktoken"):
                conversion.load(tmp_path / "my_encoding")
        (folder / name).write_bytes(sound)


def test_sentencepiece_models_are_refused(tmp_path):
    from tests.support.pieces import PACKAGED

    with pytest.raises(ConversionRefused, match="save it with format='tiktoken'"):
        save(conversion.load(PACKAGED["mistral v1"]), tmp_path / "my_encoding")
