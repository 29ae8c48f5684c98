//! Many starts of pieces at once, by arithmetic on masks: 64 bytes take some fifty instructions and no branch per byte.
//!
//! The patterns have no memory: from the start of a piece on, what came before does not matter. So every block begins at
//! the start of a piece, and needs nothing carried over from the one before; what its last piece reaches is looked at again.
//! Whether a byte starts a piece follows from it and its neighbours but for a few cases (see `unclear` and `limit`); from
//! there on a block says nothing, and one piece is cut by the rules.

use super::{
    classes::{BLOCK, Classes, WINDOW, classifier},
    rules::{Rules, after_contraction, piece_end},
};

/// Calls `visit` with the start and end of each piece.
#[inline]
pub fn for_each_piece<R: Rules>(text: &str, mut visit: impl FnMut(usize, usize)) {
    let text = text.as_bytes();
    let classify = classifier();
    let mut start = 0;
    while start < text.len() {
        let origin = start;
        let mut starts = window_at(text, origin).map_or(0, |(window, block)| {
            let classes = Classes::of(window, classify(block));
            certain_starts::<R>(text, origin, &classes)
        });
        let mut end = if starts == 0 { piece_end::<R>(text, origin) } else { origin + starts.trailing_zeros() as usize };
        loop {
            visit(start, end); // the only call: it is inlined
            start = end;
            starts &= starts.wrapping_sub(1);
            if starts == 0 {
                break;
            }
            end = origin + starts.trailing_zeros() as usize;
        }
    }
}

#[inline]
fn window_at(text: &[u8], at: usize) -> Option<(&[u8; WINDOW], &[u8; BLOCK])> {
    let window: &[u8; WINDOW] = text.get(at..at + WINDOW)?.try_into().ok()?;
    Some((window, window.first_chunk()?))
}

/// The starts of pieces in the block at `at`, but for the first, as far as they are certain.
#[inline]
fn certain_starts<R: Rules>(text: &[u8], at: usize, classes: &Classes) -> u64 {
    let Classes { letters, upper, lower, marks, digits, spaces, newlines, apostrophes, slashes, tails, mut unclear, .. } = *classes;
    let blanks = spaces | classes.blanks;
    let white = blanks | newlines;
    let words = if R::MARKS_IN_WORDS { letters | marks } else { letters };
    let rest = !(words | digits | white | unclear);
    let space_leads_numbers = R::ONLY_SPACE_LEADS && !R::NUMBERS_STAND_APART;

    // White space: its first character, and the last before anything else, which may lead that.
    let breaks_a_line = R::CUT_AFTER_NEWLINE;
    let taken_by_punctuation = if R::AFTER_PUNCTUATION.is_empty() { 0 } else { newlines & (rest << 1) };
    let last = if breaks_a_line { blanks } else { white } & !(white >> 1);
    let last = if R::NUMBERS_STAND_APART { last & !(digits >> 1) } else { last };
    let mut starts = (white & !(white << 1) & !taken_by_punctuation) | last;
    let mut limit = BLOCK as u32 - 1; // the last byte's neighbour is not known
    if breaks_a_line {
        // After the last line break, unless another one or something unclear comes after blanks.
        let after = blanks & (newlines << 1);
        let (sum, runs_out) = blanks.overflowing_add(after);
        let ends_in_doubt = sum & !blanks & (newlines | unclear);
        if ends_in_doubt != 0 || runs_out {
            let doubtful = after & low_bits(ends_in_doubt.trailing_zeros());
            limit = BLOCK as u32 - 1 - doubtful.leading_zeros();
        }
        starts |= after;
    }

    // Numbers.
    let first_digits = digits & !(digits << 1);
    starts |= match R::DIGITS {
        1 => digits,
        3 => every_third(first_digits, digits),
        _ => first_digits & if space_leads_numbers { !(spaces << 1) } else { !0 },
    };

    // Punctuation, which one space may lead.
    let first_rest = rest & !(rest << 1) & !(spaces << 1);
    starts |= first_rest;

    // Words.
    let leads = if R::ONLY_SPACE_LEADS { spaces } else { blanks };
    let mut first_letters = words & !(words << 1) & !(leads << 1);
    if !R::ONLY_SPACE_LEADS {
        // So may a single character of punctuation. Adding carries a bit from its first byte over the others, to what follows.
        let rest_tails = rest & tails;
        first_letters &= !((first_rest << 1).wrapping_add(rest_tails) & !rest_tails);
    }
    starts |= first_letters;
    if R::CASED_WORDS {
        let first_upper = upper & !tails;
        starts |= first_upper & (lower << 1);
        unclear |= first_upper & ((words & !upper & !lower) << 1);
        unclear |= marks & !tails & (rest << 1); // belongs to the punctuation
    }
    if R::AFTER_PUNCTUATION.contains(&b'/') {
        unclear |= slashes & (newlines << 1);
    }

    // Contractions.
    let ends_contraction = |offset: u32| after_contraction::<R>(text, at + offset as usize) - at;
    if R::CONTRACTION_FIRST {
        for_each_bit(apostrophes & first_rest & (words >> 1), |offset| {
            let end = ends_contraction(offset);
            if end > offset as usize {
                starts = starts & !(1 << (offset + 1)) | bit(end);
            }
        });
    } else if R::CONTRACTION_LAST {
        let mut previous = 0;
        for_each_bit(apostrophes & (words << 1) & (words >> 1), |offset| {
            let end = ends_contraction(offset);
            if end > offset as usize && previous != offset as usize {
                // Neither the apostrophe nor a capital after a small letter starts a piece inside it.
                starts = starts & !(low_bits(end as u32) & !low_bits(offset)) | bit(end);
                previous = end;
            }
        });
    }

    let limit = limit.min(unclear.trailing_zeros().saturating_sub(1));
    starts & low_bits(limit) & !1
}

/// `firsts`, and every third digit after each.
#[inline]
fn every_third(firsts: u64, digits: u64) -> u64 {
    let fourth = digits & (digits << 1) & (digits << 2) & (digits << 3);
    let (mut all, mut latest) = (firsts, firsts);
    while latest != 0 {
        latest = (latest << 3) & fourth;
        all |= latest;
    }
    all
}

/// The bits below `count`.
#[inline]
fn low_bits(count: u32) -> u64 {
    1u64.checked_shl(count).map_or(!0, |bit| bit - 1)
}

/// A bit, or none if it is not in the block.
#[inline]
fn bit(offset: usize) -> u64 {
    u32::try_from(offset).ok().and_then(|offset| 1u64.checked_shl(offset)).unwrap_or(0)
}

#[inline]
fn for_each_bit(mut bits: u64, mut visit: impl FnMut(u32)) {
    while bits != 0 {
        visit(bits.trailing_zeros());
        bits &= bits - 1;
    }
}
