//! The published patterns as one set of rules with a few switches. A new family is one `impl Rules`.
//!
//! Each of these patterns is an ordered choice of contraction, word, number, punctuation and white space, and covers all
//! text. `piece_end` tries them in that order, from the start of one piece. `starts` finds many starts at once and comes
//! back here where a case is rare. The tests hold both against the regular expression, on every code point and on
//! generated text.

use super::swar;
use crate::unicode::{Kind, kind_at};

/// The switches in which the published patterns differ.
pub trait Rules {
    /// `'s 't 're 've 'm 'll 'd` stand as pieces of their own, before everything else.
    const CONTRACTION_FIRST: bool;
    /// They match in any case (and with U+017F for s).
    const ANY_CASE: bool;
    /// Words, numbers and punctuation may begin with one space; else words may begin with any one character that is
    /// neither line break, letter nor number.
    const ONLY_SPACE_LEADS: bool;
    /// Words are cut before a capital that follows a small letter.
    const CASED_WORDS: bool;
    /// Words end in their contraction, which then is no piece of its own.
    const CONTRACTION_LAST: bool;
    /// Marks (`\p{M}`) stand in words like letters; else with punctuation.
    const MARKS_IN_WORDS: bool;
    /// Digits in a number piece at most.
    const DIGITS: usize;
    /// What may follow punctuation, if anything.
    const AFTER_PUNCTUATION: &'static [u8];
    /// White space that holds a line break is cut after its last one.
    const CUT_AFTER_NEWLINE: bool;
    /// White space at the end of the text is one piece, line breaks or not.
    const FINAL_SPACE_WHOLE: bool;
    /// White space before a number is one piece, as at the end of the text.
    const NUMBERS_STAND_APART: bool;
}

/// Implements `Rules` from a table row.
macro_rules! families {
    ($($name:ident: $contraction:expr, $any_case:expr, $space:expr, $cased:expr, $last:expr, $marks:expr, $digits:expr, $after:expr, $cut:expr, $whole:expr, $apart:expr;)*) => {$(
        #[derive(Debug)]
        pub struct $name;
        impl Rules for $name {
            const CONTRACTION_FIRST: bool = $contraction;
            const ANY_CASE: bool = $any_case;
            const ONLY_SPACE_LEADS: bool = $space;
            const CASED_WORDS: bool = $cased;
            const CONTRACTION_LAST: bool = $last;
            const MARKS_IN_WORDS: bool = $marks;
            const DIGITS: usize = $digits;
            const AFTER_PUNCTUATION: &'static [u8] = $after;
            const CUT_AFTER_NEWLINE: bool = $cut;
            const FINAL_SPACE_WHOLE: bool = $whole;
            const NUMBERS_STAND_APART: bool = $apart;
        }
    )*};
}

const ANY: usize = usize::MAX;
families! {
//             contraction any    only   cased  contr. marks  digits after      cut at final  numbers
//             first       case   space         last                            break  whole  apart
    Gpt2:      true,       false, true,  false, false, false, ANY,   b"",       false, true,  false;
    StarCoder: true,       false, true,  false, false, false, 1,     b"",       false, true,  true;
    Cl100k:    true,       true,  false, false, false, false, 3,     b"\r\n",   true,  true,  false;
    Llama3:    true,       true,  false, false, false, false, 3,     b"\r\n",   true,  false, false;
    Qwen2:     true,       true,  false, false, false, false, 1,     b"\r\n",   true,  false, false;
    Qwen35:    true,       true,  false, false, false, true,  1,     b"\r\n",   true,  false, false;
    O200k:     false,      true,  false, true,  true,  true,  3,     b"\r\n/",  true,  false, false;
    Tekken:    false,      true,  false, true,  false, true,  1,     b"\r\n/",  true,  false, false;
}

/// `\p{L}`, or `[\p{L}\p{M}]`
#[inline]
fn in_word<R: Rules>(kind: Kind) -> bool {
    kind.is_letter() || (R::MARKS_IN_WORDS && kind.is_mark())
}

/// What punctuation runs over: `[^\s\p{L}\p{N}]`, or `[^\s\p{L}\p{M}\p{N}]`.
#[inline]
fn is_rest<R: Rules>(kind: Kind) -> bool {
    let is_mark_of_word = R::MARKS_IN_WORDS && !R::CASED_WORDS && kind.is_mark();
    !kind.is_letter() && !kind.is_number() && !kind.is_space() && !is_mark_of_word
}

/// Where the piece that starts at `start` ends.
#[inline]
pub fn piece_end<R: Rules>(text: &[u8], start: usize) -> usize {
    let ascii = ascii_word_end::<R>(text, start);
    let by_kind = || kind_at(text, start).map(|(kind, width)| piece_end_by_kind::<R>(text, start, kind, width));
    ascii.or_else(by_kind).unwrap_or(text.len())
}

/// The common case without a table: an optional space, ASCII letters, and no other letter or mark after them.
#[inline]
fn ascii_word_end<R: Rules>(text: &[u8], start: usize) -> Option<usize> {
    let body = start + usize::from(text[start] == b' ');
    if !text.get(body)?.is_ascii_alphabetic() {
        return None;
    }
    let end = if R::CASED_WORDS {
        let small = body + text[body..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let end = swar::letters_end(text, small, swar::lower_case);
        if end == small {
            return None;
        }
        end
    } else {
        swar::letters_end(text, body + 1, swar::any_case)
    };
    match text.get(end) {
        Some(0x80..) => None,
        Some(b'\'') if R::CONTRACTION_LAST => Some(after_contraction::<R>(text, end)),
        _ => Some(end),
    }
}

#[inline]
fn piece_end_by_kind<R: Rules>(text: &[u8], start: usize, kind: Kind, width: usize) -> usize {
    if R::CONTRACTION_FIRST && text[start] == b'\'' {
        let end = after_contraction::<R>(text, start);
        if end > start {
            return end;
        }
    }
    if R::CASED_WORDS {
        if let Some(end) = cased_word_end(text, start, kind, width) {
            return if R::CONTRACTION_LAST { after_contraction::<R>(text, end) } else { end };
        }
    } else if let Some(end) = word_end::<R>(text, start, kind, width) {
        return end;
    }
    // One space may lead what follows; alone, or before more white space, it is white space.
    let spaced = text[start] == b' ';
    let (body, body_kind) = match spaced.then(|| kind_at(text, start + 1)).flatten() {
        Some((next, _)) => (start + 1, next),
        None => (start, kind),
    };
    let space_leads_numbers = R::ONLY_SPACE_LEADS && !R::NUMBERS_STAND_APART;
    if kind.is_number() || (space_leads_numbers && body_kind.is_number()) {
        return run_end(text, if space_leads_numbers { body } else { start }, R::DIGITS, Kind::is_number);
    }
    if is_rest::<R>(body_kind) {
        let end = run_end(text, body, usize::MAX, is_rest::<R>);
        return end + text[end..].iter().take_while(|byte| R::AFTER_PUNCTUATION.contains(byte)).count();
    }
    space_end::<R>(text, start, width)
}

/// Where a run of at most `most` characters for which `belongs` holds ends.
#[inline]
pub(super) fn run_end(text: &[u8], start: usize, most: usize, belongs: impl Fn(Kind) -> bool) -> usize {
    let mut end = start;
    let mut taken = 0;
    while let Some((kind, width)) = kind_at(text, end) {
        if taken == most || !belongs(kind) {
            break;
        }
        end += width;
        taken += 1;
    }
    end
}

/// `'(?:[sdmt]|ll|ve|re)` at `start`: its end, or `start` where there is none.
#[inline]
pub fn after_contraction<R: Rules>(text: &[u8], start: usize) -> usize {
    let Some((b'\'', rest)) = text.get(start..).and_then(|rest| rest.split_first()).map(|(first, rest)| (*first, rest)) else {
        return start;
    };
    let lower = |at: usize| rest.get(at).map_or(0, |byte| if R::ANY_CASE { byte.to_ascii_lowercase() } else { *byte });
    match (lower(0), lower(1)) {
        (b's' | b'd' | b'm' | b't', _) => start + 2,
        (b'l', b'l') | (b'v' | b'r', b'e') => start + 3,
        _ if R::ANY_CASE && rest.starts_with("\u{17f}".as_bytes()) => start + 3,
        _ => start,
    }
}

/// ` ?\p{L}+` or `[^\r\n\p{L}\p{N}]?\p{L}+`
#[inline]
fn word_end<R: Rules>(text: &[u8], start: usize, kind: Kind, width: usize) -> Option<usize> {
    if in_word::<R>(kind) {
        return Some(run_end(text, start + width, usize::MAX, in_word::<R>));
    }
    let leads = if R::ONLY_SPACE_LEADS { text[start] == b' ' } else { !kind.is_newline() && !kind.is_number() };
    let body = start + width;
    let (first, first_width) = if leads { kind_at(text, body)? } else { return None };
    in_word::<R>(first).then(|| run_end(text, body + first_width, usize::MAX, in_word::<R>))
}

/// `P?U*W+` else `P?U+W*`, where P is any character but line breaks, letters and numbers, U the capitals' side, W the small
/// letters' side, and letters without case as well as marks are on both sides.
#[inline]
fn cased_word_end(text: &[u8], start: usize, kind: Kind, width: usize) -> Option<usize> {
    let may_lead = !kind.is_letter() && !kind.is_number() && !kind.is_newline();
    let after_lead = may_lead.then_some(start + width);
    let starts = [after_lead, Some(start)];
    let first_of = |word: fn(&[u8], usize) -> Option<usize>| starts.iter().flatten().find_map(|&at| word(text, at));
    first_of(ends_small).or_else(|| first_of(starts_capital))
}

/// `U*W+`, with the regular expression's backtracking: where no W follows the U run, the last of it that is on both sides.
#[inline]
fn ends_small(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    let mut last_shared_end = None;
    while let Some((kind, width)) = kind_at(text, at) {
        if !kind.is_upper_side() {
            break;
        }
        at += width;
        if kind.is_lower_side() {
            last_shared_end = Some(at);
        }
    }
    let end = run_end(text, at, usize::MAX, Kind::is_lower_side);
    if end > at { Some(end) } else { last_shared_end }
}

/// `U+W*`
#[inline]
fn starts_capital(text: &[u8], start: usize) -> Option<usize> {
    let capitals = run_end(text, start, usize::MAX, Kind::is_upper_side);
    (capitals > start).then(|| run_end(text, capitals, usize::MAX, Kind::is_lower_side))
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`, each where the family has it. `width` is that of the first character.
#[inline]
pub(super) fn space_end<R: Rules>(text: &[u8], start: usize, width: usize) -> usize {
    let mut end = start;
    let mut last_start = start;
    let mut after_newline = None;
    while let Some((kind, width)) = kind_at(text, end) {
        if !kind.is_space() {
            break;
        }
        last_start = end;
        end += width;
        if kind.is_newline() {
            after_newline = Some(end);
        }
    }
    let before_number = R::NUMBERS_STAND_APART && kind_at(text, end).is_some_and(|(kind, _)| kind.is_number());
    let at_end = end == text.len() || before_number;
    if at_end && R::FINAL_SPACE_WHOLE {
        return end;
    }
    if let (true, Some(after_newline)) = (R::CUT_AFTER_NEWLINE, after_newline) {
        return after_newline;
    }
    if at_end || last_start == start { end.max(start + width) } else { last_start }
}
