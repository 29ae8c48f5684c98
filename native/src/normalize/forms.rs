//! The Unicode normal forms, by the crate that `tokenizers` uses, whose tables are those of Unicode 9.
//!
//! The crate takes 30 to 60 ns for a character, as long as encoding it. So only what may change is shown to it: from the last
//! character before that nothing after it joins with, to the first such behind. All else is found to be normal at a byte or a
//! table look-up each, and copied.

use std::{ops::Range, sync::OnceLock};

use unicode_normalization_alignments::{
    IsNormalized, UnicodeNormalization, char::canonical_combining_class, is_nfc_quick, is_nfd_quick, is_nfkc_quick, is_nfkd_quick,
};

use super::draft::{Draft, Source};

/// A normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Composed.
    Nfc,
    /// Decomposed.
    Nfd,
    /// Composed, look-alikes replaced.
    Nfkc,
    /// Decomposed, look-alikes replaced.
    Nfkd,
}

/// Characters from here on are normal in every form, and combine with nothing.
const NOTHING_FROM: usize = 0x3_0000;
/// In a table: may not be normal, whatever stands before it.
const SUSPECT: u8 = u8::MAX;

impl Form {
    /// The form of a text, or None where that is the text.
    pub(super) fn run(self, source: &Source<'_>) -> Option<Draft> {
        let mut changing = self.next_changing(source.text, 0)?;
        let mut draft = source.empty_draft();
        let mut done = 0;
        loop {
            draft.copy(source, done..changing.start);
            done = changing.end;
            self.rewrite(source, changing, &mut draft);
            let Some(next) = self.next_changing(source.text, done) else { break };
            changing = next;
        }
        draft.copy(source, done..source.text.len());
        (draft.text != source.text).then_some(draft)
    }

    /// The next part from `from` on that may not be normal. Parts before and behind it do not depend on it.
    fn next_changing(self, text: &str, from: usize) -> Option<Range<usize>> {
        let bytes = text.as_bytes();
        let (mut at, mut base, mut class_before) = (from, from, 0);
        while at < bytes.len() {
            if bytes[at] < self.first_byte() {
                at += self.plain(&bytes[at..]);
                base = at - 1; // or inside the character that ends there: it is put right below
                class_before = 0;
                continue;
            }
            let character = text[at..].chars().next()?;
            let class = self.class(character);
            if class == SUSPECT || (class != 0 && class < class_before) {
                let start = (0..=base).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0).max(from);
                let end = text[at..].char_indices().skip(1).find(|(_, c)| self.class(*c) == 0).map_or(text.len(), |(after, _)| at + after);
                return Some(start..end);
            }
            if class == 0 {
                base = at;
            }
            class_before = class;
            at += character.len_utf8();
        }
        None
    }

    /// Appends the form of a part of the text.
    fn rewrite(self, source: &Source<'_>, part: Range<usize>, draft: &mut Draft) {
        let text = &source.text[part.clone()];
        match self {
            Self::Nfc => put(source, part, text.nfc(), draft),
            Self::Nfd => put(source, part, text.nfd(), draft),
            Self::Nfkc => put(source, part, text.nfkc(), draft),
            Self::Nfkd => put(source, part, text.nfkd(), draft),
        }
    }

    /// The first byte of the first character that may not be normal: what starts with a smaller one is normal and joins with
    /// nothing before it.
    const fn first_byte(self) -> u8 {
        match self {
            Self::Nfc => 0xCC,               // U+0300
            Self::Nfd => 0xC3,               // U+00C0
            Self::Nfkc | Self::Nfkd => 0xC2, // U+00A0
        }
    }

    /// How many bytes at the beginning, at least one, belong to characters below that. (The other bytes of a character are smaller
    /// than any first one.)
    #[inline]
    fn plain(self, bytes: &[u8]) -> usize {
        let first = self.first_byte();
        let is_plain = |byte: &u8| *byte < first;
        // Words between characters of many bytes are short: the long way begins after a few.
        let few = bytes.iter().take(8).take_while(|byte| is_plain(byte)).count();
        if few < 8 {
            return few;
        }
        // Without branches inside, for this becomes a few instructions on vectors.
        let blocks = bytes[few..].chunks_exact(32).take_while(|block| block.iter().fold(0, |most, byte| most.max(*byte)) < first);
        let many = few + 32 * blocks.count();
        many + bytes[many..].iter().take_while(|byte| is_plain(byte)).count()
    }

    /// The combining class of a character, or `SUSPECT`.
    #[inline]
    fn class(self, character: char) -> u8 {
        static TABLES: [OnceLock<Box<[u8]>>; 4] = [const { OnceLock::new() }; 4];
        let table = TABLES[self as usize]
            .get_or_init(|| (0..NOTHING_FROM as u32).map(|c| char::from_u32(c).map_or(0, |c| self.look_up(c))).collect());
        table.get(character as usize).copied().unwrap_or(0)
    }

    fn look_up(self, character: char) -> u8 {
        let one = std::iter::once(character);
        let normal = match self {
            Self::Nfc => is_nfc_quick(one),
            Self::Nfd => is_nfd_quick(one),
            Self::Nfkc => is_nfkc_quick(one),
            Self::Nfkd => is_nfkd_quick(one),
        };
        if normal == IsNormalized::Yes { canonical_combining_class(character) } else { SUSPECT }
    }
}

/// Appends the characters of a part's normal form. Each says how many characters of the text it stands for: none (1), one (0), or
/// more (less than 0). `tokenizers` counts them off from the left, also where marks changed places.
fn put(source: &Source<'_>, part: Range<usize>, form: impl Iterator<Item = (char, isize)>, draft: &mut Draft) {
    let mut counted = source.text[part.clone()].chars();
    let mut at = part.start;
    for (character, change) in form {
        let origin = if change > 0 { source.origin(at.wrapping_sub(1)) } else { source.origin(at) };
        at += counted.by_ref().take((1 - change).max(0) as usize).map(char::len_utf8).sum::<usize>();
        draft.push_char(character, origin);
    }
}
