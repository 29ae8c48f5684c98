//! DeepSeek V3's three successive splits: digits by threes, runs of Chinese and Japanese, and all the rest; each within the
//! pieces of the one before. The third splits runs of Chinese and Japanese again (U+30FB is punctuation).

use super::rules::{Llama3, run_end, space_end};
use crate::unicode::{Kind, kind_at};

/// `\p{N}{1,3}`
const DIGITS: usize = 3;
/// `[一-龥぀-ゟ゠-ヿ]` in UTF-8, whose order is that of the code points.
const KANA: [&[u8]; 2] = ["\u{3040}".as_bytes(), "\u{30ff}".as_bytes()];
const IDEOGRAPHS: [&[u8]; 2] = ["\u{4e00}".as_bytes(), "\u{9fa5}".as_bytes()];

/// What the first two stages tell apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Number,
    ChineseOrJapanese,
    Other,
}

#[inline]
fn zone_of(text: &[u8], at: usize, kind: Kind, width: usize) -> Zone {
    let character = &text[at..at + width];
    if kind.is_number() {
        Zone::Number
    } else if width == 3 && [KANA, IDEOGRAPHS].iter().any(|[first, last]| (*first..=*last).contains(&character)) {
        Zone::ChineseOrJapanese
    } else {
        Zone::Other
    }
}

/// Calls `visit` with the start and end of each piece.
#[inline]
pub fn for_each_piece(text: &str, mut visit: impl FnMut(usize, usize)) {
    let text = text.as_bytes();
    let mut start = 0;
    while let Some((kind, width)) = kind_at(text, start) {
        let zone = zone_of(text, start, kind, width);
        let mut end = start + width;
        while let Some((_, width)) = kind_at(text, end).filter(|(kind, width)| zone_of(text, end, *kind, *width) == zone) {
            end += width;
        }
        // The third stage sees nothing beyond its piece, so the text ends there.
        let stretch = &text[..end];
        while let Some((kind, width)) = kind_at(stretch, start) {
            let next = if zone == Zone::Number {
                run_end(stretch, start, DIGITS, Kind::is_number)
            } else {
                piece_end(stretch, start, kind, width)
            };
            visit(start, next);
            start = next;
        }
    }
}

/// `[!-/:-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, and what none of
/// these takes stays together.
#[inline]
fn piece_end(text: &[u8], start: usize, kind: Kind, width: usize) -> usize {
    let next = start + width;
    if text[start].is_ascii_punctuation() && text.get(next).is_some_and(u8::is_ascii_alphabetic) {
        return next + text[next..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    }
    let leads = !kind.is_newline() && !kind.is_punctuation();
    if is_word(kind) || (leads && kind_at(text, next).is_some_and(|(kind, _)| is_word(kind))) {
        return run_end(text, next, usize::MAX, is_word);
    }
    let body = if text[start] == b' ' { next } else { start };
    if kind_at(text, body).is_some_and(|(kind, _)| kind.is_punctuation()) {
        return run_end(text, run_end(text, body, usize::MAX, Kind::is_punctuation), usize::MAX, Kind::is_newline);
    }
    if kind.is_space() { space_end::<Llama3>(text, start, width) } else { gap_end(text, next) }
}

/// `[\p{L}\p{M}]`
#[inline]
fn is_word(kind: Kind) -> bool {
    kind.is_letter() || kind.is_mark()
}

/// Where characters that nothing takes end; the last one before a word is taken by that.
fn gap_end(text: &[u8], mut end: usize) -> usize {
    while let Some((kind, width)) = kind_at(text, end) {
        let taken = kind.is_space() || kind.is_punctuation() || is_word(kind);
        if taken || kind_at(text, end + width).is_some_and(|(kind, _)| is_word(kind)) {
            break;
        }
        end += width;
    }
    end
}
