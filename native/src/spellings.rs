//! The bytes of tokens by number, and the other way round.
//!
//! Numbers ("symbols") are the engine's own: 0 to 255 are the bytes, whose ids may be anything.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::{error::EngineError, merge_runs::Merges, pair_table::NO_RANK};

/// Single bytes, which come first.
pub const BYTES: usize = 256;

/// The bytes of many tokens, by symbol and the other way round.
#[derive(Debug, Default)]
pub struct Spellings {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    symbols: HashTable<u32>,
    longest: usize,
}

impl Spellings {
    /// Room for this many.
    pub fn with_capacity(tokens: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(8 * tokens),
            ends: Vec::with_capacity(tokens),
            symbols: HashTable::with_capacity(tokens),
            longest: 0,
        }
    }

    /// The 256 bytes, then these tokens. The error is a token that comes twice or is empty.
    pub fn bytes_and(tokens: &[&[u8]]) -> Result<Self, EngineError> {
        let mut spellings = Self::with_capacity(BYTES + tokens.len());
        for byte in 0..=u8::MAX {
            spellings.push(&[byte])?;
        }
        tokens.iter().try_for_each(|token| spellings.push(token))?;
        Ok(spellings)
    }

    fn push(&mut self, token: &[u8]) -> Result<(), EngineError> {
        if token.is_empty() || self.find(token).is_some() {
            return Err(EngineError::Spec(format!("the token {:?} is empty or comes twice", String::from_utf8_lossy(token))));
        }
        let symbol = self.ends.len() as u32;
        self.bytes.extend_from_slice(token);
        self.longest = self.longest.max(token.len());
        self.ends.push(u32::try_from(self.bytes.len()).map_err(|_| EngineError::Spec("the tokens take more than 4 GiB".to_owned()))?);
        let (bytes, ends) = (&self.bytes, &self.ends);
        self.symbols.insert_unique(hash(token), symbol, |symbol| hash(spelling(bytes, ends, *symbol)));
        Ok(())
    }

    /// The bytes of a symbol.
    #[inline]
    pub fn get(&self, symbol: u32) -> &[u8] {
        spelling(&self.bytes, &self.ends, symbol)
    }

    /// The symbol of these bytes.
    #[inline]
    pub fn find(&self, token: &[u8]) -> Option<u32> {
        if token.len() > self.longest {
            return None;
        }
        self.symbols.find(hash(token), |symbol| self.get(*symbol) == token).copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All, in the order of symbols.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len() as u32).map(|symbol| self.get(symbol))
    }
}

/// Tokens in the order of their ranks, as a rank table gives them: whatever two symbols spell is their merge.
impl Merges for Spellings {
    fn rank(&self, left: u32, right: u32) -> u32 {
        let (left, right) = (self.get(left), self.get(right));
        if left.len() + right.len() > self.longest {
            return NO_RANK;
        }
        self.find(&[left, right].concat()).unwrap_or(NO_RANK)
    }

    fn made(&self, rank: u32) -> u32 {
        rank
    }
}

fn spelling<'b>(bytes: &'b [u8], ends: &[u32], symbol: u32) -> &'b [u8] {
    let start = symbol.checked_sub(1).map_or(0, |previous| ends[previous as usize]);
    &bytes[start as usize..ends[symbol as usize] as usize]
}

fn hash(token: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(token);
    hasher.finish()
}
