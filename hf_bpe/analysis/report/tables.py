"""The figures of a comparison as tables of text: shown in terminals, in Markdown, and beside the plots of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from hf_bpe.analysis.report.table import Table, beside, in_markdown, markdown_text
from hf_bpe.pages.wording import amount, decimal, percent, thousands

__all__ = [
    "METRICS",
    "as_markdown",
    "by_corpus",
    "corpora",
    "digits",
    "formats",
    "frequencies",
    "id_bands",
    "indents",
    "notes",
    "numbers",
    "parity",
    "text",
    "vocabulary",
]

Content: TypeAlias = Mapping[str, Any]

METRICS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "bytes_per_token": ("bytes per token", decimal),
    "characters_per_token": ("characters per token", decimal),
    "tokens_per_word": ("tokens per word", decimal),
    "single_token_words": ("words of one token", lambda share: percent(share, 1)),
    "unknown": ("unknown tokens", lambda share: percent(share, 1)),
    "indentation": ("tokens of indentation", lambda share: percent(share, 1)),
    "cost": ("cost", amount),
    "cost_of_a_million_characters": ("cost of a million characters", amount),
}
"""Figure of a tokenizer and a corpus -> what it is called, and how it is written."""

_SCHEMES = {
    "digits": "each digit",
    "left": "{} from the left",
    "right": "{} from the right",
    "irregular": "irregular",
}
_WITHOUT_SPACES = "most letters are in scripts that put no spaces between words"
_WORTH_SHOWING = 0.01
_SHOWN_SPACES = ("1", "2", "4", "8", "16")


def text(content: Content) -> Table:
    """A row for each corpus and tokenizer, the most asked for on the left."""
    chosen = ["bytes_per_token", "characters_per_token", "tokens_per_word", "single_token_words"]
    compared = content["parity"]
    chosen += ["unknown"] if _largest(content, "unknown") > 0 else []
    chosen += ["cost_of_a_million_characters"] if _priced(content) else []
    chosen += ["indentation"] if _largest(content, "indentation") >= _WORTH_SHOWING else []
    columns = ["corpus", "tokenizer", METRICS[chosen[0]][0]]
    columns += [f"× {compared['reference']}"] if compared else []
    columns += ["tokens"]
    columns += [_titled(content, metric) for metric in chosen[1:]]
    rows = []
    for corpus, by_tokenizer in content["text"].items():
        for number, (tokenizer, found) in enumerate(by_tokenizer.items()):
            shown = [METRICS[metric][1](found[metric]) for metric in chosen]
            times = [decimal(compared["tokens"][tokenizer].get(corpus))] if compared else []
            rows.append(["" if number else corpus, tokenizer, shown[0], *times, thousands(found["tokens"]), *shown[1:]])
    return Table("Text", columns, rows, 2)


def notes(content: Content) -> list[str]:
    """Why figures for words are missing where they are."""
    without: dict[str, list[str]] = {}
    for name, about in content["corpora"].items():
        if any(found["tokens_per_word"] is None for found in content["text"][name].values()):
            reason = "it holds no words" if not about["letters_in_scripts_without_spaces"] else _WITHOUT_SPACES
            without.setdefault(reason, []).append(name)
    return [f"no figures for words of {', '.join(names)}: {reason}" for reason, names in without.items()]


def by_corpus(content: Content, metric: str) -> Table:
    """One figure: a row for each corpus, a column for each tokenizer."""
    shown = METRICS[metric][1]
    rows = [[corpus, *(shown(found[name][metric]) for name in found)] for corpus, found in content["text"].items()]
    return Table(_titled(content, metric), ["corpus", *content["tokenizers"]], rows)


def _titled(content: Content, metric: str) -> str:
    return f"{METRICS[metric][0]}, {content['currency']}" if metric.startswith("cost") else METRICS[metric][0]


def corpora(content: Content) -> Table:
    """What was measured on."""
    columns = ["corpus", "texts", "bytes", "characters", "words", "letters in scripts without spaces"]
    rows = [
        [
            name,
            *map(thousands, (about["documents"], about["bytes"], about["characters"], about["words"])),
            percent(about["letters_in_scripts_without_spaces"], 1),
        ]
        for name, about in content["corpora"].items()
    ]
    return Table("Corpora", columns, rows)


def parity(content: Content) -> Table:
    """Tokens as multiples of those of the reference, and bytes for comparison."""
    compared = content["parity"]
    columns = {"UTF-8 bytes": compared["bytes"], **compared["tokens"]}
    rows = [[corpus, *(decimal(column[corpus]) for column in columns.values())] for corpus in compared["bytes"]]
    return Table(f"times as many as {compared['reference']}", ["corpus", *columns], rows)


def vocabulary(content: Content) -> Table:
    """How much of each vocabulary is used."""
    columns = ["tokenizer", "tokens", "used", "share", "Rényi efficiency", "of those used"]
    rows = [
        [
            name,
            thousands(found["size"]),
            thousands(found["used"]),
            percent(found["share_used"], 1),
            decimal(found["renyi_efficiency"], 3),
            decimal(found["renyi_efficiency_of_used"], 3),
        ]
        for name, found in content["vocabulary"].items()
    ]
    return Table("Vocabulary in use", columns, rows)


def id_bands(content: Content) -> Table:
    """The share of each tenth of the vocabulary that is used."""
    return beside(
        "used, by tenths of the ids",
        "tenth",
        {
            name: [(str(place), percent(band["used"] / band["tokens"], 1)) for place, band in enumerate(found["by_id"], 1)]
            for name, found in content["vocabulary"].items()
        },
    )


def frequencies(content: Content) -> Table:
    """How many tokens are used how often, and how much of the text they are."""
    return beside(
        "tokens by how often they are used, and their part of the text",
        "times",
        {
            name: [
                (_times(band["from"], band["to"]), f"{thousands(band['tokens'])} ({percent(band['share_of_text'], 1)})")
                for band in found["by_frequency"]
            ]
            for name, found in content["vocabulary"].items()
        },
    )


def _times(first: int, last: int | None) -> str:
    if first == last:
        return "never"
    return f"{first:,} or more" if last is None else f"{first:,} to {last:,}"


def formats(content: Content) -> Table:
    """Tokens of the same records in each format, and as a multiple of compact JSON."""
    found = content["formats"]
    rows = [
        [
            tokenizer,
            *(f"{count:,} ({decimal(count / counts['json'] if counts['json'] else None)})" for count in counts.values()),
        ]
        for tokenizer, counts in found["tokens"].items()
    ]
    return Table(f"Tokens of {found['records']} records (× JSON)", ["tokenizer", *found["bytes"]], rows)


def numbers(content: Content) -> Table:
    """How numbers are cut, in short."""
    shown = [place for place, row in enumerate(next(iter(content["numbers"].values()))["by_digits"]) if row["digits"] in (4, 8)]
    rows = []
    for name, found in content["numbers"].items():
        each = [found["by_digits"][place] for place in shown]
        rows.append(
            [
                name,
                _SCHEMES[found["grouping"]["scheme"]].format(found["grouping"]["size"]),
                *(f"{row['most_common_cut']} ({percent(row['share_of_most_common'], 0)})" for row in each),
                percent(found["aligned_sums"], 0),
            ]
        )
    return Table("Numbers", ["tokenizer", "groups of digits", "4 digits", "8 digits", "sums that line up"], rows)


def digits(content: Content) -> Table:
    """Of each length: tokens of a number, the most common cut, how many cuts there are, and how many numbers are cut from the right."""
    return beside(
        "tokens of a number; its most common cut, the share that have it, how many cuts there are; cut from the right",
        "digits",
        {
            name: [
                (
                    str(row["digits"]),
                    f"{decimal(row['tokens_per_number'])}; {row['most_common_cut']} ({percent(row['share_of_most_common'], 0)}), "
                    f"{row['different_cuts']}; {percent(row['right_aligned'], 0)}",
                )
                for row in found["by_digits"]
            ]
            for name, found in content["numbers"].items()
        },
    )


def indents(content: Content, *, every: bool = False) -> Table:
    """Tokens that spaces and tabs before a line add to it. every: a row for each number of them, not only the common ones."""
    if every:
        return beside(
            "tokens that are added",
            "before the line",
            {
                name: [(_indent(kind, number), str(tokens)) for kind, row in found.items() for number, tokens in row.items()]
                for name, found in content["indentation"].items()
            },
        )
    rows = [
        [name, *(str(found["spaces"][number]) for number in _SHOWN_SPACES), str(found["tabs"]["1"]), str(found["tabs"]["2"])]
        for name, found in content["indentation"].items()
    ]
    columns = [*(_indent("spaces", number) for number in _SHOWN_SPACES), _indent("tabs", "1"), _indent("tabs", "2")]
    return Table("Tokens of indentation", ["tokenizer", *columns], rows)


def _indent(kind: str, number: str) -> str:
    return f"{number} {kind[:-1] if number == '1' else kind}"


def _priced(content: Content) -> bool:
    return any(about["price_of_a_million_tokens"] is not None for about in content["tokenizers"].values())


def _largest(content: Content, metric: str) -> float:
    """Of the figures of all corpora and tokenizers."""
    return max(found[metric] or 0.0 for by_tokenizer in content["text"].values() for found in by_tokenizer.values())


def as_markdown(content: Content) -> str:
    """The tables that a terminal shows, for a README."""
    first, *others = (
        f"## {table.title}\n\n{in_markdown(table)}"
        for table in (text(content), vocabulary(content), formats(content), numbers(content), indents(content))
    )
    return "\n".join([first, *(f"{markdown_text(note)}.\n" for note in notes(content)), *others])
