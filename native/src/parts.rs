//! Texts in parts that are trusted or not: only where all of a special token is trusted, it is one.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{
    added::{AddedToken, Matcher, stands_alone},
    error::EngineError,
};

/// What a special token is that lies in a part, or partly in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Itself.
    Special,
    /// The text it is spelled with.
    Text,
    /// An error.
    Refuse,
}

/// Finds every occurrence of every added token, those inside others too.
#[derive(Debug)]
pub struct Occurrences {
    tokens: Vec<AddedToken>,
    automaton: Option<AhoCorasick>,
}

impl Occurrences {
    /// Compiles the set.
    pub fn new(tokens: Vec<AddedToken>) -> Result<Self, EngineError> {
        if tokens.is_empty() {
            return Ok(Self { tokens, automaton: None });
        }
        let built = AhoCorasick::builder().match_kind(MatchKind::Standard).build(tokens.iter().map(|token| &token.content));
        let automaton = built.map_err(|error| EngineError::Spec(format!("the added tokens cannot be compiled: {error}")))?;
        Ok(Self { tokens, automaton: Some(automaton) })
    }

    /// The tokens of a stretch of a text in parts. `parts`: where each ends, and its trust; the stretch begins at `from`.
    ///
    /// Of all occurrences those are left out that are special and not all trusted; of the others the leftmost is taken, the longest
    /// of those that start at one place, and so on behind it.
    pub fn in_parts(&self, text: &str, from: usize, parts: &[(usize, Trust)]) -> Result<Matcher, EngineError> {
        let tokens = &self.tokens;
        let mut allowed: Vec<(usize, usize, usize)> = Vec::new();
        let mut refused: Option<(usize, usize, usize)> = None;
        for found in self.automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(text)) {
            let (number, range) = (found.pattern().as_usize(), found.range());
            let token = &tokens[number];
            let found = (range.start, usize::MAX - range.end, number); // in this order: leftmost, longest
            match if token.special { least_trust(parts, &(range.start + from..range.end + from)) } else { Trust::Special } {
                Trust::Special => allowed.push(found),
                Trust::Refuse if !token.single_word || stands_alone(text, range.start, range.end) => {
                    refused = Some(refused.map_or(found, |before| before.min(found)));
                }
                Trust::Refuse | Trust::Text => {}
            }
        }
        if let Some((_, _, number)) = refused {
            return Err(EngineError::DisallowedSpecial(tokens[number].content.clone()));
        }
        allowed.sort_unstable();
        let (mut done, mut taken, mut places) = (0, Vec::new(), Vec::new());
        for (start, end, number) in allowed.into_iter().map(|(start, from_end, number)| (start, usize::MAX - from_end, number)) {
            if start >= done {
                taken.push(tokens[number].clone());
                places.push(start..end);
                done = end;
            }
        }
        Ok(Matcher::found(taken, places))
    }
}

/// The worst of the parts that a range touches.
fn least_trust(parts: &[(usize, Trust)], range: &Range<usize>) -> Trust {
    let first = parts.partition_point(|(end, _)| *end <= range.start);
    let mut least = Trust::Special;
    let mut start = if first == 0 { 0 } else { parts[first - 1].0 };
    for &(end, trust) in &parts[first..] {
        if start >= range.end {
            break;
        }
        match trust {
            Trust::Refuse if start < end => return Trust::Refuse,
            Trust::Text if start < end => least = Trust::Text,
            _ => {}
        }
        start = end;
    }
    least
}
