//! A tokenizer ready to run: everything here is immutable and shared; what changes while encoding lives in `Scratch`.

use std::{
    ops::Range,
    sync::{Arc, Mutex, OnceLock},
};

use crate::{
    added::{AddedToken, Matcher, Stretch},
    batch::{Batch, Missed, Sink},
    borders::Borders,
    cache::{LONG, PackedPiece, PieceCache, Slot, as_part, pack},
    error::EngineError,
    merge::MergeScratch,
    split::Splitter,
    tokens::TokenBytes,
    vocabulary::Vocabulary,
};

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
    vocabulary: Arc<Vocabulary>,
    /// A piece that is a token as a whole is not merged.
    ignore_merges: bool,
    /// Made when first needed: texts without long pieces beyond ASCII need none.
    borders: OnceLock<Borders>,
    tokens: TokenBytes,
    added: Vec<AddedToken>,
    splitter: Splitter,
    /// Warm caches, handed to one caller at a time. Taken and given back under a lock held for a few instructions; a
    /// caller that finds it locked (or forked while it was) makes a fresh one instead of waiting.
    idle: Mutex<Vec<Scratch>>,
}

impl Model {
    /// Builds a tokenizer.
    pub fn new(vocabulary: Arc<Vocabulary>, added: Vec<AddedToken>, splitter: Splitter, ignore_merges: bool) -> Self {
        let mut tokens = TokenBytes::default();
        for (token, id) in vocabulary.spellings.iter().zip(&vocabulary.ids) {
            tokens.insert(*id, token);
        }
        for token in &added {
            tokens.insert(token.id, token.content.as_bytes());
        }
        Self { vocabulary, ignore_merges, borders: OnceLock::new(), tokens, added, splitter, idle: Mutex::new(Vec::new()) }
    }

    /// Matches the added tokens that are not special and those `allowed` names; fails on those `forbidden` names.
    pub fn policy(&self, allowed: impl Fn(&str) -> bool, forbidden: impl Fn(&str) -> bool) -> Result<Policy, EngineError> {
        let choose = |wanted: &dyn Fn(&AddedToken) -> bool| Matcher::new(self.added.iter().filter(|t| wanted(t)).cloned().collect());
        Ok(Policy {
            matched: choose(&|token| !token.special || allowed(&token.content))?,
            forbidden: choose(&|token| forbidden(&token.content))?,
        })
    }

    /// Hands the ids of a text to `sink`, some at a time, in order.
    pub fn encode(&self, text: &str, policy: &Policy, sink: Sink<'_>) -> Result<(), EngineError> {
        self.check(text, policy)?;
        let mut scratch = self.take_scratch()?;
        policy.matched.for_each(text, |stretch| match stretch {
            Stretch::Token(id) => {
                sink(&[id]);
                Ok(())
            }
            Stretch::Text(text) => self.encode_stretch(text, &mut scratch, sink),
        })?;
        // Not after an error or a panic: its batch may hold pieces of the text that failed.
        self.give_back(scratch);
        Ok(())
    }

    fn check(&self, text: &str, policy: &Policy) -> Result<(), EngineError> {
        if let Some(token) = policy.forbidden.first(text) {
            return Err(EngineError::DisallowedSpecial(token.content.clone()));
        }
        Ok(())
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

    /// The bytes of the tokens.
    pub fn tokens(&self) -> &TokenBytes {
        &self.tokens
    }

    /// Calls `visit` with each id of a text and the bytes it stands for, as a range. White space that an added token takes along belongs
    /// to it; text that no piece holds belongs to none.
    pub fn encode_spans(&self, text: &str, policy: &Policy, mut visit: impl FnMut(u32, Range<usize>)) -> Result<(), EngineError> {
        self.check(text, policy)?;
        let mut scratch = self.take_scratch()?;
        let Scratch { cache, merge, splitter, .. } = &mut scratch;
        let (mut done, mut ids) = (0, Vec::new());
        policy.matched.for_each_span(text, |span, token| {
            if let Some(id) = token {
                visit(id, span);
                return Ok(());
            }
            let stretch = &text[span.clone()];
            splitter.for_each_run(stretch, &mut |pieces| {
                cache.lookups += pieces.len() as u64;
                cache.grow();
                for &(start, end) in pieces {
                    let missed = Missed { start: start as usize, end: end as usize, is_part: false };
                    ids.clear();
                    self.encode_missed(stretch.as_bytes(), missed, cache, merge, &mut ids);
                    done = span.start + missed.start;
                    for &id in &ids {
                        let start = done;
                        done += self.tokens.get(id).map_or(0, <[u8]>::len);
                        visit(id, start..done);
                    }
                }
            })
        })?;
        self.give_back(scratch);
        Ok(())
    }

    #[inline]
    fn encode_stretch(&self, text: &str, scratch: &mut Scratch, sink: Sink<'_>) -> Result<(), EngineError> {
        let Scratch { cache, merge, splitter, batch } = scratch;
        let bytes = text.as_bytes();
        let mut look_up = |batch: &mut Batch, cache: &mut PieceCache| {
            batch.look_up(cache, sink, |cache, missed, out| self.encode_missed(bytes, missed, cache, merge, out));
        };
        splitter.for_each_run(text, &mut |mut pieces| {
            while !pieces.is_empty() {
                pieces = &pieces[batch.push_short(cache, bytes, pieces)..];
                if batch.is_full() {
                    look_up(batch, cache);
                } else if let Some((&(start, end), rest)) = pieces.split_first() {
                    pieces = rest;
                    self.push_long(bytes, start as usize, end as usize, |key, start, end| {
                        if batch.push(cache, key, start, end) {
                            look_up(batch, cache);
                        }
                    });
                }
            }
        })?;
        look_up(batch, cache);
        Ok(())
    }

    /// A piece that does not pack: in parts that no merge joins if it is neither ASCII, where hardly any border is never
    /// crossed, nor taken whole.
    #[inline(never)] // rare, and the loop around it should stay small
    fn push_long(&self, text: &[u8], start: usize, end: usize, mut push: impl FnMut(PackedPiece, usize, usize)) {
        let piece = &text[start..end];
        let whole_first = self.ignore_merges && !self.vocabulary.is_all_reachable();
        if piece.is_ascii() || (whole_first && self.whole_token(piece).is_some()) {
            push(LONG, start, end);
            return;
        }
        let borders = self.borders.get_or_init(|| Borders::new(self.vocabulary.spellings.iter()));
        borders.for_each_part(text, start, end, |part_start, part_end| {
            let is_piece = (part_start, part_end) == (start, end);
            let key = pack(text, part_start, part_end).unwrap_or(LONG);
            // A part is only ever merged, even if it is a token that as a piece would be taken whole: another key.
            push(if is_piece || !whole_first { key } else { as_part(key) }, part_start, part_end);
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
            None => self.vocabulary.merge(piece, merge, out),
        }
        cache.keep(slot, &out[before..]);
    }

    /// The id of a piece that is a token, where the tokenizer ignores merges for those.
    fn whole_token(&self, piece: &[u8]) -> Option<u32> {
        if !self.ignore_merges {
            return None;
        }
        let symbol = self.vocabulary.spellings.find(piece)?;
        self.vocabulary.ids.get(symbol as usize).copied()
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
