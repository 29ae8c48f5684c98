//! SentencePiece models: their pieces and rules made into what the rest of the engine runs.

mod charsmap;
mod compile;
mod decode;
mod normalizer;
mod origins;
mod outputs;
mod ties;

use std::ops::Range;

use crate::{
    added::{AddedToken, Matcher},
    error::EngineError,
    merge::{MergeScratch, merge_piece},
    tokens::TokenBytes,
};
use compile::{Compiled, Merger, internal};
use decode::Decoder;
pub use decode::LeadingSpaces;
use normalizer::Normalizer;
pub use normalizer::SpaceRules;
pub use normalizer::{Normalised, Prepend, Settings};
pub use origins::Origins;
pub use outputs::Source;
use ties::merge_by_score;

/// What a piece is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Merges.
    Normal,
    /// What is no piece.
    Unknown,
    /// Not in text.
    Control,
    /// Found in the text before anything merges.
    UserDefined,
    /// Merges, then comes apart again.
    Unused,
    /// One byte of a character that is no piece.
    Byte,
}

/// An entry of the vocabulary; its id is its position.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'p> {
    /// As it is written in the model.
    pub content: &'p str,
    /// Higher merges earlier.
    pub score: f32,
    /// What it is for.
    pub kind: Kind,
}

impl Piece<'_> {
    /// The byte that a byte piece is written for: `<0x41>`.
    fn byte(&self) -> Result<u8, EngineError> {
        let digits = self.content.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>')).filter(|digits| digits.len() == 2);
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        byte.ok_or_else(|| EngineError::Spec(format!("{:?} is no byte piece: those are written like <0x41>", self.content)))
    }
}

/// What a model says besides its pieces.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'r> {
    /// Characters that are no piece become byte pieces.
    pub byte_fallback: bool,
    /// How text is normalised.
    pub normalizer: Settings<'r>,
    /// Replacements in decoded text; empty: none.
    pub denormalizer: &'r [u8],
    /// What the unknown piece decodes to.
    pub unknown_surface: &'r str,
}

/// A SentencePiece model ready to run.
#[derive(Debug)]
pub struct SentencePiece {
    normalizer: Normalizer,
    user_defined: Matcher,
    compiled: Compiled,
    decoder: Decoder,
    /// The unknown piece, if neighbours of it become one.
    joined: Option<u32>,
}

impl SentencePiece {
    /// Compiles a model. What its pieces decode to goes into `tokens`.
    pub fn new(pieces: &[Piece<'_>], rules: Rules<'_>, tokens: &mut TokenBytes) -> Result<Self, EngineError> {
        let Settings { prepend, remove_extra_spaces, escape_spaces, .. } = rules.normalizer;
        let of_kind = |kind| (0..).zip(pieces).filter(move |(_, piece): &(u32, _)| piece.kind == kind);
        let (unknown, _) = of_kind(Kind::Unknown).next().ok_or_else(|| EngineError::Spec("no piece is the unknown one".to_owned()))?;
        let mut byte_ids = [None; 256];
        for (id, piece) in of_kind(Kind::Byte) {
            byte_ids[usize::from(piece.byte()?)] = Some(id);
        }
        let byte_ids = byte_ids.into_iter().collect::<Option<Vec<u32>>>().filter(|_| rules.byte_fallback);
        if rules.byte_fallback && byte_ids.is_none() {
            return Err(EngineError::Spec("byte_fallback needs a piece for each of the 256 bytes".to_owned()));
        }
        let found = found_in_text(of_kind(Kind::UserDefined).map(|(id, piece)| (piece.content, id)).collect());
        let user_defined: Vec<&str> = found.iter().map(|(content, _)| *content).collect();
        let tokens_in_text = found.iter().filter_map(|&(content, id)| {
            let content = internal(content, escape_spaces)?;
            Some(AddedToken::plain(content, id, false))
        });
        let leading_spaces = match (remove_extra_spaces, prepend) {
            (true, _) => LeadingSpaces::Go,
            (false, Prepend::Never) => LeadingSpaces::Stay,
            (false, _) => LeadingSpaces::LoseOne,
        };
        Ok(Self {
            normalizer: Normalizer::new(rules.normalizer, &user_defined)?,
            user_defined: Matcher::new(tokens_in_text.collect())?,
            decoder: Decoder::new(pieces, rules.unknown_surface, leading_spaces, rules.denormalizer, tokens)?,
            joined: if byte_ids.is_none() { Some(unknown) } else { None },
            compiled: Compiled::new(pieces, escape_spaces, byte_ids.as_deref(), unknown)?,
        })
    }

    /// Text as it is merged.
    pub fn normalise(&self, text: &str, at_start: bool, into: &mut Normalised) {
        self.normalizer.normalise(text, at_start, into);
    }

    /// Normalised text as SentencePiece shows it.
    pub fn shown(&self, text: &str) -> String {
        if self.normalizer.escapes_spaces() { text.replace(' ', normalizer::SPACE_SYMBOL) } else { text.to_owned() }
    }

    /// Whether the space put before texts goes behind them instead, and whether of several spaces one is left.
    pub fn space_rules(&self) -> SpaceRules {
        self.normalizer.space_rules()
    }

    /// The user-defined pieces, for finding them in normalised text.
    pub fn user_defined(&self) -> &Matcher {
        &self.user_defined
    }

    /// The pieces that merging can make, as they stand in normalised text.
    pub fn made(&self) -> impl Iterator<Item = &[u8]> {
        self.compiled.made()
    }

    /// Hands ids on, those of unknown characters side by side as one.
    pub fn join_unknown(&self) -> JoinUnknown {
        JoinUnknown { unknown: self.joined, was_unknown: false }
    }

    /// How ids become text.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    fn symbols(&self, text: &[u8], scratch: &mut MergeScratch, mut visit: impl FnMut(u32)) {
        let Compiled { scores, merger, .. } = &self.compiled;
        match merger {
            Merger::Ranked(pairs) => merge_piece(text.iter().map(|byte| u32::from(*byte)), pairs, scratch, visit),
            Merger::Scored => {
                let mut starts = merge_by_score(text, scores, |_| ());
                starts.push(text.len());
                starts.windows(2).filter_map(|part| scores.spellings.find(&text[part[0]..part[1]])).for_each(&mut visit);
            }
        }
    }

    /// Appends the ids of normalised text without user-defined pieces.
    pub fn merge(&self, text: &[u8], scratch: &mut MergeScratch, out: &mut Vec<u32>) {
        self.symbols(text, scratch, |symbol| out.extend_from_slice(self.compiled.outputs.get(symbol)));
    }

    /// Calls `visit` with each of those ids, and the bytes it stands for. `ids`: what `merge` gives for the text.
    pub fn for_each_source(&self, text: &[u8], ids: &[u32], scratch: &mut MergeScratch, visit: impl FnMut(u32, Source, Range<usize>)) {
        let Compiled { scores, outputs, .. } = &self.compiled;
        if outputs.tell_sources(ids) {
            return outputs.for_each_id_source(text, ids, visit);
        }
        let mut symbols = Vec::new();
        self.symbols(text, scratch, |symbol| symbols.push(symbol));
        outputs.for_each_source(text, &symbols, &scores.spellings, visit);
    }
}

/// Of user-defined pieces that begin one another SentencePiece finds the shortest so many.
const AT_ONE_PLACE: usize = 64;

/// The user-defined pieces that are ever found.
fn found_in_text(mut pieces: Vec<(&str, u32)>) -> Vec<(&str, u32)> {
    pieces.sort_unstable();
    let mut beginnings: Vec<&str> = Vec::new(); // of the piece at hand
    pieces.retain(|(content, _)| {
        while beginnings.last().is_some_and(|beginning| !content.starts_with(*beginning)) {
            beginnings.pop();
        }
        beginnings.push(content);
        beginnings.len() <= AT_ONE_PLACE
    });
    pieces
}

/// Makes one of unknown pieces side by side.
#[derive(Debug)]
pub struct JoinUnknown {
    unknown: Option<u32>,
    was_unknown: bool,
}

impl JoinUnknown {
    /// Hands on what is left of these ids, which follow those before.
    #[inline]
    pub fn pass(&mut self, ids: &[u32], sink: &mut dyn FnMut(&[u32])) {
        let Some(unknown) = self.unknown else { return sink(ids) };
        for run in ids.chunk_by(|one, other| (*one == unknown) == (*other == unknown)) {
            let is_unknown = run[0] == unknown;
            if !is_unknown {
                sink(run);
            } else if !self.was_unknown {
                sink(&run[..1]);
            }
            self.was_unknown = is_unknown;
        }
    }
}
