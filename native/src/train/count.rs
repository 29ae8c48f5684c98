//! Counting pieces, on several threads, with 64-bit counts. Memory grows with the distinct pieces, not with the text.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::{
    added::{AddedToken, Matcher, Stretch},
    cache::pack,
    error::EngineError,
    normalize::Normalizer,
    parallel::share_out,
    split::{Piece, Splitter},
    train::{
        packed::{PackedCounts, RUN},
        sorted::Unsorted,
        words::Words,
    },
};

/// Counts of one thread.
#[derive(Debug, Default)]
struct Counts {
    packed: PackedCounts,
    long: HashMap<Vec<u8>, i64, FxBuildHasher>,
    /// Bytes of the long pieces: asked for with every batch, and adding them up would take longer the more there are.
    long_bytes: usize,
}

impl Counts {
    /// Counts some pieces of a text, a few of them at a time: all their places in the table are called for before the first is looked at, so
    /// that the memory accesses overlap.
    fn add_run(&mut self, text: &[u8], pieces: &[Piece]) -> Result<(), EngineError> {
        for pieces in pieces.chunks(RUN) {
            self.packed.reserve(RUN)?;
            let mut found = [(0, 0); RUN];
            for (&(start, end), found) in pieces.iter().zip(&mut found) {
                match pack(text, start as usize, end as usize) {
                    Some(piece) => *found = (piece, self.packed.call_for(piece)),
                    None => self.add_long(&text[start as usize..end as usize], 1),
                }
            }
            found.into_iter().filter(|(piece, _)| *piece != 0).for_each(|(piece, place)| self.packed.add(piece, place, 1));
        }
        Ok(())
    }

    fn add_long(&mut self, piece: &[u8], times: i64) {
        let Self { long, long_bytes, .. } = self;
        *long.entry_ref(piece).or_insert_with(|| {
            *long_bytes += piece.len();
            0
        }) += times;
    }

    /// How many pieces there are.
    fn len(&self) -> usize {
        self.packed.len() + self.long.len()
    }

    /// The memory it holds, in bytes.
    fn nbytes(&self) -> usize {
        self.packed.nbytes() + self.long.allocation_size() + self.long_bytes
    }

    fn absorb(&mut self, other: Self) -> Result<(), EngineError> {
        self.packed.absorb(&other.packed)?;
        other.long.into_iter().for_each(|(piece, times)| self.add_long(&piece, times));
        Ok(())
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
            let mut outcome = Ok(());
            splitter.for_each_run(&text, &mut |pieces| {
                if outcome.is_ok() {
                    outcome = counts.add_run(bytes, pieces);
                }
            })?;
            outcome
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
    pub fn absorb(&mut self, other: &mut Self) -> Result<(), EngineError> {
        let Some(first) = self.shards.first_mut() else {
            std::mem::swap(&mut self.shards, &mut other.shards);
            return Ok(());
        };
        other.shards.drain(..).try_for_each(|shard| first.counts.absorb(shard.counts))
    }

    /// The distinct pieces in ascending order and how often each was seen; counting begins anew.
    pub fn take_words(&mut self) -> Words {
        let mut words = Unsorted::default();
        words.reserve(self.shards.iter().map(|shard| shard.counts.len()).sum());
        for Shard { counts, .. } in self.shards.drain(..) {
            counts.packed.iter().for_each(|(piece, times)| words.add_packed(piece, times));
            drop(counts.packed); // before the next
            counts.long.into_iter().for_each(|(piece, times)| words.add(piece, times));
        }
        words.sorted()
    }
}
