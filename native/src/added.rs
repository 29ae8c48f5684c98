//! Added tokens: matched in the text itself, leftmost first, the longest of those that start at one place.

use std::{borrow::Cow, ops::Range};

use aho_corasick::{AhoCorasick, MatchKind};

use crate::{error::EngineError, normalize::Normalizer, unicode::is_word};

/// An added token and its flags (meanings as in the `tokenizers` library).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedToken {
    /// The text that is matched.
    pub content: String,
    /// Its id.
    pub id: u32,
    /// Matched only where the caller allows it.
    pub special: bool,
    /// Not matched where a word character touches it.
    pub single_word: bool,
    /// Also takes the white space before it.
    pub lstrip: bool,
    /// Also takes the white space after it.
    pub rstrip: bool,
    /// Looked for in the normalised text.
    pub normalized: bool,
}

impl AddedToken {
    /// One without flags, but for whether it is matched only where the caller allows it.
    pub fn plain(content: String, id: u32, special: bool) -> Self {
        Self { content, id, special, single_word: false, lstrip: false, rstrip: false, normalized: false }
    }
}

/// A stretch of text: ordinary, or an added token.
#[derive(Debug, PartialEq, Eq)]
pub enum Stretch<'t> {
    /// Text to normalise, split and merge.
    Text(&'t str),
    /// The id of an added token.
    Token(u32),
}

/// Finds a set of added tokens.
#[derive(Debug)]
pub struct Matcher {
    tokens: Vec<AddedToken>,
    automaton: Option<AhoCorasick>,
    /// Special tokens are text, in which no other token is found.
    passes_special: bool,
    /// Where each of `tokens` was found already, in one certain text; there is no automaton then.
    places: Vec<Range<usize>>,
}

impl Matcher {
    /// Tokens found by other rules, at places in order that do not overlap. To be run on that text alone.
    pub fn found(tokens: Vec<AddedToken>, places: Vec<Range<usize>>) -> Self {
        Self { tokens, automaton: None, passes_special: false, places }
    }

    /// Compiles the set; an empty one costs nothing to run.
    pub fn new(tokens: Vec<AddedToken>) -> Result<Self, EngineError> {
        let spellings: Vec<String> = tokens.iter().map(|token| token.content.clone()).collect();
        Self::of_spellings(tokens, &spellings)
    }

    /// The same for normalised text: looks for the tokens' normalised contents.
    pub fn normalised(tokens: Vec<AddedToken>, normalizer: &Normalizer) -> Result<Self, EngineError> {
        let spellings = tokens.iter().map(|token| normalizer.apply(&token.content).map(Cow::into_owned)).collect::<Result<Vec<_>, _>>()?;
        for (number, (token, spelling)) in tokens.iter().zip(&spellings).enumerate() {
            let content = &token.content;
            if spelling.is_empty() {
                return Err(EngineError::Spec(format!(
                    "nothing is left of the added token {content:?} once it is normalised; set normalized to false"
                )));
            }
            if let Some(other) = spellings[..number].iter().position(|other| other == spelling) {
                let other = &tokens[other].content;
                let what = format!("the added tokens {other:?} and {content:?} are both {spelling:?} once they are normalised");
                return Err(EngineError::Spec(format!("{what}; set normalized to false in one of them")));
            }
        }
        Self::of_spellings(tokens, &spellings)
    }

    fn of_spellings(tokens: Vec<AddedToken>, spellings: &[String]) -> Result<Self, EngineError> {
        let automaton = if tokens.is_empty() {
            None
        } else {
            let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(spellings);
            Some(built.map_err(|error| EngineError::Spec(format!("the added tokens cannot be compiled: {error}")))?)
        };
        Ok(Self { tokens, automaton, passes_special: false, places: Vec::new() })
    }

    /// The same set where special tokens are found and passed over.
    pub fn passing_special(self) -> Self {
        Self { passes_special: true, ..self }
    }

    /// The first token of the set that the text holds.
    pub fn first(&self, text: &str) -> Option<&AddedToken> {
        let automaton = self.automaton.as_ref()?;
        automaton
            .find_iter(text)
            .map(|found| (found, &self.tokens[found.pattern().as_usize()]))
            .find_map(|(found, token)| (!token.single_word || stands_alone(text, found.start(), found.end())).then_some(token))
    }

    /// Cuts text at the tokens of the set: calls `visit` with each stretch and, if it is a token, its id.
    #[inline]
    pub fn for_each_span(
        &self,
        text: &str,
        mut visit: impl FnMut(Range<usize>, Option<u32>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut done = 0;
        let searched = self.automaton.iter().flat_map(|automaton| automaton.find_iter(text));
        let searched = searched.map(|found| (found.pattern().as_usize(), found.range()));
        for (number, range) in searched.chain(self.places.iter().cloned().enumerate()) {
            let token = &self.tokens[number];
            let Range { mut start, mut end } = range;
            if self.passes_special && token.special || token.single_word && !stands_alone(text, start, end) {
                continue;
            }
            if token.lstrip {
                start = text[..start].trim_end_matches(char::is_whitespace).len().max(done);
            }
            if token.rstrip {
                end = text.len() - text[end..].trim_start_matches(char::is_whitespace).len();
            }
            if start >= end {
                continue; // all of it is white space that the token before took along
            }
            if done < start {
                visit(done..start, None)?;
            }
            visit(start..end, Some(token.id))?;
            done = end;
        }
        if done < text.len() { visit(done..text.len(), None) } else { Ok(()) }
    }

    /// The same with the stretches themselves.
    #[inline]
    pub fn for_each<'t>(&self, text: &'t str, mut visit: impl FnMut(Stretch<'t>) -> Result<(), EngineError>) -> Result<(), EngineError> {
        self.for_each_span(text, |span, token| visit(token.map_or(Stretch::Text(&text[span]), Stretch::Token)))
    }
}

/// No word character (`\w`) touches `text[start..end]`.
pub fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    !before.is_some_and(is_word) && !after.is_some_and(is_word)
}
