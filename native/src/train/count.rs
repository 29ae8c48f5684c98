//! Counting pieces, on several threads, with 64-bit counts. Memory grows with the distinct pieces, not with the text.

use hashbrown::{HashMap, HashTable, hash_table::Entry};
use rustc_hash::FxBuildHasher;

use crate::{
    added::{AddedToken, Matcher, Stretch},
    cache::{PackedPiece, hash, pack, unpack},
    error::EngineError,
    normalize::Normalizer,
    parallel::share_out,
    split::Splitter,
    train::words::Words,
};

/// Counts of one thread.
#[derive(Debug, Default)]
struct Counts {
    packed: HashTable<(PackedPiece, i64)>,
    long: HashMap<Vec<u8>, i64, FxBuildHasher>,
}

impl Counts {
    #[inline]
    fn add_packed(&mut self, piece: PackedPiece, times: i64) {
        match self.packed.entry(hash(piece), |known| known.0 == piece, |known| hash(known.0)) {
            Entry::Occupied(mut known) => known.get_mut().1 += times,
            Entry::Vacant(free) => {
                free.insert((piece, times));
            }
        }
    }

    fn add_long(&mut self, piece: &[u8], times: i64) {
        *self.long.entry_ref(piece).or_insert(0) += times;
    }

    /// The memory it holds, in bytes.
    fn nbytes(&self) -> usize {
        let long: usize = self.long.keys().map(Vec::capacity).sum();
        self.packed.allocation_size() + self.long.allocation_size() + long
    }

    fn add(&mut self, piece: &[u8], times: i64) {
        match pack(piece, 0, piece.len()) {
            Some(packed) => self.add_packed(packed, times),
            None => self.add_long(piece, times),
        }
    }

    fn absorb(&mut self, other: Self) {
        for (piece, times) in other.packed {
            self.add_packed(piece, times);
        }
        for (piece, times) in other.long {
            *self.long.entry(piece).or_insert(0) += times;
        }
    }
}

/// What one thread counts. A regular expression's scratch space is shared between its users; a clone of it is not.
#[derive(Debug)]
struct Shard {
    splitter: Splitter,
    counts: Counts,
}

impl Shard {
    fn count(&mut self, text: &str, specials: &Matcher, normalizer: &Normalizer) -> Result<(), EngineError> {
        let Self { splitter, counts } = self;
        specials.for_each(text, |stretch| {
            let Stretch::Text(text) = stretch else { return Ok(()) };
            let normalised = normalizer.apply(text)?;
            let text = normalizer.prefixed(&normalised);
            let bytes = text.as_bytes();
            splitter.for_each(&text, |start, end| match pack(bytes, start, end) {
                Some(piece) => counts.add_packed(piece, 1),
                None => counts.add_long(&bytes[start..end], 1),
            })
        })
    }
}

/// Counts the pieces of the texts it is shown.
#[derive(Debug)]
pub struct WordCounter {
    splitter: Splitter,
    specials: Matcher,
    normalizer: Normalizer,
    shards: Vec<Shard>,
}

impl WordCounter {
    /// A counter for one way of normalising and splitting; `specials` are cut out of the text and not counted.
    pub fn new(normalizer: Normalizer, splitter: Splitter, specials: Vec<String>) -> Result<Self, EngineError> {
        let specials = Matcher::new(specials.into_iter().map(|content| AddedToken::plain(content, 0, true)).collect())?;
        Ok(Self { splitter, specials, normalizer, shards: Vec::new() })
    }

    /// Counts texts on up to `threads` threads. The counts do not depend on how many.
    pub fn add<T: AsRef<str> + Sync>(&mut self, texts: &[T], threads: usize) -> Result<(), EngineError> {
        let threads = threads.clamp(1, texts.len().max(1));
        while self.shards.len() < threads {
            self.shards.push(Shard { splitter: self.splitter.clone(), counts: Counts::default() });
        }
        let (specials, normalizer) = (&self.specials, &self.normalizer);
        share_out(texts.len(), &mut self.shards[..threads], |shard, number| shard.count(texts[number].as_ref(), specials, normalizer))
    }

    /// The memory that counts take up, in bytes.
    pub fn nbytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.counts.nbytes()).sum()
    }

    /// Adds what another counter has counted, which begins anew.
    pub fn absorb(&mut self, other: &mut Self) {
        let Some(first) = self.shards.first_mut() else { return std::mem::swap(&mut self.shards, &mut other.shards) };
        other.take_words().view().iter().for_each(|(piece, times)| first.counts.add(piece, times));
    }

    /// The distinct pieces and how often each was seen, in no order; counting begins anew.
    pub fn take_words(&mut self) -> Words {
        let mut shards = self.shards.drain(..).map(|shard| shard.counts);
        let mut all = shards.next().unwrap_or_default();
        shards.for_each(|counts| all.absorb(counts));
        let mut words: Words = all.long.iter().map(|(piece, times)| (piece.as_slice(), *times)).collect();
        for (piece, times) in all.packed {
            words.push(&unpack(piece), times);
        }
        words
    }
}
