//! Counting pieces, on several threads, with 64-bit counts. Memory grows with the distinct pieces, not with the text.

use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::{HashMap, HashTable, hash_table::Entry};
use rustc_hash::FxBuildHasher;

use crate::{
    added::{AddedToken, Matcher, Stretch},
    cache::{PackedPiece, hash, pack, unpack},
    error::EngineError,
    split::Splitter,
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

    fn absorb(&mut self, other: Self) {
        for (piece, times) in other.packed {
            self.add_packed(piece, times);
        }
        for (piece, times) in other.long {
            *self.long.entry(piece).or_insert(0) += times;
        }
    }
}

/// Counts the pieces of the texts it is shown.
#[derive(Debug)]
pub struct WordCounter {
    splitter: Splitter,
    specials: Matcher,
    shards: Vec<Counts>,
}

impl WordCounter {
    /// A counter for one way of splitting; `specials` are cut out of the text and not counted.
    pub fn new(splitter: Splitter, specials: Vec<String>) -> Result<Self, EngineError> {
        let token = |content| AddedToken { content, id: 0, special: true, single_word: false, lstrip: false, rstrip: false };
        let specials = Matcher::new(specials.into_iter().map(token).collect())?;
        Ok(Self { splitter, specials, shards: vec![Counts::default()] })
    }

    /// Counts texts on up to `threads` threads. The counts do not depend on how many.
    pub fn add<T: AsRef<str> + Sync>(&mut self, texts: &[T], threads: usize) -> Result<(), EngineError> {
        let threads = threads.clamp(1, texts.len().max(1));
        if self.shards.len() < threads {
            self.shards.resize_with(threads, Counts::default);
        }
        let (splitter, specials, next) = (&self.splitter, &self.specials, &AtomicUsize::new(0));
        let work = |counts: &mut Counts| {
            let splitter = splitter.clone();
            while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                count_text(text.as_ref(), &splitter, specials, counts)?;
            }
            Ok(())
        };
        if threads == 1 {
            return work(&mut self.shards[0]);
        }
        std::thread::scope(|scope| {
            let running: Vec<_> = self.shards[..threads].iter_mut().map(|counts| scope.spawn(|| work(counts))).collect();
            let stopped = || EngineError::Spec("a counting thread stopped unexpectedly".to_owned());
            running.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(stopped())))
        })
    }

    /// The distinct pieces and how often each was seen, in no order.
    pub fn into_words(self) -> Vec<(Vec<u8>, i64)> {
        let mut shards = self.shards.into_iter();
        let mut all = shards.next().unwrap_or_default();
        shards.for_each(|shard| all.absorb(shard));
        let packed = all.packed.into_iter().map(|(piece, times)| (unpack(piece), times));
        packed.chain(all.long).collect()
    }
}

fn count_text(text: &str, splitter: &Splitter, specials: &Matcher, counts: &mut Counts) -> Result<(), EngineError> {
    specials.for_each(text, |stretch| {
        let Stretch::Text(text) = stretch else { return Ok(()) };
        let bytes = text.as_bytes();
        splitter.for_each(text, |start, end| match pack(bytes, start, end) {
            Some(piece) => counts.add_packed(piece, 1),
            None => counts.add_long(&bytes[start..end], 1),
        })
    })
}
