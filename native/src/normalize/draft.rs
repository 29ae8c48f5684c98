//! A changed text, and where it comes from if that is wanted.

use std::ops::Range;

/// First byte, and last + 1, of what a byte comes from: of whole characters.
pub type Origin = (usize, usize);

/// A text to change, and where its bytes come from if that is wanted.
#[derive(Debug)]
pub struct Source<'s> {
    pub text: &'s str,
    pub origins: Option<&'s [Origin]>,
}

impl Source<'_> {
    /// Where the byte at a place comes from; what is added before the first comes from nowhere.
    pub fn origin(&self, at: usize) -> Origin {
        self.origins.and_then(|origins| origins.get(at)).copied().unwrap_or_default()
    }

    pub fn empty_draft(&self) -> Draft {
        Draft { text: String::with_capacity(self.text.len() + 16), origins: self.origins.map(|_| Vec::with_capacity(self.text.len())) }
    }
}

/// A text being made out of another.
#[derive(Debug)]
pub struct Draft {
    /// The text.
    pub text: String,
    /// For each byte of it, the bytes of the original that it comes from.
    origins: Option<Vec<Origin>>,
}

impl Draft {
    /// A text as it is, with origins.
    pub fn of(text: &str) -> Self {
        let origins = text.char_indices().flat_map(|(at, c)| std::iter::repeat_n((at, at + c.len_utf8()), c.len_utf8()));
        Self { text: text.to_owned(), origins: Some(origins.collect()) }
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source { text: &self.text, origins: self.origins.as_deref() }
    }

    pub(super) fn push(&mut self, content: &str, origin: Origin) {
        self.text.push_str(content);
        if let Some(origins) = &mut self.origins {
            origins.resize(self.text.len(), origin);
        }
    }

    pub(super) fn push_char(&mut self, character: char, origin: Origin) {
        self.push(character.encode_utf8(&mut [0; 4]), origin);
    }

    pub(super) fn copy(&mut self, source: &Source<'_>, part: Range<usize>) {
        self.text.push_str(&source.text[part.clone()]);
        if let (Some(own), Some(origins)) = (&mut self.origins, source.origins) {
            own.extend_from_slice(&origins[part]);
        }
    }

    /// The bytes of the original behind some bytes of the text (at least one): of whole characters, or, with `own_bytes`, the very
    /// bytes of characters that were left as they are.
    pub fn origin_of(&self, original: &str, part: Range<usize>, own_bytes: bool) -> Range<usize> {
        let last = part.end.max(part.start + 1) - 1;
        let place = |at: usize| (self.source().origin(at), if own_bytes { self.unchanged(original, at) } else { None });
        let ((start, _), first_byte) = place(part.start);
        let ((last_start, end), last_byte) = place(last);
        start + first_byte.unwrap_or(0)..last_byte.map_or(end, |byte| last_start + byte + 1)
    }

    /// Which byte of its character stands at a place, if that is the character of the original.
    fn unchanged(&self, original: &str, at: usize) -> Option<usize> {
        let begin = (0..=at).rev().find(|place| self.text.is_char_boundary(*place))?;
        let character = self.text[begin..].chars().next()?;
        let (start, end) = self.source().origin(at);
        (original.get(start..end)? == &self.text[begin..begin + character.len_utf8()]).then_some(at - begin)
    }
}
