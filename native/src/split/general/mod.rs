//! Any pattern: through an automaton where the pattern can be one, else through a backtracking engine with a step limit.
//!
//! Compile times measured on the patterns that people train with: lazy automaton 1 to 3 ms, dense automaton 23 ms (GPT-2 with
//! marks) to 143 ms (o200k), so a dense one is made only where it is small enough to take well under a millisecond.

mod automaton;
mod plan;

use fancy_regex::{Regex, RegexBuilder};

use crate::error::EngineError;
use automaton::Automaton;

/// Steps of backtracking allowed for one match before the engine gives up with an error.
const BACKTRACK_LIMIT: usize = 10_000_000;

/// A compiled pattern. Cloning shares the program but not the scratch space, so each thread should own a clone.
#[derive(Debug, Clone)]
pub struct General {
    engine: Engine,
    keep_unmatched: bool,
}

#[derive(Debug, Clone)]
enum Engine {
    Automaton(Automaton),
    Backtracking(Box<Regex>),
}

impl General {
    pub(super) fn new(pattern: &str, keep_unmatched: bool) -> Result<Self, EngineError> {
        let engine = match plan::branches_of(pattern).and_then(|branches| Automaton::new(&branches)) {
            Some(automaton) => Engine::Automaton(automaton),
            None => Engine::Backtracking(Box::new(backtracking(pattern)?)),
        };
        Ok(Self { engine, keep_unmatched })
    }

    /// What runs the pattern: `"dense automaton"`, `"lazy automaton"` or `"backtracking"`.
    pub fn engine(&self) -> &'static str {
        match &self.engine {
            Engine::Automaton(automaton) if automaton.is_dense() => "dense automaton",
            Engine::Automaton(_) => "lazy automaton",
            Engine::Backtracking(_) => "backtracking",
        }
    }

    pub(super) fn for_each(&self, text: &str, mut visit: impl FnMut(usize, usize)) -> Result<(), EngineError> {
        let mut done = 0;
        let mut piece = |start: usize, end: usize| {
            if self.keep_unmatched && done < start {
                visit(done, start);
            }
            visit(start, end);
            done = end;
        };
        match &self.engine {
            Engine::Automaton(automaton) => automaton.for_each(text, piece)?,
            Engine::Backtracking(regex) => {
                let mut last = 0;
                for found in regex.find_iter(text) {
                    let found = found.map_err(|error| EngineError::PatternLimit { at: last, reason: error.to_string() })?;
                    if found.start() < found.end() {
                        piece(found.start(), found.end());
                        last = found.end();
                    }
                }
            }
        }
        if self.keep_unmatched && done < text.len() {
            visit(done, text.len());
        }
        Ok(())
    }
}

fn backtracking(pattern: &str) -> Result<Regex, EngineError> {
    RegexBuilder::new(pattern)
        .backtrack_limit(BACKTRACK_LIMIT)
        .build()
        .map_err(|error| EngineError::Pattern { pattern: pattern.to_owned(), reason: error.to_string() })
}
