"""Strings on which tokenizers come apart. `verify` runs them every time; each line says what it is there for."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["nasty_strings"]

_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2007\u200a\u2028\u2029\u202f\u205f\u3000"
_NO_SPACES = "\x00\x1c\x1f\u180e\u200b\u200c\u200d\u2060\ufeff\xad"  # space to some engines, or looking like it
_DIGITS = "07\u0660\u06f5\u0966\u0e53\u1047\uff11\xb2\xbd\u2166\u3007\u4e09\u09f4\U0001d7d8\U0001e950"
_CONTRACTIONS = ("'s", "'S", "'\u017f", "'t", "'re", "'rE", "'ve", "'m", "'ll", "'LL", "'d", "\u2019s", "''s", "'x", "'")
_UNASSIGNED = "\u0378\u0530\u2fe0\U000e0080\U0010ffff\ue000\ufdd0\ufffe"
_NEW = "\u1c89\ua7cb\u0c5c\u088f\U00016ea0\U0001e5d0\U000105c0\U0001ccf0"  # letters and digits of Unicode 16 and 17

_CURATED = (
    # combining marks: alone, doubled, after a space, on a digit, on a symbol; composed against decomposed
    "\u0301", "\u0301\u0308x", "a \u0301b", "7\u0301", "+\u0338=", "\xfc u\u0308 \u1e69 s\u0323\u0307", "\u20dd\u20e3 \u0903",
    # letters without case, with a third case, or that change length with it
    "\u01f2a \u02b0\u1d43 \xaa \u0149 \u0130\u0131 \xdf\u1e9e \ufb03 \ufb06 \u212a \u017f",
    # scripts written without spaces, or with marks inside words
    "\u0926\u0943\u0937\u094d\u091f\u093f \u0995\u09cd\u09b7", "\u0e01\u0e33\u0e25\u0e31\u0e07", "\u0f56\u0f66\u0f92\u0fb2",
    "\u65e5\u672c\u3005\u30fc\u3042 \uff76\uff9e\u4e2d\u6587\uff0c\u3002", "\u05e9\u05c1\u05dc\u05d5\u05dd \u0645\u064f\u062d",
    # Hangul: syllables, conjoining letters that make one, letters that make none, compatibility letters
    "\ud55c\uae00 \u1112\u1161\u11ab \u1161\u1112 \u3131\u314f \uffa1",
    # emoji: joined, with skin tone, flags and half a flag, keycap, text against picture style, tag sequence
    "\U0001f469\u200d\U0001f680 \U0001f44b\U0001f3ff \U0001f1e9\U0001f1ea\U0001f1e9 5\ufe0f\u20e3 \u2764\ufe0e\u2764\ufe0f",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f\u200d",
    # runs, long and alternating: quadratic merging, leftmost first
    "a" * 257, "ab" * 129, "aab" * 33, " " * 300 + "z", "\n" * 67, "\t\t  \t x", "-" * 129 + "=" * 64, "\u4e00" * 65, "\U0001f600" * 17,
    # where white space meets a line break, the end, or a character that splits off
    " \n", "\n ", " \n \n ", "x \n", "x \n y", "x  y", "x \t\ty ", "\r\n\r\n x\r", "a\n\n\nb", "  \u4e2d", "  1", "  !", " \r", "\n/\r//x",
    # numbers: three at a time, mixed with letters, signs and separators
    "1", "12", "123", "1234", "1234567", "3.14e-10", "1,000,000", "0xFF 1st 2nd", "10\xb2\xbd", "v1.2.3-rc4",
    # words: camel case, all capitals, punctuation stuck to them
    "parseHTTPResponse2JSON", "ABCdefGHI", "_x__y_", "C++/C#", "a.b:c;d", "(foo)[bar]{baz}", "\"'`\u201c\u2018", "...!?!",
    "e-mail@example.org", "https://example.org/?q=a%20b&c=d#e", "\u00bfQu\u00e9?", "\u2014\u2013-\u2212", "$1 \u20ac2 5%",
    # text that spells what tokenizers write for themselves
    "\u2581x\u2581\u2581", "\u0120x\u010a", "<0x41><0x0A>", "<s></s><unk><pad>", "#version: 0.2", "[INST] [/INST]", "<|", "|>", "<||>",
    # bytes that mean something to file formats and C strings
    "\x00", "a\x00b\x00\x00", "\x7f\x80\x9f", "\\n\\u0041", "\ufffd\ufffd", "\ufeffx",
)  # fmt: skip


def nasty_strings(special_tokens: Iterable[str] = ()) -> list[str]:
    """The strings, with the spelling of each special token in several surroundings.

    >>> "x<s>y" in nasty_strings(["<s>"])
    True
    """
    strings = ["", *_CURATED]
    for character in _SPACES + _NO_SPACES:
        strings += [character, f"a{character}b", f"a {character}{character} b", f"{character}{character}\n", f"1{character}2"]
    for digit in _DIGITS:
        strings += [digit, digit * 4, f"a{digit}b", f" {digit}.{digit}"]
    for contraction in _CONTRACTIONS:
        strings += [f"it{contraction}", f"IT{contraction}x", f" {contraction}", f"{contraction} it", f"\xe9{contraction} "]
    for character in _UNASSIGNED + _NEW:
        strings += [character, f"a{character}a", f" {character}{character}", f"{character}1"]
    for token in special_tokens:
        strings += [token, f"x{token}y", f" {token} ", f"{token}{token}", token[:-1], f"\n{token}\n", f"1{token}'s"]
    return strings
