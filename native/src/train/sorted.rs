//! Sorted words: what runs and files of counts hold, so that any number of them merge as streams.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

use super::words::{Words, WordsView};
use crate::{
    cache::{PACKED_BYTES, PackedPiece, pack},
    error::EngineError,
};

/// Words to be sorted. The same word may come several times.
#[derive(Debug, Default)]
pub struct Unsorted {
    /// Of each word its first 15 bytes and its length, 16 if it is longer, as two numbers that order as they do; and its count, or its
    /// number among the long ones. Comparing numbers takes a fifth of the time of comparing words.
    all: Vec<(u64, u64, i64)>,
    long: Vec<(Vec<u8>, i64)>,
}

impl Unsorted {
    /// Makes room for so many words.
    pub fn reserve(&mut self, words: usize) {
        self.all.reserve_exact(words);
    }

    /// Adds a word.
    pub fn add(&mut self, word: Vec<u8>, count: i64) {
        if let Some(piece) = pack(&word, 0, word.len()) {
            return self.add_packed(piece, count);
        }
        let mut first = [PACKED_BYTES as u8 + 1; 16];
        first[..PACKED_BYTES].copy_from_slice(&word[..PACKED_BYTES]);
        self.add_packed(PackedPiece::from_le_bytes(first), self.long.len() as i64);
        self.long.push((word, count));
    }

    /// Adds a short word.
    pub fn add_packed(&mut self, piece: PackedPiece, count: i64) {
        let key = piece.swap_bytes(); // the first byte counts for most, the length for least
        self.all.push(((key >> 64) as u64, key as u64, count));
    }

    /// The words in ascending order of their bytes; counts of the same word are added up.
    pub fn sorted(self) -> Words {
        let Self { mut all, long } = self;
        let is_long = |low: u64| low as u8 as usize > PACKED_BYTES;
        let long_at = |number: i64| &long[number as usize];
        all.sort_unstable_by(|one, other| {
            (one.0, one.1)
                .cmp(&(other.0, other.1))
                .then_with(|| if is_long(one.1) { long_at(one.2).0.cmp(&long_at(other.2).0) } else { Ordering::Equal })
        });
        let mut words = Words::with_room(all.len(), all.iter().map(|word| usize::from(word.1 as u8)).sum());
        for (high, low, count) in all {
            if is_long(low) {
                let (word, count) = long_at(count);
                words.push_or_add(word, *count);
            } else {
                let bytes = (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
                words.push_or_add(&bytes[..usize::from(low as u8)], count);
            }
        }
        words
    }
}

/// Whether each word is greater than the one before.
pub fn ascend(words: WordsView<'_>) -> bool {
    words.iter().zip(words.iter().skip(1)).all(|(one, other)| one.0 < other.0)
}

/// The words of sorted parts, sorted; counts of the same word are added up.
pub fn merge(parts: &[WordsView<'_>]) -> Result<Words, EngineError> {
    let mut rest: Vec<_> = parts.iter().map(WordsView::iter).collect();
    let mut heap: BinaryHeap<Reverse<(&[u8], usize, i64)>> = BinaryHeap::with_capacity(rest.len());
    for (part, words) in rest.iter_mut().enumerate() {
        heap.extend(words.next().map(|(word, count)| Reverse((word, part, count))));
    }
    let mut merged = Words::default();
    let mut last: Option<(&[u8], i64)> = None;
    while let Some(mut first) = heap.peek_mut() {
        let Reverse((word, part, count)) = *first;
        match rest[part].next() {
            Some((next, times)) => *first = Reverse((next, part, times)),
            None => drop(std::collections::binary_heap::PeekMut::pop(first)),
        }
        last = match last {
            Some((same, before)) if same == word => Some((word, before.checked_add(count).ok_or_else(|| too_often(word))?)),
            other => {
                if let Some((word, count)) = other {
                    merged.push(word, count);
                }
                Some((word, count))
            }
        };
    }
    if let Some((word, count)) = last {
        merged.push(word, count);
    }
    Ok(merged)
}

fn too_often(word: &[u8]) -> EngineError {
    EngineError::TooOften(String::from_utf8_lossy(word).chars().take(80).collect())
}
