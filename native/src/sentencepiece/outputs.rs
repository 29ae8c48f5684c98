//! Which ids a symbol becomes.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::normalizer::SPACE_SYMBOL;
use crate::spellings::Spellings;

/// Ids by symbol, and what is needed to tell which bytes each id stands for.
#[derive(Debug)]
pub struct Outputs {
    ids: Vec<u32>,
    ends: Vec<u32>,
    /// Unused pieces: the two that come out again.
    apart: FxHashMap<u32, (u32, u32)>,
    is_piece: Vec<bool>,
    /// Of pieces by id: how many bytes of text they stand for. 0 for the others.
    lengths: Vec<u32>,
    byte_ids: Option<Box<[u32]>>,
    unknown: u32,
    escapes_spaces: bool,
}

/// What an id stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// These bytes.
    Whole,
    /// The byte at this place of the character that they are.
    Byte(usize),
    /// A character that is no piece, which joins others of its kind beside it.
    Unknown,
}

impl Outputs {
    /// Symbols below `first` are bytes, characters, and what those begin with. `ids`: of the symbols that are pieces. `apart`: the halves of those that are taken apart.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        spellings: &Spellings,
        first: u32,
        ids: &[Option<u32>],
        apart: impl Fn(usize) -> Option<(u32, u32)>,
        escapes_spaces: bool,
        byte_ids: Option<&[u32]>,
        unknown: u32,
    ) -> Self {
        let mut outputs = Self {
            ids: Vec::with_capacity(2 * ids.len()),
            ends: Vec::with_capacity(ids.len()),
            apart: (0..).zip(0..ids.len()).filter_map(|(symbol, place)| Some((symbol, apart(place)?))).collect(),
            is_piece: ids.iter().map(Option::is_some).collect(),
            lengths: lengths(spellings, ids),
            byte_ids: byte_ids.map(Into::into),
            unknown,
            escapes_spaces,
        };
        for symbol in 0..ids.len() as u32 {
            let mut waiting = vec![symbol];
            while let Some(part) = waiting.pop() {
                match (outputs.apart.get(&part), ids[part as usize]) {
                    (Some((left, right)), _) => waiting.extend([*right, *left]),
                    (None, Some(id)) => outputs.ids.push(id),
                    (None, None) if part < first => {
                        let ids = outputs.unknown(outputs.written(spellings.get(part)));
                        outputs.ids.extend(ids);
                    }
                    (None, None) => {}
                }
            }
            outputs.ends.push(outputs.ids.len() as u32);
        }
        outputs
    }

    /// The ids of a symbol.
    #[inline]
    pub fn get(&self, symbol: u32) -> &[u32] {
        let symbol = symbol as usize;
        let start = if symbol == 0 { 0 } else { self.ends[symbol - 1] };
        &self.ids[start as usize..self.ends[symbol] as usize]
    }

    fn unknown(&self, content: &[u8]) -> Vec<u32> {
        match &self.byte_ids {
            Some(byte_ids) => content.iter().map(|byte| byte_ids[usize::from(*byte)]).collect(),
            None => vec![self.unknown],
        }
    }

    /// Bytes of the normalised text as SentencePiece has them.
    fn written<'c>(&self, content: &'c [u8]) -> &'c [u8] {
        if self.escapes_spaces && content == b" " { SPACE_SYMBOL.as_bytes() } else { content }
    }

    /// Whether ids alone say which bytes each stands for. Unknown pieces do not: a character is one or several, by what begins like it.
    pub fn tell_sources(&self, ids: &[u32]) -> bool {
        self.byte_ids.is_some() || !ids.contains(&self.unknown)
    }

    /// Calls `visit` with each of the ids of a text, which tell their sources, and the bytes it stands for.
    pub fn for_each_id_source(&self, text: &[u8], ids: &[u32], mut visit: impl FnMut(u32, Source, Range<usize>)) {
        let mut ids = ids.iter().copied();
        let mut at = 0;
        while let Some(id) = ids.next() {
            let length = self.lengths.get(id as usize).map_or(0, |length| *length as usize);
            let end = if length > 0 { at + length } else { end_of_character(text, at) };
            if length > 0 {
                visit(id, Source::Whole, at..end);
            } else {
                let bytes = self.written(text.get(at..end).unwrap_or_default()).len();
                let its_ids = std::iter::once(id).chain(ids.by_ref().take(bytes.saturating_sub(1)));
                its_ids.enumerate().for_each(|(byte, id)| visit(id, Source::Byte(byte), at..end));
            }
            at = end;
        }
    }

    /// Calls `visit` with each id of a text that was merged into these symbols, and the bytes it stands for.
    pub fn for_each_source(&self, text: &[u8], symbols: &[u32], spellings: &Spellings, mut visit: impl FnMut(u32, Source, Range<usize>)) {
        let mut waiting: Vec<u32> = symbols.iter().rev().copied().collect();
        let mut at = 0;
        let mut known_until = 0; // the end of a character already given out
        while let Some(symbol) = waiting.pop() {
            if let Some((left, right)) = self.apart.get(&symbol) {
                waiting.extend([*right, *left]);
                continue;
            }
            let end = at + spellings.get(symbol).len();
            if self.is_piece[symbol as usize] {
                visit(self.get(symbol)[0], Source::Whole, at..end);
            } else if at >= known_until {
                // A character in one symbol or several.
                known_until = end_of_character(text, at);
                let is_byte = self.byte_ids.is_some();
                for (byte, id) in self.unknown(self.written(&text[at..known_until])).into_iter().enumerate() {
                    visit(id, if is_byte { Source::Byte(byte) } else { Source::Unknown }, at..known_until);
                }
            }
            at = end;
        }
    }
}

fn lengths(spellings: &Spellings, ids: &[Option<u32>]) -> Vec<u32> {
    let mut lengths = vec![0; ids.iter().flatten().max().map_or(0, |most| *most as usize + 1)];
    for (symbol, id) in (0..).zip(ids) {
        if let Some(id) = id {
            lengths[*id as usize] = spellings.get(symbol).len() as u32;
        }
    }
    lengths
}

/// Where the character that begins at `at` ends.
fn end_of_character(text: &[u8], at: usize) -> usize {
    (at + 1..text.len()).find(|next| text[*next] & 0xC0 != 0x80).unwrap_or(text.len())
}
