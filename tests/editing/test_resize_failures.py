"""What cannot be done is said, and whatever goes wrong midway leaves the original and nothing else."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import resource
import shutil
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hf_bpe import EditError, FormatError
from hf_bpe.editing import IdMap, folders, plan_resize
from hf_bpe.editing.checkpoint import checked_file
from hf_bpe.editing.checkpoint.checked_file import CheckedFile
from tests.editing import models
from tests.editing.models import content, llama, new_spec, old_spec, pruned_spec, save_model, save_tokenizer

SHARD = "model-00003-of-00003.safetensors"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tmp_path / "model", llama(304), shards=3)
    return tmp_path / "model"


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return save_tokenizer(new_spec(), tmp_path / "new", bos_token="<s>", eos_token="</s>")


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def edit_json(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def remove_tokenizer(folder: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()


def rename_tensors(folder: Path, names: dict[str, str]) -> None:
    values = models.load_tensors(folder)
    for path in folder.glob("*.safetensors*"):
        path.unlink()
    models.save_tensors(folder / "model.safetensors", {names.get(name, name): value for name, value in values.items()})


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing shard": (
        lambda m: (m / SHARD).unlink(),
        r"names model-00003-of-00003.safetensors, which is not there; fetch the missing",
    ),
    "truncated shard": (lambda m: os.truncate(m / SHARD, (m / SHARD).stat().st_size - 1), "it is truncated: fetch it again"),
    "shard cut in its header": (lambda m: os.truncate(m / SHARD, 20), "it is truncated"),
    "empty shard": (lambda m: os.truncate(m / SHARD, 0), "it is truncated"),
    "shard that is too long": (lambda m: (m / SHARD).open("ab").write(b"x"), "there is more behind its tensors"),
    "index that is no JSON": (lambda m: (m / "model.safetensors.index.json").write_text("{"), "not JSON"),
    "index without a map": (lambda m: edit_json(m / "model.safetensors.index.json", weight_map={}), "weight_map must map"),
    "index that leads out": (
        lambda m: edit_json(m / "model.safetensors.index.json", weight_map={"a": "../b"}),
        "files beside it",
    ),
    "index of other tensors": (
        lambda m: edit_json(m / "model.safetensors.index.json", weight_map={"a": SHARD}),
        "names tensors that are not where it says: a in",
    ),
    "no weights": (
        lambda m: [path.unlink() for path in m.glob("*.safetensors*")],
        "holds no .safetensors files. Save the model",
    ),
    "shards without an index": (
        lambda m: (m / "model.safetensors.index.json").unlink(),
        "no model.safetensors.index.json that says",
    ),
    "unknown names": (
        lambda m: rename_tensors(m, {"model.embed_tokens.weight": "a.table", "lm_head.weight": "b.table"}),
        r"no tensor has a name that is known for embeddings. Name the embedding with embedding=NAME.* a.table \(304 rows\), b.table",
    ),
    "unknown name of the head": (
        lambda m: [rename_tensors(m, {"lm_head.weight": "b.table"}), edit_json(m / "config.json", tie_word_embeddings=False)],
        "no head of a known name is there; name it with head=NAME: b.table has 304 rows",
    ),
    "configuration of another size": (
        lambda m: edit_json(m / "config.json", vocab_size=290),
        "says vocab_size 290, and the embedding has 304",
    ),
    "configuration that is no object": (lambda m: (m / "config.json").write_text("[]"), "must be a JSON object"),
    "another tokenizer": (
        lambda m: [save_tokenizer(old_spec().with_added_tokens({"<|x|>": 400}), m)],
        "gives ids up to 400: they do not belong",
    ),
    "no tokenizer": (remove_tokenizer, "name it with old_tokenizer="),
    "the same weights in another form": (
        lambda m: (m / "pytorch_model.bin").write_bytes(b""),
        "pytorch_model.bin would hold the old rows",
    ),
    "a link to nowhere": (lambda m: (m / "x").symlink_to("nowhere"), "is a link to what is not there"),
    "a pipe": (lambda m: os.mkfifo(m / "pipe"), "is no regular file"),
    "scales of blocks": (
        lambda m: rename_tensors(m, {"model.layers.0.mlp.up_proj.weight": "lm_head.weight_scale_inv"}),
        r"lm_head.weight_scale_inv, of the shape \[50, 24\], belongs to lm_head.weight, which seems to be quantised in blocks",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_does_not_fit_is_refused_and_left_alone(model: Path, new: Path, damage: str) -> None:
    spoil, message = DAMAGES[damage]
    spoil(model)
    names = names_in(model)
    with pytest.raises((EditError, FormatError), match=message):
        plan_resize(model, new).apply()
    assert names_in(model) == names
    assert names_in(model.parent) == ["model", "new"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": "best"}, "no way 'best'"),
        ({"init": "copy:nothing"}, "no token 'nothing'"),
        ({"embedding": ["nothing"]}, "has no tensor 'nothing', which embedding= names"),
        ({"embedding": ["model.norm.weight"]}, "has 24 rows, and the tokenizer gives ids up to 299: .* as old_tokenizer="),
        (
            {"head": ["model.layers.0.mlp.up_proj.weight"]},
            "the embedding has 304 rows, and the head not as many: .* with 50 rows",
        ),
        ({"pad_to_multiple_of": 0}, "1 or more"),
        ({"output": "model/inside"}, "lies in the other"),
        ({"output": "new"}, "exists; choose another output"),
        ({"id_map": IdMap(299, 303, {})}, "speaks of 299 old ids, and the old tokenizer has 300"),
        ({"id_map": IdMap(300, 300, {})}, "speaks of 300 new ids, and the new tokenizer has 303"),
        ({"id_map": IdMap(300, 303, {0: 0})}, "ids 1, 2, 3, 4, 5 and 297 more stand only in the id map, or only in the new"),
        ({"old_tokenizer": "nowhere"}, "cannot be read; name it with old_tokenizer="),
    ],
)
def test_what_cannot_be_asked_for_is_refused(model: Path, new: Path, options: dict[str, Any], message: str) -> None:
    options = {name: model.parent / value if name in ("output", "old_tokenizer") else value for name, value in options.items()}
    before = content(model.parent)
    with pytest.raises(EditError, match=message):
        plan_resize(model, new, **options)
    assert content(model.parent) == before


def test_a_token_that_the_model_needs_may_not_go(model: Path, new: Path) -> None:
    edit_json(model / "config.json", image_token_index=297)
    save_tokenizer(pruned_spec(), new, bos_token="<s>")
    with pytest.raises(EditError, match=r"config.json: image_token_index is 297, whose token the new tokenizer lacks"):
        plan_resize(model, new)


def test_a_dtype_that_is_not_known_is_passed_through_but_gets_no_rows(tmp_path: Path, new: Path) -> None:
    values = save_model(tmp_path / "model", llama(304))
    path = tmp_path / "model" / "model.safetensors"
    for name in ("model.norm.weight", "lm_head.weight"):
        data = path.read_bytes()
        start = data.index(b'"' + name.encode() + b'"')
        path.write_bytes(data[:start] + data[start:].replace(b'"BF16"', b'"XY16"', 1))
        if name == "model.norm.weight":
            plan_resize(tmp_path / "model", new, output=tmp_path / "out").apply()
            written = (tmp_path / "out" / "model.safetensors").read_bytes()
            assert values[name].tobytes() in written
    with pytest.raises(EditError, match=r"lm_head.weight is XY16, of which no rows can be made"):
        plan_resize(tmp_path / "model", new)
    plan_resize(tmp_path / "model", tmp_path / "model", output=tmp_path / "same").apply()  # where none are


def test_a_shard_that_changes_after_the_plan_is_noticed(model: Path, new: Path) -> None:
    plan = plan_resize(model, new)
    values = models.values_of({"lm_head.weight": ("BF16", (304, 20))})
    models.save_tensors(model / SHARD, values)
    before = content(model.parent)
    with pytest.raises(EditError, match="was changed after the plan was made"):
        plan.apply()
    assert content(model.parent) == before


def test_a_disk_that_gives_back_other_bytes_is_noticed(model: Path, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(model.parent)
    read_exactly = checked_file.read_exactly
    blocks = 0

    def spoilt(file: Any, target: memoryview) -> None:
        nonlocal blocks
        read_exactly(file, target)
        if file.writable():
            blocks += 1
            target[len(target) // 2] ^= blocks == 5

    monkeypatch.setattr(checked_file, "read_exactly", spoilt)
    with pytest.raises(EditError, match="reads back other than it was written"):
        plan_resize(model, new).apply()
    assert content(model.parent) == before


def test_a_copy_that_differs_is_noticed(model: Path, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(model.parent)
    append = CheckedFile.append

    def spoilt(file: CheckedFile, block: memoryview) -> None:
        if file._path.name == "LICENSE":
            monkeypatch.setattr(checked_file, "read_exactly", lambda _, target: target.__setitem__(0, target[0] ^ 1))
        append(file, block)

    monkeypatch.setattr(CheckedFile, "append", spoilt)
    with pytest.raises(EditError, match="LICENSE reads back other than it was written"):
        plan_resize(model, new, link=False, output=model.parent / "out").apply()
    assert content(model.parent) == before


def test_what_the_disk_refuses_late_leaves_the_original(model: Path, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # File systems that give out room late say only then, in the background, that there is none.
    before, fsync = content(model.parent), os.fsync

    def full(number: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(number)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device; nothing was changed"):
        plan_resize(model, new).apply()
    assert content(model.parent) == before


def test_a_folder_that_was_filled_after_the_plan_is_not_replaced(model: Path, new: Path) -> None:
    plan = plan_resize(model, new, output=model.parent / "out")
    plan.apply()
    before = content(model.parent)
    with pytest.raises(FileExistsError, match="exists; choose another name"):
        plan.apply()
    assert content(model.parent) == before


def test_a_folder_that_may_not_be_written_to_is_named(model: Path, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    plan = plan_resize(model, new)
    monkeypatch.setattr(Path, "mkdir", lambda path, *_, **__: refuse(path) if path.name.endswith(".tmp") else None)
    with pytest.raises(PermissionError, match=rf"Permission denied; nothing was changed: '{model}'"):
        plan.apply()


def test_without_hard_links_files_are_copied(model: Path, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    plan_resize(model, new, output=model.parent / "out").apply()
    assert not (model.parent / "out" / "LICENSE").samefile(model / "LICENSE")
    assert (model.parent / "out" / "LICENSE").read_text() == "free"


def test_without_an_exchange_of_names_two_renames_do(model: Path, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_exchanged", lambda one, other: False)
    plan_resize(model, new, pad_to_multiple_of=128).apply()
    assert models.load_tensors(model)["lm_head.weight"].shape == (384, models.WIDTH)
    assert names_in(model.parent) == ["model", "new"]


# ---------------------------------------------------------------------------------------------------------------------
# Failures midway


def test_too_little_room_is_told_before_anything_is_written(model: Path, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(model)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    before = content(model.parent)
    with pytest.raises(EditError, match="has 1,000 bytes left"):
        plan_resize(model, new).apply()
    assert content(model.parent) == before


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("replaced", [True, False])
def test_a_failure_at_any_write_leaves_the_original_and_nothing_else(
    model: Path, new: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, replaced: bool
) -> None:
    plan = plan_resize(model, new, output=None if replaced else model.parent / "out")
    before = content(model.parent)
    append = CheckedFile.append
    number = 0
    messages = set()
    while True:
        done = 0

        def fail(file: CheckedFile, block: memoryview, at: int = number) -> None:
            nonlocal done
            if done == at:
                append(file, block[: len(block) // 2])
                raise failure
            done += 1
            append(file, block)

        monkeypatch.setattr(CheckedFile, "append", fail)
        try:
            plan.apply()
        except (OSError, KeyboardInterrupt) as error:
            messages.add(str(error))
            assert content(model.parent) == before
            assert not [path for path in model.parent.iterdir() if path.name.startswith(".")]
            number += 1
            continue
        break
    told = f"[Errno 28] No space left on device; nothing was changed: '{plan.target}'"
    assert messages == {told if isinstance(failure, OSError) else ""}
    assert number == 2 * (1 + 3)  # a head and three tensors in each of two shards


@pytest.mark.parametrize("limit", [1 << 9, 1 << 12, 1 << 14])
def test_a_limit_of_the_size_of_files_leaves_the_original(model: Path, new: Path, limit: int) -> None:
    before = content(model.parent)
    assert _forked(model, new, limit=limit) == errno.EFBIG
    assert content(model.parent) == before


def test_ctrl_c_at_any_moment_leaves_the_old_folder_or_the_new_one(tmp_path: Path, new: Path) -> None:
    tensors = llama(304, "F32") | {f"more.{n}": ("F32", (1 << 17,)) for n in range(24)}
    save_model(tmp_path / "model", tensors)
    old = content(tmp_path / "model")
    shutil.copytree(tmp_path / "model", tmp_path / "copy")
    started = time.perf_counter()
    assert _forked(tmp_path / "copy", new) == 0
    whole = time.perf_counter() - started
    finished = content(tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy")
    seen = []
    order = random.Random(11)
    for number in range(8):
        code = _forked(tmp_path / "model", new, interrupt_after=whole * order.uniform(0, 1.2))
        found = content(tmp_path / "model")
        assert found == old or _without_paths(found) == _without_paths(finished), number
        assert names_in(tmp_path) == ["model", "new"]
        seen.append(found == old)
        assert code == 0 or seen[-1] or code == _INTERRUPTED
        if found != old:
            _restore(tmp_path / "model", old)
    assert seen.count(True) >= 2


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("by_exchange", [True, False])
def test_ctrl_c_during_the_swap_leaves_one_of_both(
    model: Path, new: Path, monkeypatch: pytest.MonkeyPatch, when: str, by_exchange: bool
) -> None:
    old = content(model)
    exchanged = folders._exchanged

    def interrupted(one: Path, other: Path) -> bool:
        if when == "before":
            signal.raise_signal(signal.SIGINT)
        done = by_exchange and exchanged(one, other)
        signal.raise_signal(signal.SIGINT)
        return done

    monkeypatch.setattr(folders, "_exchanged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        plan_resize(model, new).apply()
    assert (content(model) == old) == (when == "before" or not by_exchange)
    assert names_in(model.parent) == ["model", "new"]


_INTERRUPTED = 130


def _forked(model: Path, new: Path, *, limit: int | None = None, interrupt_after: float | None = None) -> int:
    """Resize in a process of its own, without importing everything anew. Gives 0, the number of the error, or `_INTERRUPTED`."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            plan_resize(model, new, link=False).apply()
            code = 0
        except KeyboardInterrupt:
            code = _INTERRUPTED
        except OSError as error:
            code = error.errno or 1
        finally:
            os._exit(code)
    if interrupt_after is not None:
        time.sleep(interrupt_after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGINT)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _restore(folder: Path, files: dict[str, bytes]) -> None:
    shutil.rmtree(folder)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def _without_paths(files: dict[str, bytes]) -> dict[str, bytes]:
    """The record names the folder."""
    return {name: data for name, data in files.items() if name != "resize_record.json"}


def test_rows_that_hold_no_numbers_are_told_where_others_are_made_of_them(tmp_path: Path, new: Path) -> None:
    values = save_model(tmp_path / "model", llama(304, "F32"))
    values["lm_head.weight"][5, 5] = np.nan
    models.save_tensors(tmp_path / "model" / "model.safetensors", values)
    before = content(tmp_path / "model")
    with pytest.raises(EditError, match=r"lm_head.weight holds rows with infinities"):
        plan_resize(tmp_path / "model", new).apply()
    assert content(tmp_path / "model") == before
    plan_resize(tmp_path / "model", new, init="zeros").apply()
    assert np.isnan(models.load_tensors(tmp_path / "model")["lm_head.weight"][5, 5])
