//! What is done to a text before it is split: the normalizers of the `tokenizers` library that byte-level BPE is used with.
//!
//! A text that nothing changes is not copied: finding that out costs a few per cent of encoding it.

mod draft;
mod forms;

use std::borrow::Cow;

use unicode_normalization_alignments::char::is_combining_mark;

use self::draft::Source;
pub use self::{draft::Draft, forms::Form};
use crate::{error::EngineError, split::Splitter};

/// One change.
#[derive(Debug)]
pub enum Step {
    /// A Unicode normal form.
    Form(Form),
    /// Every character by itself, so that a final sigma is one like any other.
    Lowercase,
    /// Drops combining marks.
    StripAccents,
    /// Drops white space at the ends.
    Strip {
        /// At the beginning.
        left: bool,
        /// At the end.
        right: bool,
    },
    /// Puts a text before every text that is not empty.
    Prepend(String),
    /// Puts a text in the place of each match.
    Replace {
        /// Gives the matches, and nothing between them.
        matches: Box<Splitter>,
        /// What stands there instead.
        content: String,
    },
}

/// Changes one after the other.
#[derive(Debug, Default)]
pub struct Normalizer {
    steps: Vec<Step>,
    prefix_space: bool,
}

impl Normalizer {
    /// `prefix_space`: see `prefixed`.
    pub fn new(steps: Vec<Step>, prefix_space: bool) -> Self {
        Self { steps, prefix_space }
    }

    /// Whether it changes nothing, but for the space that `prefixed` adds.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The changed text.
    #[inline]
    pub fn apply<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, EngineError> {
        let mut changed: Option<String> = None;
        for step in &self.steps {
            let source = Source { text: changed.as_deref().unwrap_or(text), origins: None };
            if let Some(draft) = step.run(&source)? {
                changed = Some(draft.text);
            }
        }
        Ok(changed.map_or(Cow::Borrowed(text), Cow::Owned))
    }

    /// The changed text with where each byte of it comes from; None if nothing is changed.
    pub fn apply_with_origins(&self, text: &str) -> Result<Option<Draft>, EngineError> {
        if matches!(self.apply(text)?, Cow::Borrowed(_)) {
            return Ok(None);
        }
        let mut draft = Draft::of(text);
        for step in &self.steps {
            if let Some(changed) = step.run(&draft.source())? {
                draft = changed;
            }
        }
        Ok(Some(draft))
    }

    /// With a space before a text that does not begin with one, where the tokenizer wants that: of each stretch between added
    /// tokens, after all other changes.
    #[inline]
    pub fn prefixed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.needs_prefix(text) { Cow::Owned([" ", text].concat()) } else { Cow::Borrowed(text) }
    }

    /// Whether `prefixed` adds a space.
    #[inline]
    pub fn needs_prefix(&self, text: &str) -> bool {
        self.prefix_space && !text.is_empty() && !text.starts_with(' ')
    }
}

impl Step {
    /// The changed text, or None where there is nothing to change.
    fn run(&self, source: &Source<'_>) -> Result<Option<Draft>, EngineError> {
        let text = source.text;
        Ok(match self {
            Self::Form(form) => form.run(source),
            Self::Lowercase => text.chars().any(|c| !c.to_lowercase().eq([c])).then(|| lowercase(source)),
            Self::StripAccents => text.contains(is_combining_mark).then(|| {
                let mut draft = source.empty_draft();
                let kept = text.char_indices().filter(|(_, c)| !is_combining_mark(*c));
                kept.for_each(|(at, c)| draft.copy(source, at..at + c.len_utf8()));
                draft
            }),
            Self::Strip { left, right } => {
                let start = if *left { text.len() - text.trim_start().len() } else { 0 };
                let kept = if *right { text[start..].trim_end() } else { &text[start..] };
                (kept.len() < text.len()).then(|| {
                    let mut draft = source.empty_draft();
                    draft.copy(source, start..start + kept.len());
                    draft
                })
            }
            Self::Prepend(prefix) => (!text.is_empty() && !prefix.is_empty()).then(|| {
                let mut draft = source.empty_draft();
                draft.push(prefix, source.origin(0));
                draft.copy(source, 0..text.len());
                draft
            }),
            Self::Replace { matches, content } => replace(source, matches, content)?,
        })
    }
}

fn lowercase(source: &Source<'_>) -> Draft {
    let mut draft = source.empty_draft();
    for (at, character) in source.text.char_indices() {
        character.to_lowercase().for_each(|lower| draft.push_char(lower, source.origin(at)));
    }
    draft
}

fn replace(source: &Source<'_>, matches: &Splitter, content: &str) -> Result<Option<Draft>, EngineError> {
    let mut draft = source.empty_draft();
    let mut done = 0;
    matches.for_each(source.text, |start, end| {
        draft.copy(source, done..start);
        draft.push(content, source.origin(end - 1));
        done = end;
    })?;
    if done == 0 {
        return Ok(None); // a match takes at least one character
    }
    draft.copy(source, done..source.text.len());
    Ok(Some(draft))
}
