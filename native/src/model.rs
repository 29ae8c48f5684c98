//! A tokenizer ready to run: everything here is immutable and shared; what changes while encoding lives in `Scratch`.

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use crate::{
    added::{AddedToken, Matcher, Stretch},
    borders::Borders,
    cache::{PackedPiece, PieceCache, as_part, pack},
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

/// A tokenizer.
#[derive(Debug)]
pub struct Model {
    byte_ids: [u32; 256],
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
        let id = |token: &[u8]| {
            let missing = || EngineError::Spec(format!("{:?} is used but is not in the vocabulary", String::from_utf8_lossy(token)));
            id_of.get(token).copied().ok_or_else(missing)
        };
        let mut byte_ids = [0; 256];
        for (byte, byte_id) in (0u8..=255).zip(byte_ids.iter_mut()) {
            *byte_id = id(&[byte])?;
        }
        let mut joined = Vec::new();
        let mut merge_ids = Vec::with_capacity(merges.len());
        for (left, right) in merges {
            joined.clear();
            joined.extend_from_slice(left);
            joined.extend_from_slice(right);
            merge_ids.push(((id(left)?, id(right)?), id(&joined)?));
        }
        let mut tokens = TokenBytes::default();
        for (token, id) in vocab {
            tokens.insert(*id, token);
        }
        for token in &added {
            tokens.insert(token.id, token.content.as_bytes());
        }
        Ok(Self {
            byte_ids,
            pairs: PairTable::new(&merge_ids),
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
        let mut scratch = self.take_scratch();
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
        let Scratch { cache, merge, splitter } = scratch;
        let bytes = text.as_bytes();
        splitter.for_each(text, |start, end| match pack(bytes, start, end) {
            Some(packed) if cache.copy_packed(packed, out) => {}
            packed => self.encode_piece(&bytes[start..end], packed, cache, merge, out),
        })
    }

    /// A piece that is not in the cache of short ones.
    fn encode_piece(
        &self,
        piece: &[u8],
        packed: Option<PackedPiece>,
        cache: &mut PieceCache,
        merge: &mut MergeScratch,
        out: &mut Vec<u32>,
    ) {
        if let Some(id) = self.whole.as_ref().and_then(|whole| whole.get(piece)) {
            out.push(*id);
            packed.map(|packed| cache.keep_packed(packed, &[*id]));
        } else if packed.is_some() || piece.is_ascii() {
            self.merge_part(piece, packed, cache, merge, out);
        } else {
            self.borders.for_each_part(piece, |part| {
                // A part is only ever merged, even if it is a token that as a piece would be taken whole: another key.
                let packed = pack(part, 0, part.len()).map(|packed| if self.whole.is_some() { as_part(packed) } else { packed });
                if !packed.is_some_and(|packed| cache.copy_packed(packed, out)) {
                    self.merge_part(part, packed, cache, merge, out);
                }
            });
        }
    }

    /// Merges, and keeps the result: under `packed`, or where that does not fit, among the long ones.
    fn merge_part(&self, part: &[u8], packed: Option<PackedPiece>, cache: &mut PieceCache, merge: &mut MergeScratch, out: &mut Vec<u32>) {
        if cache.copy_long(part, out) {
            return;
        }
        let before = out.len();
        merge_piece(part.iter().map(|byte| self.byte_ids[*byte as usize]), &self.pairs, merge, out);
        if !packed.is_some_and(|packed| cache.keep_packed(packed, &out[before..])) {
            cache.keep_long(part, &out[before..]);
        }
    }

    fn take_scratch(&self) -> Scratch {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| Scratch { cache: PieceCache::default(), merge: MergeScratch::default(), splitter: self.splitter.clone() })
    }

    fn give_back(&self, scratch: Scratch) {
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(scratch);
        }
    }
}
