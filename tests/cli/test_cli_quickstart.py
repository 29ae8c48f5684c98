"""The demo, small: every step passes, and a step that does not is told."""

import os

import pytest

import conversion
from hf_bpe.cli import demo

SMALL = ("--vocab-size", 1000, "--megabytes", 0.5)


def test_quickstart_from_end_to_end(start, tmp_path):
    folder = tmp_path / "demo"
    result = start("quickstart", "--output", folder, *SMALL)
    shown = result.stdout.decode()
    assert result.returncode == 0, shown + result.stderr.decode()
    assert "FAILED" not in shown
    assert "HfBpeTokenizer" in shown
    assert shown.count(" ok ") == 12
    first, *others = (conversion.load(folder / name) for name in ("tokenizer", "demo.tiktoken", "gpt2", "back/tokenizer.json"))
    assert all(other == first for other in others)
    assert first.vocab_size == 1000


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_module_of_two_names_is_learnt_from_once(tmp_path, monkeypatch):
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(f"# {name}\n" * 100, "utf-8")
    (tmp_path / "a_link.py").symlink_to("a.py")
    (tmp_path / "c_link.py").symlink_to("not-there.py")
    monkeypatch.setattr(demo.sysconfig, "get_path", lambda name: str(tmp_path))
    assert demo._standard_library(10_000) == [tmp_path / "a.py", tmp_path / "b.py"]


def test_quickstart_keeps_what_is_there(fails, tmp_path):
    (tmp_path / "notes.txt").touch()
    assert "--force" in fails("quickstart", "--output", tmp_path)


def test_a_failing_step_is_told_and_the_exit_code_is_1(run, tmp_path, monkeypatch):
    steps = [
        demo.Step("first", lambda: demo.Outcome("fine", True)),
        demo.Step("second", lambda: demo.Outcome("3 of 9 differ", False)),
    ]
    monkeypatch.setattr(demo.Demo, "steps", lambda self: steps)
    result = run("quickstart", "--output", tmp_path / "x")
    assert result.exit_code == 1
    assert "FAILED: second" in result.stdout
    assert "3 of 9 differ" in result.stdout


@pytest.fixture
def trained(tmp_path):
    example = demo.Demo(tmp_path, vocab_size=400, max_bytes=100_000)
    for step in example.steps()[:4]:
        assert step.run().passed, step.title
    return example


def test_the_steps_notice_a_tokenizer_that_was_changed(trained):
    changed = trained.spec.replace(merges=trained.spec.merges[:-50])
    conversion.save(changed, trained.folder / "other" / "tokenizer.json")
    assert not trained.verify(trained.folder / "other").passed
    assert not trained.convert(trained.folder / "other", trained.folder / "x" / "tokenizer.json", "tokenizer.json").passed
    conversion.save(changed, trained.saved / "tokenizer.json")
    for with_us in (True, False):
        assert not trained.load_elsewhere(with_us=with_us).passed


def test_loading_that_fails_says_why(trained):
    (trained.saved / "tokenizer.json").write_text("{")
    with pytest.raises(demo.HfBpeError, match="AutoTokenizer failed"):
        trained.load_elsewhere(with_us=False)
