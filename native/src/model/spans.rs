//! Ids with the bytes of the text that they stand for.

use std::ops::Range;

use super::{Coder, Dialect, Model, Policy, Scratch};
use crate::{
    error::EngineError,
    normalize::Normalizer,
    sentencepiece::{Origins, SentencePiece, Source, SpaceRules},
};

impl Coder<'_> {
    /// Calls `visit` with each id of a text, the bytes it stands for, as a range, the number of its piece, counted from 0, and whether
    /// it is an added token that was found, not merged. An added token is a piece, and white space that it takes along belongs to it; text that no piece holds belongs to none. What normalising
    /// made stands for a whole character, the first of those it was made of, and a space put before a text for the text's first
    /// character. `own_bytes`: byte pieces of a SentencePiece model stand for their byte, if the text has it, and so do ids that hold a
    /// part of a character that normalising left alone; else they stand for the character.
    pub fn encode_spans(
        &mut self,
        text: &str,
        policy: &Policy,
        own_bytes: bool,
        visit: impl FnMut(u32, Range<usize>, u32, bool),
    ) -> Result<(), EngineError> {
        policy.written.check(text)?;
        self.with_scratch(|model, scratch| model.text_spans(text, policy, own_bytes, scratch, visit))
    }
}

impl Model {
    /// What a SentencePiece model does to spaces.
    pub fn space_rules(&self) -> Option<SpaceRules> {
        match &self.dialect {
            Dialect::ByteLevel { .. } => None,
            Dialect::SentencePiece(model) => Some(model.space_rules()),
        }
    }

    /// As `Coder::encode_spans` says.
    fn text_spans(
        &self,
        text: &str,
        policy: &Policy,
        own_bytes: bool,
        scratch: &mut Scratch,
        mut visit: impl FnMut(u32, Range<usize>, u32, bool),
    ) -> Result<(), EngineError> {
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
                    self.piece_spans(model, stretch, span.start, own_bytes, scratch, &mut piece, &mut |id, span, piece| {
                        visit(id, span, piece, false);
                    })
                }
                Dialect::ByteLevel { normalizer, .. } => {
                    let shift = |range: Range<usize>| range.start + span.start..range.end + span.start;
                    match normalizer.apply_with_origins(stretch)? {
                        None => self.normalised_spans(normalizer, stretch, policy, scratch, &mut piece, |id, part, piece, is_added| {
                            visit(id, shift(part), piece, is_added);
                        }),
                        Some(draft) => {
                            self.normalised_spans(normalizer, &draft.text, policy, scratch, &mut piece, |id, part, piece, is_added| {
                                visit(id, shift(draft.origin_of(stretch, part, own_bytes)), piece, is_added);
                            })
                        }
                    }
                }
            }
        })
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
        let Scratch { cache, merge, splitter, batch, .. } = scratch;
        let bytes = stretch.as_bytes();
        self.for_each_batch(stretch, splitter, batch, cache, |batch, cache| {
            batch.find(cache, |cache, missed, out| self.encode_missed(bytes, missed, cache, merge, out));
            batch.for_each_found(|part, goes_on, ids| {
                let number = *piece - u32::from(goes_on);
                *piece = number + 1;
                let (mut done, last) = (part.start, ids.len().saturating_sub(1));
                for (at, &id) in ids.iter().enumerate() {
                    let start = done;
                    done = if at == last { part.end } else { start + self.tokens.get(id).map_or(0, <[u8]>::len) };
                    visit(id, start..done, number);
                }
            });
        })
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
        let Scratch { cache, merge, splitter, batch, normalised } = scratch;
        normalised.origins = Some(Origins::default());
        model.normalise(stretch, start == 0, normalised);
        let origins = normalised.origins.take().unwrap_or_default();
        let text = normalised.text.as_str();
        let origin = |at: usize| start + origins.of(at);
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
                None => {
                    let part_of_text = &text.as_bytes()[span.clone()];
                    self.for_each_batch(&text[span.clone()], splitter, batch, cache, |batch, cache| {
                        batch.find(cache, |cache, missed, out| self.encode_missed(part_of_text, missed, cache, merge, out));
                        batch.for_each_found(|part, _, ids| {
                            model.for_each_source(&part_of_text[part.clone()], ids, merge, |id, source, place| {
                                let begin = span.start + part.start;
                                emit(id, source, begin + place.start..begin + place.end, *piece);
                            });
                        });
                    })?;
                }
            }
            *piece += 1;
            Ok(())
        })?;
        if let Some((id, joined, piece)) = unknown {
            visit(id, joined, piece);
        }
        Ok(())
    }
}
