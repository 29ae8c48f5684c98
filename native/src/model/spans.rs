//! Ids with the bytes of the text that they stand for.

use std::ops::Range;

use super::{Dialect, Model, Policy, Scratch};
use crate::{
    batch::Missed,
    cache::{PieceCache, is_part, pack},
    error::EngineError,
    merge::MergeScratch,
    normalize::Normalizer,
    sentencepiece::{SentencePiece, Source},
};

impl Model {
    /// Calls `visit` with each id of a text, the bytes it stands for, as a range, the number of its piece, counted from 0, and whether
    /// it is an added token that was found, not merged. An added token is a piece, and white space that it takes along belongs to it; text that no piece holds belongs to none. What normalising
    /// made stands for a whole character, the first of those it was made of, and a space put before a text for the text's first
    /// character. `own_bytes`: byte pieces of a SentencePiece model stand for their byte, if the text has it, and so do ids that hold a
    /// part of a character that normalising left alone; else they stand for the character.
    pub fn encode_spans(
        &self,
        text: &str,
        policy: &Policy,
        own_bytes: bool,
        mut visit: impl FnMut(u32, Range<usize>, u32, bool),
    ) -> Result<(), EngineError> {
        policy.written.check(text)?;
        let mut scratch = self.take_scratch()?;
        let mut piece = 0;
        policy.written.matched.for_each_span(text, |span, token| {
            if let Some(id) = token {
                visit(id, span, piece, true);
                piece += 1;
                return Ok(());
            }
            let stretch = &text[span.clone()];
            match &self.dialect {
                Dialect::SentencePiece(model) => {
                    self.piece_spans(model, stretch, span.start, own_bytes, &mut scratch, &mut piece, &mut |id, span, piece| {
                        visit(id, span, piece, false);
                    })
                }
                Dialect::ByteLevel { normalizer, .. } => {
                    let shift = |range: Range<usize>| range.start + span.start..range.end + span.start;
                    match normalizer.apply_with_origins(stretch)? {
                        None => {
                            self.normalised_spans(normalizer, stretch, policy, &mut scratch, &mut piece, |id, part, piece, is_added| {
                                visit(id, shift(part), piece, is_added);
                            })
                        }
                        Some(draft) => {
                            self.normalised_spans(normalizer, &draft.text, policy, &mut scratch, &mut piece, |id, part, piece, is_added| {
                                visit(id, shift(draft.origin_of(stretch, part, own_bytes)), piece, is_added);
                            })
                        }
                    }
                }
            }
        })?;
        self.give_back(scratch);
        Ok(())
    }

    /// Calls `visit` with each id of a normalised stretch, the bytes of it that it stands for, the number of its piece, and whether it was
    /// found.
    fn normalised_spans(
        &self,
        normalizer: &Normalizer,
        text: &str,
        policy: &Policy,
        scratch: &mut Scratch,
        piece: &mut u32,
        mut visit: impl FnMut(u32, Range<usize>, u32, bool),
    ) -> Result<(), EngineError> {
        policy.normalised.check(text)?;
        policy.normalised.matched.for_each_span(text, |span, token| {
            if let Some(id) = token {
                visit(id, span, *piece, true);
                *piece += 1;
                return Ok(());
            }
            let stretch = &text[span.clone()];
            if !normalizer.needs_prefix(stretch) {
                return self.stretch_spans(stretch, scratch, piece, |id, part, piece| {
                    visit(id, part.start + span.start..part.end + span.start, piece, false);
                });
            }
            let first = stretch.chars().next().map_or(0, char::len_utf8);
            self.stretch_spans(&normalizer.prefixed(stretch), scratch, piece, |id, part, piece| {
                // The added space comes from all of the first character.
                let end = if part.end == 1 { first } else { part.end - 1 };
                visit(id, part.start.max(1) - 1 + span.start..end + span.start, piece, false);
            })
        })
    }

    /// Calls `visit` with each id of a stretch that is split as it is, the bytes of it that it stands for, and the number of its piece.
    fn stretch_spans(
        &self,
        stretch: &str,
        scratch: &mut Scratch,
        piece: &mut u32,
        mut visit: impl FnMut(u32, Range<usize>, u32),
    ) -> Result<(), EngineError> {
        let Scratch { cache, merge, splitter, .. } = scratch;
        let (bytes, mut ids) = (stretch.as_bytes(), Vec::new());
        splitter.for_each_run(stretch, &mut |pieces| {
            for &(start, end) in pieces {
                self.for_each_part(bytes, start as usize..end as usize, cache, merge, &mut ids, |part, ids, _| {
                    let mut done = part.start;
                    for &id in ids {
                        let start = done;
                        done += self.tokens.get(id).map_or(0, <[u8]>::len);
                        visit(id, start..done, *piece);
                    }
                });
                *piece += 1;
            }
            cache.grow();
        })
    }

    /// Calls `visit` with the parts of a piece that no merge joins, and the ids of each, for which `ids` is the room.
    fn for_each_part(
        &self,
        text: &[u8],
        piece: Range<usize>,
        cache: &mut PieceCache,
        merge: &mut MergeScratch,
        ids: &mut Vec<u32>,
        mut visit: impl FnMut(Range<usize>, &[u32], &mut MergeScratch),
    ) {
        let mut look_up = |key, start, end| {
            ids.clear();
            cache.lookups += 1;
            self.encode_missed(text, Missed { start, end, is_part: is_part(key) }, cache, merge, ids);
            visit(start..end, ids, merge);
        };
        match pack(text, piece.start, piece.end) {
            Some(key) => look_up(key, piece.start, piece.end),
            None => self.push_long(text, piece.start, piece.end, look_up),
        }
    }

    /// Calls `visit` with each id of a stretch, which begins at `start` of the text, the bytes of the text it comes from, and the number
    /// of its piece: user-defined pieces cut the text, as a pattern would.
    #[allow(clippy::too_many_arguments)]
    fn piece_spans(
        &self,
        model: &SentencePiece,
        stretch: &str,
        start: usize,
        own_bytes: bool,
        scratch: &mut Scratch,
        piece: &mut u32,
        visit: &mut impl FnMut(u32, Range<usize>, u32),
    ) -> Result<(), EngineError> {
        let Scratch { cache, merge, splitter, normalised, .. } = scratch;
        normalised.origins = Some(Vec::new());
        model.normalise(stretch, start == 0, normalised);
        let origins = normalised.origins.take().unwrap_or_default();
        let text = normalised.text.as_str();
        let origin = |at: usize| start + origins.get(at).copied().unwrap_or(stretch.len());
        let mut ids = Vec::new();
        let mut unknown: Option<(u32, Range<usize>, u32)> = None; // not yet given out, for the next may join it
        let mut emit = |id: u32, source: Source, span: Range<usize>, piece: u32| {
            let from = origin(span.start)..origin(span.end);
            match (source, &mut unknown) {
                (Source::Unknown, Some((_, joined, _))) => joined.end = from.end,
                (Source::Unknown, none) => *none = Some((id, from, piece)),
                (_, waiting) => {
                    if let Some((id, joined, piece)) = waiting.take() {
                        visit(id, joined, piece);
                    }
                    let written = stretch.as_bytes().get(from.start - start..from.end - start);
                    match source {
                        // The character as it stands there: each byte piece is its own byte.
                        Source::Byte(byte) if own_bytes && written == Some(model.shown(&text[span]).as_bytes()) => {
                            visit(id, from.start + byte..from.start + byte + 1, piece)
                        }
                        _ => visit(id, from, piece),
                    }
                }
            }
        };
        model.user_defined().for_each_span(text, |span, whole| {
            match whole {
                Some(id) => emit(id, Source::Whole, span, *piece),
                None => splitter.for_each(&text[span.clone()], |from, to| {
                    let whole = span.start + from..span.start + to;
                    self.for_each_part(text.as_bytes(), whole, cache, merge, &mut ids, |part, ids, merge| {
                        model.for_each_source(&text.as_bytes()[part.clone()], ids, merge, |id, source, place| {
                            emit(id, source, part.start + place.start..part.start + place.end, *piece);
                        });
                    });
                })?,
            }
            *piece += 1;
            Ok(())
        })?;
        if let Some((id, joined, piece)) = unknown {
            visit(id, joined, piece);
        }
        cache.grow();
        Ok(())
    }
}
