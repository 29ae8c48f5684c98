//! The bytes of tokens, by which it is decided whether they may be made.

use crate::error::EngineError;

/// The bytes of every token: the 256 single ones, then what each merge makes.
#[derive(Debug)]
pub struct TokenBytes {
    bytes: Vec<u8>,
    bounds: Vec<usize>,
}

impl Default for TokenBytes {
    fn default() -> Self {
        Self { bytes: (0..=255).collect(), bounds: (0..=256).collect() }
    }
}

impl TokenBytes {
    /// The bytes of a token.
    pub fn of(&self, id: u32) -> &[u8] {
        &self.bytes[self.bounds[id as usize]..self.bounds[id as usize + 1]]
    }

    /// How many bytes a pair makes.
    pub fn length(&self, pair: (u32, u32)) -> usize {
        self.of(pair.0).len() + self.of(pair.1).len()
    }

    /// Adds what a pair makes. An error if it is not of tokens that are there.
    pub fn push(&mut self, pair: (u32, u32)) -> Result<(), EngineError> {
        let known = self.bounds.len() - 1;
        if pair.0.max(pair.1) as usize >= known {
            return Err(EngineError::Spec(format!("merge {} uses {pair:?}, but there are {known} tokens by then", known - 256)));
        }
        for id in [pair.0, pair.1] {
            self.bytes.extend_from_within(self.bounds[id as usize]..self.bounds[id as usize + 1]);
        }
        self.bounds.push(self.bytes.len());
        Ok(())
    }
}
