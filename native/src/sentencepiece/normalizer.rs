//! From text to what is merged.
//!
//! Inside the engine the space symbol U+2581 is one byte, a space: then words with their space are short enough for the
//! fastest cache, and a text that nothing is to be done to is copied at the speed of memory. The two mean the same where
//! spaces are escaped; where they are not, U+2581 is a character like any other.

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};
use memchr::memmem;

use super::{
    charsmap::Charsmap,
    origins::{Origin, Origins},
};
use crate::error::EngineError;

/// What a space is written as, in pieces and in texts.
pub const SPACE_SYMBOL: &str = "\u{2581}";

/// When a text gets a space in front of it (or, as suffix, behind).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prepend {
    /// Each stretch between added tokens.
    Always,
    /// Only one that begins where the text does.
    First,
    /// None.
    Never,
}

/// Text as it is merged, and where it comes from if that is wanted.
#[derive(Debug, Default)]
pub struct Normalised {
    /// The text.
    pub text: String,
    /// Where its characters, and its end, come from.
    pub origins: Option<Origins>,
}

impl Normalised {
    fn push(&mut self, content: &str, origin: Origin) {
        if let Some(origins) = self.origins.as_mut().filter(|_| !content.is_empty()) {
            origins.push(self.text.len(), origin);
        }
        self.text.push_str(content);
    }
}

/// Text that is normalised as one.
struct Bit<'t> {
    /// How much of the original it is.
    length: usize,
    /// What becomes of it.
    content: &'t str,
    /// It may be many characters, all copied as they are.
    is_run: bool,
}

/// The rules of a model.
#[derive(Debug)]
pub struct Normalizer {
    prepend: Prepend,
    prefix_before_space: bool,
    remove_extra_spaces: bool,
    escape_spaces: bool,
    space_is_suffix: bool,
    charsmap: Option<Charsmap>,
    user_defined: Option<AhoCorasick>,
    /// Bytes at which something may be to be done; from the others on, text is copied.
    is_stop: Box<[bool; 256]>,
}

/// What is done to spaces.
#[derive(Debug, Clone, Copy)]
pub struct SpaceRules {
    /// The one that is added goes to the end.
    pub is_suffix: bool,
    /// Of several in a row all but one go.
    pub leaves_one: bool,
}

/// What decides how text is normalised.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'s> {
    /// Whether a space is added.
    pub prepend: Prepend,
    /// Also where the text begins with a space.
    pub prefix_before_space: bool,
    /// Spaces at both ends go, and of several in a row all but one.
    pub remove_extra_spaces: bool,
    /// A space and U+2581 are the same.
    pub escape_spaces: bool,
    /// The space that is added goes to the end.
    pub space_is_suffix: bool,
    /// Replacements; empty: none.
    pub charsmap: &'s [u8],
}

impl Normalizer {
    /// `user_defined`: pieces that nothing is done to.
    pub fn new(settings: Settings<'_>, user_defined: &[&str]) -> Result<Self, EngineError> {
        let Settings { prepend, prefix_before_space, remove_extra_spaces, escape_spaces, space_is_suffix, charsmap } = settings;
        let charsmap = if charsmap.is_empty() { None } else { Some(Charsmap::new(charsmap)?) };
        charsmap.as_ref().map_or(Ok(()), Charsmap::is_text)?;
        let mut is_stop = Box::new([false; 256]);
        for byte in 0..=u8::MAX {
            // Beyond ASCII a key may end inside a character, so those are taken one by one.
            is_stop[usize::from(byte)] = charsmap.as_ref().is_some_and(|charsmap| byte >= 0x80 || charsmap.has_key_from(byte))
                || (remove_extra_spaces && byte == b' ')
                || user_defined.iter().any(|content| content.as_bytes()[0] == byte);
        }
        let finder = if user_defined.is_empty() {
            None
        } else {
            let builder = &mut AhoCorasick::builder();
            let built = builder.match_kind(MatchKind::LeftmostLongest).start_kind(StartKind::Anchored).build(user_defined);
            Some(built.map_err(|error| EngineError::Spec(format!("the user-defined pieces cannot be compiled: {error}")))?)
        };
        Ok(Self {
            prepend,
            prefix_before_space,
            remove_extra_spaces,
            escape_spaces,
            space_is_suffix,
            charsmap,
            user_defined: finder,
            is_stop,
        })
    }

    /// Whether spaces are escaped.
    pub fn escapes_spaces(&self) -> bool {
        self.escape_spaces
    }

    /// What is done to spaces.
    pub fn space_rules(&self) -> SpaceRules {
        SpaceRules { is_suffix: self.space_is_suffix, leaves_one: self.remove_extra_spaces }
    }

    /// Normalises a stretch of text. `at_start`: it begins where the whole text does.
    pub fn normalise(&self, text: &str, at_start: bool, into: &mut Normalised) {
        into.text.clear();
        if let Some(origins) = &mut into.origins {
            *origins = Origins::default();
        }
        let adds_space = self.prepend == Prepend::Always || (self.prepend == Prepend::First && at_start);
        let (prefix, suffix) = (adds_space && !self.space_is_suffix, adds_space && self.space_is_suffix);
        let prefix = prefix && (self.prefix_before_space || !text.starts_with([' ', '\u{2581}']));
        let copies_all = self.charsmap.is_none() && !self.remove_extra_spaces;
        if copies_all && (into.origins.is_none() || self.user_defined.is_none()) {
            into.text.reserve(text.len() + 1);
            into.push(if prefix { " " } else { "" }, Origin::All(0));
            self.append(text, Origin::Each(0), into);
            into.push(if suffix { " " } else { "" }, Origin::All(text.len()));
            if let Some(origins) = &mut into.origins {
                origins.push(into.text.len(), Origin::All(text.len()));
            }
            return;
        }
        let mut at = self.leading_spaces(text);
        if at < text.len() {
            if prefix {
                into.push(" ", Origin::All(at));
            }
            let mut end = text.len();
            let mut after_space = self.remove_extra_spaces;
            while at < text.len() {
                let Bit { length, content, is_run } = self.next(text, at);
                let kept = if after_space { content.trim_start_matches(' ') } else { content };
                self.append(kept, if is_run { Origin::Each(at) } else { Origin::All(at) }, into);
                if !kept.is_empty() {
                    after_space = self.remove_extra_spaces && kept.ends_with(' ');
                }
                at += length;
            }
            while self.remove_extra_spaces && into.text.ends_with(' ') {
                into.text.pop();
                end = into.origins.as_mut().map_or(end, |origins| origins.cut(into.text.len()));
            }
            if suffix {
                into.push(" ", Origin::All(end));
            }
            at = end;
        } else {
            at = 0; // nothing is left
        }
        if let Some(origins) = &mut into.origins {
            origins.push(into.text.len(), Origin::All(at));
        }
    }

    fn leading_spaces(&self, text: &str) -> usize {
        let mut at = 0;
        while self.remove_extra_spaces && at < text.len() {
            let bit = self.next(text, at);
            if bit.content != " " {
                break;
            }
            at += bit.length;
        }
        at
    }

    /// The next bit of text.
    fn next<'t>(&'t self, text: &'t str, at: usize) -> Bit<'t> {
        let bytes = text.as_bytes();
        let run = bytes[at..].iter().take_while(|byte| !self.is_stop[usize::from(**byte)]).count();
        if let Some(content) = text.get(at..at + run).filter(|content| !content.is_empty()) {
            return Bit { length: run, content, is_run: true };
        }
        let input = || Input::new(bytes).range(at..).anchored(Anchored::Yes);
        if let Some(found) = self.user_defined.as_ref().and_then(|finder| finder.find(input())) {
            return Bit { length: found.len(), content: text.get(found.range()).unwrap_or_default(), is_run: false };
        }
        if let Some((length, content)) = self.charsmap.as_ref().and_then(|charsmap| charsmap.longest(&bytes[at..])) {
            return Bit { length, content: std::str::from_utf8(content).unwrap_or_default(), is_run: false };
        }
        match text.get(at..).and_then(|rest| rest.chars().next()) {
            Some(character) => Bit { length: character.len_utf8(), content: &text[at..at + character.len_utf8()], is_run: true },
            None => Bit { length: 1, content: "\u{FFFD}", is_run: false }, // the rest of a character that a key ended in
        }
    }

    /// Appends what comes from `origin`.
    fn append(&self, mut content: &str, mut origin: Origin, into: &mut Normalised) {
        while self.escape_spaces
            && let Some((before, after)) = memmem::find(content.as_bytes(), SPACE_SYMBOL.as_bytes()).map(|at| content.split_at(at))
        {
            into.push(before, origin);
            origin = origin.behind(before.len());
            into.push(" ", origin);
            origin = origin.behind(SPACE_SYMBOL.len());
            content = &after[SPACE_SYMBOL.len()..];
        }
        into.push(content, origin);
    }
}
