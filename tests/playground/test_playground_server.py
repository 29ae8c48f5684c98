"""The page as a server answers it: what it shows, what it refuses, and that it goes on afterwards."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
import time
from html import unescape
from html.parser import HTMLParser
from itertools import chain
from urllib.parse import urlsplit

import pytest

import conversion
from hf_bpe.errors import FormatError
from hf_bpe.playground import server
from hf_bpe.playground.looking import WINDOW
from hf_bpe.playground.shelf import Shelf
from tests.support.playground import CHATTY, SCRIPT, call, form, listening, sample_shelf
from tests.support.vocabularies import (
    CL100K_FILE,
    GPT2_ENCODER_FILE,
    GPT2_MERGES_FILE,
    TEKKEN_FILE,
    byte_spec,
    cl100k_encoder,
)


def shown_ids(answer):
    return [int(token_id) for token_id in re.findall(r'data-id="(\d+)"', answer.text)]


OURS = set(
    "p b wbr div section header h2 h3 small dl dt dd span i sup ul li ol br code details summary button input label nav table thead tbody tr th td".split()
)


def tags(html):
    """The elements of a fragment, and `!` where one has what runs by itself."""
    found = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.add(tag)
            if any(name.startswith("on") or (value or "").startswith("javascript:") for name, value in attributes):
                found.add("!")

    Reader().feed(html)
    return found


def upload(address, *files, **fields):
    body, headers = form(list(files), **fields)
    return call(f"{address}/upload", body, **headers)


def test_the_page_shows_tokens_before_anything_is_typed(address):
    page = call(f"{address}/")
    assert page.status == 200
    assert page.text.count('class="column"') == 3
    assert 'data-id="16799"' in page.text  # "127" of the first example, in gpt2
    assert "SolidGoldMagikarp" in page.text


def test_nothing_on_the_page_comes_from_elsewhere(address):
    page = call(f"{address}/")
    assert re.findall(r'(?:src|href|action)="(?:https?:)?//[^"]*', page.text) == []
    for name in (
        "page.css",
        "page.js",
        "asking.js",
        "saying.js",
        "tokens.js",
        "card.js",
        "chat.js",
        "link.js",
        "theme.js",
        "upload.js",
        "icon.svg",
    ):
        asset = call(f"{address}/static/{name}")
        assert asset.status == 200
        assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", asset.text), name
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")


def test_ids_are_those_of_the_encoder(look):
    text = "hello  wörld\n\t<|endoftext|> 안녕 👩‍👩‍👧"
    assert shown_ids(look(text, ["t1"])) == cl100k_encoder().encode(text, allowed_special="all")
    assert shown_ids(look(text, ["t1"], specials=False)) == cl100k_encoder().encode_ordinary(text)


@pytest.mark.parametrize("layout", ["tokens", "pieces", "table"])
@pytest.mark.parametrize("key", ["t0", "t1", "t2", "t3"])
def test_scripts_in_texts_and_tokens_are_shown_and_never_run(look, address, layout, key):
    answer = look(f"{SCRIPT} <b>\"'&</b> {SCRIPT}", [key], layout=layout)
    assert answer.status == 200
    assert tags(answer.text) <= OURS
    for token_id in set(shown_ids(answer)):
        assert tags(call(f"{address}/token?tokenizer={key}&id={token_id}").text) <= OURS


def test_names_and_titles_are_escaped(address):
    assert SCRIPT not in call(f"{address}/").text


def test_each_column_counts_the_whole_text(look):
    answer = look("hello world", ["t0", "t1"])
    assert answer.text.count("<dd>2</dd>") == 2
    assert answer.text.count("<dd>5.50</dd>") == 4
    assert "<b>11</b> characters" in answer.text
    assert "All cut this text alike" in answer.text


def test_stretches_cut_differently_are_marked_and_counted(look):
    answer = look("SolidGoldMagikarp is", ["t0", "t1"])
    assert "<b>1</b> place" in answer.text
    assert answer.text.count("differs") == answer.text.count("cut differently") > 0


def test_long_texts_are_shown_a_window_at_a_time(look):
    text = "".join(f"{number:07} " for number in range(125_000))
    answer = look(text, ["t0"], start=500_000)
    assert len(answer.text) < 2_000_000
    assert 'class="token' in answer.text
    begins = [int(place) for place in re.findall(r", bytes (\d+) to", answer.text)]
    assert 500_000 <= min(begins) < 500_010
    assert 500_000 + WINDOW - 10 < max(begins) < 500_000 + WINDOW


def test_windows_cover_the_text_once(look):
    text = "안녕 hello  " * 900
    starts = range(0, len(text), WINDOW)
    windows = [shown_ids(look(text, ["t1"], start=start)) for start in starts]
    assert len(windows) > 2
    assert list(chain.from_iterable(windows)) == cl100k_encoder().encode_ordinary(text)


def test_a_start_behind_the_end_shows_the_end(look):
    assert shown_ids(look("hello", ["t0"], start=10**9)) == [31373]


def test_no_text_and_no_tokenizer_say_what_to_do(look):
    assert "Type a text" in look("", ["t0"]).text
    assert "Choose a tokenizer" in look("hello", []).text


def test_lone_surrogates_are_shown_as_what_they_are_encoded_as(address):
    answer = call(f"{address}/look", b'{"text": "a\\ud800b", "tokenizers": ["t1"]}')
    assert answer.status == 200
    assert shown_ids(answer) == cl100k_encoder().encode_ordinary("a\ud800b")


def test_too_much_text_is_refused_with_the_limit(look):
    answer = look("x" * 4_000_001, ["t0"])
    assert answer.status == 413
    assert "4,000,001 characters; the page takes up to 4,000,000" in answer.text
    assert look("hello", ["t0"]).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"nonsense", b'"text"', b"[" * 100_000, b'{"tokenizers": "t0"}', b'{"tokenizers": [1]}', b"\xff\xfe",
        b'{"tokenizers": ["t0"], "text": 5}', b'{"tokenizers": ["t0"], "layout": "x"}', b'{"tokenizers": ["t0"], "start": 1e9}',
        b'{"tokenizers": ["t0"], "messages": [1]}', b'{"tokenizers": ["t0"], "messages": {"a": 1}}',
        b'{"tokenizers": ["t0"], "specials": "no"}', b'{"tokenizers": ["nobody"], "text": "hello"}',
    ],
)  # fmt: skip
def test_requests_of_no_page_have_an_answer(address, body):
    answer = call(f"{address}/look", body)
    assert answer.status == 400
    assert answer.text
    assert "defect" not in answer.text


@pytest.mark.parametrize(
    "query",
    ["", "tokenizer=t0", "tokenizer=t0&id=-1", "tokenizer=t0&id=²", "tokenizer=t0&id=99999", "tokenizer=t0&id=5&word=xy"],
)
def test_cards_of_nothing_have_an_answer(address, query):
    answer = call(f"{address}/token?{query.replace('²', '%C2%B2')}")
    assert answer.status == 400
    assert "defect" not in answer.text


def test_a_card_has_tree_rank_neighbours_reach_and_steps(address):
    card = call(f"{address}/token?tokenizer=t0&id=31373&word={b'hello'.hex()}").text
    for part in (
        "<dd>31373</dd>",
        "68 65 6C 6C 6F",
        "merge 31,118",
        "yes: its own text becomes it",
        "Merge tree",
        "Neighbours by id",
    ):
        assert part in card
    assert card.count('class="steps"') == 1
    assert "4 of 4" in card


def test_a_card_of_a_piece_has_its_score_and_steps(address, look):
    answer = look("hello there", ["t2"])
    word = re.search(r'data-word="([0-9a-f]+)"', answer.text)[1]
    assert bytes.fromhex(word).decode() == "▁hello"
    card = call(f"{address}/token?tokenizer=t2&id={shown_ids(answer)[0]}&word={word}").text
    assert "score" in card
    assert "step by step" in card


def test_a_card_of_a_special_token(address):
    card = call(f"{address}/token?tokenizer=t1&id=100257&word=").text
    assert "special token" in card
    assert "Merge tree" not in card


def test_pieces_show_the_alternative_that_matched(look):
    answer = look("it's 12", ["t0"], layout="pieces")
    assert re.findall(r'<sup title="([^"]*)">(\d+)</sup>', unescape(answer.text)) == [
        (r" ?\p{L}+", "8"),
        ("'s", "1"),
        (r" ?\p{N}+", "9"),
    ]


def test_pieces_of_a_model_that_splits_nothing_say_so(look):
    assert "splits nothing before it merges" in look("hello", ["t2"], layout="pieces").text


def test_chat_marks_what_messages_say_and_keeps_special_tokens_in_them_text(look):
    messages = [{"role": "user", "content": "say <|endoftext|>"}]
    answer = look("", ["t1"], messages=messages, template="own", generation_prompt=True)
    assert shown_ids(answer).count(100257) == 1
    assert answer.text.count("untrusted: from a message") > 3
    assert answer.text.count("trusted: from the template") > 3


def test_chat_without_a_template_says_what_to_choose(look):
    answer = look("", ["t0", "t1"], messages=[{"role": "user", "content": "hi"}])
    assert "no chat template of its own" in answer.text
    assert "100257" in answer.text  # the other column is shown all the same


def test_a_ready_template_adds_its_special_tokens_and_says_so(look):
    answer = look("", ["t0"], messages=[{"role": "user", "content": "hi"}], template="chatml")
    assert "This vocabulary lacks &lt;|im_start|&gt;, &lt;|im_end|&gt;" in answer.text
    assert 50257 in shown_ids(answer)


def test_a_token_that_the_template_brought_has_a_card(address):
    for template, content in (("chatml", "&lt;|im_start|&gt;"), ("llama3", "&lt;|begin_of_text|&gt;")):
        card = call(f"{address}/token?tokenizer=t0&id=50257&template={template}")
        assert card.status == 200
        assert content in card.text
    assert call(f"{address}/token?tokenizer=t0&id=50257").status == 400


def test_what_takes_too_long_is_given_up_and_others_go_on(monkeypatch):
    shelf = sample_shelf()
    released = threading.Event()
    shelf.add("slow", lambda: released.wait(60) and byte_spec(), "for tests")
    monkeypatch.setattr(server, "_LONGEST", 0.3)
    with listening(shelf) as slow:
        for _ in range(3):
            answer = call(f"{slow}/look", b'{"text": "x", "tokenizers": ["t4"]}')
            assert answer.status == 400
            assert "took longer than" in answer.text
        monkeypatch.setattr(server, "_LONGEST", 60)
        assert shown_ids(call(f"{slow}/look", b'{"text": "hello", "tokenizers": ["t0"]}')) == [31373]
        released.set()


def test_requests_that_nobody_waits_for_are_dropped_when_it_is_their_turn():
    shelf, released, looked_at = sample_shelf(), threading.Event(), []
    shelf.add("slow", lambda: released.wait(60) and byte_spec(), "for tests")
    shelf.add("counted", lambda: looked_at.append(1) or byte_spec(), "for tests")
    with listening(shelf) as slow:
        held = [threading.Thread(target=call, args=(f"{slow}/look", b'{"text": "x", "tokenizers": ["t4"]}')) for _ in range(2)]
        for thread in held:
            thread.start()
        time.sleep(0.3)
        host = urlsplit(slow)
        for _ in range(5):
            connection = http.client.HTTPConnection(host.hostname, host.port, timeout=20)
            connection.request("POST", "/look", b'{"text": "x", "tokenizers": ["t5"]}')
            time.sleep(0.05)
            connection.close()
        time.sleep(0.2)
        released.set()
        for thread in held:
            thread.join(20)
        assert call(f"{slow}/look", b'{"text": "x", "tokenizers": ["t0"]}').status == 200
        assert looked_at == []
        assert call(f"{slow}/look", b'{"text": "x", "tokenizers": ["t5"]}').status == 200
        assert looked_at == [1]


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": ""}], [{"role": "nobody", "content": "x"}]])
def test_odd_conversations_have_an_answer(look, messages):
    for template in ("own", "chatml", "llama3", "mistral", "nonsense"):
        answer = look("", ["t1"], messages=messages, template=template)
        assert answer.status in (200, 400)
        assert "defect" not in answer.text


# -- uploads ----------------------------------------------------------------------------------------------------------


def test_uploaded_tokenizers_of_every_kind_are_used(address, look):
    kinds = {
        "tekken.json": ([("tekken.json", TEKKEN_FILE.read_bytes())], {}),
        "encoder.json": ([("encoder.json", GPT2_ENCODER_FILE.read_bytes()), ("vocab.bpe", GPT2_MERGES_FILE.read_bytes())], {}),
        "cl100k_base.tiktoken": ([("cl100k_base.tiktoken", CL100K_FILE.read_bytes())], {"pattern": "cl100k"}),
    }
    for name, (files, fields) in kinds.items():
        answer = upload(address, *files, **fields)
        assert answer.status == 200, answer.text
        assert name in answer.text
        key = re.search(r'value="([^"]+)"', answer.text)[1]
        assert len(key) > 20
        assert shown_ids(look("hello world", [key]))


def test_two_files_that_belong_together_may_be_called_otherwise(address):
    encoder, merges = ("my.encoder.json", GPT2_ENCODER_FILE.read_bytes()), ("my.vocab.bpe", GPT2_MERGES_FILE.read_bytes())
    assert "my.vocab.bpe: is missing; choose it together with the others" in upload(address, encoder).text
    answer = upload(address, encoder, merges)
    assert answer.status == 200, answer.text
    assert "my.encoder.json" in answer.text


def test_a_pattern_of_ones_own_is_taken_and_one_too_many_is_refused_in_words_of_the_page(address, look):
    answer = upload(address, ("x.tiktoken", CL100K_FILE.read_bytes()), pattern=r"\w+|\W")
    assert answer.status == 200, answer.text
    key = re.search(r'value="([^"]+)"', answer.text)[1]
    assert len(shown_ids(look("hello  world", [key]))) == 4
    assert "expected ')'" in upload(address, ("x.tiktoken", CL100K_FILE.read_bytes()), pattern="(").text
    answer = upload(address, ("tekken.json", TEKKEN_FILE.read_bytes()), pattern="gpt2")
    assert answer.text == "tekken.json: the file states its own pattern and special tokens; leave the split pattern empty"


def test_a_ready_template_is_chosen_where_no_tokenizer_that_is_shown_has_one(address):
    ready = '<option value="chatml" selected>'
    assert ready not in call(f"{address}/").text
    shelf = Shelf()
    shelf.add("bytes", byte_spec, "for tests", first=True)
    shelf.add("chatty", byte_spec, "for tests", (CHATTY, {}))
    with listening(shelf) as there:
        assert ready in call(f"{there}/").text


def test_code_beside_an_uploaded_tokenizer_is_not_run(address, tmp_path):
    conversion.save(byte_spec(), tmp_path / "tokenizer.json")
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w').close()".encode()
    config = json.dumps({"auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}, "trust_remote_code": True}).encode()
    files = [
        ("tokenizer.json", (tmp_path / "tokenizer.json").read_bytes()),
        ("tokenizer_config.json", config),
        ("evil.py", code),
    ]
    answer = upload(address, *files)
    assert not ran.exists()
    assert answer.status == 200 or "evil" in answer.text


def test_a_tokenizer_that_does_not_load_has_its_reason_in_its_column():
    def fails():
        raise FormatError("broken.json: it was truncated")

    shelf = Shelf()
    shelf.add("broken", fails, "for tests", first=True)
    shelf.add("good", byte_spec, "for tests", first=True)
    with listening(shelf) as there:
        page = call(f"{there}/")
        assert page.status == 200
        assert "broken.json: it was truncated" in page.text
        assert 'class="token' in page.text
        assert call(f"{there}/token?tokenizer=t0&id=5").status == 400


def test_an_upload_of_a_name_that_is_there_gets_a_number(address):
    files = [("encoder.json", GPT2_ENCODER_FILE.read_bytes()), ("vocab.bpe", GPT2_MERGES_FILE.read_bytes())]
    assert "encoder.json (2)" in upload(address, *files, beside="encoder.json").text


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes.txt", b"hello", "in no format known here"),
        ("tokenizer.json", b"", "empty"),
        ("tokenizer.json", b"\xff\xfe{", "in no format known here"),
        ("tokenizer.json", b'{"model": {"type": "BPE"', "tokenizer.json"),
        ("tokenizer.json", b'{"model": {"type": "Unigram", "vocab": []}}', "tokenizer.json"),
        ("tokenizer.json", b"[" * 50_000, "tokenizer.json"),
        ("x.gguf", b"GGUF" + b"\xff" * 100, "x.gguf: version"),
        ("x.model", b"\x0a\xff\xff\xff\xff\x0f", "x.model"),
        ("x.tiktoken", b"aGk= 0\n", "pattern"),
        ("<script>.json", b"{}", "<script>.json"),
        ("..", b"x", "is no name of a file"),
    ],
)
def test_files_that_are_no_tokenizer_are_refused_in_words(address, name, content, said):
    answer = upload(address, (name, content))
    assert answer.status == 400
    assert said in answer.text
    assert "/tmp" not in answer.text
    assert "defect" not in answer.text
    assert answer.headers["content-type"].startswith("text/plain")


def test_names_that_lead_elsewhere_are_cut_to_their_last_part(address, tmp_path):
    answer = upload(address, (f"../../../../{tmp_path}/tokenizer.json", b"{}"))
    assert answer.status == 400
    assert not (tmp_path / "tokenizer.json").exists()


def test_two_files_of_one_name_are_refused(address):
    assert "same name" in upload(address, ("a/x.json", b"{}"), ("b/x.json", b"{}")).text


def test_no_file_is_refused(address):
    assert upload(address).status == 400
    assert call(f"{address}/upload", b"not a form", content_type="multipart/form-data").status == 400


def test_a_request_that_is_too_large_is_refused_before_it_is_read(address):
    host = urlsplit(address)
    for path, length in (("/upload", 200_000_000), ("/look", 30_000_000), ("/text", 30_000_000), ("/nowhere", 200_000)):
        connection = http.client.HTTPConnection(host.hostname, host.port, timeout=20)
        connection.putrequest("POST", path)
        connection.putheader("Content-Length", str(length))
        connection.endheaders()
        assert connection.getresponse().status == 413, path
        connection.close()


def test_a_request_without_a_length_is_counted(address):
    def pieces():
        for _ in range(400):
            yield b"x" * 100_000

    host = urlsplit(address)
    connection = http.client.HTTPConnection(host.hostname, host.port, timeout=20)
    try:
        connection.request("POST", "/look", pieces(), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # it was refused while we still wrote
    finally:
        connection.close()
    assert call(f"{address}/").status == 200


def test_a_text_file_is_read_if_it_is_utf_8(address):
    body, headers = form([("a.txt", "\ufeffwörld".encode())])
    assert call(f"{address}/text", body, **headers).text == "wörld"
    body, headers = form([("b.txt", b"caf\xe9")])
    answer = call(f"{address}/text", body, **headers)
    assert answer.status == 400
    assert answer.text.startswith("b.txt: not UTF-8 text: byte 0xE9 at offset 3")


# -- who may ask ------------------------------------------------------------------------------------------------------


def test_another_name_of_this_machine_is_refused(address):
    assert call(f"{address}/", host="evil.example").status == 403
    assert call(f"{address}/", host="127.0.0.1:1234").status == 200


def test_pages_of_other_sites_cannot_post(address):
    body = json.dumps({"text": "x", "tokenizers": ["t0"]}).encode()
    assert call(f"{address}/look", body, sec_fetch_site="cross-site").status == 403
    assert call(f"{address}/look", body, sec_fetch_site="same-origin").status == 200


def test_static_files_do_not_lead_out_of_their_folder(address):
    for path in ("/static/../guard.py", "/static/..%2fguard.py", "/static/%2e%2e/guard.py"):
        assert call(f"{address}{path}").status == 404


def test_it_is_not_reached_from_other_machines(address):
    port = urlsplit(address).port
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)} - {
        "127.0.0.1",
        "127.0.1.1",
    }
    for other in others:
        with pytest.raises(OSError):
            socket.create_connection((other, port), timeout=2).close()
