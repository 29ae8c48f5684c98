//! A tokenizer ready to run: everything here is immutable and shared; what changes while encoding lives in `Scratch`.

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use crate::{
    added::{AddedToken, Matcher, Stretch},
    batch::{Batch, Missed},
    borders::Borders,
    cache::{LONG, PackedPiece, PieceCache, Slot, as_part, pack},
    error::EngineError,
    merge::{MergeScratch, merge_piece},
    pair_table::PairTable,
    split::Splitter,
};

/// Longest piece, so that positions in it fit 32 bits.
const LONGEST_PIECE: usize = u32::MAX as usize - 1;

/// Bytes of every token, one after the other.
#[derive(Debug, Default)]
struct TokenBytes {
    bytes: Vec<u8>,
    span_of: FxHashMap<u32, (usize, usize)>,
}

impl TokenBytes {
    fn insert(&mut self, id: u32, token: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(token);
        self.span_of.insert(id, (start, self.bytes.len()));
    }

    fn get(&self, id: u32) -> Option<&[u8]> {
        self.span_of.get(&id).map(|&(start, end)| &self.bytes[start..end])
    }
}

/// What one thread needs while it encodes.
#[derive(Debug)]
struct Scratch {
    cache: PieceCache,
    batch: Box<Batch>,
    merge: MergeScratch,
    /// A regular expression's own scratch space is shared between its users; a clone of it is not.
    splitter: Splitter,
}

/// Which added tokens `encode` matches, and which make it fail.
#[derive(Debug)]
pub struct Policy {
    matched: Matcher,
    forbidden: Matcher,
}

/// Use of the caches of a tokenizer.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct CacheInfo {
    /// Memory held by them.
    pub bytes: usize,
    /// Pieces looked up.
    pub lookups: u64,
    /// Pieces, and parts of pieces, that had to be merged.
    pub misses: u64,
}

/// A tokenizer.
#[derive(Debug)]
pub struct Model {
    /// Ids by symbol. The first 256 symbols are the bytes.
    ids: Vec<u32>,
    pairs: PairTable,
    borders: Borders,
    /// Whole pieces that are tokens; only where the tokenizer ignores merges for those.
    whole: Option<FxHashMap<Box<[u8]>, u32>>,
    tokens: TokenBytes,
    added: Vec<AddedToken>,
    splitter: Splitter,
    /// Warm caches, handed to one caller at a time. Taken and given back under a lock held for a few instructions; a
    /// caller that finds it locked (or forked while it was) makes a fresh one instead of waiting.
    idle: Mutex<Vec<Scratch>>,
}

impl Model {
    /// Builds a tokenizer. `merges` are pairs of token bytes, best rank first, as `vocab` spells them.
    pub fn new(
        vocab: &[(&[u8], u32)],
        merges: &[(&[u8], &[u8])],
        added: Vec<AddedToken>,
        splitter: Splitter,
        ignore_merges: bool,
    ) -> Result<Self, EngineError> {
        let id_of: FxHashMap<&[u8], u32> = vocab.iter().copied().collect();
        let missing = |token: &[u8]| EngineError::Spec(format!("{:?} is used but is not in the vocabulary", String::from_utf8_lossy(token)));
        // Symbols number the tokens by the order in which merging can make them: first the bytes.
        let mut ids = Vec::with_capacity(vocab.len());
        let mut symbol_of: FxHashMap<&[u8], u32> = FxHashMap::with_capacity_and_hasher(vocab.len(), Default::default());
        let mut symbol = |token: &[u8]| match symbol_of.get(token) {
            Some(symbol) => Ok(*symbol),
            None => {
                let (token, id) = id_of.get_key_value(token).ok_or_else(|| missing(token))?;
                ids.push(*id);
                symbol_of.insert(token, ids.len() as u32 - 1);
                Ok(ids.len() as u32 - 1)
            }
        };
        for byte in 0..=255 {
            symbol(&[byte])?;
        }
        let mut joined = Vec::new();
        let mut pairs = Vec::with_capacity(merges.len());
        for (left, right) in merges {
            joined.clear();
            joined.extend_from_slice(left);
            joined.extend_from_slice(right);
            pairs.push(((symbol(left)?, symbol(right)?), symbol(&joined)?));
        }
        let mut tokens = TokenBytes::default();
        for (token, id) in vocab {
            tokens.insert(*id, token);
        }
        for token in &added {
            tokens.insert(token.id, token.content.as_bytes());
        }
        Ok(Self {
            ids,
            pairs: PairTable::new(&pairs)?,
            borders: Borders::new(vocab.iter().map(|(token, _)| *token)),
            whole: ignore_merges.then(|| vocab.iter().map(|(token, id)| ((*token).into(), *id)).collect()),
            tokens,
            added,
            splitter,
            idle: Mutex::new(Vec::new()),
        })
    }

    /// Matches the added tokens that are not special and those `allowed` names; fails on those `forbidden` names.
    pub fn policy(&self, allowed: impl Fn(&str) -> bool, forbidden: impl Fn(&str) -> bool) -> Result<Policy, EngineError> {
        let choose = |wanted: &dyn Fn(&AddedToken) -> bool| Matcher::new(self.added.iter().filter(|t| wanted(t)).cloned().collect());
        Ok(Policy {
            matched: choose(&|token| !token.special || allowed(&token.content))?,
            forbidden: choose(&|token| forbidden(&token.content))?,
        })
    }

    /// Appends the ids of a text.
    pub fn encode(&self, text: &str, policy: &Policy, out: &mut Vec<u32>) -> Result<(), EngineError> {
        if let Some(token) = policy.forbidden.first(text) {
            return Err(EngineError::DisallowedSpecial(token.content.clone()));
        }
        if text.len() > LONGEST_PIECE {
            return Err(EngineError::Spec(format!("a text of {} bytes; the longest is {LONGEST_PIECE}", text.len())));
        }
        let mut scratch = self.take_scratch()?;
        let result = policy.matched.for_each(text, |stretch| match stretch {
            Stretch::Token(id) => {
                out.push(id);
                Ok(())
            }
            Stretch::Text(text) => self.encode_stretch(text, &mut scratch, out),
        });
        self.give_back(scratch);
        result
    }

    /// What the caches at rest hold, and how often they were asked.
    pub fn cache_info(&self) -> CacheInfo {
        let mut info = CacheInfo::default();
        for scratch in self.idle.try_lock().iter().flat_map(|idle| idle.iter()) {
            info.bytes += scratch.cache.bytes();
            info.lookups += scratch.cache.lookups;
            info.misses += scratch.cache.misses;
        }
        info
    }

    /// The pieces of a text as (start, end) in bytes, added tokens not considered.
    pub fn pieces(&self, text: &str) -> Result<Vec<(usize, usize)>, EngineError> {
        let mut pieces = Vec::new();
        self.splitter.for_each(text, |start, end| pieces.push((start, end)))?;
        Ok(pieces)
    }

    /// Appends the bytes behind ids.
    pub fn decode(&self, ids: impl Iterator<Item = u32>, out: &mut Vec<u8>) -> Result<(), EngineError> {
        for id in ids {
            out.extend_from_slice(self.tokens.get(id).ok_or(EngineError::UnknownId(i64::from(id)))?);
        }
        Ok(())
    }

    #[inline]
    fn encode_stretch(&self, text: &str, scratch: &mut Scratch, out: &mut Vec<u32>) -> Result<(), EngineError> {
        let Scratch { cache, merge, splitter, batch } = scratch;
        let bytes = text.as_bytes();
        let mut look_up = |batch: &mut Batch, cache: &mut PieceCache| {
            batch.look_up(cache, out, |cache, missed, out| self.encode_missed(bytes, missed, cache, merge, out));
        };
        splitter.for_each(text, |start, end| {
            let mut push = |key, start, end| {
                if batch.push(cache, key, start, end) {
                    look_up(batch, cache);
                }
            };
            match pack(bytes, start, end) {
                Some(key) => push(key, start, end),
                None => self.push_long(bytes, start, end, push),
            }
        })?;
        look_up(batch, cache);
        Ok(())
    }

    /// A piece that does not pack: in parts that no merge joins if it is neither ASCII, where hardly any border is never
    /// crossed, nor taken whole.
    #[inline(never)] // rare, and the loop around it should stay small
    fn push_long(&self, text: &[u8], start: usize, end: usize, mut push: impl FnMut(PackedPiece, usize, usize)) {
        if text[start..end].is_ascii() || self.whole_token(&text[start..end]).is_some() {
            push(LONG, start, end);
            return;
        }
        self.borders.for_each_part(text, start, end, |part_start, part_end| {
            let is_piece = (part_start, part_end) == (start, end);
            let key = pack(text, part_start, part_end).unwrap_or(LONG);
            // A part is only ever merged, even if it is a token that as a piece would be taken whole: another key.
            push(if is_piece || self.whole.is_none() { key } else { as_part(key) }, part_start, part_end);
        });
    }

    /// What the batch does not find in the cache of short pieces.
    #[inline(never)]
    fn encode_missed(&self, text: &[u8], missed: Missed, cache: &mut PieceCache, merge: &mut MergeScratch, out: &mut Vec<u32>) {
        let Missed { start, end, is_part } = missed;
        let slot = Slot::of(text, start, end);
        let slot = if is_part { slot.as_part() } else { slot };
        if cache.copy(slot, out) {
            return;
        }
        let piece = &text[start..end];
        let before = out.len();
        match self.whole_token(piece).filter(|_| !is_part) {
            Some(id) => out.push(id),
            None => merge_piece(piece.iter().map(|byte| u32::from(*byte)), &self.pairs, merge, |symbol| out.push(self.ids[symbol as usize])),
        }
        cache.keep(slot, &out[before..]);
    }

    /// The id of a piece that is a token, where the tokenizer ignores merges for those.
    fn whole_token(&self, piece: &[u8]) -> Option<u32> {
        self.whole.as_ref()?.get(piece).copied()
    }

    fn take_scratch(&self) -> Result<Scratch, EngineError> {
        if let Some(scratch) = self.idle.try_lock().ok().and_then(|mut idle| idle.pop()) {
            return Ok(scratch);
        }
        Ok(Scratch {
            cache: PieceCache::new().map_err(|error| EngineError::Memory(error.to_string()))?,
            batch: Box::default(),
            merge: MergeScratch::default(),
            splitter: self.splitter.clone(),
        })
    }

    fn give_back(&self, scratch: Scratch) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(scratch);
        }
    }
}
