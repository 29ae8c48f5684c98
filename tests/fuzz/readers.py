"""Damaged files of every format: each is read, or refused with an error of this package; nothing else ever happens."""

from __future__ import annotations

import contextlib
import json
import random
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tqdm import tqdm

import conversion
from conversion.registry import FORMATS
from hf_bpe import AddedToken, Encoder, TokenizerSpec
from hf_bpe.errors import HfBpeError
from hf_bpe.normalizers import Prepend, Replace
from tests.conversion.test_matrix import pieces, plain
from tests.fuzz.subjects import Mismatch, Tally

Files = dict[str, bytes]
"""Path below a folder -> content."""

SOUND_FILE = "sound.model"  # the one ending that minbpe loads

SLOWEST = 5.0
"""Seconds that a small damaged file may take: a count that it states must not be believed."""

JSON_VALUES: list[Any] = [
    None, True, False, 0, -1, 256, 2**31, 2**63, 10**400, 1.5, float("inf"), float("nan"), "", "x", "\0", "\ud800", "<s>", "Ġa", "a b",
    "(", "(?=a)", "a" * 5000, [], [[]], ["a", "b"], [0, 1], {}, {"type": "BPE"}, {"a": {}}, {"Regex": "("}, {"String": " "},
]  # fmt: skip
BINARY_VALUES = [
    b"\0",
    b"\xff",
    b"\0" * 8,
    b"\xff" * 8,
    b"\xff\xff\xff\xff\x0f",
    (2**40).to_bytes(8, "little"),
    b"\xed\xa0\x80",
    b"\x80",
]
TEXT_VALUES = [
    b"\n",
    b"\r\n",
    b" ",
    b"\t",
    b"=",
    b"{",
    b'"',
    b"9" * 5000,
    b"-1",
    b"AA==",
    b"\xef\xbb\xbf",
    b"\xc2\x85",
    b"#version",
]


def small_specs() -> dict[str, TokenizerSpec]:
    """One tokenizer that every byte-level format holds, others with more to say, and a SentencePiece model."""
    added = (AddedToken("<s>", 261), AddedToken("<|x|>", 262, special=False, lstrip=True, normalized=True))
    steps = ("NFC", "StripLeft", Prepend("_"), Replace(r"\s{2,}", " "))
    return {
        "plain": plain(),
        "rich": plain().replace(added_tokens=added),
        "normalised": plain().replace(normalizer=steps, added_tokens=added),
        "prefixed": plain().replace(normalizer="Lowercase", add_prefix_space=True),
        "staged": plain().replace(stages=(r"[0-9]{3}", r"a(?=b)|b")),
        "pieces": pieces(),
    }


def with_steps(document: bytes) -> list[bytes]:
    """A tokenizer.json with pre-tokenizers that are read and not written: one for each step, before ByteLevel and behind it."""
    data = json.loads(document)
    whole = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    steps = [
        {"type": "Digits", "individual_digits": True},
        {"type": "Punctuation", "behavior": "Contiguous"},
        {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext", "invert": False},
        {"type": "CharDelimiterSplit", "delimiter": " "},
        {"type": "FixedLength", "length": 3},
        {"type": "Whitespace"},
    ]
    rows = [[step, whole] for step in steps] + [[steps[1], whole, steps[0]]]
    sequences = [{"type": "Sequence", "pretokenizers": row} for row in rows]
    return [json.dumps(data | {"pre_tokenizer": sequence}).encode() for sequence in sequences]


def sound_files() -> dict[str, list[Files]]:
    """Format -> what the writer makes of each tokenizer that it holds, by allowing loss too, so that there are sidecars."""
    found: dict[str, list[Files]] = {}
    for name, known in FORMATS.items():
        if known.write is None:
            continue
        for spec in small_specs().values():
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                target = Path(folder, "sound" if known.is_folder else SOUND_FILE)
                try:
                    paths = conversion.save(spec, target, format=name, allow_lossy=True)
                except HfBpeError:
                    continue
                found.setdefault(name, []).append({str(path.relative_to(folder)): path.read_bytes() for path in paths})
    found["tokenizer.json"] += [{SOUND_FILE: content} for content in with_steps(found["tokenizer.json"][0][SOUND_FILE])]
    found["huggingface"] = [{"sound/tokenizer.json": files[SOUND_FILE]} for files in found["tokenizer.json"]]
    return found


def damaged_json(content: bytes, generator: random.Random) -> bytes:
    """One place of a JSON text changed, or a key written twice."""
    data = json.loads(content)
    place = data
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return content
        key = generator.choice(keys)
        inner = place[key]
        if isinstance(inner, dict | list) and inner and generator.random() < 0.8:
            place = inner
            continue
        break
    choice = generator.random()
    if choice < 0.2:
        del place[key]
    elif choice < 0.3 and isinstance(place, list):
        place.append(place[key])
    elif choice < 0.4 and isinstance(place, dict):
        place[generator.choice(["x", "", "type", "id", "Ġa"])] = inner
    else:
        place[key] = generator.choice(JSON_VALUES)
    text = json.dumps(data, ensure_ascii=generator.random() < 0.5)
    if choice > 0.97:
        text = "[" * 100_000 + text
    elif choice > 0.94:
        text = text.replace("{", '{"version": 1, "version": 2, ', 1)
    return text.encode("utf-8", "surrogatepass")


def damaged_bytes(content: bytes, generator: random.Random) -> bytes:
    """The beginning of a file, or the file with some bytes changed, left out, or twice."""
    choice = generator.random()
    if choice < 0.15 or not content:
        return content[: generator.randrange(len(content) + 1)]
    for _ in range(generator.choice((1, 1, 2, 5))):
        at = generator.randrange(len(content) + 1)
        end = min(len(content), at + generator.choice((0, 1, 1, 4, 8, 50)))
        value = generator.choice(generator.choice((BINARY_VALUES, TEXT_VALUES, [content[at:end] * 2, generator.randbytes(3)])))
        content = content[:at] + value + content[end:]
    return content


def damaged(files: Files, generator: random.Random) -> Files:
    """One of the files changed, exchanged or missing."""
    name = generator.choice(sorted(files))
    content = files[name]
    choice = generator.random()
    if choice < 0.02:
        return {other: kept for other, kept in files.items() if other != name} or {name: b""}
    looks_like_json = content.lstrip()[:1] == b"{"
    change: Callable[[bytes, random.Random], bytes] = damaged_json if looks_like_json and choice < 0.7 else damaged_bytes
    return {**files, name: change(content, generator)}


def check(name: str, files: Files, where: str) -> None:
    """Read the files, and encode if that works. Raises `Mismatch` for any error that is not one of this package."""
    with tempfile.TemporaryDirectory() as folder:
        for path, content in files.items():
            Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, path).write_bytes(content)
        known = FORMATS[name]
        target = Path(folder, "sound" if known.is_folder or name == "huggingface" else SOUND_FILE)
        begin = time.perf_counter()
        try:
            encode_with(target, name)
        except Exception:  # noqa: BLE001  # what else it may be is what is looked for
            raise Mismatch(f"{name}: {traceback.format_exc()}\n{where}\n{_kept(files)}") from None
        taken = time.perf_counter() - begin
        if taken > SLOWEST:
            raise Mismatch(f"{name}: took {taken:.1f} s\n{where}\n{_kept(files)}")


def encode_with(path: Path, name: str) -> None:
    """Load and encode. Errors of this package are as it should be, if that of reading names the file."""
    try:
        spec = conversion.load(path, format=name)
    except HfBpeError as error:
        if str(path) not in str(error):
            raise AssertionError(f"the message names no file: {error}") from None
        return
    with contextlib.suppress(HfBpeError):
        Encoder(spec).encode(" ab <s>é", disallowed_special=())


def _kept(files: Files) -> str:
    """Where the damaged files are now."""
    folder = Path(tempfile.mkdtemp(prefix="hf-bpe-fuzz-"))
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return f"the files are in {folder}"


def run(count: int, only: list[str], seed: int, tally: Tally) -> None:
    """So many damaged files, shared out over the formats."""
    sound = sound_files()
    names = only or list(sound)
    for name in names:
        generator = random.Random(f"{name} {seed}")
        for number in tqdm(range(count // len(names)), unit=" files", desc=name):
            check(name, damaged(generator.choice(sound[name]), generator), f"file {number} of seed {seed}")
            tally.add(name, 1)
