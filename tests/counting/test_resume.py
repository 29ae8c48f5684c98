"""An interrupted count, gone on with, gives what an uninterrupted one gives, wherever and however it was interrupted."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import hf_bpe
from hf_bpe.errors import CorpusError, FormatError, ResumeRefused, WordCountsMismatch
from hf_bpe.training.counting import count as count_module
from hf_bpe.training.counting.store import PartialStore
from hf_bpe.training.counting.tally import Tally
from tests.counting.support import TEXTS, as_dict, count, expected, write_jsonl, write_parquet


class Stopped(BaseException):
    """As Ctrl-C, but where the test wants it."""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(3):  # some of several blocks, some of less than one
        write_jsonl(folder / f"a{number}.jsonl", TEXTS[number * 30 : number * 30 + 30])
        write_parquet(folder / f"b{number}.parquet", TEXTS[90 + number : 93 + number])
    (folder / "c.txt").write_bytes("".join(TEXTS[93:]).encode())
    return folder


@pytest.fixture
def all_texts() -> list[str]:
    parts = [
        text for number in range(3) for text in (*TEXTS[number * 30 : number * 30 + 30], *TEXTS[90 + number : 93 + number])
    ]
    return [*parts, "".join(TEXTS[93:])]


def by_name(counts: hf_bpe.WordCounts) -> list[dict[str, object]]:
    return sorted((source.to_json() for source in counts.sources), key=lambda source: str(source["name"]))


def leftovers(output: Path) -> list[str]:
    return sorted(path.name for path in output.parent.iterdir() if path != output and path.name != "corpus")


@pytest.mark.parametrize("spilled", [False, True])
def test_resumed_after_any_event_gives_what_the_whole_gives(corpus, all_texts, spilled, tmp_path, monkeypatch) -> None:
    if spilled:
        monkeypatch.setattr("hf_bpe.training.counting.make.for_tables", lambda limit: 1)
    events = list(count_module._events(hf_bpe.training.corpus.inputs_of(corpus), None, skip_bad_files=False))
    assert len(events) > 20
    whole = count(corpus)
    assert as_dict(whole) == expected(all_texts)
    original = count_module._events
    for stop in range(0, len(events), 5 if spilled else 2):
        output = tmp_path / "out" / f"{stop}.parquet"
        left = [stop, 3, 5]  # events until the next interruptions

        def interrupted(*arguments, left=left, **options) -> Iterator[object]:
            for number, event in enumerate(original(*arguments, **options)):
                if left and number == left[0]:
                    left.pop(0)
                    raise Stopped
                yield event

        with monkeypatch.context() as patch:
            patch.setattr(count_module, "_events", interrupted)
            for _ in range(4):
                try:
                    resumed = count(corpus, output=output)
                    break
                except Stopped:
                    assert not output.exists()
        assert list(resumed.items()) == list(whole.items()), stop
        assert by_name(resumed) == by_name(whole), stop
        assert leftovers(output) == [f"{done}.parquet" for done in sorted(range(0, stop, 5 if spilled else 2), key=str)]


def test_a_process_killed_at_any_moment_leaves_a_state_to_go_on_from(corpus, all_texts, tmp_path, monkeypatch) -> None:
    """Saved after every event, as every ten minutes in earnest; killed means that nothing after the last save is kept."""
    monkeypatch.setattr(count_module, "SAVE_SECONDS", 0.0)
    output = tmp_path / "out.parquet"
    choose = random.Random(5)
    kills = 0
    for _ in range(100):
        moment = choose.randint(0, 9)
        with monkeypatch.context() as patch:
            original = Tally.add
            calls = iter(range(1000))

            def killed(self: Tally, batch: object, original=original, calls=calls, moment=moment) -> None:
                original(self, batch)  # type: ignore[arg-type]
                if next(calls) == moment:
                    raise Stopped

            patch.setattr(Tally, "add", killed)
            patch.setattr(count_module._Saving, "__exit__", lambda *_: None)
            try:
                done = count(corpus, output=output)
                break
            except Stopped:
                kills += 1
    assert kills > 3
    assert as_dict(done) == expected(all_texts)


def test_an_error_in_the_middle_of_counting_does_not_save_half_of_a_batch(corpus, all_texts, tmp_path, monkeypatch) -> None:
    output = tmp_path / "out.parquet"
    with monkeypatch.context() as patch:
        original = Tally._count
        calls = iter(range(1000))

        def fails(self: Tally, *arguments: object) -> None:
            original(self, *arguments)  # type: ignore[arg-type]
            if next(calls) == 9:
                raise MemoryError

        patch.setattr(Tally, "_count", fails)
        with pytest.raises(MemoryError):
            count(corpus, output=output)
    assert as_dict(count(corpus, output=output)) == expected(all_texts)


def test_an_interrupted_iterable_is_compared_with_what_was_read_of_it(tmp_path, monkeypatch) -> None:
    output = tmp_path / "out.parquet"
    with monkeypatch.context() as patch:
        original = count_module._events
        patch.setattr(count_module, "_events", lambda *a, **o: stopping(original(*a, **o), 6))
        with pytest.raises(Stopped):
            count(iter(TEXTS), output=output)
    state = json.loads((tmp_path / "out.parquet.partial" / "state.json").read_text())
    assert state["open"]["texts"] > 10
    with pytest.raises(ResumeRefused, match="does not begin with the"):
        count(iter(TEXTS[1:]), output=output)
    with pytest.raises(ResumeRefused, match="does not begin with the"):
        count(iter(TEXTS[:5]), output=output)
    assert as_dict(count(iter([*TEXTS, "one more"]), output=output)) == expected([*TEXTS, "one more"])


def test_an_iterable_that_was_read_to_its_end_is_compared_too(tmp_path, monkeypatch) -> None:
    output = tmp_path / "out.parquet"

    def stopped(*_: object) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr("hf_bpe.training.counting.make.write_words", stopped)
        with pytest.raises(Stopped):
            count(iter(TEXTS), output=output)
    for other in ([*TEXTS, "one more"], TEXTS[1:], TEXTS[:-1]):
        with pytest.raises(ResumeRefused, match=r"holds more than the 120 texts|does not begin with the 120 texts"):
            count(iter(other), output=output)
    assert as_dict(count(iter(TEXTS), output=output)) == expected(TEXTS)
    assert leftovers(output) == []


def stopping(events: Iterator[object], after: int) -> Iterator[object]:
    for number, event in enumerate(events):
        if number == after:
            raise Stopped
        yield event


@pytest.fixture
def begun(corpus, tmp_path, monkeypatch) -> Path:
    """An interrupted count of `corpus`, two files done and one begun."""
    output = tmp_path / "out.parquet"
    with monkeypatch.context() as patch:
        original = count_module._events
        patch.setattr(count_module, "_events", lambda *a, **o: stopping(original(*a, **o), 12))
        with pytest.raises(Stopped):
            count(corpus, output=output)
    assert not output.exists()
    return output


def test_other_settings_are_not_mixed_in(begun, corpus) -> None:
    with pytest.raises(ResumeRefused, match=r"rules: .*cl100k|rules: "):
        count(corpus, output=begun, pattern="gpt2")
    with pytest.raises(ResumeRefused, match="drop_words_below: None there, 2 now"):
        count(corpus, output=begun, drop_words_below=2)
    assert as_dict(count(corpus, output=begun, pattern="gpt2", overwrite=True)) == as_dict(count(corpus, pattern="gpt2"))


def test_a_file_that_was_counted_and_has_changed_is_named(begun, corpus) -> None:
    write_jsonl(corpus / "a0.jsonl", ["other"])
    with pytest.raises(ResumeRefused, match=r"a0.jsonl was counted, and has changed since"):
        count(corpus, output=begun)
    (corpus / "a0.jsonl").unlink()
    with pytest.raises(ResumeRefused, match=r"a0.jsonl was counted, and is not named now"):
        count(corpus, output=begun)


def test_a_file_that_was_only_begun_and_has_changed_is_counted_anew(begun, corpus) -> None:
    state = json.loads((begun.with_name("out.parquet.partial") / "state.json").read_text())
    name = Path(state["open"]["name"])
    write_jsonl(name, ["other", "texts"])
    assert as_dict(count(corpus, output=begun)) == as_dict(count(corpus))


def test_a_damaged_state_is_named(begun, corpus) -> None:
    folder = begun.with_name("out.parquet.partial")
    state = folder / "state.json"
    content = state.read_text()
    for damaged in ("", "{}", content[:-5], content.replace('"version": 1', '"version": 7')):
        state.write_text(damaged)
        with pytest.raises(FormatError, match=r"state.json: .*remove"):
            count(corpus, output=begun)
    state.write_text(content)
    next(folder.glob("run-*")).unlink()
    with pytest.raises(FormatError, match="is missing; remove"):
        count(corpus, output=begun)
    assert as_dict(count(corpus, output=begun, overwrite=True)) == as_dict(count(corpus))


def test_a_complete_output_is_not_counted_again(corpus, tmp_path, monkeypatch) -> None:
    output = tmp_path / "out.parquet"
    first = count(corpus, output=output)
    before = output.read_bytes()
    monkeypatch.setattr(count_module, "_events", lambda *_, **__: pytest.fail("read again"))
    assert count(corpus, output=output).checksum == first.checksum
    assert output.read_bytes() == before
    with pytest.raises(WordCountsMismatch, match="- pattern"):
        count(corpus, output=output, pattern="gpt2")
    write_jsonl(corpus / "a0.jsonl", ["changed"])
    with pytest.raises(ResumeRefused, match=r"a0.jsonl changed since"):
        count(corpus, output=output)


def test_more_text_is_added_to_a_saved_count(corpus, tmp_path) -> None:
    output = tmp_path / "out.parquet"
    first = as_dict(count(corpus, output=output))
    write_jsonl(corpus / "new.jsonl", ["one more text", "and another"])
    with pytest.raises(FileExistsError, match=r"does not hold .*new.jsonl; pass add=True"):
        count(corpus, output=output)
    added = count(corpus, output=output, add=True)
    assert as_dict(added) == as_dict(count(corpus))
    assert sorted(source.name for source in added.sources) == sorted(map(str, corpus.iterdir()))
    assert b"quetzal" not in first
    for times in (1, 2):  # what is no file has no name to be known by
        assert as_dict(count(iter(["quetzal"]), output=output, add=True))[b"quetzal"] == times
    with pytest.raises(FormatError, match=r"out.parquet: holds other counts than when it was opened; load it again"):
        as_dict(added)


def test_adding_is_gone_on_with_too(corpus, tmp_path, monkeypatch) -> None:
    output = tmp_path / "out.parquet"
    count(corpus, output=output)
    write_jsonl(corpus / "new.jsonl", TEXTS)
    before = output.read_bytes()
    with monkeypatch.context() as patch:
        original = count_module._events
        patch.setattr(count_module, "_events", lambda *a, **o: stopping(original(*a, **o), 4))
        with pytest.raises(Stopped):
            count(corpus, output=output, add=True)
    assert output.read_bytes() == before
    assert as_dict(count(corpus, output=output, add=True)) == as_dict(count(corpus))


def test_a_count_that_was_killed_behind_its_last_step_is_not_taken_for_an_interrupted_one(
    corpus, tmp_path, monkeypatch
) -> None:
    output = tmp_path / "out.parquet"
    for number in range(2):  # as it is made, and as more is added
        with monkeypatch.context() as patch:
            patch.setattr(count_module, "SAVE_SECONDS", 0.0)
            patch.setattr(PartialStore, "remove", lambda self: None)
            count(corpus, output=output, add=True)
        write_jsonl(corpus / f"new{number}.jsonl", TEXTS)
    assert (tmp_path / "out.parquet.partial" / "state.json").exists()
    assert as_dict(count(corpus, output=output, add=True)) == as_dict(count(corpus))
    assert not (tmp_path / "out.parquet.partial").exists()


def test_nothing_is_left_where_nothing_was_counted(tmp_path) -> None:
    (tmp_path / "empty.txt").touch()
    for corpus in (tmp_path / "empty.txt", iter([""]), iter([])):
        with pytest.raises(CorpusError, match="empty"):
            count(corpus, output=tmp_path / "out" / "x.parquet")
        assert not list((tmp_path / "out").iterdir())
