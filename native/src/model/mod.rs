//! A tokenizer ready to run: everything here is immutable and shared; what changes while encoding lives in `Scratch`.

mod spans;

use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError},
};

use crate::{
    added::{AddedToken, Matcher, Stretch},
    batch::{Batch, Missed, Sink},
    borders::Borders,
    cache::{LONG, PackedPiece, PieceCache, Slot, as_part, pack},
    error::EngineError,
    merge::MergeScratch,
    normalize::Normalizer,
    parts::{Occurrences, Trust},
    sentencepiece::{Normalised, Piece, Rules, SentencePiece},
    split::{KindBorders, Splitter},
    tokens::TokenBytes,
    vocabulary::Vocabulary,
};

/// How often to look again whether a lock is free that is held for nanoseconds: some microseconds in all.
const ATTEMPTS: usize = 100;

/// What one thread needs while it encodes.
#[derive(Debug)]
struct Scratch {
    cache: PieceCache,
    batch: Box<Batch>,
    merge: MergeScratch,
    /// A regular expression's own scratch space is shared between its users; a clone of it is not.
    splitter: Splitter,
    normalised: Normalised,
}

/// Which added tokens `encode` matches, and which make it fail.
#[derive(Debug)]
pub struct Policy {
    written: Wanted,
    normalised: Wanted,
}

/// The same for tokens that are looked for in the text as it is written, or in normalised text.
#[derive(Debug)]
struct Wanted {
    matched: Matcher,
    forbidden: Matcher,
}

impl Wanted {
    fn check(&self, text: &str) -> Result<(), EngineError> {
        self.forbidden.first(text).map_or(Ok(()), |token| Err(EngineError::DisallowedSpecial(token.content.clone())))
    }
}

/// Encodes text after text with one warm cache, which goes back to the tokenizer at the end.
///
/// To take it and give it back for every text would have threads meet at one lock thousands of times, and pass caches to and fro.
pub struct Coder<'m> {
    model: &'m Model,
    scratch: Option<Scratch>,
}

impl Coder<'_> {
    /// Hands the ids of a text to `sink`, some at a time, in order.
    pub fn encode(&mut self, text: &str, policy: &Policy, sink: Sink<'_>) -> Result<(), EngineError> {
        policy.written.check(text)?;
        self.with_scratch(|model, scratch| model.encode_text(text, policy, scratch, sink))
    }

    fn with_scratch(&mut self, work: impl FnOnce(&Model, &mut Scratch) -> Result<(), EngineError>) -> Result<(), EngineError> {
        let mut scratch = self.scratch.take().map_or_else(|| self.model.take_scratch(), Ok)?;
        work(self.model, &mut scratch)?;
        // Not after an error or a panic: its batch may hold pieces of the text that failed.
        self.scratch = Some(scratch);
        Ok(())
    }
}

impl Drop for Coder<'_> {
    fn drop(&mut self) {
        if let Some(scratch) = self.scratch.take() {
            self.model.give_back(scratch);
        }
    }
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

/// What merging starts from, and what decides which pairs merge.
#[derive(Debug)]
enum Dialect {
    /// Bytes, and a list of pairs.
    ByteLevel {
        vocabulary: Arc<Vocabulary>,
        /// A piece that is a token as a whole is not merged.
        ignore_merges: bool,
        /// What is done to text before it is split.
        normalizer: Normalizer,
    },
    /// Characters, and scores.
    SentencePiece(Box<SentencePiece>),
}

/// Normalised text of up to this many bytes stays allocated between calls.
const KEPT_TEXT: usize = 1 << 20;

/// A tokenizer.
#[derive(Debug)]
pub struct Model {
    dialect: Dialect,
    /// Made when first needed: texts without long pieces beyond ASCII need none.
    borders: OnceLock<Borders>,
    tokens: TokenBytes,
    added: Vec<AddedToken>,
    /// Made when first needed: only text in parts needs it.
    occurrences: OnceLock<[Occurrences; 2]>,
    splitter: Splitter,
    /// Warm caches, handed to one `Coder` at a time. Taken and given back under a lock held for a few instructions.
    idle: Mutex<Vec<Scratch>>,
}

impl Model {
    /// Builds a tokenizer.
    pub fn new(
        vocabulary: Arc<Vocabulary>,
        added: Vec<AddedToken>,
        normalizer: Normalizer,
        splitter: Splitter,
        ignore_merges: bool,
    ) -> Result<Self, EngineError> {
        let mut tokens = TokenBytes::default();
        for (token, id) in vocabulary.spellings.iter().zip(&vocabulary.ids) {
            tokens.insert(*id, token);
        }
        for token in &added {
            tokens.insert(token.id, token.content.as_bytes());
        }
        Matcher::normalised(added.iter().filter(|token| token.normalized).cloned().collect(), &normalizer)?; // fails for what no policy can hold
        let dialect = Dialect::ByteLevel { vocabulary, ignore_merges, normalizer };
        let occurrences = OnceLock::new();
        Ok(Self { dialect, borders: OnceLock::new(), tokens, added, occurrences, splitter, idle: Mutex::new(Vec::new()) })
    }

    /// Builds a tokenizer out of a SentencePiece model.
    pub fn from_pieces(pieces: &[Piece<'_>], rules: Rules<'_>, added: Vec<AddedToken>) -> Result<Self, EngineError> {
        let mut tokens = TokenBytes::default();
        let sentencepiece = SentencePiece::new(pieces, rules, &mut tokens)?;
        let splitter = Splitter::Kinds(KindBorders::between(sentencepiece.made()));
        // A control piece that is also an added token decodes to nothing all the same.
        let beyond = added.iter().filter(|token| token.id as usize >= pieces.len());
        beyond.for_each(|token| tokens.insert(token.id, token.content.as_bytes()));
        Ok(Self {
            dialect: Dialect::SentencePiece(Box::new(sentencepiece)),
            borders: OnceLock::new(),
            tokens,
            added,
            occurrences: OnceLock::new(),
            splitter,
            idle: Mutex::new(Vec::new()),
        })
    }

    /// Matches the added tokens that are not special and those `allowed` names; fails on those `forbidden` names. Where no special one
    /// is allowed, they hide others that begin inside them, as in `tokenizers`; else only those that are matched are looked for, as in
    /// tiktoken.
    pub fn policy(&self, allowed: impl Fn(&str) -> bool, forbidden: impl Fn(&str) -> bool) -> Result<Policy, EngineError> {
        let passes_special = !self.added.iter().any(|token| token.special && allowed(&token.content));
        let is_matched = |token: &AddedToken| !token.special || allowed(&token.content);
        let is_forbidden = |token: &AddedToken| forbidden(&token.content);
        let choose = |normalized: bool, wanted: &dyn Fn(&AddedToken) -> bool| -> Vec<AddedToken> {
            self.added.iter().filter(|token| self.finds_normalised(token) == normalized && wanted(token)).cloned().collect()
        };
        let finder = |normalized: bool, tokens| match &self.dialect {
            Dialect::ByteLevel { normalizer, .. } if normalized => Matcher::normalised(tokens, normalizer),
            _ => Matcher::new(tokens),
        };
        let want = |normalized| {
            let mut matched = choose(normalized, &is_matched);
            if passes_special && !matched.is_empty() {
                matched = choose(normalized, &|_| true);
            }
            let matched = finder(normalized, matched)?;
            let matched = if passes_special { matched.passing_special() } else { matched };
            Ok(Wanted { matched, forbidden: finder(normalized, choose(normalized, &is_forbidden))? })
        };
        Ok(Policy { written: want(false)?, normalised: want(true)? })
    }

    /// Whether a token is looked for in normalised text. SentencePiece knows no such tokens.
    fn finds_normalised(&self, token: &AddedToken) -> bool {
        token.normalized && matches!(self.dialect, Dialect::ByteLevel { .. })
    }

    /// A policy for one text alone, which is in parts: special tokens are matched where all of one is trusted. Those not special are
    /// matched everywhere. `parts`: where each ends, and its trust. Fails on those that touch a part that refuses them.
    ///
    /// Those that are looked for in normalised text are matched everywhere too if normalising changes anything: it is up to the caller
    /// to look where they were found.
    pub fn policy_of_parts(&self, text: &str, parts: &[(usize, Trust)]) -> Result<Policy, EngineError> {
        let [written, normalised] = self.occurrences()?;
        let nothing = || Ok(Wanted { matched: Matcher::new(Vec::new())?, forbidden: Matcher::new(Vec::new())? });
        let found = written.in_parts(text, 0, parts)?;
        match &self.dialect {
            Dialect::ByteLevel { normalizer, .. } if normalizer.is_empty() => {
                let (mut tokens, mut places) = (Vec::new(), Vec::new());
                let mut take = |id: u32, span: Range<usize>| {
                    tokens.push(AddedToken::plain(String::new(), id, true));
                    places.push(span);
                };
                found.for_each_span(text, |span, token| match token {
                    Some(id) => {
                        take(id, span);
                        Ok(())
                    }
                    None => {
                        normalised.in_parts(&text[span.clone()], span.start, parts)?.for_each_span(&text[span.clone()], |part, token| {
                            token.into_iter().for_each(|id| take(id, part.start + span.start..part.end + span.start));
                            Ok(())
                        })
                    }
                })?;
                Ok(Policy { written: Wanted { matched: Matcher::found(tokens, places), ..nothing()? }, normalised: nothing()? })
            }
            Dialect::ByteLevel { normalizer, .. } => {
                let sought = self.added.iter().filter(|token| token.normalized).cloned().collect();
                let everywhere = Wanted { matched: Matcher::normalised(sought, normalizer)?, ..nothing()? };
                Ok(Policy { written: Wanted { matched: found, ..nothing()? }, normalised: everywhere })
            }
            Dialect::SentencePiece(_) => Ok(Policy { written: Wanted { matched: found, ..nothing()? }, normalised: nothing()? }),
        }
    }

    /// Those looked for in the text as it is written, and in normalised text.
    fn occurrences(&self) -> Result<&[Occurrences; 2], EngineError> {
        if let Some(occurrences) = self.occurrences.get() {
            return Ok(occurrences);
        }
        let of =
            |normalized| Occurrences::new(self.added.iter().filter(|token| self.finds_normalised(token) == normalized).cloned().collect());
        let made = [of(false)?, of(true)?];
        Ok(self.occurrences.get_or_init(|| made))
    }

    /// The ids of the added tokens that a text is cut at.
    pub fn added_ids(&self, text: &str, policy: &Policy) -> Result<Vec<u32>, EngineError> {
        let mut ids = Vec::new();
        policy.written.matched.for_each_span(text, |span, token| {
            ids.extend(token);
            let Dialect::ByteLevel { normalizer, .. } = &self.dialect else { return Ok(()) };
            if token.is_some() {
                return Ok(());
            }
            let text = normalizer.apply(&text[span])?;
            policy.normalised.matched.for_each_span(&text, |_, token| {
                ids.extend(token);
                Ok(())
            })
        })?;
        Ok(ids)
    }

    /// What one thread encodes texts with.
    pub fn coder(&self) -> Coder<'_> {
        Coder { model: self, scratch: None }
    }

    fn encode_text(&self, text: &str, policy: &Policy, scratch: &mut Scratch, sink: Sink<'_>) -> Result<(), EngineError> {
        policy.written.matched.for_each_span(text, |span, token| match (token, &self.dialect) {
            (Some(id), _) => {
                sink(&[id]);
                Ok(())
            }
            (None, Dialect::ByteLevel { normalizer, .. }) => {
                let text = normalizer.apply(&text[span])?;
                policy.normalised.check(&text)?;
                policy.normalised.matched.for_each(&text, |stretch| match stretch {
                    Stretch::Token(id) => {
                        sink(&[id]);
                        Ok(())
                    }
                    Stretch::Text(text) => self.encode_stretch(&normalizer.prefixed(text), scratch, sink),
                })
            }
            (None, Dialect::SentencePiece(model)) => self.encode_pieces(model, &text[span.clone()], span.start == 0, scratch, sink),
        })
    }

    /// Appends the ids of one piece, which need not be UTF-8. `whole`: a piece that is a token is taken as that where the tokenizer
    /// ignores merges; else it is merged all the same.
    pub fn encode_piece(&self, piece: &[u8], whole: bool, out: &mut Vec<u32>) -> Result<(), EngineError> {
        let Dialect::ByteLevel { vocabulary, .. } = &self.dialect else {
            return Err(EngineError::Spec("a SentencePiece model merges characters, not pieces of bytes; encode the text".to_owned()));
        };
        if let Some(id) = self.whole_token(piece).filter(|_| whole) {
            out.push(id);
            return Ok(());
        }
        self.coder().with_scratch(|_, scratch| {
            vocabulary.merge(piece, &mut scratch.merge, out);
            Ok(())
        })
    }

    /// What the caches at rest hold, and how often they were asked.
    pub fn cache_info(&self) -> CacheInfo {
        let mut info = CacheInfo::default();
        for scratch in self.idle().iter().flat_map(|idle| idle.iter()) {
            info.bytes += scratch.cache.bytes();
            info.lookups += scratch.cache.lookups;
            info.misses += scratch.cache.misses;
        }
        info
    }

    /// The pieces of a text, added tokens not considered. A SentencePiece model has one: the normalised text.
    pub fn pieces(&self, text: &str) -> Result<Vec<String>, EngineError> {
        let mut pieces = Vec::new();
        match &self.dialect {
            Dialect::ByteLevel { normalizer, .. } => {
                let normalised = normalizer.apply(text)?;
                let text = normalizer.prefixed(&normalised);
                self.splitter.for_each(&text, |start, end| pieces.push(text[start..end].to_owned()))?;
            }
            Dialect::SentencePiece(model) => {
                let mut normalised = Normalised::default();
                model.normalise(text, true, &mut normalised);
                pieces.extend(Some(model.shown(&normalised.text)).filter(|text| !text.is_empty()));
            }
        }
        Ok(pieces)
    }

    /// One more than the highest id whose token is short, or a little less.
    pub fn ids(&self) -> usize {
        self.tokens.cards()
    }

    /// Whether a span that ends inside a character stands for part of it. Else it stands for what comes before it.
    pub fn cuts_characters(&self) -> bool {
        matches!(self.dialect, Dialect::ByteLevel { .. })
    }

    /// Appends the bytes behind ids. Bytes that are no text: as they are, or, of a SentencePiece model and if `is_text`, as U+FFFD.
    pub fn decode(&self, ids: &[u32], is_text: bool, out: &mut Vec<u8>) -> Result<(), EngineError> {
        match &self.dialect {
            Dialect::ByteLevel { .. } => self.tokens.decode(ids, out),
            Dialect::SentencePiece(model) if is_text => model.decoder().text(ids, &self.tokens, out),
            Dialect::SentencePiece(model) => model.decoder().bytes(ids, &self.tokens, out),
        }
    }

    #[inline]
    fn encode_stretch(&self, text: &str, scratch: &mut Scratch, sink: Sink<'_>) -> Result<(), EngineError> {
        let Scratch { cache, merge, splitter, batch, .. } = scratch;
        let bytes = text.as_bytes();
        self.for_each_batch(text, splitter, batch, cache, |batch, cache| {
            batch.look_up(cache, sink, |cache, missed, out| self.encode_missed(bytes, missed, cache, merge, out));
        })
    }

    /// Splits a stretch; calls `look_up`, which empties it, whenever the batch is full, and at the end.
    #[inline]
    fn for_each_batch(
        &self,
        text: &str,
        splitter: &Splitter,
        batch: &mut Batch,
        cache: &mut PieceCache,
        mut look_up: impl FnMut(&mut Batch, &mut PieceCache),
    ) -> Result<(), EngineError> {
        let bytes = text.as_bytes();
        splitter.for_each_run(text, &mut |mut pieces| {
            while !pieces.is_empty() {
                pieces = &pieces[batch.push_short(cache, bytes, pieces)..];
                if batch.is_full() {
                    look_up(batch, cache);
                } else if let Some((&(first, end), rest)) = pieces.split_first() {
                    pieces = rest;
                    self.push_long(bytes, first as usize, end as usize, |key, start, end| {
                        let goes_on = start > first as usize;
                        if batch.push_part(cache, key, start, end, goes_on) {
                            look_up(batch, cache);
                        }
                    });
                }
            }
        })?;
        look_up(batch, cache);
        Ok(())
    }

    /// Normalises a stretch, takes user-defined pieces out, and encodes the rest.
    fn encode_pieces(
        &self,
        model: &SentencePiece,
        stretch: &str,
        at_start: bool,
        scratch: &mut Scratch,
        sink: Sink<'_>,
    ) -> Result<(), EngineError> {
        let mut normalised = std::mem::take(&mut scratch.normalised);
        model.normalise(stretch, at_start, &mut normalised);
        let mut join = model.join_unknown();
        let text = normalised.text.as_str();
        model.user_defined().for_each_span(text, |span, piece| match piece {
            Some(id) => {
                join.pass(&[id], sink);
                Ok(())
            }
            None => self.encode_stretch(&text[span], scratch, &mut |ids| join.pass(ids, sink)),
        })?;
        normalised.text.clear();
        normalised.text.shrink_to(KEPT_TEXT);
        scratch.normalised = normalised;
        Ok(())
    }

    /// A piece that does not pack: in parts that no merge joins, unless it is taken whole; or made of bytes and ASCII, where
    /// hardly any border is never crossed (a SentencePiece model, which has no pattern, has pieces of any length).
    #[inline(never)] // rare, and the loop around it should stay small
    fn push_long(&self, text: &[u8], start: usize, end: usize, mut push: impl FnMut(PackedPiece, usize, usize)) {
        let piece = &text[start..end];
        let whole_first = match &self.dialect {
            Dialect::ByteLevel { .. } if piece.is_ascii() => return push(LONG, start, end),
            Dialect::ByteLevel { vocabulary, ignore_merges, .. } => *ignore_merges && !vocabulary.is_all_reachable(),
            Dialect::SentencePiece(_) => false,
        };
        if whole_first && self.whole_token(piece).is_some() {
            return push(LONG, start, end);
        }
        let borders = self.borders.get_or_init(|| match &self.dialect {
            Dialect::ByteLevel { vocabulary, .. } => Borders::new(vocabulary.spellings.iter()),
            Dialect::SentencePiece(model) => Borders::new(model.made()),
        });
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
        match (self.whole_token(piece).filter(|_| !is_part), &self.dialect) {
            (Some(id), _) => out.push(id),
            (None, Dialect::ByteLevel { vocabulary, .. }) => vocabulary.merge(piece, merge, out),
            (None, Dialect::SentencePiece(model)) => model.merge(piece, merge, out),
        }
        cache.keep(slot, &out[before..]);
    }

    /// The id of a piece that is a token, where the tokenizer ignores merges for those.
    fn whole_token(&self, piece: &[u8]) -> Option<u32> {
        let Dialect::ByteLevel { vocabulary, ignore_merges: true, .. } = &self.dialect else { return None };
        let symbol = vocabulary.spellings.find(piece)?;
        vocabulary.ids.get(symbol as usize).copied()
    }

    fn take_scratch(&self) -> Result<Scratch, EngineError> {
        if let Some(scratch) = self.idle().and_then(|mut idle| idle.pop()) {
            return Ok(scratch);
        }
        Ok(Scratch {
            cache: PieceCache::new().map_err(|error| EngineError::Memory(error.to_string()))?,
            batch: Box::default(),
            merge: MergeScratch::default(),
            splitter: self.splitter.clone(),
            normalised: Normalised::default(),
        })
    }

    fn give_back(&self, scratch: Scratch) {
        if let Some(mut idle) = self.idle() {
            idle.push(scratch);
        }
    }

    /// The caches at rest; `None` if they stay locked, as they do for ever in a process that was forked while another thread had them.
    ///
    /// Not to wait at all would throw a warm cache away whenever two threads meet here.
    fn idle(&self) -> Option<MutexGuard<'_, Vec<Scratch>>> {
        for attempt in 0..ATTEMPTS {
            match self.idle.try_lock() {
                Ok(idle) => return Some(idle),
                Err(TryLockError::Poisoned(_)) => return None,
                Err(TryLockError::WouldBlock) if attempt < ATTEMPTS / 2 => std::hint::spin_loop(),
                Err(TryLockError::WouldBlock) => std::thread::yield_now(), // its owner may wait for this processor
            }
        }
        None
    }
}
