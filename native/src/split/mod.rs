//! Cutting text into pieces that merging never crosses.

mod classes;
mod deepseek;
mod general;
mod kinds;
mod rules;
mod starts;
mod swar;

use crate::error::EngineError;
use general::General;
pub use kinds::KindBorders;
use rules::{Cl100k, Gpt2, Llama3, O200k, Qwen2, Qwen35, StarCoder, Tekken};
use starts::for_each_piece;

/// A compiled way to cut text. Published patterns have hand-written rules; every other runs as a regular expression.
#[derive(Debug, Clone)]
pub enum Splitter {
    /// The whole text is one piece.
    Whole,
    /// GPT-2, r50k, p50k.
    Gpt2,
    /// tiktoken's cl100k_base.
    Cl100k,
    /// Llama 3.
    Llama3,
    /// Qwen 2.
    Qwen2,
    /// tiktoken's o200k_base.
    O200k,
    /// Qwen 3.5.
    Qwen35,
    /// StarCoder: GPT-2's with every digit apart.
    StarCoder,
    /// Mistral's Tekken.
    Tekken,
    /// DeepSeek V3.
    DeepSeekV3,
    /// No pattern: between kinds of characters that no token joins.
    Kinds(KindBorders),
    /// Any other pattern.
    General(General),
    /// One after the other, each within the pieces of the one before.
    Stages(Box<[Splitter]>),
}

/// The names of the patterns that have rules.
pub const FAMILIES: [&str; 9] = ["gpt2", "cl100k", "llama3", "qwen2", "o200k", "qwen3.5", "starcoder", "tekken", "deepseek-v3"];

impl Splitter {
    /// Chooses the rules for a pattern. `family` is the name under which the caller found this very pattern published; a
    /// family without rules of its own runs as a regular expression.
    pub fn new(pattern: Option<&str>, family: Option<&str>, keep_unmatched: bool) -> Result<Self, EngineError> {
        let Some(pattern) = pattern else { return Ok(Self::Whole) };
        Ok(match family {
            Some("gpt2") => Self::Gpt2,
            Some("cl100k") => Self::Cl100k,
            Some("llama3") => Self::Llama3,
            Some("qwen2") => Self::Qwen2,
            Some("o200k") => Self::O200k,
            Some("qwen3.5") => Self::Qwen35,
            Some("starcoder") => Self::StarCoder,
            Some("tekken") => Self::Tekken,
            Some("deepseek-v3") => Self::DeepSeekV3,
            _ => Self::General(General::new(pattern, keep_unmatched)?),
        })
    }

    /// This, and then within each piece the others, in order: patterns with the family of each, if it has one.
    pub fn then(self, others: &[(String, Option<String>)]) -> Result<Self, EngineError> {
        if others.is_empty() {
            return Ok(self);
        }
        let others = others.iter().map(|(pattern, family)| Self::new(Some(pattern), family.as_deref(), true));
        Ok(Self::Stages(std::iter::once(Ok(self)).chain(others).collect::<Result<_, _>>()?))
    }

    /// Calls `visit` with the start and end of each piece, in bytes, left to right.
    #[inline]
    pub fn for_each(&self, text: &str, mut visit: impl FnMut(usize, usize)) -> Result<(), EngineError> {
        self.for_each_run(text, &mut |pieces| pieces.iter().for_each(|&(start, end)| visit(start as usize, end as usize)))
    }

    /// Calls `visit` with some pieces at a time, so that the rules are compiled once and not into every caller.
    pub fn for_each_run(&self, text: &str, visit: &mut dyn FnMut(&[Piece])) -> Result<(), EngineError> {
        if text.len() > LONGEST_TEXT {
            return Err(EngineError::Spec(format!("a text of {} bytes; the longest is {LONGEST_TEXT}", text.len())));
        }
        let mut run = Run { pieces: [(0, 0); RUN], length: 0, visit };
        let push = |start, end| run.push(start, end);
        match self {
            Self::Whole if text.is_empty() => {}
            Self::Whole => run.push(0, text.len()),
            Self::Gpt2 => for_each_piece::<Gpt2>(text, push),
            Self::Cl100k => for_each_piece::<Cl100k>(text, push),
            Self::Llama3 => for_each_piece::<Llama3>(text, push),
            Self::Qwen2 => for_each_piece::<Qwen2>(text, push),
            Self::O200k => for_each_piece::<O200k>(text, push),
            Self::Qwen35 => for_each_piece::<Qwen35>(text, push),
            Self::StarCoder => for_each_piece::<StarCoder>(text, push),
            Self::Tekken => for_each_piece::<Tekken>(text, push),
            Self::DeepSeekV3 => deepseek::for_each_piece(text, push),
            Self::Kinds(borders) => borders.for_each_piece(text, push),
            Self::General(general) => general.for_each(text, push)?,
            Self::Stages(stages) => in_stages(stages, text, 0, &mut { push })?,
        }
        run.flush();
        Ok(())
    }
}

/// Splits a stretch of text, which begins at `offset`, by the first of these, and its pieces by the others.
fn in_stages(stages: &[Splitter], text: &str, offset: usize, push: &mut dyn FnMut(usize, usize)) -> Result<(), EngineError> {
    let Some((first, others)) = stages.split_first() else {
        push(offset, offset + text.len());
        return Ok(());
    };
    let mut outcome = Ok(());
    first.for_each(text, |start, end| {
        if outcome.is_ok() {
            outcome = in_stages(others, &text[start..end], offset + start, push);
        }
    })?;
    outcome
}

/// Where a piece starts and ends in the text, in bytes.
pub type Piece = (u32, u32);

/// Longest text, so that positions in it fit 32 bits.
const LONGEST_TEXT: usize = u32::MAX as usize - 1;
/// Pieces handed on at a time.
const RUN: usize = 64;

/// Gathers pieces.
struct Run<'v> {
    pieces: [Piece; RUN],
    length: usize,
    visit: &'v mut dyn FnMut(&[Piece]),
}

impl Run<'_> {
    #[inline]
    fn push(&mut self, start: usize, end: usize) {
        self.pieces[self.length % RUN] = (start as u32, end as u32);
        self.length += 1;
        if self.length == RUN {
            self.flush();
        }
    }

    #[inline(never)]
    fn flush(&mut self) {
        (self.visit)(&self.pieces[..self.length]);
        self.length = 0;
    }
}
