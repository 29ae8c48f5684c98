//! The corpus while it is merged: counted words as symbols, 4 bytes for each byte of text.

use super::words::WordsView;
use crate::{
    error::EngineError,
    memory::{Pages, prefetch},
};

/// Two tokens that stand side by side.
pub type Pair = (u32, u32);

/// Stands between words; in no pair.
pub const BORDER: u32 = u32::MAX;
/// What is neither the first nor the last byte of a symbol.
const INSIDE: u32 = u32::MAX - 1;
/// Places in a block.
const BLOCK: usize = 64;

/// Counted words side by side. A symbol is a token's id at the places of its first and of its last byte: so its neighbours are
/// found by its length and theirs, without a link to either. Links would make 16 bytes of 4, and each step wait for one more
/// access to memory.
pub struct Symbols {
    at: Pages<u32>,
    blocks: Vec<Block>,
    counts: Vec<i64>,
    /// Bytes of each token.
    lengths: Vec<u32>,
}

/// Which of some places are borders, and how many stand before: from it follows a place's word without a number for each place.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    borders: u64,
    before: u32,
}

/// What stood around a pair that was merged.
#[derive(Debug, Clone, Copy)]
pub struct Around {
    /// The token before it, or a border.
    pub before: u32,
    /// Where that begins.
    pub before_place: u32,
    /// The token after it, or a border.
    pub after: u32,
    /// How often the word occurs.
    pub count: i64,
}

impl Symbols {
    /// All words in which there is something to merge, each byte a symbol.
    pub fn new(words: WordsView<'_>) -> Result<Self, EngineError> {
        let limit = INSIDE as usize - 1;
        let used = || words.iter().filter(|(word, count)| word.len() > 1 && *count != 0);
        let (mut total, mut number) = (1, 0);
        for (word, count) in used() {
            if count < 0 {
                return Err(EngineError::Spec(format!("the word {:?} was counted {count} times", String::from_utf8_lossy(word))));
            }
            total += word.len() + 1;
            number += 1;
        }
        if total > limit {
            return Err(EngineError::TooManySymbols { limit });
        }
        let mut at = Pages::zeroed(total).map_err(|error| EngineError::Memory(error.to_string()))?;
        let mut blocks = vec![Block::default(); total / BLOCK + 1];
        let mut counts = Vec::with_capacity(number);
        let mut place = 0;
        let mut border = |place: usize, at: &mut [u32]| {
            at[place] = BORDER;
            blocks[place / BLOCK].borders |= 1 << (place % BLOCK);
        };
        border(0, &mut at);
        for (word, count) in used() {
            for (symbol, byte) in at[place + 1..].iter_mut().zip(word) {
                *symbol = u32::from(*byte);
            }
            place += word.len() + 1;
            border(place, &mut at);
            counts.push(count);
        }
        let mut before = 0;
        for block in &mut blocks {
            block.before = before;
            before += block.borders.count_ones();
        }
        Ok(Self { at, blocks, counts, lengths: vec![1; 256] })
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.at.len()
    }

    /// Makes a token of a pair known.
    pub fn add_token(&mut self, pair: Pair) {
        self.lengths.push(self.lengths[pair.0 as usize] + self.lengths[pair.1 as usize]);
    }

    /// Calls `visit` with each pair, where it begins, and how often its word occurs.
    #[inline]
    pub fn for_each_pair(&self, mut visit: impl FnMut(Pair, u32, i64)) {
        let mut counts = self.counts.iter();
        let (mut count, mut previous, mut previous_place, mut place) = (0, BORDER, 0, 0);
        while let Some(&id) = self.at.get(place) {
            if id == BORDER {
                let Some(next) = counts.next() else { break };
                count = *next;
            } else if previous != BORDER {
                visit((previous, id), previous_place, count);
            }
            (previous, previous_place) = (id, place as u32);
            place += self.lengths.get(id as usize).map_or(1, |length| *length as usize);
        }
    }

    /// Whether a pair still begins at a place where it once did.
    #[inline]
    pub fn is_at(&self, place: u32, pair: Pair) -> bool {
        self.at[place as usize] == pair.0 && self.at[place as usize + self.lengths[pair.0 as usize] as usize] == pair.1
    }

    /// Asks for what merging at a place will read.
    #[inline]
    pub fn prefetch(&self, place: u32) {
        prefetch(&self.at, place as usize);
        prefetch(&self.blocks, place as usize / BLOCK);
    }

    /// The same for its count; better once the rest is there.
    #[inline]
    pub fn prefetch_count(&self, place: u32) {
        prefetch(&self.counts, self.word(place));
    }

    /// The number of the word in which a place is.
    #[inline]
    fn word(&self, place: u32) -> usize {
        let Block { borders, before } = self.blocks[place as usize / BLOCK];
        let up_to = u64::MAX >> (BLOCK - 1 - place as usize % BLOCK);
        (before + (borders & up_to).count_ones()) as usize - 1
    }

    /// Merges the pair that begins at a place into a token that is known.
    #[inline]
    pub fn merge(&mut self, place: u32, pair: Pair, new_id: u32) -> Around {
        let first = place as usize;
        let second = first + self.lengths[pair.0 as usize] as usize;
        let end = second + self.lengths[pair.1 as usize] as usize;
        let (before, after) = (self.at[first - 1], self.at[end]);
        self.at[second] = INSIDE; // no list of places must take it for a symbol
        self.at[first] = new_id;
        self.at[end - 1] = new_id;
        let before_length = self.lengths.get(before as usize).copied().unwrap_or(1);
        Around { before, before_place: place - before_length, after, count: self.counts[self.word(place)] }
    }
}
