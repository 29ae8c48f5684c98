//! From bytes of a text to what callers count: characters, and those that stock classes give to spaces that are not in the text.

use crate::sentencepiece::SpaceRules;

/// First and last + 1 byte or character.
pub type Place = (u32, u32);

/// From bytes to characters: those that a place touches, or, without `last_in_part`, but for one that it ends inside.
pub fn to_characters(text: &[u8], last_in_part: bool, places: &mut [Place]) {
    let (mut byte, mut characters) = (0, 0);
    // How many characters begin before a byte.
    let mut begun = |until: usize| {
        let begin = |from: usize, to: usize| text[from..to].iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u32;
        // Back a little where places overlap: counting anew from the start would be quadratic.
        if until < byte {
            characters -= begin(until, byte);
        } else {
            characters += begin(byte, until);
        }
        byte = until;
        characters
    };
    for (first, last) in places {
        let (start, end) = (*first as usize, *last as usize);
        let is_inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        *first = begun(start) - u32::from(is_inside(start) && (start < end || !last_in_part));
        *last = begun(end) - u32::from(is_inside(end) && !last_in_part);
    }
}

/// From characters as SentencePiece has them to those of stock classes. `added`: which places, in order, are those of added tokens.
///
/// A space put before a text stands where the first character does, one put behind it where the last does; of several of which one is
/// left, that is the last. To SentencePiece the first two have no characters, and the third has all of them.
pub fn as_stock(text: &str, rules: SpaceRules, places: &mut [Place], added: &[u32]) {
    let removed: Vec<char> = if rules.leaves_one && text.contains("  ") { text.chars().collect() } else { Vec::new() };
    let are_spaces = |at: u32| removed.get(at as usize..at as usize + 2).is_some_and(|two| two == [' ', ' ']);
    let mut end = text.chars().count() as u32; // of the stretch between added tokens
    let mut is_last = true;
    let mut added = added.iter().rev().peekable();
    for (number, (start, stop)) in places.iter_mut().enumerate().rev() {
        if added.next_if(|place| **place as usize == number).is_some() {
            (end, is_last) = (*start, true);
            continue;
        }
        let is_nowhere = start == stop;
        if is_nowhere {
            *start = if rules.is_suffix { end } else { end.min(*start + 1) }.saturating_sub(1);
        }
        if is_nowhere || (rules.is_suffix && is_last) {
            *stop = if rules.is_suffix { end } else { *start + 1 };
        }
        while *start + 1 < *stop && are_spaces(*start) {
            *start += 1;
        }
        is_last = false;
    }
}
