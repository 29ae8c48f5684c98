//! Any pattern, through a backtracking regular-expression engine with a step limit.

use fancy_regex::{Regex, RegexBuilder};

use crate::error::EngineError;

/// Steps of backtracking allowed for one match before the engine gives up with an error.
const BACKTRACK_LIMIT: usize = 10_000_000;

/// A compiled pattern. Cloning shares the program but not the scratch space, so each thread should own a clone.
#[derive(Debug, Clone)]
pub struct General {
    regex: Regex,
    keep_unmatched: bool,
}

impl General {
    pub(super) fn new(pattern: &str, keep_unmatched: bool) -> Result<Self, EngineError> {
        let regex = RegexBuilder::new(pattern)
            .backtrack_limit(BACKTRACK_LIMIT)
            .build()
            .map_err(|error| EngineError::Pattern { pattern: pattern.to_owned(), reason: error.to_string() })?;
        Ok(Self { regex, keep_unmatched })
    }

    pub(super) fn for_each(&self, text: &str, mut visit: impl FnMut(usize, usize)) -> Result<(), EngineError> {
        let mut done = 0;
        for found in self.regex.find_iter(text) {
            let found = found.map_err(|error| EngineError::PatternLimit { at: done, reason: error.to_string() })?;
            if found.start() == found.end() {
                continue;
            }
            if self.keep_unmatched && done < found.start() {
                visit(done, found.start());
            }
            visit(found.start(), found.end());
            done = found.end();
        }
        if self.keep_unmatched && done < text.len() {
            visit(done, text.len());
        }
        Ok(())
    }
}
